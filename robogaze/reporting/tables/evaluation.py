"""An evaluation as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from robogaze.evaluation.estimates import GROUP_METRICS
from robogaze.evaluation.released import ReleasedEvaluation
from robogaze.evaluation.results import BOUNDED, Bounds, Evaluation, SystemResult
from robogaze.evaluation.robustness import robustness
from robogaze.metrics.controls import CONTROLS, TYPE_PRIOR
from robogaze.metrics.scores import METRICS
from robogaze.reporting.tables.evaluation_notes import (
    evaluation_notes,
    few_units,
    judge_caution,
    judge_note,
)
from robogaze.reporting.tables.forms import file_name
from robogaze.reporting.tables.result_table import Cell, ResultTable, Row, TablePart, cell_text
from robogaze.reporting.wording import count, listed
from robogaze.stats.paired import Difference

HEADLINE = ("desc_f1", "miou", "f1_iou", "severe_recall", "clean_accuracy", "detection_f1")
"""The metrics of the first table: the metrics of the second version of RoboGaze, and detection."""

USED = {
    "calls": "calls",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
    "wall_s": "seconds",
    "cost_usd": "US dollars",
}
"""The names of what a system uses per clip."""

SWEPT = ("desc_precision", "desc_recall", "desc_f1", "f1_iou", "clean_accuracy", "detection_recall")
"""The metrics of the operating points (RoboGaze, Table 23)."""
UNNAMED = "(none given)"
BRIEF = (
    "scores", "scores-data-sets", "judges", "by-dimension", "operating", "bounds", "pairs-desc_f1", "ranks-desc_f1",
)  # fmt: skip
"""The tables that a terminal shows, in addition to the tables of errors and of `--by`."""


def brief(result: Evaluation, tables: Iterable[ResultTable]) -> list[ResultTable]:
    """The tables that a terminal shows. They include the cost of errors for a single system, or the number of errors
    for several systems.
    """
    errors = "errors" if len(result.systems) > 1 else "losses"
    wanted = {*BRIEF, errors, *(f"by-{field}" for field in result.systems[0].by)}
    return [table for table in tables if table.name in wanted or (table.part and table.part.file in wanted)]


def evaluation_tables(result: Evaluation) -> Iterator[ResultTable]:
    """All tables, the scores first. The notes of every table name the judge."""
    judge = judge_note(result)
    for table in _tables(result):
        yield table if judge in table.notes else replace(table, notes=(*table.notes, judge))


def _tables(result: Evaluation) -> Iterator[ResultTable]:
    notes = evaluation_notes(result)
    yield _scores(result, notes)
    yield from _data_sets(result)
    yield from _breakdowns(result)
    yield _errors(result)
    for system in result.systems:
        yield _metrics(system, result, notes)
        yield _confusion(system, result)
        yield _losses(system)
        if result.config.use == "similarity*iou*bonus":
            yield _lambdas(system)
        if system.operating_points:
            yield _operating_points(system)
        if system.bounds:
            yield _bounds(system, system.bounds)
    yield from _comparisons(result)


def metric_name(result: Evaluation, name: str) -> str:
    """The id of a metric in this evaluation: under strict normalisation, its strict variant if there is one."""
    strict = f"{name}_strict"
    return strict if result.config.normalisation == "strict" and strict in METRICS else name


def headline(result: Evaluation) -> dict[str, str]:
    """The titles of the HEADLINE metrics, keyed by their ids in this evaluation (see `metric_name`)."""
    return {name: METRICS[name].title for name in (metric_name(result, name) for name in HEADLINE)}


def _scores(result: Evaluation, notes: tuple[str, ...]) -> ResultTable:
    """Systems with their usage, their gains over the baseline, floors and upper bounds."""
    metrics = headline(result)
    used = {
        name: title for name, title in USED.items() if any(system.usage[name].value > 0 for system in result.systems)
    }
    rows: list[Row] = [
        (
            system.name,
            *(system.macro[metric] for metric in metrics),
            *(system.usage[name] if system.usage[name].n else None for name in used),
        )
        for system in result.systems
    ]
    without = (None,) * len(used)
    rows += [(name, *cells, *without) for name, cells in gain_rows(result)]
    others = [(f"floor of {system.name}", system.floor.macro) for system in result.systems if system.floor]
    others += [(_control(name), macro) for name, (macro, _) in result.controls.items()]
    rows += [(name, *(scores[metric] for metric in metrics), *without) for name, scores in others]
    columns = ("system", *metrics.values(), *(f"{title} a clip" for title in used.values()))
    return ResultTable("scores", "Scores, mean over clips", columns, tuple(rows), (*_gain_notes(result), *notes))


def gain_rows(result: Evaluation) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """For every system except the baseline, its name and its gain over the baseline in each HEADLINE metric."""
    pairs = [result.comparisons[metric].pairs for metric in headline(result)] if result.config.baseline else []
    yield from _gains(result, pairs)


def _gains(result: Evaluation, pairs: Sequence[Sequence[Difference]]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    for differences in zip(*pairs, strict=True):
        yield pair_name(result, differences[0]), tuple(pair.difference for pair in differences)


def pair_name(result: Evaluation, pair: Difference) -> str:
    """`first - second`."""
    return f"{result.systems[pair.first].name} - {result.systems[pair.second].name}"


def _gain_notes(result: Evaluation) -> Iterator[str]:
    if not result.config.baseline or len(result.systems) < 2:
        return
    different = [
        f"{pair_name(result, pair)} in {title}"
        for name, title in headline(result).items()
        for pair in result.comparisons[name].pairs
        if pair.significant
    ]
    yield (
        f"Rows NAME - {result.config.baseline} are paired differences over the same clips, including clips "
        f"without a prediction "
        "and unscored clips. Significant differences, by p adjusted for the number of systems (Holm): "
        f"{listed(different) if different else 'none'}."
    )


def robustness_table(first: Evaluation, second: Evaluation) -> ResultTable:
    """The scores of the same systems under another judge."""
    before, after = ({system.name: system.macro for system in result.systems} for result in (first, second))
    rows: tuple[Row, ...] = tuple(
        (
            METRICS[change.metric].title,
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


def _data_sets(result: Evaluation) -> Iterator[ResultTable]:
    """The paper's headline, if there are several data sets."""
    field = result.config.strata
    data_sets = len({clip.fields.get(field, "") for clip in result.clips})
    if data_sets > 1:
        metrics = headline(result)
        rows: tuple[Row, ...] = tuple(
            (system.name, *(system.strata_mean[metric] for metric in metrics)) for system in result.systems
        )
        title = f"Scores, mean over {data_sets} data sets ({field}): the headline of the RoboGaze paper"
        notes = (f"n counts values of {field}.",)
        yield ResultTable("scores-data-sets", title, ("system", *metrics.values()), rows, notes)


