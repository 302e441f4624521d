"""The agreement of annotators as tables."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from robogaze.agreement.adjudication import MAX_SEVERITY_GAP, MIN_IOU, AdjudicationItem
from robogaze.agreement.annotator_agreement import AgreementResult
from robogaze.agreement.ceiling import Ceiling
from robogaze.agreement.coefficients import AgreementScores
from robogaze.agreement.kappas import Kind
from robogaze.agreement.ratings import RatingAgreement
from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.scores import Estimate
from robogaze.metrics.scores import METRICS
from robogaze.reporting.evaluation import HEADLINE
from robogaze.reporting.result_tables import Cell, ResultTable
from robogaze.reporting.wording import count, listed, seconds
from robogaze.stats.interval import MIN_DEFINED_SHARE

NAMES = {
    "detection_kappa": "detection kappa",
    "dimension_kappa": "dimension kappa",
    "tiou": "tIoU",
    "severity_alpha": "severity alpha",
    "description_similarity": "description similarity",
}
"""The numbers of the first table (RoboGaze, Tables 3 and 13)."""

BESIDE = {
    "events_matched": "events matched",
    "timeline_alpha": "timeline alpha",
    "detection_cohen": "detection, mean Cohen",
    "dimension_cohen": "dimension, mean Cohen",
}
"""What the first table must not be read without."""

_KINDS: Mapping[Kind, str] = {
    "cohen": "Cohen's kappa",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's nominal alpha, for some ratings are missing",
}

NO_DATASET = "(none given)"
_SHOWN = 3


def sheets(result: AgreementResult) -> Iterator[ResultTable]:
    """Every table, the headline first; that alone where there is nothing to compare."""
    slices = dict(_slices(result))
    clips = count(result.overall.clips, "clip")
    title = f"Agreement of {count(len(result.annotation_set.annotators), 'annotator')} on {clips}"
    if not result.annotation_set.clips:
        yield _measures("agreement", title, "dataset", slices, NAMES, tuple(_left_out(result)))
        return
    yield _measures("agreement", title, "dataset", slices, NAMES, tuple(footnotes(result)))
    if result.dimensions:
        yield _measures("by-dimension", "By dimension", "dimension", result.dimensions, NAMES, (_DIMENSION,))
    several = len(result.annotation_set.annotators) > 2
    names = BESIDE if several else {key: name for key, name in BESIDE.items() if not key.endswith("_cohen")}
    notes = tuple(_beside(several))
    yield _measures("beside", "Beside these numbers", "of", {**slices, **result.dimensions}, names, notes)
    if several:
        pairs = {f"{first} - {second}": one for (first, second), one in result.pairs.items()}
        shown = {**NAMES, "events_matched": BESIDE["events_matched"]}
        yield _measures("by-pair", "By pair of annotators (Cohen's kappas)", "pair", pairs, shown)
    yield from _ceiling(result.ceiling, len(result.annotation_set.annotators))
    yield _queue(result)


def footnotes(result: AgreementResult) -> Iterator[str]:
    """What the numbers must not be read without."""
    terms, panel = result.config, result.annotation_set
    yield f"Annotators: {listed(panel.annotators)}."
    detection, dimension = _KINDS[result.kappas.detection], _KINDS[result.kappas.dimension]
    both = detection == dimension
    yield (
        f"Both kappas are {detection}." if both else f"Detection kappa is {detection}; dimension kappa is {dimension}."
    )
    yield (
        "All but detection kappa are over matched events and say nothing of those that one annotator alone reports: "
        "see events matched."
    )
    yield (
        f"Events of two annotators are matched one to one by {terms.match}, IoU on {terms.iou}; labels and severity "
        "have no part in it."
    )
    yield (
        f"{terms.level:.0%} percentile intervals from {terms.resamples:,} resamples of the {_units(result)} within "
        f"each {terms.by}, seed {terms.seed}; none where they tell none: one clip, one value in all, or undefined in "
        f"more than {1 - MIN_DEFINED_SHARE:.0%} of them."
    )
    yield f"Judge {result.judge}: {result.judge_note}"
    yield from _left_out(result)


def _units(result: AgreementResult) -> str:
    cases, field = result.annotation_set.clips, result.config.units
    units = {(one.dataset, one.unit(field)) for one in cases}
    return "clips" if len(units) == len(cases) else f"{len(units):,} values of {field}"


def _left_out(result: AgreementResult) -> Iterator[str]:
    panel = result.annotation_set
    if panel.single_annotator:
        yield f"Left out, with one annotator: {_some(panel.single_annotator)}."
    if panel.unfinished:
        yield f"Left out, not complete: {_some([f'{clip} by {author}' for clip, author in panel.unfinished])}."
    if panel.no_shared_dimensions:
        yield f"Left out, because the annotators looked for nothing in common: {_some(panel.no_shared_dimensions)}."
    if panel.excluded_events:
        excluded = count(panel.excluded_events, "event")
        yield f"{excluded} set aside, in dimensions that not all annotators of the clip looked for."
    lengths = sum(case.duration_s is None for case in panel.clips)
    if lengths:
        yield f"{count(lengths, 'clip')} of unknown length left out of timeline alpha."
    if result.failed:
        yield f"{count(result.failed, 'pair')} of events that share time have no judgement."
    if bounds := result.overall.bounds:
        yield (
            f"{count(result.overall.unscored, 'matched pair')} among them: with them description similarity lies "
            f"between {bounds[0]:.3f} and {bounds[1]:.3f}."
        )


def _some(names: tuple[str, ...] | list[str]) -> str:
    return f"{count(len(names), 'clip')} ({', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''})"


_DIMENSION = (
    "Detection: any event of the dimension in the clip, or none? Dimension: this one or another, over all matched "
    "events. The others are over matched events that at least one annotator files there."
)


def _beside(several: bool) -> Iterator[str]:
    yield (
        "Events matched: of the events of two annotators, the share that the other one reports, too; n counts an event "
        "once for each other annotator."
    )
    yield "Timeline alpha: Krippendorff's alpha for unitizing, over the time in which anything is marked."
    if several:
        yield "Mean Cohen: over the pairs of annotators for whom it is defined, which n counts."


def _slices(result: AgreementResult) -> Iterator[tuple[str, AgreementScores]]:
    yield "overall", result.overall
    if len(result.datasets) > 1:
        yield from ((name or NO_DATASET, one) for name, one in result.datasets.items())


def _measures(
    name: str,
    title: str,
    of: str,
    rows: Mapping[str, AgreementScores],
    names: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> ResultTable:
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (row, one.clips, one.events, *(_short(getattr(one, key)) for key in names)) for row, one in rows.items()
    )
    notes = (*notes, *_reasons(rows, tuple(names)))
    return ResultTable(name, title, (of, "clips", "events", *names.values()), cells, notes)


def _short(one: Estimate) -> Estimate:
    """A cell without its reason, which stands under the table."""
    return one if one.defined else replace(one, why="")


def _reasons(rows: Mapping[str, AgreementScores], names: tuple[str, ...]) -> Iterator[str]:
    """Why numbers are undefined, and in which rows."""
    found: dict[str, dict[str, None]] = {}
    for row, one in rows.items():
        for name, estimate in one.estimates():
            if name in names and not estimate.defined:
                found.setdefault(estimate.why, {})[row] = None
    for why, where in found.items():
        yield f"Undefined where {why}: {listed(list(where))}."


def _ceiling(ceiling: Ceiling, annotators: int) -> Iterator[ResultTable]:
    whole = tuple((name, ceiling.whole.macro[name], ceiling.whole.micro[name]) for name in METRICS)
    columns = ("metric", "macro (over clips)", "micro (over the corpus)")
    notes = tuple(_ceiling_notes(ceiling, annotators))
    yield ResultTable("human-ceiling", "Human ceiling: each annotator against the others", columns, whole, notes)
    rows: dict[str, tuple[Cell, ...]] = {"all": _headline(ceiling.whole.macro)}
    if len(ceiling.datasets) > 1:
        rows |= {name or NO_DATASET: _headline(one.macro) for name, one in ceiling.datasets.items()}
    rows |= {f"annotator {name}": _headline(one.macro) for name, one in ceiling.annotators.items()}
    if ceiling.worst is not None and ceiling.best is not None:
        rows["if all failed pairs were unrelated"] = _headline(ceiling.worst.macro)
        rows["if they were all the same"] = _headline(ceiling.best.macro)
    cells = tuple((name, *row) for name, row in rows.items())
    yield ResultTable("human-ceiling-rows", "Human ceiling, mean over clips", ("human", *HEADLINE), cells)


def _headline(scores: Mapping[str, Cell]) -> tuple[Cell, ...]:
    return tuple(scores[name] for name in HEADLINE)


def _ceiling_notes(ceiling: Ceiling, annotators: int) -> Iterator[str]:
    yield f"Over {count(ceiling.whole.n, 'account')}, scored as a system's reports are (convention robogaze)."
    yield "n counts a clip once for each annotator who is scored on it; intervals are Student's t, as a system's."
    if annotators > 2:
        yield (
            f"The others' consensus: events that more than half of them report, with an IoU of at least {MIN_IOU}; "
            f"severities at most {MAX_SEVERITY_GAP} apart averaged, a half up."
        )
    if ceiling.without:
        yield f"{count(ceiling.without, 'account')} left out: the others report events of the clip and agree on none."
    if ceiling.failed:
        yield f"{count(ceiling.failed, 'account')} left out with a failed judgement; see the bounds."


def _queue(result: AgreementResult) -> ResultTable:
    """What a person must settle, a row for each annotator's event; those of one number are one event."""
    rows = tuple(
        (number, one.clip_id, "; ".join(one.reasons), author, _when(found), found.type or found.dimension,
         found.severity, found.description)
        for number, one in enumerate(result.adjudication.queue, start=1)
        for author, found in one.events
    )  # fmt: skip
    columns = ("event", "clip", "why", "annotator", "when", "label", "severity", "description")
    return ResultTable("queue", _to_settle(result), columns, rows, (_settled(result),))


