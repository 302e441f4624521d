"""Agreement on a timeline: Krippendorff's alpha for unitizing."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from robogaze.core.time import Span
from robogaze.stats.agreement import alpha
from robogaze.stats.resample import Clusters, draw_resamples
from robogaze.stats.unitizing import Timeline, alpha_u

from . import plain

Mark = tuple[float, float]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def timeline(length: float, *observers: Sequence[Mark]) -> Timeline:
    return Timeline(length, tuple(tuple(Span(*mark) for mark in marks) for marks in observers))


def random_timeline(seed: int, observers: int = 3, length: int = 12) -> Timeline:
    """Observers that partition the continuum at whole numbers, some parts of it gap."""
    source = rng(seed)
    marked = []
    for _ in range(observers):
        edges = sorted(source.choice(range(length + 1), size=5, replace=False).tolist())
        marked.append([mark for mark in pairwise(edges) if source.random() < 0.6])
    return timeline(length, *marked)


# The published example.


BOOK = timeline(
    60,
    [(0, 7), (7, 13), (30, 32), (32, 37), (37, 44), (44, 60)],
    [(0, 7), (7, 13), (13, 21), (32, 44)],
    [(0, 7), (7, 13), (13, 21), (32, 37), (37, 41), (41, 44)],
)
"""Krippendorff, Content Analysis, 4th ed. (2019), Figure 12.11: three observers on 60 characters.

Taken, with the values, from the tests of the R package quallmer, which cite the book.
"""


def test_the_example_of_the_book_for_where_alone() -> None:
    """Printed as 0.413; the definition gives 0.4136."""
    assert alpha_u([BOOK], grain=1).value == pytest.approx(0.413, abs=1e-3)


# By hand.


def test_two_observers_by_hand() -> None:
    """Of 10, one marks [0, 4), the other [2, 4).

    Observed: they differ on 2 of 10. Expected: of all 20 the marked are 4 + 2; pairs of places that are not in one
    unit are 20 x 20 - 16 - 4, of which 2 x 6 x 14 differ.
    """
    found = alpha_u([timeline(10, [(0, 4)], [(2, 4)])])
    assert found.value == pytest.approx(1 - (2 / 10) / (168 / 380))


def test_what_is_seen_by_one_of_two_is_below_chance() -> None:
    """Observed: 1 of 10. Expected: 2 x 1 x 19 of 400 - 1. One who sees nothing agrees a little less than chance."""
    found = alpha_u([timeline(10, [(3, 4)], [])])
    assert found.value == pytest.approx(1 - (1 / 10) / (38 / 399))
    assert found.value < 0


# Against plain Python.


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("observers", [2, 3, 4])
def test_alpha_is_that_of_all_pairs_of_cells(seed: int, observers: int) -> None:
    some = random_timeline(seed, observers)
    assert alpha_u([some], grain=1).value == pytest.approx(plain.alpha_u([some]), abs=1e-9)
    assert alpha_u([some], grain=1 / 3).value == pytest.approx(plain.alpha_u([some], cells=3), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_true_continuum_is_the_limit_of_ever_smaller_cells(seed: int) -> None:
    some = random_timeline(seed)
    limit = alpha_u([some]).value
    distances = [abs(plain.alpha_u([some], cells) - limit) for cells in (1, 2, 4, 8)]
    for coarse, fine in pairwise(distances):
        assert fine < 0.6 * coarse
    assert alpha_u([some], grain=1e-9).value == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_with_units_of_one_cell_it_is_alpha_of_the_cells(seed: int) -> None:
    """Where no unit is longer than a cell, unitizing is coding, and alpha is the nominal one."""
    cells = rng(seed).integers(2, size=(3, 15))
    some = timeline(15, *([(at, at + 1) for at, cell in enumerate(row) if cell] for row in cells))
    assert alpha_u([some], grain=1).value == pytest.approx(alpha(cells.T.tolist()).value, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_several_timelines_are_one_continuum_with_its_interval_over_them(seed: int) -> None:
    timelines = [random_timeline(10 * seed + number, observers=2 + number % 2, length=6) for number in range(8)]
    by = Clusters(draw_resamples([number % 2 for number in range(8)], 40, rng(seed)), range(8))
    found = alpha_u(timelines, grain=1, by=by)
    drawn = [plain.alpha_u([timelines[place] for place in sample]) for sample in plain.samples(by.resamples)]
    assert found.value == pytest.approx(plain.alpha_u(timelines), abs=1e-9)
    assert (found.low, found.high) == pytest.approx(plain.percentile(drawn), abs=1e-9)
    assert found.n == 8


# What holds for every timeline.


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("observers", [2, 4])
def test_the_same_units_are_perfect_agreement(seed: int, observers: int) -> None:
    one = random_timeline(seed, observers=1).observers[0]
    assert alpha_u([Timeline(12, (one,) * observers)]).value == pytest.approx(1)


@pytest.mark.parametrize("seed", range(4))
def test_the_unit_of_time_does_not_matter(seed: int) -> None:
    some = random_timeline(seed)
    in_other = timeline(12 / 30, *([(u.start / 30, u.end / 30) for u in units] for units in some.observers))
    assert alpha_u([in_other]).value == pytest.approx(alpha_u([some]).value, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_neither_does_the_order_of_observers_units_and_timelines(seed: int) -> None:
    timelines = [random_timeline(seed + number) for number in range(3)]
    other = [
        Timeline(timeline.length, tuple(units[::-1] for units in timeline.observers[::-1]))
        for timeline in timelines[::-1]
    ]
    assert alpha_u(other).value == pytest.approx(alpha_u(timelines).value, abs=1e-12)


# Units that overlap.


def test_units_that_overlap_are_one() -> None:
    apart = timeline(10, [(0, 3), (2, 5), (1, 2)], [(1, 5)])
    joined = timeline(10, [(0, 5)], [(1, 5)])
    assert alpha_u([apart]) == alpha_u([joined])


def test_units_that_touch_stay_two() -> None:
    touching = timeline(10, [(0, 3), (3, 5)], [(1, 5)])
    joined = timeline(10, [(0, 5)], [(1, 5)])
    assert alpha_u([touching]).value < alpha_u([joined]).value


# Undefined.


SAME = "everything is marked or nothing is marked, so agreement cannot be distinguished from chance"


@pytest.mark.parametrize(
    ("timelines", "n", "why"),
    [
        ([], 0, "no timeline has two observers"),
        ([timeline(5, [(0, 1)])], 0, "no timeline has two observers"),
        ([timeline(5)], 0, "no timeline has two observers"),
        ([timeline(5, [], [])], 1, SAME),
        ([timeline(5, [(0, 5)], [(0, 5)])], 1, SAME),
        ([timeline(5, [(0, 2), (2, 5)], [(0, 5)])], 1, SAME),
        ([timeline(5, [(0, 5 * (1 - 1e-14))], [(0, 5)])], 1, SAME),
    ],
)
def test_an_undefined_value_has_a_reason(timelines: list[Timeline], n: int, why: str) -> None:
    found = alpha_u(timelines)
    assert not found.defined
    assert math.isnan(found.low)
    assert (found.n, found.why) == (n, why)


def test_timelines_of_one_observer_do_not_count() -> None:
    two, one = timeline(10, [(0, 3)], [(1, 3)]), timeline(10, [(0, 3)])
    assert alpha_u([one, two]) == alpha_u([two])
