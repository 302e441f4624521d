"""The page of an evaluation: scores, every breakdown, and each clip's references next to its predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.domains import Domain
from robogaze.evaluation.clip_fields import field_of, field_values, known_fields
from robogaze.evaluation.results import Evaluation, NamedMatch, SystemResult
from robogaze.metrics.tally import scored
from robogaze.reporting.figures import Point, curve
from robogaze.reporting.pages.results import (
    Entry,
    Fact,
    Filter,
    Link,
    PageClip,
    PageSection,
    PageTable,
    ResultPage,
    ValidityCheck,
    clip_address,
    event_filters,
    event_tags,
    names_of,
    page_table,
)
from robogaze.reporting.pages.run_folders import RunFolders
from robogaze.reporting.pages.videos import VideoFile
from robogaze.reporting.tables import ResultTable, cell_text
from robogaze.reporting.tables.evaluation import UNNAMED, gain_rows, metric_name
from robogaze.reporting.tables.evaluation_notes import evaluation_notes, evaluation_warnings, judge_note
from robogaze.reporting.wording import count, listed


def evaluation_page(
    result: Evaluation, tables: Sequence[ResultTable], folder: Path, domain: Domain | None
) -> ResultPage:
    """The content of the page in `folder`. Without a domain, types and dimensions are shown by their ids."""
    folders = RunFolders(folder)
    clips: dict[str, PageClip] = {}
    entries = sorted(_entries(result, folders, clips), key=lambda item: (-item[0], item[1].title))
    listed_entries = tuple(entry for _, entry in entries)
    return ResultPage(
        kind="Evaluation",
        noun="clip",
        headline=evaluation_headline(result),
        facts=tuple(_facts(result, folders)),
        checks=tuple(_checks(result)),
        sections=tuple(_sections(result, tables, names_of(domain))),
        filters=tuple(_filters(result, listed_entries, domain)),
        entries=listed_entries,
        clips=clips,
        one_video=True,
    )


def evaluation_headline(result: Evaluation) -> str:
    """A sentence with the description F1 of the best system and its numbers of matched and spurious events. It says
    whether the F1 is significantly above that of the other systems or, if there is only one system, above its floor.
    """
    metric = metric_name(result, "desc_f1")
    best = max(result.systems, key=lambda system: (system.macro[metric].defined, system.macro[metric].value))
    score = f"{cell_text(best.macro[metric])} clips"
    if not best.macro[metric].defined:
        return f"The description F1 of {best.name} is {cell_text(best.macro[metric])}."
    counts = best.counts
    matched = f"{counts['matched']} of {count(counts['references'], 'reference event')} matched"
    spurious = f"{counts['predictions'] - counts['matched']} spurious"
    if len(result.systems) == 1:
        floor = best.floor
        if floor is None:
            return f"{best.name} has a description F1 of {score}; {matched}, {spurious}."
        above = floor.above.significant and floor.above.difference.value > 0
        against = f"{'significantly' if above else 'not significantly'} above its floor"
        return f"{best.name} has a description F1 of {score}, {against}; {matched}, {spurious}."
    position = result.systems.index(best)
    others = [pair for pair in result.comparisons[metric].pairs if position in (pair.first, pair.second)]
    alike = [
        result.systems[pair.second if pair.first == position else pair.first].name
        for pair in others
        if not pair.significant
    ]
    against = f"not significantly above {listed(alike)}" if alike else "significantly above every other system"
    return f"{best.name} has the highest description F1, {score}, {against}; {matched}, {spurious}."


def _facts(result: Evaluation, folders: RunFolders) -> Iterator[Fact]:
    for system in result.systems:
        yield Fact("system", system.name, folders.single_page(system.system.annotations.values()))
    yield Fact("references by", listed(sorted({clip.author for clip in result.clips})))


def _checks(result: Evaluation) -> Iterator[ValidityCheck]:
    warnings = list(evaluation_warnings(result))
    yield from (ValidityCheck(False, warning) for warning in warnings)
    yield from (ValidityCheck(True, note) for note in evaluation_notes(result) if note not in warnings)


def _sections(result: Evaluation, tables: Sequence[ResultTable], names: Mapping[str, str]) -> Iterator[PageSection]:
    """The scores, then the tables of each system, then the tables of pairs of systems."""
    shown = [*evaluation_notes(result), judge_note(result)]
    systems = {system.name for system in result.systems}

    def section_tables(column: str, value: str | None = None) -> tuple[PageTable, ...]:
        return tuple(
            page_table(table, names=names, link=_link(table, systems), without_notes=shown)
            for table in tables
            if table.part and table.part.column == column and value in (None, table.part.value)
        )

    for table in tables:
        if table.part is None:
            for title, part in _parts(table, systems, result):
                prepared = page_table(part, names=names, link=_link(part, systems), without_notes=shown)
                yield PageSection(title, (prepared,), open=part.name in _OPEN and part.rows[0][0] in systems)
    for system in result.systems:
        summary = "every metric, the scores by confidence, and the cost of each kind of error"
        figures = tuple(_precision_recall(system))
        yield PageSection(f"{system.name} in detail", section_tables("system", system.name), summary, figures=figures)
    if pairs := section_tables("metric"):
        yield PageSection("Pairs of systems", pairs, "paired differences and ranks for each metric")


_OPEN = ("scores", "scores-data-sets")


def _parts(table: ResultTable, systems: set[str], result: Evaluation) -> Iterator[tuple[str, ResultTable]]:
    """The scores in three tables, so that each table has its own axis for the intervals; other tables are unchanged."""
    if table.name != "scores":
        yield table.title, table
        return
    gained = {name for name, _ in gain_rows(result)}
    for title, wanted in (
        (table.title, systems),
        (f"Gain over {result.config.baseline}", gained),
        ("Floors and upper bounds", {str(row[0]) for row in table.rows} - systems - gained),
    ):
        if rows := tuple(row for row in table.rows if row[0] in wanted):
            yield title, replace(table, title=title, rows=rows)


def _precision_recall(system: SystemResult) -> Iterator[str]:
    if system.operating_points:
        points = [
            Point(macro["desc_recall"].value, macro["desc_precision"].value, f"{least:.2f}")
            for least, (macro, _) in system.operating_points.items()
        ]
        title = f"{system.name}: precision and recall by minimum confidence"
        yield curve(points, title, "description recall", "precision")


def _link(table: ResultTable, systems: set[str]) -> Link:
    """The clips behind a cell: the clips of the system, and of the dimension, type or field value of the row."""
    part = table.part
    of = "" if part is None else f"#system={quote(part.value)}"

    def link(row: int, column: int) -> str:
        first, second = (str(cell) for cell in table.rows[row][:2])
        if part is None and table.name.startswith("by-"):
            value = "" if first == UNNAMED else first
            field = table.name.removeprefix("by-")
            return f"#system={quote(second)}&{field}={quote(value)}" if second in systems else ""
        if part is None:
            return f"#system={quote(first)}" if first in systems else ""
        if part.file == "confusion":
            reference = "none" if first == "spurious" else first
            predicted = "none" if table.columns[column] == "missed" else table.columns[column]
            if column == 0 or not table.rows[row][column]:
                return ""
            return f"{of}&reference={quote(reference)}&predicted={quote(predicted)}"
        return of if part.column == "system" and part.file != "losses" else ""

    return link


def _filters(result: Evaluation, entries: Sequence[Entry], domain: Domain | None) -> Iterator[Filter]:
    if len(result.systems) > 1:
        yield Filter("system", "System", {system.name: system.name for system in result.systems})
    else:
        yield Filter("system", "", {})
    yield Filter("result", "Event", {"missed": "missed", "spurious": "spurious", "matched": "matched"})
    yield from event_filters(entries, domain)
    for field in result.systems[0].by:
        values = [value for value in field_values(result.clips, field) if value]
        yield Filter(field, field.replace("_", " ").capitalize(), {value: value for value in values})
    yield from (Filter(tag, "", {}) for tag in ("reference", "predicted"))


def _entries(result: Evaluation, folders: RunFolders, clips: dict[str, PageClip]) -> Iterator[tuple[int, Entry]]:
    """An entry for each clip and system with its number of unmatched events; the sides are added to `clips`."""
    for clip_number, reference in enumerate(result.clips):
        for number, system in enumerate(result.systems):
            matches = system.matches[clip_number]
            prediction = system.system.annotations.get(reference.clip_id)
            video = VideoFile() if prediction is None else folders.video_of(prediction)
            if video.path is None:
                video = folders.video_of(reference)
            keys = f"{number}/reference/{reference.clip_id}", f"{number}/prediction/{reference.clip_id}"
            events, notes = _events(reference, prediction, matches, system.name)
            clips[keys[0]] = PageClip.of(reference, video, notes[0])
            sides = [("reference", reference.author, keys[0])]
            if prediction is not None:
                clips[keys[1]] = PageClip.of(prediction, VideoFile(), notes[1])
                sides.append(("prediction", system.name, keys[1]))
            yield _entry(system, reference, prediction, events, sides, folders, several=len(result.systems) > 1)


Event = tuple[str, AnnotatedEvent, AnnotatedEvent | None]
"""`missed`, `spurious` or `matched`, with the event (of the reference, unless it is spurious) and its match."""


def _events(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, matches: Sequence[NamedMatch], system: str
) -> tuple[list[Event], tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]]:
    """The events of a clip, and by event id the result and note on each side."""
    by_reference = {match.reference: match for match in matches}
    predicted = {event.id: event for event in _events_of(prediction)}
    matched = {match.prediction: match for match in matches}
    missed_note = "" if scored(prediction) else f"the prediction is {'missing' if prediction is None else 'unscored'}"
    events: list[Event] = []
    for event in reference.findings:
        match = by_reference.get(event.id)
        events.append(("missed", event, None) if match is None else ("matched", event, predicted[match.prediction]))
    events += [("spurious", event, None) for event in predicted.values() if event.id not in matched]
    return events, (
        {event.id: _note(by_reference.get(event.id), "missed", missed_note) for event in reference.findings},
        {event.id: _note(matched.get(event.id), "spurious", "") for event in predicted.values()},
    )


def _note(match: NamedMatch | None, word: str, note: str) -> tuple[str, str]:
    if match is None:
        return word, note
    return (
        "matched",
        f"{match.reference} matched with {match.prediction}: similarity {match.similarity:.2f}, IoU {match.iou:.2f}",
    )


def _events_of(prediction: ClipAnnotation | None) -> Sequence[AnnotatedEvent]:
    return prediction.findings if prediction is not None and scored(prediction) else ()


_SIGNS = {"missed": "−", "spurious": "+"}


def _entry(
    system: SystemResult, reference: ClipAnnotation, prediction: ClipAnnotation | None, events: Sequence[Event],
    sides: Sequence[tuple[str, str, str]], folders: RunFolders, *, several: bool,
) -> tuple[int, Entry]:  # fmt: skip
    numbers = {word: sum(event[0] == word for event in events) for word in ("missed", "spurious", "matched")}
    wrong = numbers["missed"] + numbers["spurious"]
    words = [f"{number} {word}" for word, number in numbers.items() if number]
    page = None if prediction is None else folders.page_of(prediction)
    return wrong, Entry(
        id=f"{system.name}/{reference.clip_id}",
        title=reference.clip_id,
        subtitle=system.name if several else reference.instruction or "",
        mark=(f"{wrong} wrong", "bad") if wrong else ("all matched" if events else "no event", "good"),
        sentence=f"{', '.join(words) or 'no event in the reference or the prediction'}; the prediction is "
        f"{'missing' if prediction is None else prediction.status}",
        tags={
            "system": (system.name,),
            **{field: (field_of(reference, field),) for field in known_fields([reference])},
        },
        events=tuple(_tags(*event) for event in events),
        changes=tuple(
            (_SIGNS[word], word, event.type or event.dimension or "(no type)", event.severity)
            for word, event, _ in events
            if word != "matched"
        ),
        sides=tuple(sides),
        links=() if page is None else ((f"{system.name}: {reference.clip_id}", clip_address(page, reference.clip_id)),),
    )


def _tags(word: str, event: AnnotatedEvent, match: AnnotatedEvent | None) -> Mapping[str, tuple[str, ...]]:
    """The tags of an event; `reference` and `predicted` are the dimensions on the two sides, or `none`."""
    own, other = event.dimension or UNNAMED, "none" if match is None else match.dimension or UNNAMED
    reference, predicted = ("none", own) if word == "spurious" else (own, other)
    tags = event_tags(event, result=word, reference=reference, predicted=predicted)
    return tags if match is None else {**tags, "type": tuple(dict.fromkeys(filter(None, (event.type, match.type))))}
