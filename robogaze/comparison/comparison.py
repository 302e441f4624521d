"""Checkpoints against each other: from runs to verdicts.

runs -> checks -> clips by prompt -> leaderboard -> pairs with verdicts -> bands, trend, overall verdict
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from robogaze.comparison import verdict
from robogaze.comparison.calibration import Calibration, CorrectedEstimate, corrected, corrected_difference
from robogaze.comparison.clip_measures import CLEAN, MEASURES, rows
from robogaze.comparison.leaderboard import ComparisonConfig, EventLabels, LeaderboardRow, leaderboard_row
from robogaze.comparison.pairs import RunPair, adjusted_pairs, bands, clean_rate_difference, pair
from robogaze.comparison.prompt_pairing import AUTO, PromptPairing, by_prompt
from robogaze.comparison.runs import Run, check_comparable
from robogaze.comparison.scope import Scope, scope_of
from robogaze.comparison.trend import Trend, trend
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import undefined
from robogaze.dataframes import data_frame
from robogaze.errors import InputError
from robogaze.stats.paired import Difference, Rank, ranks
from robogaze.stats.resample import draw_resamples

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Comparison:
    """The result of `robogaze.compare`.

    The rate that ranks the runs is called the clean rate here, even if `scope` makes it the nothing-found rate. `pairs`
    compares every run with the baseline or, without a baseline, with each run before it. `verdicts` describes the
    results of these pairs in sentences. `order` lists the runs by their clean rate, best first; `bands` groups runs
    that do not differ significantly. `ranks` are by the clean rate over the prompts that all runs share. `corrected`
    has the corrected estimates of each run, and `labels` the number of labels used for each run (0 for none); both are
    empty without a calibration.
    """

    runs: tuple[Run, ...]
    config: ComparisonConfig
    baseline: int | None
    prompts: PromptPairing
    leaderboard: tuple[LeaderboardRow, ...]
    pairs: tuple[RunPair, ...]
    verdicts: tuple[str, ...]
    order: tuple[int, ...]
    bands: tuple[tuple[int, ...], ...]
    ranks: tuple[Rank, ...]
    trend: Trend | None
    verdict: str
    labels: tuple[int, ...] = ()
    corrected: tuple[Mapping[str, CorrectedEstimate], ...] = ()

    @property
    def scope(self) -> Scope:
        """The dimensions that the rate covers; they decide which clips count as clean."""
        return self.config.scope

    @property
    def names(self) -> tuple[str, ...]:
        """The runs' names."""
        return tuple(run.name for run in self.runs)

    @property
    def units(self) -> int:
        """The number of prompts that all runs share; for a single run, the number of its prompts."""
        shared = self.prompts.shared(*range(len(self.runs)))
        return len({self.prompts.unit[prompt] for prompt in shared})

    def clips(self, pair: RunPair) -> Mapping[str, tuple[ClipAnnotation, ClipAnnotation]]:
        """For each prompt that the two runs share, the clip of the first run and the clip of the second run."""
        return _both(self.prompts, pair.first, pair.second)

    def to_dataframe(self) -> "DataFrame":
        """The leaderboard, best run first: one row per run, with `_low`, `_high` and `_n` of each measure.

        Raises MissingExtra without pandas.
        """
        return data_frame(_row_of(self.leaderboard[run], self.scope) for run in self.order)


def compare_runs(
    runs: Sequence[Run],
    config: ComparisonConfig,
    *,
    baseline: str | None = None,
    pair_by: str = AUTO,
    mixed: bool = False,
    sample: Calibration | None = None,
    samples: Mapping[str, Calibration] | None = None,
) -> Comparison:
    """Compare runs; `baseline` is the name of one of them.

    `sample` corrects the rates of all runs that have no calibration of their own. `samples` holds calibrations made
    from a run's own clips, keyed by run name. If both runs of a pair have their own calibration, their difference is
    also corrected, and verdicts and bands use the corrected difference. Raises InputError for runs that cannot be
    compared (see `check_comparable`, `by_prompt`), and if the baseline is not one of the runs. Raises OptionError for a
    number of `config` that is out of its range.
    """
    config.check()
    check_comparable(runs, mixed=mixed)
    base, config = _position(runs, baseline), replace(config, scope=scope_of(runs))
    prompts, names = by_prompt(runs, pair_by), EventLabels.of(runs)
    leaderboard = tuple(
        leaderboard_row(run, prompts.missing(at, run), names, config, prompts.units(at)) for at, run in enumerate(runs)
    )
    own = [(samples or {}).get(run.name) for run in runs]
    against = _against(len(runs), base)
    pairs = _pairs(against, prompts, own, names, replace(config, family=max(1, len(against))))
    labels = [run.name for run in runs]
    order = tuple(sorted(range(len(runs)), key=lambda run: _from_best(leaderboard[run])))
    fixed = [own_sample or sample for own_sample in own]
    rates = tuple(
        {} if sample is None else corrected(run, prompts.units(at), sample, names.dimensions, config)
        for at, (run, sample) in enumerate(zip(runs, fixed, strict=True))
    )
    every = {
        (a, b): _corrected_difference(prompts, a, b, own, config) or _clean_rate_difference(prompts, a, b, config)
        for a, b in combinations(range(len(runs)), 2)
    }
    apart = bands(order, every, config.level)
    return Comparison(
        runs=tuple(runs),
        config=config,
        baseline=base,
        prompts=prompts,
        leaderboard=leaderboard,
        pairs=pairs,
        verdicts=tuple(verdict.pair_verdict(pair, labels, len(pairs), config) for pair in pairs),
        order=order,
        bands=apart,
        ranks=_ranks(prompts, config),
        trend=trend(labels, prompts, config),
        verdict=verdict.overall_verdict(leaderboard, apart, pairs, base, config, rates),
        labels=tuple(0 if sample is None else len(sample.pairs) for sample in fixed),
        corrected=rates if any(rates) else (),
    )


