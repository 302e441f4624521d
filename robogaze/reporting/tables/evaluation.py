"""An evaluation as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from robogaze.evaluation.config import MIN_UNITS
from robogaze.evaluation.estimates import GROUP_METRICS, Scores
from robogaze.evaluation.released import ReleasedScores
from robogaze.evaluation.results import BOUNDED, Bounds, Evaluation, SystemResult
from robogaze.evaluation.robustness import robustness
from robogaze.judges import offline
from robogaze.judges.base import Judge
from robogaze.metrics.controls import CONTROLS, SHUFFLED_RULE, TYPE_PRIOR, TYPE_PRIOR_RULE
from robogaze.metrics.scores import METRICS
from robogaze.reporting.tables.forms import file_name
from robogaze.reporting.tables.table import ResultTable, Row, TablePart, cell_text
from robogaze.reporting.wording import count

HEADLINE = ("desc_f1", "miou", "f1_iou", "severity_within1", "clean_accuracy", "detection_f1")
"""The metrics of the first table: the metrics of the paper's main table, and detection."""

SWEPT = ("desc_precision", "desc_recall", "desc_f1", "f1_iou", "clean_accuracy", "detection_recall")
"""The metrics of the operating points (RoboGaze, Table 23)."""
UNNAMED = "(none given)"
BRIEF = (
    "scores", "scores-data-sets", "judges", "by-dimension", "losses", "operating", "bounds", "pairs-desc_f1",
    "ranks-desc_f1",
)  # fmt: skip
"""The tables that a terminal shows, in addition to the tables of `--by`."""


def brief(tables: Iterable[ResultTable], by: Sequence[str]) -> list[ResultTable]:
    """The tables that a terminal shows."""
    wanted = {*BRIEF, *(f"by-{field}" for field in by)}
    return [table for table in tables if table.name in wanted or (table.part and table.part.file in wanted)]


def evaluation_tables(result: Evaluation) -> Iterator[ResultTable]:
    """Every table, the scores first; each names the judge in its notes."""
    judge = judge_note(result)
    for table in _tables(result):
        yield table if judge in table.notes else replace(table, notes=(*table.notes, judge))


def _tables(result: Evaluation) -> Iterator[ResultTable]:
    notes = evaluation_notes(result)
    metrics = (metric_name(result, name) for name in HEADLINE)
    yield ResultTable("scores", "Scores, mean over clips", ("system", *metrics), tuple(_headline(result)), notes)
    yield from _data_sets(result)
    for system in result.systems:
        yield _metrics(system, result, notes)
        yield from _breakdowns(system, result)
        yield _losses(system)
        if result.config.use == "similarity*iou*bonus":
            yield _lambdas(system)
        if system.operating_points:
            yield _operating_points(system)
        if system.bounds:
            yield _bounds(system, system.bounds)
    yield from _comparisons(result)


def judge_note(result: Evaluation) -> str:
    """The judge of the descriptions and its quality."""
    return f"Judge {result.judge}: {result.judge_note}"


def robustness_table(first: Evaluation, second: Evaluation) -> ResultTable:
    """The scores of the same systems under another judge."""
    before, after = ({system.name: system.macro for system in result.systems} for result in (first, second))
    rows: tuple[Row, ...] = tuple(
        (
            change.metric,
            change.spearman,
            change.difference,
            change.largest,
            ", ".join(f"{a} / {b}" for a, b in change.swapped) or "none",
        )
        for change in robustness(before, after, HEADLINE)
    )
    columns = ("metric", "Spearman over systems", "mean difference", "largest difference", "pairs that change order")
    failed = [
        f"{result.judge} failed in {count(system.counts['unjudged'], 'clip')} of {system.name}."
        for result in (first, second)
        for system in result.systems
        if system.counts["unjudged"]
    ]
    notes = (judge_note(first), judge_note(second), *failed)
    return ResultTable("judges", f"{second.judge} against {first.judge}", columns, rows, notes)


def evaluation_notes(result: Evaluation) -> tuple[str, ...]:
    """The conditions of the scores, the clips that are left out, and warnings."""
    counts = result.counts
    corpus = (
        f"{count(counts['clips'], 'clip')} with a reference: {counts['clips_with_events']} with events, "
        f"{counts['clean_clips']} clean."
    )
    return (method_note(result), *evaluation_warnings(result), judge_note(result), corpus, *_rules(result))