def _metrics(system: SystemResult, result: Evaluation, notes: tuple[str, ...]) -> ResultTable:
    floors = [system.floor] if system.floor else []
    rows: tuple[Row, ...] = tuple(
        (
            METRICS[name].title,
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


def _breakdowns(result: Evaluation) -> Iterator[ResultTable]:
    """All systems by dimension, by type, and by the fields of `--by`, with the gains over the baseline."""
    groups = {name: METRICS[name].title for name in GROUP_METRICS}
    by_dimension = {system.name: system.dimensions for system in result.systems}
    yield _by("dimension", "over all events", result.dimensions, by_dimension, groups)
    types = list(result.systems[0].types)
    yield _by("type", "over all events", types, {system.name: system.types for system in result.systems}, groups)
    metrics = headline(result)
    for field in result.systems[0].by:
        scores: dict[str, Mapping[str, Mapping[str, Cell]]] = {
            system.name: system.by[field] for system in result.systems
        }
        values = list(result.systems[0].by[field])
        for value, differences in result.gains_by.get(field, {}).items():
            for name, cells in _gains(result, [differences[metric] for metric in metrics]):
                scores[name] = {**scores.get(name, {}), value: dict(zip(metrics, cells, strict=True))}
        yield _by(field, "mean over clips", values, scores, metrics)


def _by(
    field: str,
    over: str,
    values: Sequence[str],
    scores: Mapping[str, Mapping[str, Mapping[str, Cell]]],
    metrics: Mapping[str, str],
) -> ResultTable:
    """The `scores` by system, value and metric; `metrics` are titles by id."""
    rows: tuple[Row, ...] = tuple(
        (value or UNNAMED, system, *(of_system[value][metric] for metric in metrics))
        for value in values
        for system, of_system in scores.items()
    )
    columns = (field.replace("_", " "), "system", *metrics.values())
    return ResultTable(f"by-{field}", f"By {field.replace('_', ' ')}, {over}", columns, rows)


def _errors(result: Evaluation) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (
            system.name,
            *(system.counts[name] for name in ("references", "predictions", "matched")),
            *(errors for errors, _ in system.error_costs.values()),
        )
        for system in result.systems
    )
    columns = ("system", "reference events", "predicted events", "matched", *result.systems[0].error_costs)
    notes = (
        "Errors of matched pairs: wrong span, dimension or description. Errors of events without a match: "
        "missed, spurious, "
        "duplicate, split, merged, and span or description if the event can be attributed to an event on the "
        "other side (docs/metrics/README.md#errors).",
    )
    return ResultTable("errors", "Errors by kind", columns, rows, notes)


def _confusion(system: SystemResult, result: Evaluation) -> ResultTable:
    names = [name or UNNAMED for name in result.dimensions]
    lines = zip([*names, "spurious"], system.confusion, strict=True)
    rows: tuple[Row, ...] = tuple((name, *(int(number) for number in line)) for name, line in lines)
    title = "reference dimension (rows) by predicted dimension (columns)"
    return _of_system(system, "confusion", title, ("reference", *names, "missed"), rows)


def _losses(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple((kind, errors, gain) for kind, (errors, gain) in system.error_costs.items())
    note = (
        f"Description F1 over the corpus is {cell_text(system.micro['desc_f1'])}. Each row is the gain from "
        f"repairing only that "
        "kind of error. The gains do not add up because repairs interact."
    )
    columns = ("error", "errors", "F1 gained by repair")
    return _of_system(system, "losses", "the cost of each kind of error", columns, rows, (note,))


def _lambdas(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{bonus:g}", *(scores[name] for name in HEADLINE)) for bonus, scores in system.by_bonus.items()
    )
    note = (
        "The bonus decides which events are matched. The value of a match is its similarity S, which does not "
        "depend on the bonus."
    )
    title = "by the bonus for a shared dimension (lambda)"
    return _of_system(system, "lambda", title, ("lambda", *(METRICS[name].title for name in HEADLINE)), rows, (note,))


def _operating_points(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{least:.2f}", *(macro[name] for name in SWEPT)) for least, (macro, _) in system.operating_points.items()
    )
    note = "Computed from the accepted and rejected hypotheses in the reports; no model is queried again."
    title = "by the minimum confidence of an event"
    return _of_system(
        system, "operating", title, ("confidence", *(METRICS[name].title for name in SWEPT)), rows, (note,)
    )


def _bounds(system: SystemResult, bounds: Bounds) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (METRICS[name].title, bounds.worst[name].value, system.macro[name], bounds.best[name].value) for name in BOUNDED
    )
    title = f"{count(bounds.clips, 'clip')} with a failed judgement"
    columns = ("metric", "at least", "without these clips", "at most")
    return _of_system(system, "bounds", title, columns, rows)


def _comparisons(result: Evaluation) -> Iterator[ResultTable]:
    names = [system.name for system in result.systems]
    for metric, metric_title in headline(result).items():
        found = result.comparisons.get(metric)
        if found is None:
            return
        rows: tuple[Row, ...] = tuple(
            (
                pair_name(result, pair),
                pair.difference,
                pair.p,
                pair.holm,
                pair.fdr,
                pair.min_detectable,
                pair.verdict(result.config.margin),
            )
            for pair in found.pairs
        )
        warnings = (*few_units(result), *judge_caution(result))
        columns = ("pair", "difference", "p", "p (Holm)", "p (FDR)", "smallest detectable", "verdict")
        title = f"{metric_title}: paired differences over the same clips"
        part = TablePart("pairs", "metric", metric)
        yield ResultTable(f"pairs-{metric}", title, columns, rows, (PAIRS, *warnings), part)
        ranks: tuple[Row, ...] = tuple(
            (name, rank.rank, rank.first) for name, rank in zip(names, found.ranks, strict=True)
        )
        part = TablePart("ranks", "metric", metric)
        yield ResultTable(f"ranks-{metric}", f"{metric_title}: ranks", RANKED, ranks, warnings, part)


RANKED = ("system", "rank", "share of first places")

PAIRS = (
    "The verdict follows from p (Holm), adjusted for the number of pairs. If a difference is not significant, "
    "the verdict "
    "gives the largest difference that the data do not exclude (two one-sided tests)."
)


def released_tables(result: ReleasedEvaluation) -> Iterator[ResultTable]:
    """The metrics of a released evaluator, with its metrics by dimension if it has any."""
    notes = [
        f"Convention {result.convention}.",
        "These are the numbers of a released evaluator, including its quirks (docs/metrics/conventions.md).",
        f"Judge {result.judge.name}: {result.judge.note}",
    ]
    notes += [
        f"{name}: {count(len(scores.dropped), 'clip')} without a scored prediction; these clips are left out of "
        f"all means."
        for name, scores in result.systems.items()
        if scores.dropped
    ]
    for name, title, scores_of in (
        ("scores", "Scores", {system: scores.metrics for system, scores in result.systems.items()}),
        (
            "by-dimension",
            "Description F1 by dimension",
            {system: scores.per_dimension for system, scores in result.systems.items()},
        ),
    ):
        columns = tuple(dict.fromkeys(metric for scores in scores_of.values() for metric in scores))
        if columns:
            rows: tuple[Row, ...] = tuple(
                (system, *(scores.get(metric) for metric in columns)) for system, scores in scores_of.items()
            )
            yield ResultTable(f"released-{name}", title, ("system", *columns), rows, tuple(notes))