def _row_of(row: LeaderboardRow, scope: Scope) -> dict[str, Any]:
    values: dict[str, Any] = {"run": row.name, **{f"clips_{name}": count for name, count in row.clips.items()}}
    for name, estimate in row.measures.items():
        key = scope.renamed(name)
        values |= {key: estimate.value, f"{key}_low": estimate.low, f"{key}_high": estimate.high}
        values[f"{key}_n"] = estimate.n
    return {**values, "cost_per_clip_usd": row.cost_per_clip.value}


def _pairs(
    against: Sequence[tuple[int, int]],
    prompts: PromptPairing,
    own: Sequence[Calibration | None],
    names: EventLabels,
    config: ComparisonConfig,
) -> tuple[RunPair, ...]:
    """The compared pairs, with p adjusted for their number."""
    found = []
    for first, second in against:
        clips, unpaired = _both(prompts, first, second), prompts.unpaired(first, second)
        plain = pair(first, second, clips, unpaired, names, prompts.unit, config)
        found.append(replace(plain, corrected=_corrected_difference(prompts, first, second, own, config)))
    return adjusted_pairs(found, config.level)


def _position(runs: Sequence[Run], baseline: str | None) -> int | None:
    names = [run.name for run in runs]
    if baseline is None:
        return None
    if baseline not in names:
        raise InputError(f"the baseline {baseline} is not one of the runs ({', '.join(names)})")
    return names.index(baseline)


def _against(runs: int, baseline: int | None) -> list[tuple[int, int]]:
    """The pairs to compare; in each pair, the later run, or the run that is not the baseline, comes first."""
    if baseline is not None:
        return [(run, baseline) for run in range(runs) if run != baseline]
    return [(later, earlier) for earlier, later in combinations(range(runs), 2)]


def _both(prompts: PromptPairing, first: int, second: int) -> Mapping[str, tuple[ClipAnnotation, ClipAnnotation]]:
    first_clips, second_clips = prompts.runs[first], prompts.runs[second]
    return {prompt: (first_clips[prompt], second_clips[prompt]) for prompt in prompts.shared(first, second)}


def _corrected_difference(
    prompts: PromptPairing, first: int, second: int, own: Sequence[Calibration | None], config: ComparisonConfig
) -> Difference | None:
    """The corrected difference of two runs; None if one of the runs has no labels of its own clips."""
    first_sample, second_sample = own[first], own[second]
    if first_sample is None or second_sample is None:
        return None
    both = _both(prompts, first, second)
    units = [prompts.unit[prompt] for prompt in both]
    return corrected_difference(list(both.values()), units, first_sample, second_sample, config)


def _clean_rate_difference(prompts: PromptPairing, first: int, second: int, config: ComparisonConfig) -> Difference:
    both = _both(prompts, first, second)
    return clean_rate_difference(list(both.values()), [prompts.unit[prompt] for prompt in both], config)


def _from_best(row: LeaderboardRow) -> tuple[float, str]:
    return (-row.clean_rate.value if row.clean_rate.defined else 1.0, row.name)


def _ranks(prompts: PromptPairing, config: ComparisonConfig) -> tuple[Rank, ...]:
    """Ranks by the clean rate, over the prompts that every run has a clip of."""
    shared = prompts.shared(*range(len(prompts.runs)))
    if not shared:
        return tuple(Rank(undefined("no prompt is in every run"), float("nan")) for _ in prompts.runs)
    table = np.stack([rows([clips[prompt] for prompt in shared], config.scope) for clips in prompts.runs])
    sums = draw_resamples(
        [0] * len(shared), config.resamples, config.rng, [prompts.unit[prompt] for prompt in shared]
    ).sums(table)
    return ranks(sums, MEASURES[CLEAN], level=config.level)
