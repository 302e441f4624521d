"""Reports and bugs by their descriptions: one to one at a threshold, and as the released evaluator matches."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.annotation import AnnotatedEvent
from robogaze.evaluation import CONVENTIONS
from robogaze.evaluation.bug_matching import AT_060, AT_065, RELEASED_AT_060, RELEASED_AT_065, BugConvention


def events(prefix: str, number: int) -> list[AnnotatedEvent]:
    return [AnnotatedEvent(f"{prefix}{index}", (), f"{prefix} {index}") for index in range(number)]


def matched(convention: BugConvention, rows: Any) -> list[tuple[int, int]]:
    """(bug, report) of each match."""
    similarity = np.array(rows, dtype=float)
    bugs, reports = similarity.shape
    found = convention.match(events("B", bugs), events("R", reports), similarity)
    return [(match.reference, match.prediction) for match in found]


def test_thresholds_are_named() -> None:
    names = ["gbqa-0.60", "gbqa-0.65", "gbqa-released-0.60", "gbqa-released-0.65"]
    assert [CONVENTIONS.load(name) for name in names] == [AT_060, AT_065, RELEASED_AT_060, RELEASED_AT_065]
    assert matched(AT_060, [[0.6]]) == [(0, 0)]
    assert matched(AT_065, [[0.6499]]) == []
    assert matched(AT_065, [[0.65]]) == [(0, 0)]


def test_the_order_of_reports_costs_the_release_a_bug_and_us_none() -> None:
    """The first report fits both bugs, the second only the bug that the first takes."""
    rows = [[0.9, 0.8], [0.85, 0.1]]
    assert matched(AT_065, rows) == [(0, 1), (1, 0)]
    assert matched(RELEASED_AT_065, rows) == [(0, 0)]


def test_a_duplicate_never_takes_a_second_bug() -> None:
    rows = [[0.9, 0.95], [0.7, 0.7]]
    assert matched(RELEASED_AT_065, rows) == [(0, 0)]
    assert matched(AT_065, rows) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("convention", [AT_065, RELEASED_AT_065])
@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_nothing_matches_nothing(convention: BugConvention, shape: tuple[int, int]) -> None:
    assert matched(convention, np.zeros(shape)) == []


SIMILARITIES = st.integers(1, 4).flatmap(
    lambda reports: st.lists(
        st.lists(st.integers(0, 20).map(lambda value: value / 20), min_size=reports, max_size=reports),
        min_size=1,
        max_size=4,
    )
)


@given(rows=SIMILARITIES)
def test_no_assignment_has_a_larger_sum(rows: list[list[float]]) -> None:
    bugs, reports = len(rows), len(rows[0])
    found = matched(AT_060, rows)
    best = 0.0
    for chosen in itertools.permutations([*range(reports), *[None] * bugs], bugs):
        values = [rows[bug][report] for bug, report in enumerate(chosen) if report is not None]
        if all(value >= 0.6 for value in values):
            best = max(best, sum(values))
    assert sum(rows[bug][report] for bug, report in found) == pytest.approx(best)


@given(rows=SIMILARITIES)
def test_each_bug_and_each_report_is_matched_once_and_never_below_the_threshold(rows: list[list[float]]) -> None:
    for convention in (AT_060, RELEASED_AT_060):
        found = matched(convention, rows)
        assert len({bug for bug, _ in found}) == len({report for _, report in found}) == len(found)
        assert all(rows[bug][report] >= 0.6 for bug, report in found)
