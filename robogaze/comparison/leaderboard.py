"""The leaderboard: the numbers of each run by itself."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np

from robogaze.comparison.clip_measures import CLEAN, MEASURES, could_be_clean, dimensions_of, rows, types_of
from robogaze.comparison.runs import Run
from robogaze.comparison.scope import Scope
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate, undefined
from robogaze.core.report import Status
from robogaze.errors import OptionError
from robogaze.metrics.tally import scored
from robogaze.stats.interval import Statistic
from robogaze.stats.jackknife import JackknifeError, clustered_wilson, influences, stratum_numbers, student_intervals
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Sums, draw_resamples, mean, mean_rows


@dataclass(frozen=True)
class ComparisonConfig:
    """How a comparison is made: the level of its intervals, and how clips are resampled.

    `margin` is the difference of clean rates up to which two runs count as equal; None if this is not judged. `family`
    is the number of comparisons for which the equivalence bound must hold together. `scope` says which clips count as
    clean; `compare_runs` determines it.
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    margin: float | None = None
    family: int = 1
    scope: Scope = field(default_factory=Scope)

    def check(self) -> None:
        """Raise OptionError for a number that is out of its range."""
        for name in ("level", "margin"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise OptionError(f"{name} must be above 0 and below 1, not {value}")
        if self.resamples < 1:
            raise OptionError(f"resamples must be at least 1, not {self.resamples}")
        if self.seed < 0:
            raise OptionError(f"seed must be at least 0, not {self.seed}")

    @property
    def rng(self) -> np.random.Generator:
        """A new random generator that starts from `seed`."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class LeaderboardRow:
    """The numbers of one run.

    `clips` counts complete, partial, unscored, unreadable and missing clips, each once; `undecided` counts the complete
    clips that are neither faulty nor clean. `measures` are by name; the clean rate is over all clips except missing
    clips. `worst` and `best` are the rates for two cases: all clips that are open for the rate (`Scope.open_clips`),
    unreadable or missing are faulty, or all of them without an event count for the rate. `dimensions` and `types` are
    shares of clips with an event of this dimension or type. A type's share is over the scored clips; a dimension's
    share is over the scored clips in which the dimension was looked for. `ungraded` counts events without a severity.
    `cost_per_clip` is over the clips whose cost is known.
    """

    name: str
    clips: Mapping[str, int]
    undecided: int
    measures: Mapping[str, Estimate]
    worst: float
    best: float
    dimensions: Mapping[str, Estimate]
    types: Mapping[str, Estimate]
    ungraded: int
    cost_per_clip: Estimate

    @property
    def clean_rate(self) -> Estimate:
        """The share of clean clips."""
        return self.measures[CLEAN]

    @property
    def unscored_share(self) -> float:
        """The share of clips that are unscored, unreadable or missing; NaN without a clip."""
        unknown = sum(self.clips[name] for name in ("unscored", "unreadable", "missing"))
        whole = sum(self.clips.values())
        return unknown / whole if whole else float("nan")


def leaderboard_row(
    run: Run, missing: int, names: "EventLabels", config: ComparisonConfig, units: Mapping[str, str] | None = None
) -> LeaderboardRow:
    """The numbers of a run; `missing` is the number of clips that the run lacks.

    `units` maps the id of each clip to what the clip was generated from. Without `units`, every clip is a separate
    unit.
    """
    annotations = [run.annotations[clip_id] for clip_id in sorted(run.annotations)]
    units = {clip_id: clip_id for clip_id in run.annotations} | dict(units or {})
    status = Counter(annotation.status for annotation in annotations)
    clean = sum(config.scope.counts(annotation) for annotation in annotations)
    n, whole = len(annotations) + run.unreadable, len(annotations) + run.unreadable + missing
    possible = sum(could_be_clean(annotation) for annotation in annotations) + run.unreadable + missing
    return LeaderboardRow(
        name=run.name,
        clips={
            **{name: status[name] for name in get_args(Status)},
            "unreadable": run.unreadable,
            "missing": missing,
        },
        undecided=sum(annotation.nothing_found and not annotation.clean for annotation in annotations),
        measures=_means(
            annotations,
            [units[annotation.clip_id] for annotation in annotations],
            wilson(clean, n, level=config.level),
            config,
        ),
        worst=clean / whole if whole else float("nan"),
        best=possible / whole if whole else float("nan"),
        dimensions=_label_shares(annotations, units, names.dimensions, dimensions_of, looked_for, config),
        types=_label_shares(annotations, units, names.types, types_of, _is_scored, config),
        ungraded=sum(found.severity is None for annotation in annotations for found in annotation.findings),
        cost_per_clip=_cost(run, units, config),
    )


@dataclass(frozen=True)
class EventLabels:
    """The dimensions and types of all runs' events, and the dimensions that were looked for, sorted."""

    dimensions: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "EventLabels":
        """The dimensions and types of these runs' events, and the dimensions that were looked for."""
        annotations = [annotation for run in runs for annotation in run.annotations.values()]
        dimensions = {
            name for annotation in annotations for name in (*dimensions_of(annotation), *(annotation.looked_for or ()))
        }
        return cls(
            tuple(sorted(dimensions)),
            tuple(sorted({name for annotation in annotations for name in types_of(annotation)})),
        )


def looked_for(annotation: ClipAnnotation, dimension: str) -> bool:
    """Whether a clip is scored and was checked for the dimension; an event in the dimension also counts as a check."""
    return scored(annotation) and (
        annotation.looked_for is None or dimension in annotation.looked_for or dimension in dimensions_of(annotation)
    )


def _is_scored(annotation: ClipAnnotation, _: str) -> bool:
    return scored(annotation)


def _label_shares(
    annotations: Sequence[ClipAnnotation],
    units: Mapping[str, str],
    names: Sequence[str],
    held: Callable[[ClipAnnotation], frozenset[str]],
    counts: Callable[[ClipAnnotation, str], bool],
    config: ComparisonConfig,
) -> Mapping[str, Estimate]:
    found = {}
    for name in names:
        clips = [annotation for annotation in annotations if counts(annotation, name)]
        hits = np.array([[name in held(clip) for clip in clips]], dtype=np.float64)
        share = wilson(int(hits.sum()), len(clips), level=config.level)
        of_clips = [units[clip.clip_id] for clip in clips]
        sums = draw_resamples([0] * len(clips), 1, config.rng, of_clips).sums(mean_rows(hits))
        found[name] = _with_prompts(sums, mean, share, config)
    return found


def _means(
    annotations: Sequence[ClipAnnotation], units: Sequence[str], clean: Estimate, config: ComparisonConfig
) -> Mapping[str, Estimate]:
    """Every measure, over units; n counts the scored clips. `clean` is the clean rate, computed as if clips were
    independent.
    """
    table = rows(annotations, config.scope)
    known = sum(scored(annotation) for annotation in annotations)
    if not known:
        return {name: undefined("no clip was scored") for name in MEASURES if name != CLEAN} | {CLEAN: clean}
    sums = draw_resamples([0] * len(table), 1, config.rng, units).sums(table[None])
    found = {
        name: _from_zero(student_intervals(sums, measure, level=config.level).estimate(0, n=known))
        for name, measure in MEASURES.items()
        if name != CLEAN
    }
    return found | {CLEAN: _with_prompts(sums, MEASURES[CLEAN], clean, config)}


def _with_prompts(sums: Sums, statistic: Statistic, share: Estimate, config: ComparisonConfig) -> Estimate:
    """A share of clips; if several clips share a prompt, its interval uses the effective number of independent clips.

    The statistic computes the share from the sums.
    """
    if not sums.clustered or not share.defined:
        return share
    spread = JackknifeError.of(influences(sums, statistic), stratum_numbers(sums))
    telling, units = (float(spread.error[0]), float(spread.freedom[0])), sums.rows.shape[-2]
    low, high = clustered_wilson(share.value, share.n, telling, units, level=config.level)
    return Estimate(share.value, low, high, share.n)


def _cost(run: Run, units: Mapping[str, str], config: ComparisonConfig) -> Estimate:
    """The mean cost of the clips whose cost is known."""
    known = {clip_id: run.metadata[clip_id].cost_usd for clip_id in sorted(run.metadata)}
    costs = {clip_id: cost for clip_id, cost in known.items() if cost is not None}
    if not costs:
        return undefined("no report has a cost")
    of_clips = [units.get(clip_id, clip_id) for clip_id in costs]
    sums = draw_resamples([0] * len(costs), 1, config.rng, of_clips).sums(mean_rows(np.array([list(costs.values())])))
    return _from_zero(student_intervals(sums, mean, level=config.level).estimate(0, n=len(costs)))


def _from_zero(estimate: Estimate) -> Estimate:
    """The estimate with its interval cut at 0: Student's interval of few clips may reach below 0."""
    return replace(estimate, low=0.0) if estimate.low < 0 else estimate
