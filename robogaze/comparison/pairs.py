"""Two runs against each other, on the prompts they share.

Only prompts for which both runs have a clip are counted, so effects of a prompt that is hard for both runs cancel out.
The clean rate is a share, so its difference is given with Newcombe's interval and McNemar's p (`stats.proportions`).
The other measures use only prompts whose two clips were both scored, and are given with Student's interval and p
(`stats.jackknife`). If several clips share a prompt, Student's interval and p are also used for shares. Differences are
the first run minus the second; the measure says whether lower is better.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from robogaze.comparison.clip_measures import CLEAN, MEASURES, could_be_clean, dimensions_of, rows, types_of
from robogaze.comparison.flips import Flips, flips_between
from robogaze.comparison.leaderboard import ComparisonConfig, EventLabels, looked_for
from robogaze.comparison.scope import Scope
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import undefined
from robogaze.metrics.tally import scored
from robogaze.stats.paired import Difference, adjusted, difference_of_shares, pairwise_differences
from robogaze.stats.resample import draw_resamples, mean, mean_rows

Clips = Sequence[tuple[ClipAnnotation, ClipAnnotation]]


@dataclass(frozen=True)
class RunPair:
    """Two runs compared; `first` and `second` are their positions in the list of runs.

    `unpaired` counts the clips of each run without a partner. `worst` and `best` bound the difference of the clean
    rates for all possible verdicts on the open clips (`Scope.open_clips`). `differences` are by measure; `dimensions`
    and `types` hold the difference of the shares of clips with an event of this dimension or type. `corrected` is the
    difference of the clean rates, corrected with the calibration of each run; it is None if one of the runs has no
    calibration of its own.
    """

    first: int
    second: int
    prompts: int
    unpaired: tuple[int, int]
    worst: float
    best: float
    differences: Mapping[str, Difference]
    dimensions: Mapping[str, Difference]
    types: Mapping[str, Difference]
    flips: Flips
    corrected: Difference | None = None

    @property
    def decisive(self) -> Difference:
        """The difference that decides the verdict: the corrected difference if there is one."""
        return self.clean if self.corrected is None else self.corrected

    @property
    def clean(self) -> Difference:
        """The difference of the clean rates."""
        return self.differences[CLEAN]

    @property
    def significant(self) -> bool:
        """Whether the two differ in their clean rate, adjusted for the number of comparisons."""
        return bool(self.decisive.significant)


def pair(
    first: int,
    second: int,
    clips: Mapping[str, tuple[ClipAnnotation, ClipAnnotation]],
    unpaired: tuple[int, int],
    names: EventLabels,
    unit: Mapping[str, str],
    config: ComparisonConfig,
) -> RunPair:
    """Compare two runs on the prompts they share. The p-values are not yet adjusted (see `adjusted_pairs`).

    `unit` gives the resampling unit of each prompt; prompts with the same unit are resampled together.
    """
    both, units = [clips[prompt] for prompt in sorted(clips)], [unit[prompt] for prompt in sorted(clips)]
    bounds = [_bounds(first, second, config.scope) for first, second in both]
    n = len(both)
    return RunPair(
        first=first,
        second=second,
        prompts=n,
        unpaired=unpaired,
        worst=sum(low for low, _ in bounds) / n if n else nan,
        best=sum(high for _, high in bounds) / n if n else nan,
        differences={CLEAN: clean_rate_difference(both, units, config), **mean_differences(both, units, config)},
        dimensions=_differences_by_label(names.dimensions, both, units, dimensions_of, looked_for, config),
        types=_differences_by_label(names.types, both, units, types_of, lambda clip, _: scored(clip), config),
        flips=flips_between(clips),
    )


def clean_rate_difference(clips: Clips, units: Sequence[str], config: ComparisonConfig) -> Difference:
    """The difference of the clean rates."""
    return _of_shares(
        [(config.scope.counts(first), config.scope.counts(second)) for first, second in clips], units, config
    )


def mean_differences(clips: Clips, units: Sequence[str], config: ComparisonConfig) -> Mapping[str, Difference]:
    """The differences in the other measures."""
    names = [name for name in MEASURES if name != CLEAN]
    kept = [at for at, (first, second) in enumerate(clips) if scored(first) and scored(second)]
    if not kept:
        return {name: Difference(0, 1, undefined("no prompt has two scored clips"), nan, nan) for name in names}
    table = np.stack([rows([clips[at][side] for at in kept], config.scope) for side in (0, 1)])
    sums = draw_resamples([0] * len(kept), 1, config.rng, [units[at] for at in kept]).sums(table)
    return {
        name: pairwise_differences(sums, MEASURES[name], level=config.level, family=config.family)[0] for name in names
    }


def _differences_by_label(
    names: Sequence[str],
    clips: Clips,
    units: Sequence[str],
    held: Callable[[ClipAnnotation], frozenset[str]],
    counts: Callable[[ClipAnnotation, str], bool],
    config: ComparisonConfig,
) -> Mapping[str, Difference]:
    """The differences of the shares of clips with an event of each label, where both clips were checked for it."""
    outcomes = [
        (first, second, held(first), held(second), unit) for (first, second), unit in zip(clips, units, strict=True)
    ]
    found = {}
    for name in names:
        kept = [
            (name in a, name in b, unit)
            for first, second, a, b, unit in outcomes
            if counts(first, name) and counts(second, name)
        ]
        found[name] = _of_shares([(a, b) for a, b, _ in kept], [unit for *_, unit in kept], config)
    return found


def _of_shares(outcomes: Sequence[tuple[bool, bool]], units: Sequence[str], config: ComparisonConfig) -> Difference:
    if len(set(units)) < len(units):
        table = mean_rows(np.array(outcomes, dtype=np.float64).T)
        sums = draw_resamples([0] * len(outcomes), 1, config.rng, units).sums(table)
        return pairwise_differences(sums, mean, level=config.level, share=True, family=config.family)[0]
    found = Counter(outcomes)
    cells = [found[first, second] for first in (True, False) for second in (True, False)]
    return difference_of_shares(0, 1, cells, config.family, config.level)


def _bounds(annotation: ClipAnnotation, second: ClipAnnotation, scope: Scope) -> tuple[int, int]:
    """The lowest and highest contribution of a prompt to the difference of clean clips."""
    sure, possible = (
        (scope.counts(annotation), scope.counts(second)),
        (could_be_clean(annotation), could_be_clean(second)),
    )
    return sure[0] - possible[1], possible[0] - sure[1]


def adjusted_pairs(pairs: Sequence[RunPair], level: float) -> tuple[RunPair, ...]:
    """The pairs, with p adjusted for the number of comparisons: separately for each measure, jointly for all
    dimensions, and jointly for all types.
    """
    of_measures = [_adjust_groups([{name: pair.differences[name]} for pair in pairs], level) for name in MEASURES]
    corrected = iter(adjusted([pair.corrected for pair in pairs if pair.corrected is not None], level))
    dimensions = _adjust_groups([pair.dimensions for pair in pairs], level)
    types = _adjust_groups([pair.types for pair in pairs], level)
    return tuple(
        replace(
            pair,
            differences={name: found[at][name] for name, found in zip(MEASURES, of_measures, strict=True)},
            dimensions=dimensions[at],
            types=types[at],
            corrected=None if pair.corrected is None else next(corrected),
        )
        for at, pair in enumerate(pairs)
    )


def _adjust_groups(groups: Sequence[Mapping[str, Difference]], level: float) -> list[Mapping[str, Difference]]:
    """The differences, adjusted together as one family and returned in their groups."""
    found = iter(adjusted([difference for group in groups for difference in group.values()], level))
    return [{name: next(found) for name in group} for group in groups]


def bands(
    order: Sequence[int], pairs: Mapping[tuple[int, int], Difference], level: float
) -> tuple[tuple[int, ...], ...]:
    """Groups of runs that do not differ significantly, made from `order` (best first); p is adjusted for all pairs.

    A run joins the band above it if it does not differ significantly from any run of that band; otherwise, it starts a
    new band. Two runs in the same band therefore do not differ significantly. Two runs in different bands may or may
    not differ significantly.
    """
    apart = dict(zip(pairs, adjusted(list(pairs.values()), level), strict=True))
    found: list[list[int]] = []
    for run in order:
        if found and not any(apart[min(run, second), max(run, second)].significant for second in found[-1]):
            found[-1].append(run)
        else:
            found.append([run])
    return tuple(tuple(band) for band in found)
