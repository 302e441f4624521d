"""An evaluation as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from robogaze.evaluation.config import MIN_UNITS
from robogaze.evaluation.estimates import GROUP_METRICS, Scores
from robogaze.evaluation.results import BOUNDED, Bounds, Evaluation, SystemResult
from robogaze.evaluation.robustness import robustness
from robogaze.judges import offline
from robogaze.metrics.controls import CONTROLS, SHUFFLED_RULE, TYPE_PRIOR, TYPE_PRIOR_RULE
from robogaze.metrics.scores import METRICS
from robogaze.reporting.result_tables import Cell, Part, ResultTable, file_name, written
from robogaze.reporting.wording import count

HEADLINE = ("desc_f1", "miou", "f1_iou", "severity_within1", "clean_accuracy", "detection_f1")
"""The metrics of the first table: those of the paper's main one, and detection."""

SWEPT = ("desc_precision", "desc_recall", "desc_f1", "f1_iou", "clean_accuracy", "detection_recall")
"""The metrics of the operating points (RoboGaze, Table 23)."""

UNNAMED = "(none given)"

BRIEF = (
    "scores", "scores-data-sets", "judges", "by-dimension", "losses", "operating", "bounds", "pairs-desc_f1",
    "ranks-desc_f1",
)  # fmt: skip
"""The tables of a terminal, and those by the fields that were asked for."""

Row = tuple[Cell, ...]


def brief(tables: Iterable[ResultTable], by: Sequence[str]) -> list[ResultTable]:
    """What a terminal shows of the tables."""
    wanted = {*BRIEF, *(f"by-{field}" for field in by)}
    return [one for one in tables if one.name in wanted or (one.part is not None and one.part.file in wanted)]


def sheets(result: Evaluation) -> Iterator[ResultTable]:
    """Every table, the headline first; each carries the sentences it must not be read without."""
    judge = judge_note(result)
    for one in _sheets(result):
        yield one if judge in one.notes else replace(one, notes=(*one.notes, judge))


def _sheets(result: Evaluation) -> Iterator[ResultTable]:
    notes = tuple(footnotes(result))
    shown = (_shown(result, name) for name in HEADLINE)
    yield ResultTable("scores", "Scores, mean over clips", ("system", *shown), tuple(_headline(result)), notes)
    yield from _data_sets(result)
    for system in result.systems:
        yield _metrics(system, result, notes)
        yield from _breakdowns(system, result)
        yield _losses(system)
        if result.config.use == "similarity*iou*bonus":
            yield _lambdas(system)
        if system.operating_points:
            yield _operating(system)
        if system.bounds:
            yield _bounds(system, system.bounds)
    yield from _comparisons(result)


def judge_note(result: Evaluation) -> str:
    """Who compared the descriptions, and what that is worth."""
    return f"Judge {result.judge}: {result.judge_note}"


def robustness_sheet(first: Evaluation, second: Evaluation) -> ResultTable:
    """The scores of the same systems under another judge."""
    before, after = ({one.name: one.macro for one in result.systems} for result in (first, second))
    rows: tuple[Row, ...] = tuple(
        (
            one.metric,
            one.spearman,
            one.difference,
            one.largest,
            ", ".join(f"{a} / {b}" for a, b in one.swapped) or "none",
        )
        for one in robustness(before, after, HEADLINE)
    )
    columns = ("metric", "Spearman over systems", "mean difference", "largest difference", "pairs that change order")
    failed = [
        f"{result.judge} failed in {count(one.counts['unjudged'], 'clip')} of {one.name}."
        for result in (first, second)
        for one in result.systems
        if one.counts["unjudged"]
    ]
    notes = (judge_note(first), judge_note(second), *failed)
    return ResultTable("judges", f"{second.judge} against {first.judge}", columns, rows, notes)


def footnotes(result: Evaluation) -> Iterator[str]:
    """What a table of scores must not be read without."""
    terms, counts = result.config, result.counts
    yield (
        f"Convention {terms.convention}, {terms.normalisation} normalisation, IoU on {_axis(result)}; "
        f"{100 * terms.level:g}% {_intervals(result)}"
        f"{_strata(result)}, seed {terms.seed}."
    )
    yield from _few_units(result)
    yield judge_note(result)
    yield from _caution(result)
    clean = counts["clean_clips"]
    yield f"{count(counts['clips'], 'referenced clip')}: {counts['clips_with_events']} with events, {clean} clean."
    for system in result.systems:
        if said := _absent(system):
            yield f"{system.name}: {said}."
    if result.unfinished:
        yield _left_out(result.unfinished, "the reference is not finished")
    if result.left_out:
        parts = count(len(result.left_out), "part")
        yield f"{parts} of the files did not fit and were left out: {_some(result.left_out)}."
    if result.unreferenced:
        yield _left_out(result.unreferenced, "there is no reference")
    yield from _rules(result)
    yield from _not_above(result)


