"""The agreement of annotators as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from robogaze.agreement.adjudication import MAX_SEVERITY_GAP, MIN_IOU
from robogaze.agreement.annotator_agreement import AgreementResult
from robogaze.agreement.ceiling import Ceiling
from robogaze.agreement.coefficients import AgreementScores
from robogaze.agreement.kappas import KappaKind
from robogaze.agreement.ratings import RatingAgreement
from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.estimate import Estimate
from robogaze.metrics.scores import METRICS
from robogaze.reporting.tables.evaluation import HEADLINE
from robogaze.reporting.tables.result_table import Cell, ResultTable, Row
from robogaze.reporting.wording import count, listed, seconds
from robogaze.stats.interval import MIN_DEFINED_SHARE

NAMES = {
    "detection_kappa": "detection kappa",
    "dimension_kappa": "dimension kappa",
    "tiou": "tIoU",
    "severity_alpha": "severity alpha",
    "description_similarity": "description similarity",
}
"""The measures of the first table (RoboGaze, Tables 3 and 13)."""

FURTHER = {
    "events_matched": "events matched",
    "timeline_alpha": "timeline alpha",
    "detection_cohen": "detection, mean Cohen",
    "dimension_cohen": "dimension, mean Cohen",
}
"""The other measures of the first table."""

_KINDS: Mapping[KappaKind, str] = {
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's nominal alpha, because some ratings are missing",
}

NO_DATASET = "(none given)"
_SHOWN = 3


def agreement_tables(result: AgreementResult) -> Iterator[ResultTable]:
    """All tables, the one with the main measures first. If there are no clips to compare, it is the only table."""
    slices = dict(_slices(result))
    annotators = len(result.annotation_set.annotators)
    title = f"Agreement of {count(annotators, 'annotator')} on {count(result.overall.clips, 'clip')}"
    if not result.annotation_set.clips:
        yield _measures("agreement", title, "dataset", slices, NAMES, tuple(left_out(result)))
        return
    yield _measures("agreement", title, "dataset", slices, NAMES, tuple(agreement_notes(result)))
    if result.dimensions:
        yield _measures("by-dimension", "By dimension", "dimension", result.dimensions, NAMES, (_DIMENSION,))
    several = len(result.annotation_set.annotators) > 2
    names = FURTHER if several else {key: name for key, name in FURTHER.items() if not key.endswith("_cohen")}
    rows = {**slices, **result.dimensions}
    yield _measures("further", "Further measures", "of", rows, names, tuple(_further_notes(several)))
    if several:
        pairs = {f"{first} - {second}": measures for (first, second), measures in result.pairs.items()}
        shown = {**NAMES, "events_matched": FURTHER["events_matched"]}
        yield _measures("by-pair", "By pair of annotators (Cohen's kappas)", "pair", pairs, shown)
    yield from _ceiling(result.ceiling, len(result.annotation_set.annotators))
    yield _queue(result)


def agreement_notes(result: AgreementResult) -> Iterator[str]:
    """How the numbers are computed, the judge, and what is left out."""
    yield f"Annotators: {listed(result.annotation_set.annotators)}."
    yield from method_notes(result)
    yield f"Judge {result.judge}: {result.judge_note}"
    yield from left_out(result)


def method_notes(result: AgreementResult) -> Iterator[str]:
    """The statistics, the matching of events and the intervals."""
    terms = result.config
    detection, dimension = _KINDS[result.kappas.detection], _KINDS[result.kappas.dimension]
    yield (
        f"Both kappas are {detection}."
        if detection == dimension
        else f"Detection kappa is {detection}; dimension kappa is {dimension}."
    )
    yield (
        "All measures except detection kappa are over matched events. They do not include events that only one "
        "annotator "
        "reports; for these events, see the measure 'events matched'."
    )
    yield (
        f"Events of two annotators are matched one to one by {terms.match}, IoU on {terms.iou}, regardless of "
        "labels and severity."
    )
    yield (
        f"{terms.level:.0%} percentile intervals from {terms.resamples:,} resamples of the {_units(result)} within "
        f"each {terms.by}, seed {terms.seed}. There is no interval if there is only one clip, if all resamples "
        f"give the same value, or "
        f"if the value is undefined in more than {1 - MIN_DEFINED_SHARE:.0%} of the resamples."
    )


def _units(result: AgreementResult) -> str:
    cases, field = result.annotation_set.clips, result.config.units
    units = {(clip.dataset, clip.unit(field)) for clip in cases}
    return "clips" if len(units) == len(cases) else f"{len(units):,} values of {field}"


def left_out(result: AgreementResult) -> Iterator[str]:
    """The clips and events that are left out, and failed judgements."""
    panel = result.annotation_set
    if panel.single_annotator:
        yield f"Left out, because only one annotator examined the clip: {_clips(panel.single_annotator)}."
    if panel.unfinished:
        yield (
            f"Left out, because the annotation is not complete: "
            f"{_clips([f'{clip} by {author}' for clip, author in panel.unfinished])}."
        )
    if panel.no_shared_dimensions:
        yield f"Left out, because the annotators examined no dimension in common: {_clips(panel.no_shared_dimensions)}."
    if panel.excluded_events:
        events = count(panel.excluded_events, "event")
        yield f"{events} left out, because some annotators of the clip did not examine the dimension."
    unknown = sum(clip.duration_s is None for clip in panel.clips)
    if unknown:
        yield f"Left out of timeline alpha, because the length is not known: {count(unknown, 'clip')}."
    if result.failed:
        yield f"{count(result.failed, 'pair')} of overlapping events without a judgement."
    if bounds := result.overall.bounds:
        yield (
            f"{count(result.overall.unscored, 'matched pair')} without a judgement. Depending on these "
            f"judgements, description similarity is "
            f"between {bounds[0]:.3f} and {bounds[1]:.3f}."
        )


def _clips(names: Sequence[str]) -> str:
    return f"{count(len(names), 'clip')} ({', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''})"


_DIMENSION = (
    "Detection: whether the clip has any event of this dimension. Dimension: whether a matched event has this "
    "dimension or "
    "another one, over all matched events. Other measures: over the matched events that at least one annotator "
    "puts in this dimension."
)


def _further_notes(several: bool) -> Iterator[str]:
    yield (
        "Events matched: for two annotators, the share of their events that the other annotator also reports. n "
        "counts an event "
        "once for each other annotator."
    )
    yield "Timeline alpha: Krippendorff's alpha for unitizing, over the annotated time."
    if several:
        yield (
            "Mean Cohen: the mean of Cohen's kappa over the pairs of annotators for which the kappa is "
            "defined; n counts these pairs."
        )


def _slices(result: AgreementResult) -> Iterator[tuple[str, AgreementScores]]:
    yield "overall", result.overall
    if len(result.datasets) > 1:
        yield from ((name or NO_DATASET, measures) for name, measures in result.datasets.items())


def _measures(
    name: str,
    title: str,
    of: str,
    rows: Mapping[str, AgreementScores],
    names: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> ResultTable:
    cells: tuple[Row, ...] = tuple(
        (row, measures.clips, measures.events, *(_without_reason(getattr(measures, key)) for key in names))
        for row, measures in rows.items()
    )
    notes = (*notes, *_reasons(rows, tuple(names)))
    return ResultTable(name, title, (of, "clips", "events", *names.values()), cells, notes)


def _without_reason(estimate: Estimate) -> Estimate:
    """An estimate for a cell; its reason is in a note of the table."""
    return estimate if estimate.defined else replace(estimate, why="")


def _reasons(rows: Mapping[str, AgreementScores], names: tuple[str, ...]) -> Iterator[str]:
    """The reasons for undefined numbers, with their rows."""
    found: dict[str, dict[str, None]] = {}
    for row, measures in rows.items():
        for name, estimate in measures.estimates():
            if name in names and not estimate.defined:
                found.setdefault(estimate.why, {})[row] = None
    for why, where in found.items():
        yield f"Undefined where {why}: {listed(list(where))}."


def _ceiling(ceiling: Ceiling, annotators: int) -> Iterator[ResultTable]:
    whole = tuple((METRICS[name].title, ceiling.whole.macro[name], ceiling.whole.micro[name]) for name in METRICS)
    columns = ("metric", "macro (over clips)", "micro (over the corpus)")
    notes = tuple(_ceiling_notes(ceiling, annotators))
    yield ResultTable("human-ceiling", "Human ceiling: each annotator against the others", columns, whole, notes)
    rows: dict[str, Row] = {"all": _headline(ceiling.whole.macro)}
    if len(ceiling.datasets) > 1:
        rows |= {name or NO_DATASET: _headline(row.macro) for name, row in ceiling.datasets.items()}
    rows |= {f"annotator {name}": _headline(row.macro) for name, row in ceiling.annotators.items()}
    if ceiling.worst is not None and ceiling.best is not None:
        rows["if all failed pairs were unrelated"] = _headline(ceiling.worst.macro)
        rows["if all failed pairs were the same"] = _headline(ceiling.best.macro)
    cells = tuple((name, *row) for name, row in rows.items())
    titles = (METRICS[name].title for name in HEADLINE)
    yield ResultTable("human-ceiling-rows", "Human ceiling, mean over clips", ("human", *titles), cells)


def _headline(scores: Mapping[str, Cell]) -> Row:
    return tuple(scores[name] for name in HEADLINE)


def _ceiling_notes(ceiling: Ceiling, annotators: int) -> Iterator[str]:
    yield f"Scored: {count(ceiling.whole.n, 'annotation')}, each like a system's report (convention robogaze)."
    yield (
        "n counts a clip once for each annotator who is scored on that clip. Intervals use Student's t, as for systems."
    )
    if annotators > 2:
        yield (
            f"An annotator is scored against the consensus of the other annotators: events that more than half "
            f"of them report, with an IoU of at least "
            f"{MIN_IOU}. Severities that differ by at most {MAX_SEVERITY_GAP} are averaged and rounded half up."
        )
    if ceiling.without:
        yield (
            f"{count(ceiling.without, 'annotation')} left out because the other annotators report events of the "
            f"clip, but agree "
            "on none of these events."
        )
    if ceiling.failed:
        yield f"{count(ceiling.failed, 'annotation')} left out because a judgement failed; see the bounds."


def _queue(result: AgreementResult) -> ResultTable:
    """The events that need adjudication; the events of different annotators with the same number are the same event."""
    rows: tuple[Row, ...] = tuple(
        (number, question.clip_id, "; ".join(question.reasons), author, spans_text(event),
         event.type or event.dimension, event.severity, event.description)
        for number, question in enumerate(result.adjudication.queue, start=1)
        for author, event in question.events
    )  # fmt: skip
    columns = ("event", "clip", "why", "annotator", "when", "label", "severity", "description")
    return ResultTable("queue", queue_title(result), columns, rows, (settled_note(result),))


def short_queue(result: AgreementResult, most: int) -> ResultTable:
    """A row for each event that needs adjudication; only the first `most` events are shown."""
    queue = result.adjudication.queue
    rows: tuple[Row, ...] = tuple(
        (
            question.clip_id,
            "; ".join(question.reasons),
            "; ".join(
                f"{author}: {' '.join(filter(None, (spans_text(event), event.type or event.dimension)))}"
                for author, event in question.events
            ),
        )
        for question in queue[:most]
    )
    hidden = len(queue) - len(rows)
    notes = [f"Events not shown here: {hidden}. Use --out DIR to write all events."] if hidden else []
    return ResultTable("queue", queue_title(result), ("clip", "why", "events"), rows, (*notes, settled_note(result)))


def queue_title(result: AgreementResult) -> str:
    """`To be settled by a person: 3 events`."""
    return f"To be settled by a person: {count(len(result.adjudication.queue), 'event')}"


def settled_note(result: AgreementResult) -> str:
    """The number of settled events and the rule that settles them."""
    return (
        f"{count(result.adjudication.settled, 'event')} settled without a person. An event is settled if all "
        f"annotators of the "
        f"clip report it and every two of these reports have an IoU of at least {MIN_IOU}, the same dimension "
        f"and type, and severities "
        f"that differ by at most {MAX_SEVERITY_GAP}. Their spans are united; their severities are averaged and "
        f"rounded half up."
    )


def spans_text(event: AnnotatedEvent) -> str:
    """The spans of an event in seconds; empty if its time is not known."""
    return ", ".join(seconds(span.start, span.end) for span in event.spans)


def ratings_table(result: RatingAgreement, level: float, resamples: int, seed: int) -> ResultTable:
    """The agreement on labels."""
    rows: tuple[Row, ...] = (("all units", result.overall), *result.labels.items())
    notes = [
        f"Annotators: {listed(result.annotators)}.",
        "A unit has the label that most of its ratings give. Alpha of a label is 1 - (disagreement on the units "
        "of the label) / "
        "(disagreement expected by chance over all units). n counts units.",
        f"{level:.0%} percentile intervals from {resamples:,} resamples of the units, seed {seed}.",
    ]
    if result.once:
        notes.append(f"{count(result.once, 'unit')} of {result.units} left out: fewer than two ratings.")
    if result.tied:
        notes.append(f"{count(result.tied, 'unit')} with a tie: no single label is the most frequent.")
    title = f"Agreement of {count(len(result.annotators), 'annotator')} on labels"
    return ResultTable("ratings", title, ("label", "Krippendorff's alpha"), rows, tuple(notes))
