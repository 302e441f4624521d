"""Systems compared on the same clips: differences, and ranks.

The difference of two systems is computed per unit (a clip, or a prompt with its clips), so the difficulty of a unit
cancels out. The interval of the difference can therefore exclude zero although the intervals of the two systems
overlap. Intervals and p-values are Student's over the units (see `jackknife`). Significance is decided by the p-value
adjusted for the number of pairs (Holm).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from robogaze.core.estimate import Estimate, undefined
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

    `p` is two-sided; `holm` and `fdr` are `p` adjusted for the number of pairs. `min_detectable` is the smallest
    difference that this number of units can detect (80 % power at the level of 5 %). Two one-sided tests rule out
    differences larger than `equivalence_bound`; their confidence level holds for all pairs together. All these values
    are NaN if the difference has no interval. `significant` is decided after adjustment; None if undefined.
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

    @property
    def excludes_zero(self) -> bool:
        """Whether the difference has an interval that does not contain zero."""
        return not isnan(self.difference.low) and not self.difference.low <= 0 <= self.difference.high

    def verdict(self, margin: float | None = None) -> str:
        """The result in words.

        Without a significant difference, the text gives the largest difference that is not ruled out; with a `margin`,
        it says whether the systems are equal within this margin.
        """
        if self.significant is None:
            return f"undefined: {self.difference.why}"
        text = "different" if self.significant else "no significant difference"
        if margin is not None:
            equal = "equal" if self.equivalence_bound <= margin else "not shown to be equal"
            return f"{text}; {equal} within {margin:g}"
        return text if self.significant else f"{text}; no difference larger than {self.equivalence_bound:.3f}"


@dataclass(frozen=True, slots=True)
class Rank:
    """A system's rank, 1 for the highest value; systems with the same value share the mean of their ranks.

    The interval is over the ranks of the system in the resamples. `first` is the share of resamples in which the system
    ranks first, split evenly among ties; NaN without an interval.
    """

    rank: Estimate
    first: float


Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The first and the second system of each pair, by their positions."""


def pairs_of(systems: int, baseline: int | None = None) -> Pairs:
    """Every pair of systems, in the order (0, 1), (0, 2), ..., (1, 2), ... With a baseline, only the pairs of another
    system with the baseline, which is the second of each pair.
    """
    if baseline is None:
        return np.triu_indices(systems, k=1)
    others = np.array([system for system in range(systems) if system != baseline], dtype=np.intp)
    return others, np.full_like(others, baseline)


def pairwise_differences(
    sums: Sums,
    statistic: Statistic,
    *,
    level: float = LEVEL,
    share: bool = False,
    family: int | None = None,
    baseline: int | None = None,
) -> tuple[Difference, ...]:
    """The differences of all pairs in `pairs_of`; empty for fewer than two systems.

    `sums` are the sums of a table (systems, clips, columns). `n` counts the units with a value under at least one of
    the two systems. If the difference is the same in every unit, it has an interval only if the values are in [0, 1]
    (`share`). Half the width of this interval is Wilson's upper bound for 0 of n, where n is the number of units with a
    value under both systems; the p-value is that of a sign test. The confidence level of `equivalence_bound` holds for
    `family` comparisons together, by default for all pairs.
    """
    first, second = pairs = pairs_of(len(sums.total), baseline)
    value, moved = np.asarray(statistic(sums.total)), influences(sums, statistic)
    with_value = has_value(sums, statistic)
    n, units = ((join(with_value[first], with_value[second])).sum(axis=-1) for join in (np.logical_or, np.logical_and))
    return _differences(
        pairs,
        value[first] - value[second],
        moved[first] - moved[second],
        sums,
        (n, units),
        level,
        share=share,
        family=family,
    )


def pairwise_mean_differences(
    values: Floats, resamples: Resamples, *, level: float = LEVEL, baseline: int | None = None
) -> tuple[Difference, ...]:
    """The differences of all pairs in `pairs_of`, between means over clips. `values` (systems, clips) is NaN where a
    clip has no value.

    A pair is compared on the `n` clips that have a value under both systems, so that missing values on hard clips are
    no advantage.
    """
    first, second = pairs = pairs_of(len(values), baseline)
    rows = mean_rows(values[first] - values[second])
    sums = resamples.sums(rows)
    clips = rows[..., 1].sum(axis=-1).astype(np.intp)
    units = has_value(sums, mean).sum(axis=-1)
    return _differences(pairs, mean(sums.total), influences(sums, mean), sums, (clips, units), level, share=True)


def pairwise_share_differences(
    hits: NDArray[np.bool_], *, level: float = LEVEL, baseline: int | None = None
) -> tuple[Difference, ...]:
    """The differences of all pairs in `pairs_of`, between shares of the same independent items. `hits` (systems, items)
    says which items are hits.

    Intervals are Newcombe's, p-values McNemar's.
    """
    first, second = pairs_of(len(hits), baseline)
    found = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        cells = [int((hits[a] == x)[hits[b] == y].sum()) for x in (True, False) for y in (True, False)]
        found.append(difference_of_shares(a, b, cells, len(first), level))
    return adjusted(found, level)