def method_note(result: Evaluation) -> str:
    """The convention, the axis of the IoU and the intervals."""
    terms = result.config
    return (
        f"Convention {terms.convention}, {terms.normalisation} normalisation, IoU on {_axis(result)}; "
        f"{100 * terms.level:g}% {_intervals(result)}{_strata(result)}, seed {terms.seed}."
    )


def evaluation_warnings(result: Evaluation) -> Iterator[str]:
    """What limits the result: few units, the judge, missing or unfinished clips, systems that do not beat a floor."""
    yield from _few_units(result)
    yield from _judge_caution(result)
    for system in result.systems:
        if absent := _absent(system):
            yield f"{system.name}: {absent}."
    if result.unfinished:
        yield _left_out(result.unfinished, "the reference is not finished")
    if result.left_out:
        parts = count(len(result.left_out), "part")
        yield f"{parts} of the files did not fit and were left out: {_first(result.left_out)}."
    if result.unreferenced:
        yield _left_out(result.unreferenced, "there is no reference")
    yield from _not_above_floor(result)


def _rules(result: Evaluation) -> Iterator[str]:
    """The definitions of the floors and upper bounds."""
    for name in result.controls:
        if name == TYPE_PRIOR:
            yield f"Floor {name} {TYPE_PRIOR_RULE}"
        else:
            yield f"{'Upper bound' if CONTROLS[name].oracle else 'Floor'} {name} {CONTROLS[name].rule}"
    yield "An upper bound is the most that a guess can reach under any judge; a good system may be below it."
    if any(system.floor for system in result.systems):
        yield SHUFFLED_RULE


def _not_above_floor(result: Evaluation) -> Iterator[str]:
    for system in result.systems:
        if system.floor is None or (system.floor.above.significant and system.floor.above.difference.value > 0):
            continue
        difference = cell_text(system.floor.above.difference)
        yield (
            f"Warning: {system.name} is not significantly above its floor in desc_f1 (difference {difference}): the "
            "scores do not show that it uses the clips."
        )


def _data_sets(result: Evaluation) -> Iterator[ResultTable]:
    """The paper's headline, if there are several data sets."""
    field = result.config.strata
    data_sets = len({clip.fields.get(field, "") for clip in result.clips})
    if data_sets > 1:
        metrics = [metric_name(result, metric) for metric in HEADLINE]
        rows: tuple[Row, ...] = tuple(
            (system.name, *(system.strata_mean[metric] for metric in metrics)) for system in result.systems
        )
        title = f"Scores, mean over {data_sets} data sets ({field}): the headline of the RoboGaze paper"
        notes = (f"n counts values of {field}.",)
        yield ResultTable("scores-data-sets", title, ("system", *metrics), rows, notes)


def _intervals(result: Evaluation) -> str:
    terms, units = result.config, result.counts["units"]
    of = "clips" if units == result.counts["clips"] else f"{units:,} values of {terms.units}"
    if terms.interval == "student":
        return f"intervals (Student's t) over the {of}"
    return f"{terms.interval} intervals from {terms.resamples:,} resamples of the {of}"


def _strata(result: Evaluation) -> str:
    field = result.config.strata
    return f" within each {field}" if any(field in clip.fields for clip in result.clips) else ""


def _axis(result: Evaluation) -> str:
    without = result.counts["clips_without_frame_times"]
    if result.config.iou == "exact":
        return "the time axis"
    return f"frames ({count(without, 'clip')} without frame times: on the time axis)" if without else "frames"


def _left_out(names: Sequence[str], why: str) -> str:
    return f"{count(len(names), 'clip')} left out because {why}: {_first(names)}."


_ABSENT = {
    "missing": ("clip", "without a prediction (their events count as missed)"),
    "unscored": ("clip", "unscored (their events count as missed)"),
    "partial": ("clip", "partial (never clean)"),
    "undecided": (
        "clip",
        "without an event, but not examined in every dimension (clean only where the reference covers no other)",
    ),
    "unjudged": ("clip", "with a failed judgement (left out; see the bounds)"),
    "unjudgeable": ("event", "predicted in dimensions that the reference does not cover (not counted)"),
    "predictions_blank": ("event", "predicted without a time, dimension or severity that the reference has (wrong)"),
    "references_not_looked_for": ("event", "in dimensions that the system does not examine (missed)"),
}


