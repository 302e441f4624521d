"""compose: the accepted hypotheses become the report's events.

A merged hypothesis adds its dimension (as secondary) and its evidence to the event of the one it was merged into.
What no critic compared is compared here: accepted hypotheses of one type from different answers, whose spans reach
`merge_iou`, are one event with the union of their spans. Two claims of one answer stay two: whoever made them saw
both, and independent failures stay separate even when their spans overlap (RoboGaze, 3.4).
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from robogaze.core.coverage import Coverage
from robogaze.core.events import Event, Evidence, Hypothesis
from robogaze.core.time import frame_iou, union
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot


class Compose(Stage):
    """Writes the events."""

    merge_iou: float = Field(default=0.5, gt=0, le=1)
    accept_unverified: bool = False
    """For pipelines without a critic: what was proposed stands."""

    def reads(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        """The events."""
        return frozenset({"events", "hypotheses"})

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Merge, then write; asks no model."""
        hypotheses = tuple(self._accepted(one) for one in context.hypotheses or ())
        hypotheses = merge_duplicates(hypotheses, context.clip.frame_times_s, self.merge_iou)
        standing = sorted((one for one in hypotheses if one.verdict == "accepted"), key=lambda one: one.onset_s)
        events = tuple(_event(f"E{number}", one, hypotheses) for number, one in enumerate(standing, start=1))
        return replace(context.covering(_found(events, context)), hypotheses=hypotheses, events=events)

    def _accepted(self, claim: Hypothesis) -> Hypothesis:
        if claim.verdict != "unverified" or not self.accept_unverified:
            return claim
        return claim.with_(verdict="accepted", reason=claim.reason or "this pipeline has no critic")


def _found(events: Sequence[Event], context: Context) -> dict[str, Coverage]:
    """The dimensions in which there is an event though nothing was examined as a whole: they are covered partially."""
    found = {}
    for event in events:
        before = context.coverage.get(event.dimension)
        if before is not None and before.state == "not_examined":
            found[event.dimension] = Coverage(state="partial", reason=f"an event was found, but {before.reason}")
    return found


def merge_duplicates(
    hypotheses: Sequence[Hypothesis], frame_times_s: Sequence[float], least_iou: float
) -> tuple[Hypothesis, ...]:
    """Merge accepted hypotheses that are one physical event into the first of them, with the union of spans."""
    standing: dict[str, Hypothesis] = {}
    for claim in hypotheses:
        same = next((other for other in standing.values() if _same_event(claim, other, frame_times_s, least_iou)), None)
        if same is None:
            standing[claim.id] = claim
            continue
        standing[same.id] = same.with_(spans=union((*same.spans, *claim.spans)))
        reason = f"same type and time as {same.id}"
        standing[claim.id] = claim.with_(verdict="merged", merged_into=same.id, reason=reason)
    # What had been merged into a hypothesis that is now merged itself follows it.
    return tuple(_followed(standing[claim.id], standing) for claim in hypotheses)


def _same_event(a: Hypothesis, b: Hypothesis, frame_times_s: Sequence[float], least_iou: float) -> bool:
    return (
        a.verdict == b.verdict == "accepted"
        and a.type == b.type
        and a.proposed_by != b.proposed_by
        and frame_iou(a.spans, b.spans, frame_times_s) >= least_iou
    )


def _followed(claim: Hypothesis, standing: dict[str, Hypothesis]) -> Hypothesis:
    if claim.merged_into is not None and (onward := standing[claim.merged_into].merged_into) is not None:
        return claim.with_(merged_into=onward)
    return claim


def _event(name: str, claim: Hypothesis, hypotheses: Sequence[Hypothesis]) -> Event:
    merged = [one for one in hypotheses if one.merged_into == claim.id]
    dimensions = dict.fromkeys(one.dimension for one in merged if one.dimension != claim.dimension)
    evidence: tuple[Evidence, ...] = tuple(dict.fromkeys(part for one in (claim, *merged) for part in one.evidence))
    return Event(
        id=name,
        dimension=claim.dimension,
        type=claim.type,
        secondary=tuple(dimensions),
        spans=claim.spans,
        severity=claim.severity,
        confidence=claim.confidence,
        description=claim.description,
        evidence=evidence,
    )