def queue_in_brief(result: AgreementResult, most: int) -> ResultTable:
    """The first of what a person must settle, a row for each event."""
    queue = result.adjudication.queue
    rows = tuple((one.clip_id, "; ".join(one.reasons), _told(one)) for one in queue[:most])
    more = len(queue) - len(rows)
    notes = [f"{more} more are not shown; --out DIR writes all."] if more else []
    return ResultTable("queue", _to_settle(result), ("clip", "why", "events"), rows, (*notes, _settled(result)))


def _told(one: AdjudicationItem) -> str:
    return "; ".join(
        f"{author}: {' '.join(filter(None, (_when(found), found.type or found.dimension)))}"
        for author, found in one.events
    )


def _to_settle(result: AgreementResult) -> str:
    return f"For a person to settle: {count(len(result.adjudication.queue), 'event')}"


def _settled(result: AgreementResult) -> str:
    return (
        f"{count(result.adjudication.settled, 'event')} settled without a person: reported by all annotators of the "
        f"clip, every two with an IoU of at least {MIN_IOU} (united), one dimension and type, severities at most "
        f"{MAX_SEVERITY_GAP} apart (averaged, a half up)."
    )


def _when(one: AnnotatedEvent) -> str:
    return ", ".join(seconds(span.start, span.end) for span in one.spans)


def rating_sheet(result: RatingAgreement, level: float, resamples: int, seed: int) -> ResultTable:
    """Agreement on labels as a table."""
    rows = (("all units", result.overall), *((name, one) for name, one in result.labels.items()))
    notes = [
        f"Annotators: {listed(result.annotators)}.",
        "A unit is of the label that most of its ratings give. Alpha of a label: 1 - the disagreement on its units / "
        "the disagreement that chance gives over all units. n counts units.",
        f"{level:.0%} percentile intervals from {resamples:,} resamples of the units, seed {seed}.",
    ]
    if result.once:
        notes.append(f"{count(result.once, 'unit')} of {result.units} left out: rated fewer than twice.")
    if result.tied:
        notes.append(
            f"{count(result.tied, 'unit')} of two labels or more in equal parts, for they are given equally often."
        )
    columns = ("label", "Krippendorff's alpha")
    return ResultTable("ratings", f"Agreement of {count(len(result.annotators), 'annotator')} on labels", columns, rows,
                 tuple(notes))  # fmt: skip
