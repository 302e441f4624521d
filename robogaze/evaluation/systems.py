"""Every system of a pairing: judged, matched, counted, estimated and compared.

pairing -> similarities (a judge) -> matches -> rows -> estimates
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.evaluation.clip_fields import field_of, field_values, known_fields
from robogaze.evaluation.clip_rows import F1_COLUMNS, Groups
from robogaze.evaluation.comparisons import compare_systems, gains
from robogaze.evaluation.config import DIMENSION_BONUSES, STRATA, UNITS, EvaluationConfig
from robogaze.evaluation.estimates import (
    Matrix,
    Scores,
    corpus_sums,
    error_costs,
    group_estimates,
    macro_scores,
    mean_of_strata,
    micro_scores,
    stratum_rows,
    usage_per_clip,
)
from robogaze.evaluation.results import (
    BOUNDED,
    Bounds,
    Evaluation,
    Floor,
    NamedMatch,
    SystemResult,
)
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
from robogaze.metrics.scores import METRICS
from robogaze.metrics.tally import COLUMNS, scored
from robogaze.stats.paired import Difference, pairwise_mean_differences
from robogaze.stats.resample import Resamples, draw_resamples

_COUNTED = ("references", "predictions", "matched", "unjudgeable", "references_not_looked_for", "predictions_blank")
"""The columns whose sums are reported next to the scores."""

_COUNTED_AT = [COLUMNS.index(name) for name in _COUNTED]


async def evaluate_pairing(
    pairing: Pairing, judge: Judge, config: EvaluationConfig, by: Sequence[str] = ()
) -> Evaluation:
    """Score every system against the references; `by` names clip fields by which the results are broken down.

    Raises InputError for a field that no clip has, and for a baseline that is not one of the systems. Also raises
    InputError if the convention needs times and no reference event has a time.
    """
    references = pairing.references
    baseline = _baseline(pairing, config)
    _check_times(references, config)
    _check_fields(by, known_fields(references))
    given = sorted({name for reference in references for name in reference.fields})
    _check_fields([name for name in (config.strata, config.units) if name not in (STRATA, UNITS)], given)
    strata = tuple(reference.fields.get(config.strata, "") for reference in references)
    units = [reference.fields.get(config.units) or (reference.clip_id,) for reference in references]
    resamples = draw_resamples(strata, config.resamples, np.random.default_rng(config.seed), units)
    annotations = list(chain(references, *(system.annotations.values() for system in pairing.systems)))
    groups = Groups(groups_in(annotations, dimension_of), groups_in(annotations, type_of))
    scorer = _Scorer(references, strata, units, resamples, config, groups, tuple(by), judge)
    tables = [await system_tables(references, system.annotations, judge, config, groups) for system in pairing.systems]
    bases = np.stack([table.base for table in tables])
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
        systems=tuple(
            [await scorer.system(system, table) for system, table in zip(pairing.systems, tables, strict=True)]
        ),
        controls=await scorer.controls(),
        comparisons=compare_systems(bases, resamples, config, baseline),
        gains_by={} if baseline is None else {field: scorer.gains_by(bases, field, baseline) for field in by},
    )


def _baseline(pairing: Pairing, config: EvaluationConfig) -> int | None:
    """The position of the baseline among the systems; None without a baseline."""
    names = [system.name for system in pairing.systems]
    if config.baseline is None:
        return None
    if config.baseline not in names:
        raise InputError(f"the baseline {config.baseline} is not among the predictions: {', '.join(names)}")
    return names.index(config.baseline)


def _check_times(references: Sequence[ClipAnnotation], config: EvaluationConfig) -> None:
    events = [event for reference in references for event in reference.findings]
    if config.use != "similarity" and events and not any(event.spans for event in events):
        raise InputError(
            f"no reference event has a time, but the convention {config.convention} matches by time; "
            "use --convention descriptions to match by descriptions alone"
        )


def _check_fields(wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            raise InputError(f"no clip with a reference has the field {name}; fields: {', '.join(known) or 'none'}")


@dataclass(frozen=True)
class _Scorer:
    """Scores one system after another, with the data that all systems share."""

    references: tuple[ClipAnnotation, ...]
    strata: tuple[str, ...]
    units: Sequence[Hashable]
    resamples: Resamples
    config: EvaluationConfig
    groups: Groups
    by: tuple[str, ...]
    judge: Judge

    async def system(self, system: System, tables: SystemTables) -> SystemResult:
        (macro_of_system,), (micro_of_system,) = self._scores(tables.base[None])
        return SystemResult(
            system=system,
            counts=_counts(self.references, system, tables),
            incomplete=_incomplete(self.references, system, tables),
            macro=macro_of_system,
            micro=micro_of_system,
            strata_mean=mean_of_strata(tables.base, self.strata, self.resamples, self.config),
            bounds=self._bounds(tables),
            usage=usage_per_clip(
                [system.annotations.get(reference.clip_id) for reference in self.references],
                self.resamples,
                self.config,
            ),
            by={field: self._by_field(tables.base, field) for field in self.by},
            dimensions=self._by_group(tables.dimensions, self.groups.dimensions),
            types=self._by_group(tables.types, self.groups.types),
            confusion=tables.confusion,
            error_costs=self._error_costs(tables),
            by_bonus=dict(zip(DIMENSION_BONUSES, self._scores(tables.by_bonus)[0], strict=True)),
            operating_points=await self._operating_points(system) if self.config.sweep else {},
            floor=await self._floor(system, tables.base) if self.config.floors else None,
            matches=tuple(self._named_matches(system, tables)),
        )

    async def controls(self) -> Mapping[str, tuple[Scores, Scores]]:
        """Macro and micro scores of every control, and of the type prior, by name."""
        tables = dict(zip(CONTROLS, control_tables(self.references, self.config), strict=True))
        if self.config.floors:
            prior = type_prior(self.references, self.units)
            tables[TYPE_PRIOR] = await floor_table(self.references, prior, self.judge, self.config)
        return dict(zip(tables, zip(*self._scores(np.stack(list(tables.values()))), strict=True), strict=True))

    def _scores(self, tables: Matrix) -> tuple[list[Scores], list[Scores]]:
        """Macro and micro scores of each table of a stack."""
        sums = corpus_sums(tables, self.resamples)
        return macro_scores(sums, self.config), micro_scores(sums, self.config)

    async def _floor(self, system: System, base: Matrix) -> Floor:
        rng = np.random.default_rng(self.config.seed)
        moved = shuffled(self.references, system.annotations, self.strata, self.units, rng)
        table = await floor_table(self.references, moved, self.judge, self.config)
        (macro_of_floor,), (micro_of_floor,) = self._scores(table[None])
        per_clip = METRICS["desc_f1"].per_clip(np.stack([base, table]))
        (above,) = pairwise_mean_differences(per_clip, self.resamples, level=self.config.level)
        return Floor(macro_of_floor, micro_of_floor, above)

    def _named_matches(self, system: System, tables: SystemTables) -> Iterator[tuple[NamedMatch, ...]]:
        for clip, matches in zip(self.references, tables.matches, strict=True):
            events = system.annotations[clip.clip_id].findings if matches else ()
            yield tuple(
                NamedMatch(clip.findings[match.reference].id, events[match.prediction].id, match.similarity, match.iou)
                for match in matches
            )

    def _bounds(self, tables: SystemTables) -> Bounds | None:
        if not tables.unjudged:
            return None
        both = self._scores(np.stack([tables.worst, tables.best]))[0]
        worst, best = ({name: scores[name] for name in BOUNDED} for scores in both)
        return Bounds(len(tables.unjudged), worst, best)

    def _by_field(self, table: Matrix, field: str) -> Mapping[str, Scores]:
        names, parts = self._parts(table, field)
        return dict(zip(names, self._scores(parts)[0], strict=True))

    def gains_by(self, tables: Matrix, field: str, baseline: int) -> Mapping[str, Mapping[str, tuple[Difference, ...]]]:
        """The gains over the baseline for each value of a clip field, from tables (systems, clips, columns)."""
        names, parts = self._parts(tables, field)
        return {
            name: gains(part, self.resamples, self.config, baseline) for name, part in zip(names, parts, strict=True)
        }

    def _parts(self, tables: Matrix, field: str) -> tuple[list[str], Matrix]:
        """The values of a field, and the tables with zeros in the rows of all other values."""
        values, names = [field_of(clip, field) for clip in self.references], field_values(self.references, field)
        return names, np.stack([stratum_rows(tables, values, name) for name in names])

    def _by_group(self, tables: Matrix, names: Sequence[str]) -> Mapping[str, Scores]:
        return dict(zip(names, group_estimates(tables, self.resamples, self.config), strict=True)) if names else {}

    def _error_costs(self, tables: SystemTables) -> Mapping[str, tuple[int, Estimate]]:
        gains = error_costs(tables.base[:, F1_COLUMNS], tables.repaired, self.resamples, self.config)
        return {kind: (int(tables.errors[place]), gains[place]) for place, kind in enumerate(ERROR_KINDS)}

    async def _operating_points(self, system: System) -> Mapping[float, tuple[Scores, Scores]]:
        candidates = (event for annotation in system.annotations.values() for event in annotation.candidates)
        if all(event.confidence is None for event in candidates):
            return {}
        tables = await threshold_tables(self.references, system.annotations, self.judge, self.config)
        return dict(zip(THRESHOLDS, zip(*self._scores(tables), strict=True), strict=True))


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
    """How many clips and events a system's scores are computed from, and how many are incomplete."""
    events = {name: int(value) for name, value in zip(_COUNTED, tables.worst.sum(axis=0)[_COUNTED_AT], strict=True)}
    incomplete = {name: len(clips) for name, clips in _incomplete(references, system, tables).items()}
    return {"clips": len(references), **incomplete, **events}


def _incomplete(
    references: Sequence[ClipAnnotation], system: System, tables: SystemTables
) -> Mapping[str, tuple[str, ...]]:
    predictions = {reference.clip_id: system.annotations.get(reference.clip_id) for reference in references}
    given = {clip_id: prediction for clip_id, prediction in predictions.items() if prediction is not None}
    return {
        "missing": tuple(clip_id for clip_id in predictions if clip_id not in given),
        "unscored": tuple(clip_id for clip_id, prediction in given.items() if not scored(prediction)),
        "partial": tuple(clip_id for clip_id, prediction in given.items() if prediction.status == "partial"),
        # Complete and without an event, but not examined in every dimension.
        "undecided": tuple(
            clip_id for clip_id, prediction in given.items() if prediction.nothing_found and not prediction.clean
        ),
        "unjudged": tables.unjudged,
    }