def _rules(result: Evaluation) -> Iterator[str]:
    """What the floors and upper bounds are."""
    for name in result.controls:
        if name == TYPE_PRIOR:
            yield f"Floor {name} {TYPE_PRIOR_RULE}"
        else:
            yield f"{'Upper bound' if CONTROLS[name].oracle else 'Floor'} {name} {CONTROLS[name].rule}"
    yield "An upper bound is the most that a guess can get, from any judge: a good system may be below it."
    if any(system.floor for system in result.systems):
        yield SHUFFLED_RULE


def _not_above(result: Evaluation) -> Iterator[str]:
    """A warning for systems that may have seen nothing."""
    for system in result.systems:
        if system.floor is None or (system.floor.above.significant and system.floor.above.difference.value > 0):
            continue
        difference = system.floor.above.difference
        yield (
            f"Warning: {system.name} is not shown to be above its floor in desc_f1 (difference {written(difference)})."
        )


def _data_sets(result: Evaluation) -> Iterator[ResultTable]:
    """The paper's headline, where there are several data sets."""
    name = result.config.strata
    count_ = len({one.fields.get(name, "") for one in result.clips})
    if count_ > 1:
        rows: tuple[Row, ...] = tuple(
            (system.name, *(system.strata_mean[_shown(result, metric)] for metric in HEADLINE))
            for system in result.systems
        )
        columns = ("system", *(_shown(result, metric) for metric in HEADLINE))
        title = f"Scores, mean over {count_} data sets ({name}): the headline of the RoboGaze paper"
        yield ResultTable("scores-data-sets", title, columns, rows, (f"n counts values of {name}.",))


def _intervals(result: Evaluation) -> str:
    terms, units = result.config, result.counts["units"]
    of = "clips" if units == result.counts["clips"] else f"{units:,} values of {terms.units}"
    if terms.interval == "student":
        return f"intervals (Student's t) over the {of}"
    return f"{terms.interval} intervals from {terms.resamples:,} resamples of the {of}"


def _strata(result: Evaluation) -> str:
    name = result.config.strata
    return f" within each {name}" if any(name in one.fields for one in result.clips) else ""


def _axis(result: Evaluation) -> str:
    without = result.counts["clips_without_frame_times"]
    if result.config.iou == "exact":
        return "the time axis"
    return f"frames ({count(without, 'clip')} without frame times: on the time axis)" if without else "frames"


def _left_out(names: Sequence[str], why: str) -> str:
    return f"{count(len(names), 'clip')} left out, for {why}: {_some(names)}."


_ABSENT = {
    "missing": ("clip", "without a prediction (its events count as missed)"),
    "unscored": ("clip", "unscored (likewise)"),
    "partial": ("clip", "partial (never clean)"),
    "undecided": (
        "clip",
        "without an event, but not examined in every dimension (clean only where the reference covers no other)",
    ),
    "unjudged": ("clip", "with a failed judgement (left out; see the bounds)"),
    "unjudgeable": ("event", "predicted in dimensions the reference does not speak of (not counted)"),
    "predictions_blank": ("event", "predicted without a time, dimension or severity the reference gives (wrong there)"),
    "references_not_looked_for": ("event", "in dimensions the system does not look for (missed)"),
}


def _absent(system: SystemResult) -> str:
    parts = []
    for name, (noun, words) in _ABSENT.items():
        if number := system.counts[name]:
            names = system.incomplete.get(name, ())
            parts.append(f"{count(number, noun)} {words}" + (f": {_some(names)}" if names else ""))
    return "; ".join(parts)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if names[3:] else "")


def _shown(result: Evaluation, name: str) -> str:
    """A metric's name under the normalisation that was asked for."""
    strict = f"{name}_strict"
    return strict if result.config.normalisation == "strict" and strict in METRICS else name


def _headline(result: Evaluation) -> Iterator[Row]:
    rows = [(system.name, system.macro) for system in result.systems]
    rows += [(f"floor of {system.name}", system.floor.macro) for system in result.systems if system.floor]
    for name, (means, _) in result.controls.items():
        rows.append((_control(name), means))
    for name, scores in rows:
        yield name, *(scores[_shown(result, metric)] for metric in HEADLINE)


