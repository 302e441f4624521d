"""vote: the events that several independent samples agree on (RoboGaze, A.4.12).

Hypotheses of the same type are one event if their spans have an IoU of at least `same_iou`. The event is accepted if at
least `min_share` of the samples report it. The spans of the event are the union of the spans of its hypotheses or, with
`spans: majority`, the time that at least half of the hypotheses cover. A sample that found nothing counts as a sample,
and so does a sample without an answer. If so many samples have no answer that no majority is possible, no hypothesis is
decided and no dimension counts as examined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import Literal

from pydantic import Field

from robogaze.core.coverage import Coverage
from robogaze.core.events import Hypothesis
from robogaze.core.report import Failure
from robogaze.core.time import Span, frame_iou, union
from robogaze.errors import FailureKind
from robogaze.stages.base import Stage
from robogaze.stages.baselines.direct import samples_of
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot

_ROUNDING = 1e-9


class Vote(Stage):
    """Decides the hypotheses of earlier samples by majority; queries no model."""

    same_iou: float = Field(default=0.5, gt=0, le=1)
    min_share: float = Field(default=2 / 3, gt=0, le=1)
    spans: Literal["union", "majority"] = "union"

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "verdicts"})

    async def run(self, context: Context, client: ModelClient) -> Context:
        samples = samples_of(client)
        before = context.hypotheses or ()
        reported = [
            hypothesis
            for hypothesis in before
            if hypothesis.verdict == "unverified" and hypothesis.proposed_by in samples
        ]
        needed = ceil(self.min_share * len(samples) - _ROUNDING)
        if sum(samples.values()) < needed:
            return _undecided(reported, samples, needed, context)
        decided = {
            hypothesis.id: hypothesis
            for group in self._groups(reported, context.clip.frame_times_s)
            for hypothesis in self._decided(group, len(samples), needed)
        }
        return replace(context, hypotheses=tuple(decided.get(hypothesis.id, hypothesis) for hypothesis in before))

    def _groups(self, reported: Sequence[Hypothesis], times_s: Sequence[float]) -> list[list[Hypothesis]]:
        """The hypotheses grouped by event; each hypothesis is compared with the first hypothesis of a group."""
        groups: list[list[Hypothesis]] = []
        for hypothesis in reported:
            group = next((group for group in groups if self._is_same(hypothesis, group[0], times_s)), None)
            if group is None:
                groups.append([hypothesis])
            else:
                group.append(hypothesis)
        return groups

    def _decided(self, group: Sequence[Hypothesis], samples: int, needed: int) -> list[Hypothesis]:
        """A group after the vote: one event if `needed` samples report it, else nothing."""
        first, *others = group
        votes = len({hypothesis.proposed_by for hypothesis in group})
        reason = f"reported by {votes} of {samples} samples"
        if votes < needed:
            return [hypothesis.with_(verdict="rejected", reason=reason) for hypothesis in group]
        spans = union(span for hypothesis in group for span in hypothesis.spans)
        if self.spans == "majority":
            spans = _of_majority([hypothesis.spans for hypothesis in group])
        return [
            first.with_(verdict="accepted", reason=reason, spans=spans, confidence=votes / samples),
            *(hypothesis.with_(verdict="merged", merged_into=first.id, reason=reason) for hypothesis in others),
        ]

    def _is_same(self, a: Hypothesis, b: Hypothesis, times_s: Sequence[float]) -> bool:
        return a.type == b.type and frame_iou(a.spans, b.spans, times_s) >= self.same_iou


def _of_majority(spans_of: Sequence[Sequence[Span]]) -> tuple[Span, ...]:
    """The time that at least half of the given sets of spans cover; the first set if no time is covered by half of
    them.
    """
    edges = sorted({edge for spans in spans_of for span in spans for edge in (span.start, span.end)})
    parts = [Span(start, end) for start, end in pairwise(edges)]

    def votes(part: Span) -> int:
        return sum(any(span.overlap(part) > 0 for span in spans) for spans in spans_of)

    return union(part for part in parts if 2 * votes(part) >= len(spans_of)) or tuple(spans_of[0])


def _undecided(reported: Sequence[Hypothesis], samples: Mapping[str, bool], needed: int, context: Context) -> Context:
    """The context if no majority is possible: the hypotheses are undecided, and no dimension is examined."""
    reason = f"only {sum(samples.values())} of {len(samples)} samples have an answer, but {needed} samples must agree"
    undecided = {hypothesis.id: hypothesis.with_(reason=reason) for hypothesis in reported}
    failures = tuple(
        Failure(
            stage="vote",
            dimension=hypothesis.dimension,
            kind=FailureKind.UNDECIDED,
            message=f"{hypothesis.id} ({hypothesis.type}) is undecided: {reason}",
        )
        for hypothesis in reported
    )
    before = context.hypotheses or ()
    accepted = {hypothesis.dimension for hypothesis in before if hypothesis.verdict == "accepted"}
    coverage = {
        name: Coverage(state="partial" if name in accepted else "not_examined", reason=reason)
        for name in context.dimensions
    }
    return replace(
        context,
        hypotheses=tuple(undecided.get(hypothesis.id, hypothesis) for hypothesis in before),
        coverage={**context.coverage, **coverage},
        failures=(*context.failures, *failures),
    )
