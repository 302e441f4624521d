"""Two runs against each other, on the prompts they share.

Only prompts that both have a clip of count, so what makes a prompt hard for both cancels. The clean rate is a share:
its difference has Newcombe's interval and McNemar's p (`stats.paired_shares`). The other measures are resampled by
prompt, over the prompts whose clips both were judged. Differences are the first run minus the second; whether less is
better stands with the measure.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from scipy.special import ndtri

from robogaze.compare.board import Names, Terms, looked_for
from robogaze.compare.flips import Flips, flips_between
from robogaze.compare.measures import CLEAN, MEASURES, could_be_clean, dimensions_of, rows, types_of
from robogaze.core.account import Account
from robogaze.core.scores import Estimate, undefined
from robogaze.metrics.tally import scored
from robogaze.stats.many import benjamini_hochberg, holm
from robogaze.stats.paired import ALPHA, POWER
from robogaze.stats.paired import compare as resampled
from robogaze.stats.paired_shares import paired_shares
from robogaze.stats.resample import draw

Clips = Sequence[tuple[Account, Account]]


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference with its p, two-sided, as it is and adjusted for the number of comparisons (Holm, FDR).

    `smallest` is the difference that so many prompts would show: 80 % power at the level of 5 %. NaN where undefined.
    """

    difference: Estimate
    p: float
    smallest: float
    holm: float = nan
    fdr: float = nan

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and zero is outside."""
        return not isnan(self.difference.low) and not self.difference.low <= 0 <= self.difference.high


@dataclass(frozen=True)
class Pair:
    """Two runs by their positions, the first against the second.

    `alone` counts the clips of each that found no partner. `worst` and `best` bound the difference of the clean rates
    whatever the clips that were not judged to their end are. `gaps` are by measure, `dimensions` and `types` hold the
    difference of the shares of clips with such an event.
    """

    first: int
    second: int
    prompts: int
    alone: tuple[int, int]
    worst: float
    best: float
    gaps: Mapping[str, Gap]
    dimensions: Mapping[str, Gap]
    types: Mapping[str, Gap]
    flips: Flips

    @property
    def clean(self) -> Gap:
        """The difference of the clean rates."""
        return self.gaps[CLEAN]

    def separated(self, level: float) -> bool:
        """Whether the two differ in their clean rate, the number of comparisons allowed for."""
        return self.clean.excludes_zero and self.clean.holm < 1 - level


def pair(
    first: int, second: int, clips: Mapping[str, tuple[Account, Account]], alone: tuple[int, int], names: Names,
    terms: Terms,
) -> Pair:  # fmt: skip
    """Compare two runs by their clips of each shared prompt; p is adjusted later, among all pairs."""
    both = [clips[prompt] for prompt in sorted(clips)]
    bounds = [_bounds(one, other) for one, other in both]
    n = len(both)
    return Pair(
        first=first,
        second=second,
        prompts=n,
        alone=alone,
        worst=sum(low for low, _ in bounds) / n if n else nan,
        best=sum(high for _, high in bounds) / n if n else nan,
        gaps={CLEAN: clean_gap(both, terms), **mean_gaps(both, terms)},
        dimensions=_gaps_in(names.dimensions, both, dimensions_of, looked_for, terms),
        types=_gaps_in(names.types, both, types_of, lambda one, _: scored(one), terms),
        flips=flips_between(clips),
    )


def clean_gap(clips: Clips, terms: Terms) -> Gap:
    """The difference of the clean rates."""
    return _of_shares([(one.clean, other.clean) for one, other in clips], terms)


def mean_gaps(clips: Clips, terms: Terms) -> Mapping[str, Gap]:
    """The differences in the other measures, over the same resamples."""
    names = [name for name in MEASURES if name != CLEAN]
    judged = [(one, other) for one, other in clips if scored(one) and scored(other)]
    if not judged:
        return {name: Gap(undefined("no prompt has two judged clips"), nan, nan) for name in names}
    table = np.stack([rows([both[side] for both in judged]) for side in (0, 1)])
    sums = draw([0] * len(judged), terms.resamples, terms.rng).sums(table)
    found = {name: resampled(sums, MEASURES[name], level=terms.level)[0] for name in names}
    return {name: Gap(one.difference, one.p, one.smallest) for name, one in found.items()}


def _gaps_in(
    names: Sequence[str],
    clips: Clips,
    held: Callable[[Account], frozenset[str]],
    counts: Callable[[Account, str], bool],
    terms: Terms,
) -> Mapping[str, Gap]:
    """The differences of the shares of clips with an event of each kind, where both clips can speak of it."""
    said = [(one, other, held(one), held(other)) for one, other in clips]
    return {
        name: _of_shares(
            [(name in a, name in b) for one, other, a, b in said if counts(one, name) and counts(other, name)], terms
        )
        for name in names
    }


def _of_shares(said: Sequence[tuple[bool, bool]], terms: Terms) -> Gap:
    found = Counter(said)
    cells = [found[one, other] for one in (True, False) for other in (True, False)]
    difference, p = paired_shares(*cells, level=terms.level)
    error = (difference.high - difference.low) / (2 * float(ndtri((1 + terms.level) / 2)))
    return Gap(difference, p, error * float(ndtri(1 - ALPHA / 2) + ndtri(POWER)))


def _bounds(one: Account, other: Account) -> tuple[int, int]:
    """The least and the largest that a prompt could add to the difference of clean clips."""
    sure, possible = (one.clean, other.clean), (_possibly_clean(one), _possibly_clean(other))
    return sure[0] - possible[1], possible[0] - sure[1]


def _possibly_clean(one: Account) -> bool:
    return one.clean or (one.status != "ok" and could_be_clean(one))


def adjusted(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs with p adjusted for their number: each measure by itself, all dimensions together, all types."""
    of_measures = [_adjust_groups([{name: one.gaps[name]} for one in pairs]) for name in MEASURES]
    dimensions, types = _adjust_groups([one.dimensions for one in pairs]), _adjust_groups([one.types for one in pairs])
    return tuple(
        replace(
            one,
            gaps={name: found[at][name] for name, found in zip(MEASURES, of_measures, strict=True)},
            dimensions=dimensions[at],
            types=types[at],
        )
        for at, one in enumerate(pairs)
    )


def _adjust_groups(groups: Sequence[Mapping[str, Gap]]) -> list[Mapping[str, Gap]]:
    """Gaps adjusted as one family, in their groups again."""
    found = iter(_adjust([each for group in groups for each in group.values()]))
    return [{name: next(found) for name in group} for group in groups]


def _adjust(gaps: Sequence[Gap]) -> list[Gap]:
    p = [one.p for one in gaps]
    both = zip(gaps, holm(p), benjamini_hochberg(p), strict=True)
    return [Gap(one.difference, one.p, one.smallest, float(h), float(f)) for one, h, f in both]


def bands(order: Sequence[int], pairs: Mapping[tuple[int, int], Gap]) -> tuple[tuple[int, ...], ...]:
    """Runs that cannot be told apart, from `order`, the best first.

    A run joins the band above it when its interval against every run of that band includes zero, or is undefined;
    else it begins the next one. So within a band no two runs are apart; of two bands, some runs may not be.
    """
    found: list[list[int]] = []
    for run in order:
        if found and not any(pairs[min(run, other), max(run, other)].excludes_zero for other in found[-1]):
            found[-1].append(run)
        else:
            found.append([run])
    return tuple(tuple(band) for band in found)
