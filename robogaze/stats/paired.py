"""Systems against each other on the same clips: differences, and ranks.

Every system was resampled on the same clips (`resample`), so the difference of two is resampled with them: what makes
a clip hard for both cancels. An interval of a difference can exclude zero where the two systems' own intervals overlap.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEAST_DEFINED, LEVEL, NOISE, Statistic, percentile
from robogaze.stats.resample import Floats, Resamples, Sums, mean, mean_rows

ALPHA, POWER = 0.05, 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """`first` minus `second`, two systems by their positions.

    `p` is two-sided, for no difference, from the share of resamples on either side of zero; it is never below
    2 / (resamples + 1) (see `many.least_resamples`). `smallest` is the difference that these clips would show (80 %
    power at the level of 5 %, from the standard error of the resampled differences). Both are NaN where the
    difference has no interval.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    smallest: float

    @property
    def separated(self) -> bool | None:
        """Whether the interval of the difference excludes zero; None where there is no interval."""
        if np.isnan(self.difference.low):
            return None
        return not self.difference.low <= 0 <= self.difference.high

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.separated is None:
            return f"undefined: {self.difference.why}"
        return f"the interval of the difference {_SAYS[self.separated]}"


_SAYS = {True: "excludes zero: separated", False: "includes zero: not separated"}


@dataclass(frozen=True, slots=True)
class Rank:
    """A system's place, 1 for the highest value; systems with the same value share the mean of their places.

    The interval holds the places the system takes in the resamples. `first` is the share of the resamples in which it
    is the first, counted in parts where several are; NaN where there is no interval.
    """

    rank: Estimate
    first: float


def compare(sums: Sums, statistic: Statistic, *, level: float = LEVEL) -> tuple[Difference, ...]:
    """Every pair of systems, in the order (0, 1), (0, 2), ..., (1, 2), ...; empty for fewer than two.

    `sums` are of a table (systems, clips, columns). The interval is the percentile one: `p` is below 1 - `level`
    where it excludes zero, but for what the number of resamples leaves open.
    """
    value, drawn = statistic(sums.total), statistic(sums.drawn)
    one, other = np.triu_indices(len(value), k=1)
    clips = np.full(len(one), sums.rows.shape[-2])
    return _differences(value[one] - value[other], drawn[one] - drawn[other], clips, len(value), level)


def compare_means(values: Floats, resamples: Resamples, *, level: float = LEVEL) -> tuple[Difference, ...]:
    """Every pair of systems by the mean of a value per clip (systems, clips), NaN where a clip has none.

    A pair is compared on the clips that have a value under both, and those are its n: else a system that is left
    without a value on hard clips would gain by it.
    """
    one, other = np.triu_indices(len(values), k=1)
    rows = mean_rows(values[one] - values[other])
    sums = resamples.sums(rows)
    clips = rows[..., 1].sum(axis=-1).astype(np.intp)
    return _differences(mean(sums.total), mean(sums.drawn), clips, len(values), level)


def _differences(
    value: Floats, drawn: Floats, clips: NDArray[np.intp], systems: int, level: float
) -> tuple[Difference, ...]:
    """The differences of all pairs (pairs,) from resampled ones (pairs, resamples)."""
    found = percentile(value, drawn, level=level)
    told = found.why == ""
    p = np.where(told, _two_sided(drawn), np.nan)
    error = np.full(len(value), np.nan)
    error[told] = np.nanstd(drawn[told], axis=-1, ddof=1)
    smallest = (ndtri(1 - ALPHA / 2) + ndtri(POWER)) * error
    one, other = np.triu_indices(systems, k=1)
    return tuple(
        Difference(int(a), int(b), found.estimate(pair, n=int(clips[pair])), float(p[pair]), float(smallest[pair]))
        for pair, (a, b) in enumerate(zip(one, other, strict=True))
    )


def ranks(sums: Sums, statistic: Statistic, *, level: float = LEVEL) -> tuple[Rank, ...]:
    """The rank of every system among those whose value is defined; undefined for the others.

    `sums` are of a table (systems, clips, columns). Of two places between which a bound lies, the outer one is given.
    """
    value, drawn = statistic(sums.total), statistic(sums.drawn)
    clips = sums.rows.shape[-2]
    known = np.flatnonzero(~np.isnan(value))
    whole = drawn[known][:, ~np.isnan(drawn[known]).any(axis=0)]
    why = _why_unknown(sums, whole)
    low, high, first = np.full((3, len(known)), np.nan) if why else _spread(whole, (1 - level) / 2)
    places = _places(value[known])
    found = [Rank(undefined("its value is undefined", n=clips), np.nan)] * len(value)
    for place, system in enumerate(known):
        rank = Estimate(float(places[place]), float(low[place]), float(high[place]), clips, why)
        found[system] = Rank(rank, float(first[place]))
    return tuple(found)


def _two_sided(differences: Floats) -> Floats:
    """Twice the smaller share of resamples at or beyond zero, the data counted as one more; at most 1."""
    count = (~np.isnan(differences)).sum(axis=-1)
    sides = ((differences <= NOISE).sum(axis=-1), (differences >= -NOISE).sum(axis=-1))
    p: Floats = np.minimum(1.0, 2 * (1 + np.minimum(*sides)) / (1 + count))
    return p


def _places(values: Floats) -> Floats:
    """Ranks along the first axis, 1 for the highest, ties at their mean; rounding alone makes no order."""
    from scipy.stats import rankdata

    ranked: Floats = rankdata(-np.round(values, 12), axis=0)
    return ranked


def _spread(whole: Floats, tail: float) -> tuple[Floats, Floats, Floats]:
    """Of every system the lower and upper place in the resamples, and its share of first places."""
    taken = _places(whole)
    best = taken == taken.min(axis=0)
    return (
        np.quantile(taken, tail, axis=1, method="lower"),
        np.quantile(taken, 1 - tail, axis=1, method="higher"),
        (best / best.sum(axis=0)).mean(axis=1),
    )


def _why_unknown(sums: Sums, whole: Floats) -> str:
    """Why the resamples in which every system has a value tell nothing of the ranks; empty where they do."""
    resamples, systems = sums.drawn.shape[-2], len(whole)
    if whole.shape[1] < LEAST_DEFINED * resamples:
        return f"a system is undefined in {1 - whole.shape[1] / resamples:.0%} of the resamples"
    if not systems or all(len(members) < 2 for members in sums.strata):
        return "every resample holds the same clips"
    return ""
