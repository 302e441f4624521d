"""Agreement on where events are on a timeline: Krippendorff's alpha for unitizing.

Observers mark units, stretches of a continuum. Unmarked stretches are gaps. The coefficient is defined in Krippendorff,
Mathet, Bouvry and Widlöcher, "On the reliability of unitizing textual continua: further developments" (Quality &
Quantity 50, 2016; Content Analysis, 4th ed. 2019, 12.6), and replaces the coefficients of 1995 and 2004. The
coefficient compares lengths instead of numbers of ratings:

- observed: the length on which two observers differ, as a share of the whole length, over every pair of observers;
- expected: the probability that two places differ if they are drawn at random from all observers. Two places of the
  same unit are never drawn together. A gap is not a unit: two different places of a gap may be drawn. Each place of a
  gap has the length `grain`.

alpha = 1 - observed / expected: 1 for the same units, 0 for chance, below 0 for less agreement than by chance. The
coefficient compares places, not numbers of units: whether a stretch is one unit or two adjacent units affects only the
expected disagreement. The coefficient also exists for units of several categories; here there is only one category.

Several timelines (clips) form one continuum: their lengths are added, so a long clip has more weight than a short clip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.core.estimate import Estimate, undefined
from robogaze.core.time import Span
from robogaze.stats.interval import LEVEL, NOISE, estimate
from robogaze.stats.resample import Clusters, Floats, ratio


@dataclass(frozen=True)
class Timeline:
    """A continuum [0, length) and the units of each observer in it, in any order; an observer may mark no unit."""

    length: float
    observers: tuple[tuple[Span, ...], ...]


def alpha_u(
    timelines: Sequence[Timeline], *, grain: float = 0.0, by: Clusters | None = None, level: float = LEVEL
) -> Estimate:
    """Krippendorff's alpha for unitizing, over all timelines with two or more observers; `n` counts these timelines.

    Overlapping units of one observer count as one. Alpha is undefined if nothing is marked or if everything is marked.

    `grain` is the length of the smallest part of a gap: 0 on a true continuum such as time, 1 on countable places such
    as characters. `by` gives the cluster of each timeline.
    """
    used = [len(timeline.observers) >= 2 for timeline in timelines]
    if not any(used):
        return undefined("no timeline has two observers")
    rows = np.zeros((len(timelines), 4))
    for place, timeline in enumerate(timelines):
        if used[place]:
            rows[place] = _row(timeline, grain)
    value = float(_alpha_u(rows.sum(axis=0)))
    if np.isnan(value):
        return undefined(
            "everything is marked or nothing is marked, so agreement cannot be distinguished from chance", n=sum(used)
        )
    return estimate(value, rows, _alpha_u, n=sum(used), by=by, level=level)


def _alpha_u(sums: Floats) -> Floats:
    """Alpha from the sums of rows (..., marked length, gap, length apart, squares): see `_row`."""
    lengths, apart, squares = sums[..., :2], sums[..., 2], sums[..., 3]
    total = lengths.sum(axis=-1)
    different = total**2 - (lengths**2).sum(axis=-1)
    expected = ratio(different, total**2 - squares)
    return 1 - ratio(ratio(apart, total), np.where(different > NOISE * total**2, expected, 0.0))


def _row(timeline: Timeline, grain: float) -> Floats:
    """The row of a timeline, whose sum gives alpha.

    The row holds four values. The marked length and the length of the gaps are summed over observers. The length on
    which two observers differ is summed over pairs, per observer. The last value is the squared lengths of the units,
    which are excluded from the expectation, plus `grain` times the length of the gaps.
    """
    wholes = [_wholes(units) for units in timeline.observers]
    edges = np.unique(
        [0.0, timeline.length, *(edge for units in wholes for unit in units for edge in (unit.start, unit.end))]
    )
    marked = np.zeros((len(wholes), len(edges) - 1), dtype=np.bool_)
    for observer, units in enumerate(wholes):
        for unit in units:
            marked[observer, slice(*np.searchsorted(edges, (unit.start, unit.end)))] = True
    times = np.stack([marked.sum(axis=0), (~marked).sum(axis=0)], axis=-1)
    length = np.diff(edges)
    lengths = length @ times
    apart = length @ (len(wholes) - (times * (times - 1)).sum(axis=1) / (len(wholes) - 1))
    squares = sum((unit.end - unit.start) ** 2 for units in wholes for unit in units) + grain * lengths[1]
    return np.array([*lengths, apart, squares])


def _wholes(units: Sequence[Span]) -> list[Span]:
    """The units, with overlapping units joined; adjacent units are not joined."""
    joined: list[Span] = []
    for unit in sorted(units):
        if joined and unit.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, unit.end))
        else:
            joined.append(unit)
    return joined
