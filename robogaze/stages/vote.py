"""vote: what several independent looks agree on (RoboGaze, A.4.12).

Hypotheses of one type whose spans reach `same_iou` are one event; it stands, with the union of its spans, when at
least `least_share` of the looks report it. The looks are counted, not declared: a look that found nothing is one, and
so is one that gave no answer. Where too few gave one for a majority, nothing is decided and nothing is examined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from pydantic import Field

from robogaze.core.coverage import Coverage
from robogaze.core.events import Hypothesis
from robogaze.core.report import Failure
from robogaze.core.time import frame_iou, union
from robogaze.errors import FailureKind
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot
from robogaze.stages.direct import looks

_ROUNDING = 1e-9


class Vote(Stage):
    """Decides the hypotheses of the looks before it by majority."""

    same_iou: float = Field(default=0.5, gt=0, le=1)
    least_share: float = Field(default=2 / 3, gt=0, le=1)

    def reads(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses, decided."""
        return frozenset({"hypotheses", "verdicts"})

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Group, count, decide; asks no model."""
        taken = looks(desk)
        hypotheses = context.hypotheses or ()
        reported = [one for one in hypotheses if one.verdict == "unverified" and one.proposed_by in taken]
        wanted = ceil(self.least_share * len(taken) - _ROUNDING)
        if sum(taken.values()) < wanted:
            return _undecided(reported, taken, wanted, context)
        decided = {
            one.id: one
            for group in self._groups(reported, context.clip.frame_times_s)
            for one in _decided(group, len(taken), wanted)
        }
        return replace(context, hypotheses=tuple(decided.get(one.id, one) for one in hypotheses))

    def _groups(self, reported: Sequence[Hypothesis], times_s: Sequence[float]) -> list[list[Hypothesis]]:
        """The hypotheses that are one event; each is compared with the first of a group."""
        groups: list[list[Hypothesis]] = []
        for claim in reported:
            fitting = (one for one in groups if self._same(claim, one[0], times_s))
            group = next(fitting, None)
            if group is None:
                groups.append([claim])
            else:
                group.append(claim)
        return groups

    def _same(self, a: Hypothesis, b: Hypothesis, times_s: Sequence[float]) -> bool:
        return a.type == b.type and frame_iou(a.spans, b.spans, times_s) >= self.same_iou


def _decided(group: Sequence[Hypothesis], taken: int, wanted: int) -> list[Hypothesis]:
    """A group after the vote: one event that `wanted` of the looks report, or nothing."""
    first, *others = group
    votes = len({one.proposed_by for one in group})
    count = f"reported by {votes} of {taken} looks"
    if votes < wanted:
        return [one.with_(verdict="rejected", reason=count) for one in group]
    spans = union(span for one in group for span in one.spans)
    return [
        first.with_(verdict="accepted", reason=count, spans=spans, confidence=votes / taken),
        *(one.with_(verdict="merged", merged_into=first.id, reason=count) for one in others),
    ]


def _undecided(reported: Sequence[Hypothesis], taken: Mapping[str, bool], wanted: int, context: Context) -> Context:
    """The context where no majority was possible: what some looks report is undecided, and no dimension is examined."""
    reason = f"{sum(taken.values())} of {len(taken)} looks gave an answer, and {wanted} would have to agree"
    left = {one.id: one.with_(reason=reason) for one in reported}
    failures = tuple(
        Failure(
            stage="vote",
            dimension=one.dimension,
            kind=FailureKind.UNDECIDED,
            message=f"{one.id} ({one.type}) is undecided: {reason}",
        )
        for one in reported
    )
    decided = {claim.dimension for claim in context.hypotheses or () if claim.verdict == "accepted"}
    uncovered = {
        name: Coverage(state="partial" if name in decided else "not_examined", reason=reason)
        for name in context.dimensions
    }
    return replace(
        context,
        hypotheses=tuple(left.get(one.id, one) for one in context.hypotheses or ()),
        coverage={**context.coverage, **uncovered},
        failures=(*context.failures, *failures),
    )
