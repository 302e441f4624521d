"""The leaderboard: where each run stands, by itself."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from robogaze.comparison.clip_measures import CLEAN, MEASURES, could_be_clean, dimensions_of, rows, types_of
from robogaze.comparison.runs import Run
from robogaze.comparison.scope import Scope
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.report import Status
from robogaze.core.scores import Estimate, undefined
from robogaze.metrics.tally import scored
from robogaze.stats.jackknife import Variability, clustered_share, moves, strata_of, student
from robogaze.stats.proportion import wilson
from robogaze.stats.resample import Sums, draw, mean, mean_rows


@dataclass(frozen=True)
class ComparisonConfig:
    """How a comparison is made: the level of its intervals, and how clips are resampled.

    `margin` is the difference of clean rates up to which two runs count as equal, None for no such verdict. `family` is
    the number of comparisons that the largest difference that is left holds for together. `scope` says which clips
    count as clean; `compare` finds it.
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    margin: float | None = None
    family: int = 1
    scope: Scope = field(default_factory=Scope)

    @property
    def rng(self) -> np.random.Generator:
        """The same draws whenever it is asked for."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class LeaderboardRow:
    """What one run shows.

    `clips` counts complete, partial, unscored, unreadable and missing ones, each clip once; `undecided` counts those of
    the complete clips that are neither faulty nor clean. `measures` are by name; the clean rate is over all clips but
    the missing. `worst` and `best` are the clean rates if everything that is undecided, missing clips included, were
    faulty or clean. `dimensions` and `types` are shares of the scored clips with such an event; a dimension's clips are
    those in which it was looked for. `ungraded` counts events without a severity. `cost_per_clip` is over the clips
    whose cost is known.
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
        """The share of clips of which nothing is known, missing ones included; NaN without a clip."""
        unknown = sum(self.clips[name] for name in ("unscored", "unreadable", "missing"))
        whole = sum(self.clips.values())
        return unknown / whole if whole else float("nan")


def standing(
    run: Run, missing: int, names: "Names", terms: ComparisonConfig, units: Mapping[str, str] | None = None
) -> LeaderboardRow:
    """Where a run stands; `missing` clips it should have and has not.

    `units` says by clip id what each clip was made from; each is a unit of its own without it.
    """
    accounts = [run.accounts[clip_id] for clip_id in sorted(run.accounts)]
    status = Counter(one.status for one in accounts)
    clean = sum(terms.scope.counts(one) for one in accounts)
    n, whole = len(accounts) + run.unreadable, len(accounts) + run.unreadable + missing
    possible = sum(could_be_clean(one) for one in accounts) + run.unreadable + missing
    return LeaderboardRow(
        name=run.name,
        clips={
            **{name: status[name] for name in get_args(Status)},
            "unreadable": run.unreadable,
            "missing": missing,
        },
        undecided=sum(one.nothing_found and not terms.scope.counts(one) for one in accounts),
        measures=_means(
            accounts,
            [(units or {}).get(one.clip_id, one.clip_id) for one in accounts],
            wilson(clean, n, level=terms.level),
            terms,
        ),
        worst=clean / whole if whole else float("nan"),
        best=possible / whole if whole else float("nan"),
        dimensions=_shares(accounts, names.dimensions, dimensions_of, looked_for, terms),
        types=_shares(accounts, names.types, types_of, _any_dimension, terms),
        ungraded=sum(found.severity is None for one in accounts for found in one.findings),
        cost_per_clip=_cost(run, terms),
    )


@dataclass(frozen=True)
class Names:
    """The dimensions and types that occur in any run, and the dimensions that were looked for, in order."""

    dimensions: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Names":
        """Those of some runs."""
        accounts = [one for run in runs for one in run.accounts.values()]
        dimensions = {name for one in accounts for name in (*dimensions_of(one), *(one.looked_for or ()))}
        return cls(tuple(sorted(dimensions)), tuple(sorted({name for one in accounts for name in types_of(one)})))


def looked_for(one: ClipAnnotation, dimension: str) -> bool:
    """Whether a clip can speak of a dimension: it was scored, and its author looked for that or found it."""
    return scored(one) and (one.looked_for is None or dimension in one.looked_for or dimension in dimensions_of(one))


def _any_dimension(one: ClipAnnotation, _: str) -> bool:
    return scored(one)


def _shares(
    accounts: Sequence[ClipAnnotation],
    names: Sequence[str],
    held: Callable[[ClipAnnotation], frozenset[str]],
    counts: Callable[[ClipAnnotation, str], bool],
    terms: ComparisonConfig,
) -> Mapping[str, Estimate]:
    found = {}
    for name in names:
        asked = [one for one in accounts if counts(one, name)]
        found[name] = wilson(sum(name in held(one) for one in asked), len(asked), level=terms.level)
    return found


def _means(
    accounts: Sequence[ClipAnnotation], units: Sequence[str], clean: Estimate, terms: ComparisonConfig
) -> Mapping[str, Estimate]:
    """Every measure, over units; n counts the scored clips. `clean` is the clean rate as of independent clips."""
    table = rows(accounts, terms.scope)
    known = sum(scored(one) for one in accounts)
    if not known:
        return {name: undefined("no clip was scored") for name in MEASURES if name != CLEAN} | {CLEAN: clean}
    sums = draw([0] * len(table), 1, terms.rng, units).sums(table[None])
    found = {
        name: student(sums, measure, level=terms.level).estimate(0, n=known)
        for name, measure in MEASURES.items()
        if name != CLEAN
    }
    return found | {CLEAN: _clustered(sums, clean, terms)}


def _clustered(sums: Sums, clean: Estimate, terms: ComparisonConfig) -> Estimate:
    """The clean rate with the interval of as many independent clips as vary alike, where several share a prompt."""
    if not sums.clustered:
        return clean
    spread = Variability.of(moves(sums, MEASURES[CLEAN]), strata_of(sums))
    telling, units = (float(spread.error[0]), float(spread.freedom[0])), sums.rows.shape[-2]
    low, high = clustered_share(clean.value, clean.n, telling, units, level=terms.level)
    return Estimate(clean.value, low, high, clean.n)


def _cost(run: Run, terms: ComparisonConfig) -> Estimate:
    """The mean cost of the clips whose cost is known."""
    known = [facts.cost_usd for _, facts in sorted(run.facts.items()) if facts.cost_usd is not None]
    if not known:
        return undefined("no report says what it cost")
    sums = draw([0] * len(known), 1, terms.rng).sums(mean_rows(np.array([known])))
    return student(sums, mean, level=terms.level).estimate(0, n=len(known))
