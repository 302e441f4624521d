"""Which report describes which documented bug, by the descriptions alone (GBQA, 3.4).

A bug and a report can be matched if their similarity is at least the threshold. From these pairs, the one-to-one
assignment with the largest sum of similarities is chosen. The assignment does not depend on the order of the reports.

The released evaluator goes through the reports in order. This evaluator matches a report to the most similar of all
bugs. Two conditions must hold: the similarity is at least the threshold, and no earlier report is matched to this bug.
The critic of this evaluator (a model) chooses the bug itself. If the critic chooses a bug that does not exist, this bug
counts as found. In this module, every pair is judged, so no critic chooses a bug.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent
from robogaze.matching import Match, Weighting, match_events

Matrix = NDArray[np.float64]

_BY_DESCRIPTION = Weighting(use="similarity")


@dataclass(frozen=True)
class BugConvention:
    """How reports and bugs are matched. With `in_order`, reports are matched to bugs in the same way as in the released
    evaluator.
    """

    threshold: float
    in_order: bool = False

    def match(
        self, bugs: Sequence[AnnotatedEvent], reports: Sequence[AnnotatedEvent], similarity: Matrix
    ) -> tuple[Match, ...]:
        """The matches, in the order of the bugs. `similarity` must have the shape (bugs, reports) and must not contain
        NaN.
        """
        no_time = np.full(similarity.shape, np.nan)
        possible = np.where(similarity >= self.threshold, similarity, 0.0)
        if self.in_order:
            possible = _first_come(possible)
        return match_events(bugs, reports, possible, no_time, _BY_DESCRIPTION)


def _first_come(possible: Matrix) -> Matrix:
    """The similarities, set to 0 for every pair that the released evaluator does not match."""
    kept = np.zeros_like(possible)
    taken: set[int] = set()
    for report in range(possible.shape[1] if len(possible) else 0):
        bug = int(possible[:, report].argmax())
        if possible[bug, report] > 0 and bug not in taken:
            taken.add(bug)
            kept[bug, report] = possible[bug, report]
    return kept


AT_060, AT_065 = BugConvention(0.6), BugConvention(0.65)
RELEASED_AT_060, RELEASED_AT_065 = BugConvention(0.6, in_order=True), BugConvention(0.65, in_order=True)
"""The release uses two thresholds: 0.65 in its agent, and 0.60 in its evaluator."""
