"""vote: what several independent looks agree on (RoboGaze, A.4.12).

Hypotheses of one type whose spans reach `same_iou` are one event; it stands, with the union of its spans, when at
least `least_share` of the looks report it.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from robogaze.core.events import Hypothesis
from robogaze.core.time import frame_iou, union
from robogaze.stages.base import Stage
from robogaze.stages.context import Context, Slot
from robogaze.stages.desk import Desk


class Vote(Stage):
    """Decides the hypotheses of `samples` looks by majority."""

    samples: int = Field(ge=2)
    same_iou: float = Field(default=0.5, gt=0, le=1)
    least_share: float = Field(default=2 / 3, gt=0, le=1)

    def reads(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses, decided."""
        return frozenset({"hypotheses"})

    async def run(self, context: Context, desk: Desk) -> Context:
        """Group, count, decide; asks no model."""
        hypotheses = context.hypotheses or ()
        times_s = context.clip.frame_times_s
        groups: list[list[Hypothesis]] = []
        for claim in hypotheses:
            fitting = (one for one in groups if self._same(claim, one[0], times_s))
            group = next(fitting, None)
            if group is None:
                groups.append([claim])
            else:
                group.append(claim)
        decided = {one.id: one for group in groups for one in self._decided(group)}
        return replace(context, hypotheses=tuple(decided[one.id] for one in hypotheses))

    def _same(self, a: Hypothesis, b: Hypothesis, times_s: Sequence[float]) -> bool:
        return a.type == b.type and frame_iou(a.spans, b.spans, times_s) >= self.same_iou

    def _decided(self, group: Sequence[Hypothesis]) -> list[Hypothesis]:
        first, *others = group
        votes = len({one.proposed_by for one in group})
        count = f"reported by {votes} of {self.samples} looks"
        if votes < self.least_share * self.samples - 1e-9:
            return [one.with_(verdict="rejected", reason=count) for one in group]
        spans = union(span for one in group for span in one.spans)
        confidence = votes / self.samples
        return [
            first.with_(verdict="accepted", reason=count, spans=spans, confidence=confidence),
            *(one.with_(verdict="merged", merged_into=first.id, reason=count) for one in others),
        ]