def _absent(system: SystemResult) -> str:
    parts = []
    for name, (noun, words) in _ABSENT.items():
        if number := system.counts[name]:
            clips = system.incomplete.get(name, ())
            parts.append(f"{count(number, noun)} {words}" + (f": {_first(clips)}" if clips else ""))
    return "; ".join(parts)


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if names[3:] else "")


def metric_name(result: Evaluation, name: str) -> str:
    """A metric's name under the normalisation of the evaluation."""
    strict = f"{name}_strict"
    return strict if result.config.normalisation == "strict" and strict in METRICS else name


def _headline(result: Evaluation) -> Iterator[Row]:
    rows = [(system.name, system.macro) for system in result.systems]
    rows += [(f"floor of {system.name}", system.floor.macro) for system in result.systems if system.floor]
    rows += [(_control(name), macro) for name, (macro, _) in result.controls.items()]
    for name, scores in rows:
        yield name, *(scores[metric_name(result, metric)] for metric in HEADLINE)


def _metrics(system: SystemResult, result: Evaluation, notes: tuple[str, ...]) -> ResultTable:
    floors = [system.floor] if system.floor else []
    rows: tuple[Row, ...] = tuple(
        (
            name,
            system.macro[name],
            system.strata_mean[name],
            system.micro[name],
            *(floor.macro[name] for floor in floors),
            *(macro[name] for macro, _ in result.controls.values()),
        )
        for name in METRICS
    )
    scores = ("macro (over clips)", f"mean over {result.config.strata}s", "micro (over the corpus)")
    columns = ("metric", *scores, *("its floor" for _ in floors), *(_control(name) for name in result.controls))
    return _of_system(system, "metrics", "every metric", columns, rows, notes)


def _of_system(
    system: SystemResult, what: str, title: str, columns: tuple[str, ...], rows: tuple[Row, ...],
    notes: tuple[str, ...] = (),
) -> ResultTable:  # fmt: skip
    part = TablePart(what, "system", system.name)
    return ResultTable(file_name(system.name, what), f"{system.name}: {title}", columns, rows, notes, part)


def _control(name: str) -> str:
    if name == TYPE_PRIOR or not CONTROLS[name].oracle:
        return f"floor: {name}"
    return f"upper bound: {name}, S = 1"


def _breakdowns(system: SystemResult, result: Evaluation) -> Iterator[ResultTable]:
    for name, groups in (("dimension", system.dimensions), ("type", system.types)):
        yield _by(system, name, "over all events", groups, GROUP_METRICS)
    for field, values in system.by.items():
        yield _by(system, field, "mean over clips", values, [metric_name(result, metric) for metric in HEADLINE])
    names = [name or UNNAMED for name in result.dimensions]
    lines = zip([*names, "spurious"], system.confusion, strict=True)
    rows: tuple[Row, ...] = tuple((name, *(int(number) for number in line)) for name, line in lines)
    title = "reference dimension (rows) by predicted dimension (columns)"
    yield _of_system(system, "confusion", title, ("reference", *names, "missed"), rows)


def _by(
    system: SystemResult, field: str, over: str, values: Mapping[str, Scores], metrics: Sequence[str]
) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (value or UNNAMED, *(scores[metric] for metric in metrics)) for value, scores in values.items()
    )
    return _of_system(system, f"by-{field}", f"by {field}, {over}", (field, *metrics), rows)


