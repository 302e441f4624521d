"""compose: the accepted hypotheses become the events of the report.

A merged hypothesis adds its evidence to the event that it was merged into. If a critic merged it across dimensions, its
dimension becomes a secondary dimension of the event. Duplicates that no critic compared are merged here. Accepted
hypotheses from different answers are one event if they have the same type (and therefore the same dimension), and if
their spans have an IoU of at least `merge_iou`. The event has the union of their spans. Two hypotheses from one answer
stay separate, because the model saw both. Faults of different dimensions or types at the same time also stay separate.
If one cause is visible in several dimensions, it is therefore one event in each of them.
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
    """Writes the events; queries no model."""

    merge_iou: float = Field(default=0.5, gt=0, le=1)
    accept_unverified: bool = False
    """Accept unverified hypotheses, in a pipeline without a critic."""

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"events", "hypotheses"})

    async def run(self, context: Context, client: ModelClient) -> Context:
        hypotheses = tuple(self._accepted(hypothesis) for hypothesis in context.hypotheses or ())
        hypotheses = merge_duplicates(hypotheses, context.clip.frame_times_s, self.merge_iou)
        accepted = (hypothesis for hypothesis in hypotheses if hypothesis.verdict == "accepted")
        ordered = sorted(accepted, key=lambda hypothesis: hypothesis.onset_s)
        events = tuple(
            _event(f"E{number}", hypothesis, hypotheses) for number, hypothesis in enumerate(ordered, start=1)
        )
        return replace(context.covering(_found(events, context)), hypotheses=hypotheses, events=events)

    def _accepted(self, hypothesis: Hypothesis) -> Hypothesis:
        if hypothesis.verdict != "unverified" or not self.accept_unverified:
            return hypothesis
        return hypothesis.with_(verdict="accepted", reason=hypothesis.reason or "this pipeline has no critic")


def _found(events: Sequence[Event], context: Context) -> dict[str, Coverage]:
    """Partial coverage for the dimensions that have an event although they were not examined."""
    found = {}
    for event in events:
        before = context.coverage.get(event.dimension)
        if before is not None and before.state == "not_examined":
            found[event.dimension] = Coverage(state="partial", reason=f"an event was found, but {before.reason}")
    return found


def merge_duplicates(
    hypotheses: Sequence[Hypothesis], frame_times_s: Sequence[float], least_iou: float
) -> tuple[Hypothesis, ...]:
    """Merge accepted hypotheses of one physical event into the first of them.

    The first hypothesis gets the union of all spans and the highest confidence.
    """
    merged: dict[str, Hypothesis] = {}
    for hypothesis in hypotheses:
        same = (other for other in merged.values() if _is_same_event(hypothesis, other, frame_times_s, least_iou))
        first = next(same, None)
        if first is None:
            merged[hypothesis.id] = hypothesis
            continue
        given = [each.confidence for each in (first, hypothesis) if each.confidence is not None]
        spans = union((*first.spans, *hypothesis.spans))
        merged[first.id] = first.with_(spans=spans, confidence=max(given, default=None))
        reason = f"same type and time as {first.id}"
        merged[hypothesis.id] = hypothesis.with_(verdict="merged", merged_into=first.id, reason=reason)
    # A hypothesis that was merged into a duplicate earlier is merged with it.
    return tuple(_followed(merged[hypothesis.id], merged) for hypothesis in hypotheses)


def _is_same_event(a: Hypothesis, b: Hypothesis, frame_times_s: Sequence[float], least_iou: float) -> bool:
    return (
        a.verdict == b.verdict == "accepted"
        and a.type == b.type
        and a.proposed_by != b.proposed_by
        and frame_iou(a.spans, b.spans, frame_times_s) >= least_iou
    )


def _followed(hypothesis: Hypothesis, merged: dict[str, Hypothesis]) -> Hypothesis:
    target = hypothesis.merged_into
    while target is not None and (next_target := merged[target].merged_into) is not None:
        target = next_target
    return hypothesis if target == hypothesis.merged_into else hypothesis.with_(merged_into=target)


def _event(name: str, hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis]) -> Event:
    duplicates = [other for other in hypotheses if other.merged_into == hypothesis.id]
    secondary = dict.fromkeys(other.dimension for other in duplicates if other.dimension != hypothesis.dimension)
    evidence: tuple[Evidence, ...] = tuple(
        dict.fromkeys(piece for part in (hypothesis, *duplicates) for piece in part.evidence)
    )
    return Event(
        id=name,
        dimension=hypothesis.dimension,
        type=hypothesis.type,
        secondary=tuple(secondary),
        spans=hypothesis.spans,
        severity=hypothesis.severity,
        confidence=hypothesis.confidence,
        description=hypothesis.description,
        evidence=evidence,
    )