def _metrics(system: SystemResult, result: Evaluation, notes: tuple[str, ...]) -> ResultTable:
    floors = [system.floor] if system.floor else []
    rows: tuple[Row, ...] = tuple(
        (
            name,
            system.macro[name],
            system.strata_mean[name],
            system.micro[name],
            *(scores.macro[name] for scores in floors),
            *(means[name] for means, _ in result.controls.values()),
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
    part = Part(what, "system", system.name)
    return ResultTable(file_name(system.name, what), f"{system.name}: {title}", columns, rows, notes, part)


def _control(name: str) -> str:
    if name == TYPE_PRIOR or not CONTROLS[name].oracle:
        return f"floor: {name}"
    return f"upper bound: {name}, S = 1"


def _breakdowns(system: SystemResult, result: Evaluation) -> Iterator[ResultTable]:
    for name, groups in (("dimension", system.dimensions), ("type", system.types)):
        yield _by(system, name, "over all events", groups, GROUP_METRICS)
    for field, values in system.by.items():
        yield _by(system, field, "mean over clips", values, [_shown(result, metric) for metric in HEADLINE])
    names = [name or UNNAMED for name in result.dimensions]
    lines = zip([*names, "spurious"], system.confusion, strict=True)
    rows: tuple[Row, ...] = tuple((name, *(int(cell) for cell in line)) for name, line in lines)
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
        f"Description F1 over the corpus is {written(system.micro['desc_f1'])}; a row is what it would gain if that "
        "kind of error alone were repaired. The gains do not add up: repairs interact."
    )
    columns = ("error", "errors", "F1 gained by repair")
    return _of_system(system, "losses", "what each kind of error costs", columns, rows, (note,))


def _lambdas(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{bonus:g}", *(scores[name] for name in HEADLINE)) for bonus, scores in system.by_bonus.items()
    )
    note = "The bonus decides who is matched; a match is worth its S whatever the bonus."
    title = "by the bonus for a shared dimension (lambda)"
    return _of_system(system, "lambda", title, ("lambda", *HEADLINE), rows, (note,))


def _operating(system: SystemResult) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (f"{least:.2f}", *(means[name] for name in SWEPT)) for least, (means, _) in system.operating_points.items()
    )
    note = "From the hypotheses in the reports, accepted and rejected; no model was asked again."
    title = "by the least confidence of an event"
    return _of_system(system, "operating", title, ("confidence", *SWEPT), rows, (note,))


def _bounds(system: SystemResult, bounds: Bounds) -> ResultTable:
    rows: tuple[Row, ...] = tuple(
        (name, bounds.worst[name].value, system.macro[name], bounds.best[name].value) for name in BOUNDED
    )
    title = f"{count(bounds.clips, 'clip')} had a failed judgement"
    columns = ("metric", "at least", "without these clips", "at most")
    return _of_system(system, "bounds", title, columns, rows)


def _comparisons(result: Evaluation) -> Iterator[ResultTable]:
    names = [system.name for system in result.systems]
    for metric in (_shown(result, one) for one in HEADLINE):
        found = result.comparisons.get(metric)
        if found is None:
            return
        rows: tuple[Row, ...] = tuple(
            (
                f"{names[one.first]} - {names[one.second]}",
                one.difference,
                one.p,
                one.holm,
                one.fdr,
                one.min_detectable,
                one.verdict(result.config.margin),
            )
            for one in found.pairs
        )
        notes = (PAIRS, *_few_units(result), *_caution(result))
        columns = ("pair", "difference", "p", "p (Holm)", "p (FDR)", "smallest to be shown", "verdict")
        title = f"{metric}: paired differences over the same clips"
        yield ResultTable(f"pairs-{metric}", title, columns, rows, notes, Part("pairs", "metric", metric))
        places: tuple[Row, ...] = tuple(
            (name, one.rank, one.first) for name, one in zip(names, found.ranks, strict=True)
        )
        yield ResultTable(
            f"ranks-{metric}", f"{metric}: ranks", RANKED, places, notes[1:], Part("ranks", "metric", metric)
        )


RANKED = ("system", "rank", "share of first places")

PAIRS = (
    "A verdict goes by p (Holm), adjusted for the number of pairs. Where two are not shown to differ, the largest "
    "difference that is not ruled out is given (two one-sided tests)."
)


def _caution(result: Evaluation) -> Iterator[str]:
    """What a ranking by the judge must not be read without."""
    if result.judge == offline.NAME and len(result.systems) > 1:
        yield offline.CAUTION


def _few_units(result: Evaluation) -> Iterator[str]:
    """A warning where there are too few units for intervals and p to be what they say."""
    if result.counts["units"] < MIN_UNITS:
        units = count(result.counts["units"], "unit")
        yield (
            f"Warning: {units} (clips, or prompts where clips share one); with fewer than {MIN_UNITS} intervals are "
            "approximate: of 20 units, 95% intervals held the truth in 92 to 99% of trials (docs/metrics/coverage.md)."
        )
