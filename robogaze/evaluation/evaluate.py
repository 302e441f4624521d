"""Predictions against references, from reports alone.

    pairing -> similarities (a judge) -> matches -> rows -> estimates

Every result says on which terms it was made, by which judge, and how many clips are behind it. No video, no model
library and no pipeline is needed for it.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.scores import Estimate
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.evaluation.config import DIMENSION_BONUSES, STRATA, EvaluationConfig
from robogaze.evaluation.estimates import (
    Matrix,
    Scores,
    corpus_sums,
    error_costs,
    group_estimates,
    macro_scores,
    mean_of_strata,
    micro_scores,
    select_metric,
    stratum_rows,
)
from robogaze.evaluation.rows import F1_COLUMNS, Groups
from robogaze.evaluation.tables import (
    THRESHOLDS,
    SystemTables,
    control_tables,
    floor_table,
    system_tables,
    threshold_tables,
)
from robogaze.judges.base import Judge
from robogaze.metrics.breakdown import dimension_of, groups_in, type_of
from robogaze.metrics.controls import CONTROLS, TYPE_PRIOR, shuffled, type_prior
from robogaze.metrics.errors import ERROR_KINDS
from robogaze.metrics.scores import METRICS, macro
from robogaze.metrics.tally import COLUMNS, scored
from robogaze.stats.paired import (
    Difference,
    Rank,
    pairwise_differences,
    pairwise_mean_differences,
    pairwise_share_differences,
    ranks,
)
from robogaze.stats.resample import Resamples, draw_resamples

BOUNDED = ("desc_precision", "desc_recall", "desc_f1", "f1_iou")
"""The metrics that have bounds when judgements failed: of the others a different matching may give any value."""


@dataclass(frozen=True)
class Bounds:
    """Between which values the scores in BOUNDED lie, whatever a judge would have said in the `clips` it failed in."""

    clips: int
    worst: Scores
    best: Scores


@dataclass(frozen=True, slots=True)
class NamedMatch:
    """A matched pair by the ids of its events; `similarity` is 0 where the judgement failed."""

    reference: str
    prediction: str
    similarity: float
    iou: float


@dataclass(frozen=True)
class Floor:
    """What a system's own events score on other clips; `above` is how far its description F1 is above that, by clip."""

    macro: Scores
    micro: Scores
    above: Difference


@dataclass(frozen=True)
class SystemResult:
    """What one system scores.

    `absent` names the clips that are missing, unscored, partial, undecided or unjudged, for these with the first
    reason. `macro` and `micro` are by metric, `strata_mean` is the mean of the strata's macro values (the paper's
    headline). `by` breaks the macro values down by the values of clip fields, `lambdas` by the bonus for a shared
    dimension, `operating` by the threshold on confidence (empty where no candidate has one). `losses` is the F1 (micro)
    that repairing one kind of error would gain, beside the number of such errors. `dimensions` and `types` hold
    precision, recall and F1. `confusion` has the dimensions in order, then missed (last column) and spurious (last
    row). `floor` is what its own events score on other clips.
    """

    system: System
    counts: Mapping[str, int]
    incomplete: Mapping[str, tuple[str, ...]]
    macro: Scores
    micro: Scores
    strata_mean: Scores
    bounds: Bounds | None
    by: Mapping[str, Mapping[str, Scores]]
    dimensions: Mapping[str, Scores]
    types: Mapping[str, Scores]
    confusion: Matrix
    error_costs: Mapping[str, tuple[int, Estimate]]
    by_bonus: Mapping[float, Scores]
    operating_points: Mapping[float, tuple[Scores, Scores]]
    floor: Floor | None
    matches: tuple[tuple[NamedMatch, ...], ...]

    @property
    def name(self) -> str:
        """The system's."""
        return self.system.name


@dataclass(frozen=True)
class Comparisons:
    """All pairs of systems in one metric (macro), with p adjusted for their number, and the ranks."""

    pairs: tuple[Difference, ...]
    ranks: tuple[Rank, ...]


@dataclass(frozen=True)
class Evaluation:
    """The whole result."""

    config: EvaluationConfig
    judge: str
    judge_note: str
    counts: Mapping[str, int]
    unreferenced: tuple[str, ...]
    unfinished: tuple[str, ...]
    left_out: tuple[str, ...]
    clips: tuple[ClipAnnotation, ...]
    dimensions: tuple[str, ...]
    systems: tuple[SystemResult, ...]
    controls: Mapping[str, tuple[Scores, Scores]]
    comparisons: Mapping[str, Comparisons]


