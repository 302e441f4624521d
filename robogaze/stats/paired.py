"""Systems against each other on the same clips: differences, and ranks.

The difference of two systems is taken unit by unit (clip, or prompt where clips share one), so what makes a unit hard
for both cancels: its interval can exclude zero where the two systems' own intervals overlap. Intervals and p are
Student's over the units (see `student`). A verdict goes by p adjusted for the number of pairs (Holm).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEVEL, MIN_DEFINED_SHARE, NOISE, Statistic
from robogaze.stats.jackknife import (
    SAME,
    UNDEFINED,
    WITHOUT,
    JackknifeError,
    has_value,
    influences,
    stratum_numbers,
    wilson_bounds,
)
from robogaze.stats.multiple_comparisons import benjamini_hochberg, holm
from robogaze.stats.proportions import paired_shares
from robogaze.stats.resample import Floats, Resamples, Sums, mean, mean_rows

ALPHA, POWER = 0.05, 0.8

FEW = "there are fewer than two units"


@dataclass(frozen=True, slots=True)
class Difference:
    """`first` minus `second`, two systems by their positions.

    `p` is two-sided, for no difference; `holm` and `fdr` are adjusted for the number of pairs. `smallest` is the
    difference that these units would show (80 % power at the level of 5 %). `most` is the difference that is ruled out
    beyond: with the level's confidence for all pairs together no difference is larger (two one-sided tests). All are
    NaN where the difference has no interval. `separated` says whether the two differ, the number of pairs allowed
    for; None where that cannot be said.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    min_detectable: float
    equivalence_bound: float = np.nan
    holm: float = np.nan
    fdr: float = np.nan
    significant: bool | None = None

    def verdict(self, margin: float | None = None) -> str:
        """In words; with a `margin`, whether the two are equal up to it."""
        if self.significant is None:
            return f"undefined: {self.difference.why}"
        return verdict(self.significant, self.equivalence_bound, margin)


def verdict(significant: bool, equivalence_bound: float, margin: float | None = None) -> str:
    """Whether two differ, and which differences are ruled out; with a `margin`, whether they are equal up to it."""
    said = "different" if significant else "no significant difference"
    if margin is not None:
        return f"{said}; {'equal' if equivalence_bound <= margin else 'not shown to be equal'} within {margin:g}"
    return said if significant else f"{said}; no difference larger than {equivalence_bound:.3f}"


@dataclass(frozen=True, slots=True)
class Rank:
    """A system's place, 1 for the highest value; systems with the same value share the mean of their places.

    The interval holds the places the system takes in the resamples. `first` is the share of the resamples in which it
    is the first, counted in parts where several are; NaN where there is no interval.
    """

    rank: Estimate
    first: float


def pairwise_differences(
    sums: Sums, statistic: Statistic, *, level: float = LEVEL, share: bool = False, family: int | None = None
) -> tuple[Difference, ...]:
    """Every pair of systems, in the order (0, 1), (0, 2), ..., (1, 2), ...; empty for fewer than two.

    `sums` are of a table (systems, clips, columns); n counts the units with a value under either of the two. Where
    every unit shows the same difference there is an interval for values in [0, 1] only (`share`): that of a share of
    the units with a value under both, and the p of a sign test. `family` is the number of comparisons that `most` is to
    hold for together, that of the pairs unless given.
    """
    first, second = np.triu_indices(len(sums.total), k=1)
    value, moved = np.asarray(statistic(sums.total)), influences(sums, statistic)
    says = has_value(sums, statistic)
    n, units = ((join(says[first], says[second])).sum(axis=-1) for join in (np.logical_or, np.logical_and))
    return _differences(
        value[first] - value[second], moved[first] - moved[second], sums, (n, units), level, share=share, family=family
    )


def pairwise_mean_differences(values: Floats, resamples: Resamples, *, level: float = LEVEL) -> tuple[Difference, ...]:
    """Every pair of systems by the mean of a value per clip (systems, clips), NaN where a clip has none.

    A pair is compared on the clips that have a value under both, and those are its n: else a system that is left
    without a value on hard clips would gain by it.
    """
    first, second = np.triu_indices(len(values), k=1)
    rows = mean_rows(values[first] - values[second])
    sums = resamples.sums(rows)
    clips = rows[..., 1].sum(axis=-1).astype(np.intp)
    units = has_value(sums, mean).sum(axis=-1)
    return _differences(mean(sums.total), influences(sums, mean), sums, (clips, units), level, share=True)