def _losses(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple((kind, errors, gain) for kind, (errors, gain) in system.error_costs.items())
    note = (
        f"Description F1 over the corpus is {cell_text(system.micro['desc_f1'])}. Each row is the gain if only that "
        "kind of error were repaired. The gains do not add up because repairs interact."
    )
    columns = ("error", "errors", "F1 gained by repair")
    return _of_system(system, "losses", "the cost of each kind of error", columns, rows, (note,))


def _lambdas(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{bonus:g}", *(scores[name] for name in HEADLINE)) for bonus, scores in system.by_bonus.items()
    )
    note = "The bonus decides which events are matched; the value of a match is its S and does not depend on the bonus."
    title = "by the bonus for a shared dimension (lambda)"
    return _of_system(system, "lambda", title, ("lambda", *HEADLINE), rows, (note,))


def _operating_points(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{least:.2f}", *(macro[name] for name in SWEPT)) for least, (macro, _) in system.operating_points.items()
    )
    note = "From the accepted and rejected hypotheses in the reports; no model is queried again."
    title = "by the minimum confidence of an event"
    return _of_system(system, "operating", title, ("confidence", *SWEPT), rows, (note,))


def _bounds(system: SystemResult, bounds: Bounds) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (name, bounds.worst[name].value, system.macro[name], bounds.best[name].value) for name in BOUNDED
    )
    title = f"{count(bounds.clips, 'clip')} with a failed judgement"
    columns = ("metric", "at least", "without these clips", "at most")
    return _of_system(system, "bounds", title, columns, rows)


def _comparisons(result: Evaluation) -> Iterator[ResultTable]:
    names = [system.name for system in result.systems]
    for metric in (metric_name(result, name) for name in HEADLINE):
        found = result.comparisons.get(metric)
        if found is None:
            return
        rows: tuple[Row, ...] = tuple(
            (
                f"{names[pair.first]} - {names[pair.second]}",
                pair.difference,
                pair.p,
                pair.holm,
                pair.fdr,
                pair.min_detectable,
                pair.verdict(result.config.margin),
            )
            for pair in found.pairs
        )
        warnings = (*_few_units(result), *_judge_caution(result))
        columns = ("pair", "difference", "p", "p (Holm)", "p (FDR)", "smallest detectable", "verdict")
        title = f"{metric}: paired differences over the same clips"
        part = TablePart("pairs", "metric", metric)
        yield ResultTable(f"pairs-{metric}", title, columns, rows, (PAIRS, *warnings), part)
        ranks: tuple[Row, ...] = tuple(
            (name, rank.rank, rank.first) for name, rank in zip(names, found.ranks, strict=True)
        )
        part = TablePart("ranks", "metric", metric)
        yield ResultTable(f"ranks-{metric}", f"{metric}: ranks", RANKED, ranks, warnings, part)


RANKED = ("system", "rank", "share of first places")

PAIRS = (
    "The verdict follows from p (Holm), adjusted for the number of pairs. If no difference is significant, it "
    "gives the largest difference that is not excluded (two one-sided tests)."
)


def _judge_caution(result: Evaluation) -> Iterator[str]:
    """A warning about rankings by the offline judge."""
    if result.judge == offline.NAME and len(result.systems) > 1:
        yield offline.CAUTION


def _few_units(result: Evaluation) -> Iterator[str]:
    """A warning if there are too few units for exact intervals and p."""
    if result.counts["units"] < MIN_UNITS:
        units = count(result.counts["units"], "unit")
        yield (
            f"Warning: {units} (clips, or prompts where clips share one). Below {MIN_UNITS} units intervals are "
            "approximate: with 20 units, 95% intervals covered the true value in 92 to 99% of trials "
            "(docs/metrics/coverage.md)."
        )


def released_tables(results: Sequence[ReleasedScores], judge: Judge, convention: str) -> Iterator[ResultTable]:
    """The metrics of a released evaluator, with its metrics by dimension if it has any."""
    notes = [
        f"Convention {convention}.",
        "These are the numbers of a released evaluator, quirks included (docs/metrics/conventions.md).",
        f"Judge {judge.name}: {judge.note}",
    ]
    notes += [
        f"{system.name}: {count(len(system.dropped), 'clip')} without a scored prediction, left out of all means."
        for system in results
        if system.dropped
    ]
    for name, title, scores in (
        ("scores", "Scores", [system.metrics for system in results]),
        ("by-dimension", "Description F1 by dimension", [system.per_dimension for system in results]),
    ):
        columns = tuple(dict.fromkeys(metric for row in scores for metric in row))
        if columns:
            rows: tuple[Row, ...] = tuple(
                (system.name, *(row.get(metric) for metric in columns))
                for system, row in zip(results, scores, strict=True)
            )
            yield ResultTable(f"released-{name}", title, ("system", *columns), rows, tuple(notes))