async def evaluate(pairing: Pairing, judge: Judge, config: EvaluationConfig, by: Sequence[str] = ()) -> Evaluation:
    """Score every system against the references; `by` names clip fields to break the results down by."""
    references = pairing.references
    if config.use != "similarity" and not any(found.spans for reference in references for found in reference.findings):
        _refuse_timeless(references, config)
    _check_fields(references, (*by, *((config.strata,) if config.strata != STRATA else ())))
    strata = tuple(reference.fields.get(config.strata, "") for reference in references)
    units = [reference.fields.get(config.units) or (reference.clip_id,) for reference in references]
    resamples = draw_resamples(strata, config.resamples, np.random.default_rng(config.seed), units)
    everyone = list(chain(references, *(system.accounts.values() for system in pairing.systems)))
    groups = Groups(groups_in(everyone, dimension_of), groups_in(everyone, type_of))
    context = _Context(references, strata, units, resamples, config, groups, tuple(by))
    tables = [await system_tables(references, system.accounts, judge, config, groups) for system in pairing.systems]
    results = [
        await context.result(system, found, judge) for system, found in zip(pairing.systems, tables, strict=True)
    ]
    return Evaluation(
        config=config,
        judge=judge.name,
        judge_note=judge.note,
        counts={**_corpus_counts(pairing), "units": resamples.size},
        unreferenced=pairing.unreferenced,
        unfinished=pairing.unfinished,
        left_out=pairing.left_out,
        clips=references,
        dimensions=groups.dimensions,
        systems=tuple(results),
        controls=await context.controls(judge),
        comparisons=_comparisons(np.stack([table.base for table in tables]), resamples, config),
    )


def _refuse_timeless(references: Sequence[ClipAnnotation], config: EvaluationConfig) -> None:
    if any(reference.findings for reference in references):
        raise InputError(
            f"no reference event has a time, and the convention {config.convention} matches by time; "
            "--convention descriptions matches by descriptions alone"
        )


def _check_fields(references: Sequence[ClipAnnotation], wanted: Sequence[str]) -> None:
    known = sorted({name for reference in references for name in reference.fields})
    for name in wanted:
        if name not in known:
            raise InputError(f"no referenced clip has the field {name} (there is: {', '.join(known) or 'none'})")


@dataclass(frozen=True)
class _Context:
    """What all systems of an evaluation share."""

    references: tuple[ClipAnnotation, ...]
    strata: tuple[str, ...]
    units: Sequence[Hashable]
    resamples: Resamples
    config: EvaluationConfig
    groups: Groups
    by: tuple[str, ...]

    async def result(self, system: System, tables: SystemTables, judge: Judge) -> SystemResult:
        sums = corpus_sums(tables.base[None], self.resamples)
        return SystemResult(
            system=system,
            counts=_counts(self.references, system, tables),
            incomplete=_absent(self.references, system, tables),
            macro=macro_scores(sums, self.config)[0],
            micro=micro_scores(sums, self.config)[0],
            strata_mean=mean_of_strata(tables.base, self.strata, self.resamples, self.config),
            bounds=self.bounds(tables),
            by={field: self.broken_down(tables.base, field) for field in self.by},
            dimensions=self.grouped(tables.dimensions, self.groups.dimensions),
            types=self.grouped(tables.types, self.groups.types),
            confusion=tables.confusion,
            error_costs=self.error_costs(tables),
            by_bonus=dict(
                zip(
                    DIMENSION_BONUSES,
                    macro_scores(corpus_sums(tables.by_bonus, self.resamples), self.config),
                    strict=True,
                )
            ),
            operating_points=await self.operating_points(system, judge),
            floor=await self.floor(system, tables.base, judge) if self.config.floors else None,
            matches=tuple(self.named(system, tables)),
        )

    async def controls(self, judge: Judge) -> Mapping[str, tuple[Scores, Scores]]:
        """Macro and micro scores of every control, and of the type prior, by name."""
        tables = dict(zip(CONTROLS, control_tables(self.references, self.config), strict=True))
        if self.config.floors:
            prior = type_prior(self.references, self.units)
            tables[TYPE_PRIOR] = await floor_table(self.references, prior, judge, self.config)
        sums = corpus_sums(np.stack(list(tables.values())), self.resamples)
        both = zip(macro_scores(sums, self.config), micro_scores(sums, self.config), strict=True)
        return dict(zip(tables, both, strict=True))

    async def floor(self, system: System, base: Matrix, judge: Judge) -> Floor:
        rng = np.random.default_rng(self.config.seed)
        said = shuffled(self.references, system.accounts, self.strata, self.units, rng)
        table = await floor_table(self.references, said, judge, self.config)
        sums = corpus_sums(table[None], self.resamples)
        both = METRICS["desc_f1"].per_clip(np.stack([base, table]))
        (above,) = pairwise_mean_differences(both, self.resamples, level=self.config.level)
        return Floor(macro_scores(sums, self.config)[0], micro_scores(sums, self.config)[0], above)

    def named(self, system: System, tables: SystemTables) -> Iterator[tuple[NamedMatch, ...]]:
        for clip, found in zip(self.references, tables.matches, strict=True):
            said = system.accounts[clip.clip_id].findings if found else ()
            yield tuple(
                NamedMatch(
                    clip.findings[estimate.reference].id,
                    said[estimate.prediction].id,
                    estimate.similarity,
                    estimate.iou,
                )
                for estimate in found
            )

    def bounds(self, tables: SystemTables) -> Bounds | None:
        if not tables.unjudged:
            return None
        both = macro_scores(corpus_sums(np.stack([tables.worst, tables.best]), self.resamples), self.config)
        worst, best = ({name: scores[name] for name in BOUNDED} for scores in both)
        return Bounds(len(tables.unjudged), worst, best)

    def broken_down(self, table: Matrix, field: str) -> Mapping[str, Scores]:
        values = [reference.fields.get(field, "") for reference in self.references]
        names = sorted(set(values))
        parts = np.stack([stratum_rows(table, values, name) for name in names])
        return dict(zip(names, macro_scores(corpus_sums(parts, self.resamples), self.config), strict=True))

    def grouped(self, tables: Matrix, names: Sequence[str]) -> Mapping[str, Scores]:
        return dict(zip(names, group_estimates(tables, self.resamples, self.config), strict=True)) if names else {}

    def error_costs(self, tables: SystemTables) -> Mapping[str, tuple[int, Estimate]]:
        gains = error_costs(tables.base[:, F1_COLUMNS], tables.repaired, self.resamples, self.config)
        return {kind: (int(tables.errors[place]), gains[place]) for place, kind in enumerate(ERROR_KINDS)}

    async def operating_points(self, system: System, judge: Judge) -> Mapping[float, tuple[Scores, Scores]]:
        candidates = (found for annotation in system.accounts.values() for found in annotation.candidates)
        if all(found.confidence is None for found in candidates):
            return {}
        tables = await threshold_tables(self.references, system.accounts, judge, self.config)
        sums = corpus_sums(tables, self.resamples)
        both = zip(macro_scores(sums, self.config), micro_scores(sums, self.config), strict=True)
        return dict(zip(THRESHOLDS, both, strict=True))


