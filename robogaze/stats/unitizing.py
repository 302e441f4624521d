"""Agreement on where events are on a timeline: Krippendorff's alpha for unitizing.

Observers mark units on a continuum: stretches with a category. Unmarked stretches are gaps. The coefficient is that of
Krippendorff, Mathet, Bouvry and Widlöcher, "On the reliability of unitizing textual continua: further developments"
(Quality & Quantity 50, 2016; Content Analysis, 4th ed. 2019, 12.6), which replaces those of 1995 and 2004. It compares
lengths instead of numbers of ratings:

- observed: the length on which two observers differ, as a share of the whole length, over every pair of observers;
- expected: the same for two places drawn at random from all observers, but never from the same unit. A gap is not a
  unit; its places have the length `grain`.

alpha = 1 - observed / expected: 1 for the same units, 0 for chance, below 0 for less. It compares categories at places,
not numbers of units: two adjacent units of a category count as two only in the expectation.

Several timelines (clips) form one continuum: their lengths are added, so a long clip has more weight than a short clip.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.interval import LEVEL, NOISE, estimate
from robogaze.stats.resample import Clusters, Floats, ratio


@dataclass(frozen=True, slots=True)
class LabelledStretch:
    """A stretch [start, end) with the category that an observer gives it."""

    start: float
    end: float
    category: Hashable


@dataclass(frozen=True)
class Timeline:
    """A continuum [0, length) and the units of each observer, in any order; an observer may mark none."""

    length: float
    observers: tuple[tuple[LabelledStretch, ...], ...]

    def __post_init__(self) -> None:
        for unit in (unit for units in self.observers for unit in units):
            if not 0 <= unit.start < unit.end <= self.length:
                raise ValueError(f"the unit [{unit.start}, {unit.end}) is empty or not in [0, {self.length})")

    def of(self, category: Hashable) -> "Timeline":
        """The timeline with only the units of one category; the others become gaps."""
        return self._changed(lambda units: tuple(unit for unit in units if unit.category == category))

    def marked(self) -> "Timeline":
        """The timeline with the same category for all units: where is anything marked?"""
        return self._changed(lambda units: tuple(replace(unit, category=True) for unit in units))

    def _changed(self, change: Callable[[tuple[LabelledStretch, ...]], tuple[LabelledStretch, ...]]) -> "Timeline":
        return replace(self, observers=tuple(change(units) for units in self.observers))


def alpha_u(
    timelines: Sequence[Timeline], *, grain: float = 0.0, by: Clusters | None = None, level: float = LEVEL
) -> Estimate:
    """Alpha for unitizing over timelines with several observers each; `n` counts those with two or more.

    Overlapping units of one observer and category count as one. If units of one observer and different categories
    overlap, alpha is undefined: use each category alone (`Timeline.of`) or all as one (`Timeline.marked`). It is also
    undefined if nothing is marked, or the same category everywhere.

    `grain` is the length of the smallest part of a gap: 0 on a true continuum such as time, 1 on countable places such
    as characters. `by` gives the cluster of each timeline.
    """
    used = [len(timeline.observers) >= 2 for timeline in timelines]
    if not any(used):
        return undefined("no timeline has two observers")
    categories = sorted(
        {unit.category for timeline in timelines for units in timeline.observers for unit in units}, key=repr
    )
    rows = np.zeros((len(timelines), len(categories) + 3))
    for place, timeline in enumerate(timelines):
        if not used[place]:
            continue
        row = _row(timeline, categories, grain)
        if row is None:
            return undefined("units of one observer and different categories overlap", n=sum(used))
        rows[place] = row
    value = float(_alpha_u(rows.sum(axis=0)))
    if np.isnan(value):
        return undefined("all places are the same, so agreement cannot be distinguished from chance", n=sum(used))
    return estimate(value, rows, _alpha_u, n=sum(used), by=by, level=level)


def _alpha_u(sums: Floats) -> Floats:
    """From the sums of rows (..., lengths of each category and of gap, length apart, squares): see `_row`."""
    lengths, apart, squares = sums[..., :-2], sums[..., -2], sums[..., -1]
    total = lengths.sum(axis=-1)
    different = total**2 - (lengths**2).sum(axis=-1)
    expected = ratio(different, total**2 - squares)
    return 1 - ratio(ratio(apart, total), np.where(different > NOISE * total**2, expected, 0.0))


def _row(timeline: Timeline, categories: Sequence[Hashable], grain: float) -> Floats | None:
    """The row of a timeline, whose sum gives alpha; None if units of one observer and different categories overlap.

    It holds the length of each category and of the gaps, summed over observers; the length on which two observers
    differ, summed over pairs, per observer; and the squared lengths of the units, which are excluded from the
    expectation, plus `grain` times the length of the gaps.
    """
    wholes = [_wholes(units) for units in timeline.observers]
    edges = np.unique(
        [0.0, timeline.length, *(edge for units in wholes for unit in units for edge in (unit.start, unit.end))]
    )
    gap = len(categories)
    marked = np.full((len(wholes), len(edges) - 1), gap)
    for observer, units in enumerate(wholes):
        for unit in units:
            place = slice(*np.searchsorted(edges, (unit.start, unit.end)))
            if (marked[observer, place] != gap).any():
                return None
            marked[observer, place] = categories.index(unit.category)
    times = (marked[:, :, None] == np.arange(gap + 1)).sum(axis=0)
    length = np.diff(edges)
    lengths = length @ times
    apart = length @ (len(wholes) - (times * (times - 1)).sum(axis=1) / (len(wholes) - 1))
    squares = sum((unit.end - unit.start) ** 2 for units in wholes for unit in units) + grain * lengths[gap]
    return np.array([*lengths, apart, squares])


def _wholes(units: Sequence[LabelledStretch]) -> list[LabelledStretch]:
    """Units with overlapping units of the same category joined; adjacent units are not joined."""
    joined: list[LabelledStretch] = []
    for unit in sorted(units, key=lambda unit: (repr(unit.category), unit.start, unit.end)):
        last = joined[-1] if joined else None
        if last and last.category == unit.category and unit.start < last.end:
            joined[-1] = replace(last, end=max(last.end, unit.end))
        else:
            joined.append(unit)
    return joined