def pairwise_share_differences(hits: NDArray[np.bool_], *, level: float = LEVEL) -> tuple[Difference, ...]:
    """Every pair of systems by a share of the same independent things, (systems, things): Newcombe's and McNemar's."""
    first, second = np.triu_indices(len(hits), k=1)
    found = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        cells = [int((hits[a] == x)[hits[b] == y].sum()) for x in (True, False) for y in (True, False)]
        found.append(difference_of_shares(a, b, cells, len(first), level))
    return adjusted(found, level)


def difference_of_shares(first: int, second: int, cells: Sequence[int], pairs: int, level: float) -> Difference:
    """One pair from how many things are so in both, the first, the second and neither, among so many pairs.

    NaN but for the reason where there is no thing.
    """
    if not sum(cells):
        return Difference(first, second, paired_shares(*cells, level=level)[0], nan, nan)
    difference, p = paired_shares(*cells, level=level)
    error = (difference.high - difference.low) / (2 * float(ndtri((1 + level) / 2)))
    ends = paired_shares(*cells, level=one_sided_level(level, pairs))[0]
    return Difference(first, second, difference, p, error * DETECTED, max(-ends.low, ends.high))


DETECTED = float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
"""How many standard errors a difference needs to be shown four times of five."""


def one_sided_level(level: float, pairs: int) -> float:
    """The level of the two-sided intervals whose ends all hold one-sided, for so many pairs together."""
    return 1 - 2 * (1 - level) / max(1, pairs)


def adjusted(pairs: Sequence[Difference], level: float) -> tuple[Difference, ...]:
    """The differences with p adjusted for their number, and whether each is one."""
    p = [pair.p for pair in pairs]
    both = zip(pairs, holm(p), benjamini_hochberg(p), strict=True)
    return tuple(
        replace(pair, holm=float(h), fdr=float(f), significant=_separated(pair, h, level)) for pair, h, f in both
    )


def _separated(difference: Difference, holm: float, level: float) -> bool | None:
    return None if np.isnan(holm) else bool(_excludes_zero(difference) and holm < 1 - level)


def _excludes_zero(difference: Difference) -> bool:
    return not difference.difference.low <= 0 <= difference.difference.high


def _differences(
    value: Floats,
    moved: Floats,
    sums: Sums,
    counts: tuple[NDArray[np.intp], NDArray[np.intp]],
    level: float,
    *,
    share: bool,
    family: int | None = None,
) -> tuple[Difference, ...]:
    """The differences of all pairs (pairs,) from what each unit moves them, (pairs, units).

    `counts` are their n, and of how many units both have a value.
    """
    n, units = counts
    spread, outer = JackknifeError.of(moved, stratum_numbers(sums)), one_sided_level(level, family or len(value))
    p, reach, widest = spread.p(value), spread.reach(level), spread.reach(outer)
    flat = spread.error == 0
    if share:
        # As many units are alike as there are: what the next may do is Wilson's, and the sign test's.
        alike, nothing = units.astype(np.float64), np.zeros(len(value))
        reach = np.where(flat, wilson_bounds(nothing, alike, level=level)[1], reach)
        widest = np.where(flat, wilson_bounds(nothing, alike, level=outer)[1], widest)
        p = np.where(flat, np.where(np.abs(value) > NOISE, np.minimum(1.0, 2.0 ** (1.0 - alike)), 1.0), p)
    why = np.full(len(value), "", dtype=object)
    why[flat & (not share)] = SAME
    why[np.isnan(spread.error)] = WITHOUT
    why[np.minimum(n, sums.rows.shape[-2]) < 2] = FEW
    why[np.isnan(value)] = UNDEFINED
    none = why != ""
    first, second = np.triu_indices(_systems(len(value)), k=1)
    ends = np.where(none, np.nan, np.stack([value - reach, value + reach]))
    if share:
        ends = np.clip(ends, -1.0, 1.0)
    error = np.where(flat, reach / float(ndtri((1 + level) / 2)), spread.error)
    equivalence_bound, min_detectable, p = (
        np.where(none, np.nan, kind) for kind in (np.abs(value) + widest, error * DETECTED, p)
    )
    found = [
        Difference(
            int(first[pair]),
            int(second[pair]),
            Estimate(float(value[pair]), float(ends[0, pair]), float(ends[1, pair]), int(n[pair]), str(why[pair])),
            float(p[pair]),
            float(min_detectable[pair]),
            float(equivalence_bound[pair]),
        )
        for pair in range(len(value))
    ]
    return adjusted(found, level)


def _systems(pairs: int) -> int:
    """How many systems have so many pairs."""
    return round((1 + sqrt(1 + 8 * pairs)) / 2)


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
    if whole.shape[1] < MIN_DEFINED_SHARE * resamples:
        return f"a system is undefined in {1 - whole.shape[1] / resamples:.0%} of the resamples"
    if not systems or all(len(members) < 2 for members in sums.strata):
        return "every resample holds the same clips"
    return ""
