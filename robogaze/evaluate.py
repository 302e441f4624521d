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
from robogaze.judges.base import Judge
from robogaze.metrics.breakdown import dimension_of, groups_in, type_of
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.faults import KINDS
from robogaze.metrics.floors import TYPE_PRIOR, shuffled, type_prior
from robogaze.metrics.operating import THRESHOLDS
from robogaze.metrics.scores import METRICS, macro
from robogaze.metrics.tally import COLUMNS, scored
from robogaze.scoring.config import LAMBDAS, STRATA, EvaluationConfig
from robogaze.scoring.controls import control_tables, floor_table
from robogaze.scoring.estimates import (
    Matrix,
    Scores,
    group_estimates,
    loss_estimates,
    macro_scores,
    mean_of_strata,
    micro_scores,
    of_stratum,
    one_of,
    totals,
)
from robogaze.scoring.rows import F1_AT, Groups
from robogaze.scoring.tables import Tables, system_tables, threshold_tables
from robogaze.stats.paired import Difference, Rank, compare, compare_means, compare_shares, ranks
from robogaze.stats.resample import Resamples, draw

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
    absent: Mapping[str, tuple[str, ...]]
    macro: Scores
    micro: Scores
    strata_mean: Scores
    bounds: Bounds | None
    by: Mapping[str, Mapping[str, Scores]]
    dimensions: Mapping[str, Scores]
    types: Mapping[str, Scores]
    confusion: Matrix
    losses: Mapping[str, tuple[int, Estimate]]
    lambdas: Mapping[float, Scores]
    operating: Mapping[float, tuple[Scores, Scores]]
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

    terms: EvaluationConfig
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


async def evaluate(pairing: Pairing, judge: Judge, terms: EvaluationConfig, by: Sequence[str] = ()) -> Evaluation:
    """Score every system against the references; `by` names clip fields to break the results down by."""
    references = pairing.references
    if terms.use != "similarity" and not any(found.spans for one in references for found in one.findings):
        _refuse_timeless(references, terms)
    _check_fields(references, (*by, *((terms.strata,) if terms.strata != STRATA else ())))
    strata = tuple(one.fields.get(terms.strata, "") for one in references)
    units = [one.fields.get(terms.units) or (one.clip_id,) for one in references]
    resamples = draw(strata, terms.resamples, np.random.default_rng(terms.seed), units)
    everyone = list(chain(references, *(system.annotations.values() for system in pairing.systems)))
    groups = Groups(groups_in(everyone, dimension_of), groups_in(everyone, type_of))
    context = _Context(references, strata, units, resamples, terms, groups, tuple(by))
    tables = [await system_tables(references, one.annotations, judge, terms, groups) for one in pairing.systems]
    results = [await context.result(one, found, judge) for one, found in zip(pairing.systems, tables, strict=True)]
    return Evaluation(
        terms=terms,
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
        comparisons=_comparisons(np.stack([one.base for one in tables]), resamples, terms),
    )


def _refuse_timeless(references: Sequence[ClipAnnotation], terms: EvaluationConfig) -> None:
    if any(one.findings for one in references):
        raise InputError(
            f"no reference event has a time, and the convention {terms.convention} matches by time; "
            "--convention descriptions matches by descriptions alone"
        )