def difference_of_shares(first: int, second: int, cells: Sequence[int], pairs: int, level: float) -> Difference:
    """The difference of the shares of two systems. `cells` counts the items that are hits in both systems, only in the
    first, only in the second, and in neither.

    `pairs` is the number of pairs for which the equivalence bound holds together. The difference is undefined if all
    counts are 0.
    """
    if not sum(cells):
        return Difference(first, second, paired_shares(*cells, level=level)[0], nan, nan)
    difference, p = paired_shares(*cells, level=level)
    error = (difference.high - difference.low) / (2 * float(ndtri((1 + level) / 2)))
    ends = paired_shares(*cells, level=one_sided_level(level, pairs))[0]
    return Difference(first, second, difference, p, error * DETECTED, max(-ends.low, ends.high))


DETECTED = float(ndtri(1 - ALPHA / 2) + ndtri(POWER))
"""The number of standard errors at which a difference is detected with a power of 80 %."""


def one_sided_level(level: float, pairs: int) -> float:
    """The level that two-sided intervals need so that their ends are one-sided bounds that hold for all pairs
    together.
    """
    return 1 - 2 * (1 - level) / max(1, pairs)


def adjusted(pairs: Sequence[Difference], level: float) -> tuple[Difference, ...]:
    """The differences with their p-values adjusted for the number of differences. Each difference also says whether it
    is significant.
    """
    p = [pair.p for pair in pairs]
    both = zip(pairs, holm(p), benjamini_hochberg(p), strict=True)
    return tuple(
        replace(pair, holm=float(h), fdr=float(f), significant=_separated(pair, float(h), level)) for pair, h, f in both
    )


def _separated(difference: Difference, holm: float, level: float) -> bool | None:
    return None if isnan(holm) else difference.excludes_zero and holm < 1 - level


def _differences(
    pairs: Pairs,
    value: Floats,
    moved: Floats,
    sums: Sums,
    counts: tuple[NDArray[np.intp], NDArray[np.intp]],
    level: float,
    *,
    share: bool,
    family: int | None = None,
) -> tuple[Difference, ...]:
    """The differences of all pairs (pairs,) from the influence of each unit on them, (pairs, units).

    `counts` are `n`, and the number of units with a value under both systems.
    """
    n, units = counts
    spread, outer = JackknifeError.of(moved, stratum_numbers(sums)), one_sided_level(level, family or len(value))
    p, reach, widest = spread.p(value), spread.reach(level), spread.reach(outer)
    flat = spread.error == 0
    if share:
        # All units are equal: the interval is Wilson's, and the p-value that of a sign test.
        same_units, nothing = units.astype(np.float64), np.zeros(len(value))
        reach = np.where(flat, wilson_bounds(nothing, same_units, level=level)[1], reach)
        widest = np.where(flat, wilson_bounds(nothing, same_units, level=outer)[1], widest)
        p = np.where(flat, np.where(np.abs(value) > NOISE, np.minimum(1.0, 2.0 ** (1.0 - same_units)), 1.0), p)
    why = np.full(len(value), "", dtype=object)
    why[flat & (not share)] = SAME
    why[np.isnan(spread.error)] = WITHOUT
    why[np.minimum(n, sums.rows.shape[-2]) < 2] = FEW
    why[np.isnan(value)] = UNDEFINED
    none = why != ""
    first, second = pairs
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


def ranks(sums: Sums, statistic: Statistic, *, level: float = LEVEL) -> tuple[Rank, ...]:
    """The rank of every system among those whose value is defined; undefined for the other systems.

    `sums` are the sums of a table (systems, clips, columns). If a bound of the interval falls between two ranks, the
    lower bound takes the lower rank, and the upper bound the higher rank.
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
    """Ranks along the first axis, 1 for the highest, ties at their mean; differences caused by rounding count as
    ties.
    """
    from scipy.stats import rankdata

    ranked: Floats = rankdata(-np.round(values, 12), axis=0)
    return ranked


def _spread(whole: Floats, tail: float) -> tuple[Floats, Floats, Floats]:
    """For every system its lower and upper rank in the resamples, and its share of first ranks."""
    taken = _places(whole)
    best = taken == taken.min(axis=0)
    return (
        np.quantile(taken, tail, axis=1, method="lower"),
        np.quantile(taken, 1 - tail, axis=1, method="higher"),
        (best / best.sum(axis=0)).mean(axis=1),
    )


def _why_unknown(sums: Sums, whole: Floats) -> str:
    """Why the resamples in which every system has a value do not determine the ranks; empty if they do."""
    resamples, systems = sums.drawn.shape[-2], len(whole)
    if whole.shape[1] < MIN_DEFINED_SHARE * resamples:
        return f"the value of a system is undefined in {1 - whole.shape[1] / resamples:.0%} of the resamples"
    if not systems or all(len(members) < 2 for members in sums.strata):
        return "every resample holds the same clips"
    return ""