COUNTED = ("references", "predictions", "matched", "unjudgeable", "references_not_looked_for", "predictions_blank")
"""The columns whose sums a table names beside the scores."""

COUNTED_AT = [COLUMNS.index(name) for name in COUNTED]


def _corpus_counts(pairing: Pairing) -> Mapping[str, int]:
    return {
        "clips": len(pairing.references),
        "clips_with_events": sum(bool(reference.findings) for reference in pairing.references),
        "clean_clips": sum(not reference.findings for reference in pairing.references),
        "reference_events": sum(len(reference.findings) for reference in pairing.references),
        "clips_without_frame_times": sum(reference.frame_times_s is None for reference in pairing.references),
        "unreferenced": len(pairing.unreferenced),
        "unfinished": len(pairing.unfinished),
    }


def _counts(references: Sequence[ClipAnnotation], system: System, tables: SystemTables) -> Mapping[str, int]:
    """How many clips and events are behind a system's scores, and how many are not."""
    events = {name: int(value) for name, value in zip(COUNTED, tables.worst.sum(axis=0)[COUNTED_AT], strict=True)}
    incomplete = {name: len(clips) for name, clips in _absent(references, system, tables).items()}
    return {"clips": len(references), **incomplete, **events}


def _absent(
    references: Sequence[ClipAnnotation], system: System, tables: SystemTables
) -> Mapping[str, tuple[str, ...]]:
    said = {reference.clip_id: system.accounts.get(reference.clip_id) for reference in references}
    return {
        "missing": tuple(name for name, annotation in said.items() if annotation is None),
        "unscored": tuple(
            name for name, annotation in said.items() if annotation is not None and not scored(annotation)
        ),
        "partial": tuple(
            name for name, annotation in said.items() if annotation is not None and annotation.status == "partial"
        ),
        "undecided": tuple(
            name for name, annotation in said.items() if annotation is not None and _undecided(annotation)
        ),
        "unjudged": tables.unjudged,
    }


def _undecided(annotation: ClipAnnotation) -> bool:
    """Whether an account is complete and reports nothing, but leaves dimensions out."""
    return annotation.nothing_found and not annotation.clean


def _comparisons(tables: Matrix, resamples: Resamples, config: EvaluationConfig) -> Mapping[str, Comparisons]:
    if len(tables) < 2:
        return {}
    sums = corpus_sums(tables, resamples)
    found = {}
    for place, (name, metric) in enumerate(METRICS.items()):
        values = select_metric(macro, place)
        if metric.level == "events":
            pairs = pairwise_mean_differences(metric.per_clip(tables), resamples, level=config.level)
        elif name in SHARED and resamples.of is None:
            hits, among = (tables[..., COLUMNS.index(column)] for column in SHARED[name])
            pairs = pairwise_share_differences(hits[:, among[0] > 0] > 0, level=config.level)
        else:
            pairs = pairwise_differences(sums, values, level=config.level, share=True)
        found[name] = Comparisons(pairs, ranks(sums, values, level=config.level))
    return found


SHARED = {"clean_accuracy": ("clean_found", "clean"), "detection_recall": ("faulty_found", "faulty")}
"""Shares of clips that are the same for every system, with the columns of those that are so and of all."""