def _check_fields(references: Sequence[ClipAnnotation], wanted: Sequence[str]) -> None:
    known = sorted({name for one in references for name in one.fields})
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
    terms: EvaluationConfig
    groups: Groups
    by: tuple[str, ...]

    async def result(self, system: System, tables: Tables, judge: Judge) -> SystemResult:
        sums = totals(tables.base[None], self.resamples)
        return SystemResult(
            system=system,
            counts=_counts(self.references, system, tables),
            absent=_absent(self.references, system, tables),
            macro=macro_scores(sums, self.terms)[0],
            micro=micro_scores(sums, self.terms)[0],
            strata_mean=mean_of_strata(tables.base, self.strata, self.resamples, self.terms),
            bounds=self.bounds(tables),
            by={field: self.broken_down(tables.base, field) for field in self.by},
            dimensions=self.grouped(tables.dimensions, self.groups.dimensions),
            types=self.grouped(tables.types, self.groups.types),
            confusion=tables.confusion,
            losses=self.losses(tables),
            lambdas=dict(zip(LAMBDAS, macro_scores(totals(tables.lambdas, self.resamples), self.terms), strict=True)),
            operating=await self.operating(system, judge),
            floor=await self.floor(system, tables.base, judge) if self.terms.floors else None,
            matches=tuple(self.named(system, tables)),
        )

    async def controls(self, judge: Judge) -> Mapping[str, tuple[Scores, Scores]]:
        """Macro and micro scores of every control, and of the type prior, by name."""
        tables = dict(zip(CONTROLS, control_tables(self.references, self.terms), strict=True))
        if self.terms.floors:
            prior = type_prior(self.references, self.units)
            tables[TYPE_PRIOR] = await floor_table(self.references, prior, judge, self.terms)
        sums = totals(np.stack(list(tables.values())), self.resamples)
        both = zip(macro_scores(sums, self.terms), micro_scores(sums, self.terms), strict=True)
        return dict(zip(tables, both, strict=True))

    async def floor(self, system: System, base: Matrix, judge: Judge) -> Floor:
        rng = np.random.default_rng(self.terms.seed)
        said = shuffled(self.references, system.annotations, self.strata, self.units, rng)
        table = await floor_table(self.references, said, judge, self.terms)
        sums = totals(table[None], self.resamples)
        both = METRICS["desc_f1"].per_clip(np.stack([base, table]))
        (above,) = compare_means(both, self.resamples, level=self.terms.level)
        return Floor(macro_scores(sums, self.terms)[0], micro_scores(sums, self.terms)[0], above)

    def named(self, system: System, tables: Tables) -> Iterator[tuple[NamedMatch, ...]]:
        for clip, found in zip(self.references, tables.matches, strict=True):
            said = system.annotations[clip.clip_id].findings if found else ()
            yield tuple(
                NamedMatch(clip.findings[one.reference].id, said[one.prediction].id, one.similarity, one.iou)
                for one in found
            )

    def bounds(self, tables: Tables) -> Bounds | None:
        if not tables.unjudged:
            return None
        both = macro_scores(totals(np.stack([tables.worst, tables.best]), self.resamples), self.terms)
        worst, best = ({name: scores[name] for name in BOUNDED} for scores in both)
        return Bounds(len(tables.unjudged), worst, best)

    def broken_down(self, table: Matrix, field: str) -> Mapping[str, Scores]:
        values = [one.fields.get(field, "") for one in self.references]
        names = sorted(set(values))
        parts = np.stack([of_stratum(table, values, name) for name in names])
        return dict(zip(names, macro_scores(totals(parts, self.resamples), self.terms), strict=True))

    def grouped(self, tables: Matrix, names: Sequence[str]) -> Mapping[str, Scores]:
        return dict(zip(names, group_estimates(tables, self.resamples, self.terms), strict=True)) if names else {}

    def losses(self, tables: Tables) -> Mapping[str, tuple[int, Estimate]]:
        gains = loss_estimates(tables.base[:, F1_AT], tables.repaired, self.resamples, self.terms)
        return {kind: (int(tables.faults[place]), gains[place]) for place, kind in enumerate(KINDS)}

    async def operating(self, system: System, judge: Judge) -> Mapping[float, tuple[Scores, Scores]]:
        candidates = (found for one in system.annotations.values() for found in one.candidates)
        if all(found.confidence is None for found in candidates):
            return {}
        tables = await threshold_tables(self.references, system.annotations, judge, self.terms)
        sums = totals(tables, self.resamples)
        both = zip(macro_scores(sums, self.terms), micro_scores(sums, self.terms), strict=True)
        return dict(zip(THRESHOLDS, both, strict=True))


COUNTED = ("references", "predictions", "matched", "unjudgeable", "references_not_looked_for", "predictions_blank")
"""The columns whose sums a table names beside the scores."""

COUNTED_AT = [COLUMNS.index(name) for name in COUNTED]


def _corpus_counts(pairing: Pairing) -> Mapping[str, int]:
    return {
        "clips": len(pairing.references),
        "clips_with_events": sum(bool(one.findings) for one in pairing.references),
        "clean_clips": sum(not one.findings for one in pairing.references),
        "reference_events": sum(len(one.findings) for one in pairing.references),
        "clips_without_frame_times": sum(one.frame_times_s is None for one in pairing.references),
        "unreferenced": len(pairing.unreferenced),
        "unfinished": len(pairing.unfinished),
    }


def _counts(references: Sequence[ClipAnnotation], system: System, tables: Tables) -> Mapping[str, int]:
    """How many clips and events are behind a system's scores, and how many are not."""
    events = {name: int(value) for name, value in zip(COUNTED, tables.worst.sum(axis=0)[COUNTED_AT], strict=True)}
    absent = {name: len(clips) for name, clips in _absent(references, system, tables).items()}
    return {"clips": len(references), **absent, **events}


def _absent(references: Sequence[ClipAnnotation], system: System, tables: Tables) -> Mapping[str, tuple[str, ...]]:
    said = {one.clip_id: system.annotations.get(one.clip_id) for one in references}
    return {
        "missing": tuple(name for name, one in said.items() if one is None),
        "unscored": tuple(name for name, one in said.items() if one is not None and not scored(one)),
        "partial": tuple(name for name, one in said.items() if one is not None and one.status == "partial"),
        "undecided": tuple(name for name, one in said.items() if one is not None and _undecided(one)),
        "unjudged": tables.unjudged,
    }


def _undecided(account: ClipAnnotation) -> bool:
    """Whether an account is complete and reports nothing, but leaves dimensions out."""
    return account.nothing_found and not account.clean


def _comparisons(tables: Matrix, resamples: Resamples, terms: EvaluationConfig) -> Mapping[str, Comparisons]:
    if len(tables) < 2:
        return {}
    sums = totals(tables, resamples)
    found = {}
    for place, (name, metric) in enumerate(METRICS.items()):
        values = one_of(macro, place)
        if metric.level == "events":
            pairs = compare_means(metric.per_clip(tables), resamples, level=terms.level)
        elif name in SHARED and resamples.of is None:
            hits, among = (tables[..., COLUMNS.index(column)] for column in SHARED[name])
            pairs = compare_shares(hits[:, among[0] > 0] > 0, level=terms.level)
        else:
            pairs = compare(sums, values, level=terms.level, share=True)
        found[name] = Comparisons(pairs, ranks(sums, values, level=terms.level))
    return found


SHARED = {"clean_accuracy": ("clean_found", "clean"), "detection_recall": ("faulty_found", "faulty")}
"""Shares of clips that are the same for every system, with the columns of those that are so and of all."""
