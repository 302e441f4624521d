"""The page on the agreement between annotators: measures, events that need adjudication, and the annotations of each
clip.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from robogaze.agreement.adjudication import AdjudicationItem
from robogaze.agreement.annotation_set import ClipAnnotations
from robogaze.agreement.annotator_agreement import AgreementResult
from robogaze.core.annotation import AnnotatedEvent
from robogaze.domains import Domain
from robogaze.reporting.pages.results import (
    Entry,
    Fact,
    Filter,
    Link,
    PageClip,
    PageSection,
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
from robogaze.reporting.tables.agreement import agreement_tables, left_out, method_notes, settled_note
from robogaze.reporting.wording import count

_DETAILS = {"by-dimension", "further", "by-pair"}


def agreement_page(result: AgreementResult, folder: Path, domain: Domain | None) -> ResultPage:
    """The content of the page in `folder`. Without a domain, types and dimensions are shown by their ids."""
    folders = RunFolders(folder)
    clips: dict[str, PageClip] = {}
    questions: dict[str, list[AdjudicationItem]] = {}
    for question in result.adjudication.queue:
        questions.setdefault(question.clip_id, []).append(question)
    entries = [_entry(clip, questions.get(clip.clip_id, []), folders, clips) for clip in result.annotation_set.clips]
    entries.sort(key=lambda entry: (-len(questions.get(entry.id, [])), entry.id))
    return ResultPage(
        kind="Agreement",
        noun="clip",
        headline=agreement_headline(result),
        facts=tuple(_facts(result, folders)),
        checks=tuple(_checks(result)),
        sections=tuple(_sections(result, names_of(domain))),
        filters=tuple(_filters(entries, domain)),
        entries=tuple(entries),
        clips=clips,
        one_video=True,
    )


def agreement_headline(result: AgreementResult) -> str:
    """A sentence on how far the annotators agree: on whether a clip is faulty, and on its events."""
    annotators, overall = count(len(result.annotation_set.annotators), "annotator"), result.overall
    if not result.annotation_set.clips:
        return f"{annotators}, but no two annotators completed the same clip, so agreement cannot be measured."
    return (
        f"{annotators}. Agreement on whether a clip is faulty: kappa {cell_text(overall.detection_kappa)} clips. "
        f"Share of their events that match: {cell_text(overall.events_matched)}. "
        f"To be settled by a person: {count(len(result.adjudication.queue), 'event')}."
    )


def _facts(result: AgreementResult, folders: RunFolders) -> Iterator[Fact]:
    for annotator in result.annotation_set.annotators:
        clips = (clip.annotations for clip in result.annotation_set.clips)
        own = (annotation for annotations in clips for annotation in annotations if annotation.author == annotator)
        yield Fact("annotator", annotator, folders.single_page(own))


def _checks(result: AgreementResult) -> Iterator[ValidityCheck]:
    yield from (ValidityCheck(False, sentence) for sentence in left_out(result))
    yield ValidityCheck(True, f"Judge {result.judge}: {result.judge_note}")
    yield from (ValidityCheck(True, note) for note in method_notes(result))


def _sections(result: AgreementResult, names: Mapping[str, str]) -> Iterator[PageSection]:
    tables = {table.name: table for table in agreement_tables(result)}
    shown = [note for check in _checks(result) for note in (check.sentence,)]
    shown += [note for note in tables["agreement"].notes if note.startswith("Annotators: ")]
    main = page_table(tables["agreement"], without_notes=shown)
    yield PageSection("Agreement", (main,), open=True)
    queue = tables.get("queue")
    if queue is not None:
        summary = settled_note(result) if not queue.rows else ""
        yield PageSection(queue.title, (page_table(queue, link=_link_to_clip(queue)),), summary)
    details = [table for name, table in tables.items() if name in _DETAILS]
    if details:
        yield PageSection(
            "By dimension and by pair",
            tuple(
                page_table(table, names=names, link=_link_to_dimension(table), without_notes=shown) for table in details
            ),
        )
    ceiling = [table for name, table in tables.items() if name.startswith("human-ceiling")]
    if ceiling:
        summary = "each annotator is scored against the other annotators, in the same way as a system"
        yield PageSection("Human ceiling", tuple(page_table(table, without_notes=shown) for table in ceiling), summary)


def _link_to_clip(table: ResultTable) -> Link:
    return lambda row, column: f"#entry={quote(str(table.rows[row][1]))}" if column < 2 else ""


def _link_to_dimension(table: ResultTable) -> Link:
    if table.name != "by-dimension":
        return lambda row, column: ""
    return lambda row, column: f"#dimension={quote(str(table.rows[row][0]))}"


def _filters(entries: Sequence[Entry], domain: Domain | None) -> Iterator[Filter]:
    yield Filter("state", "Events", {"open": "to be settled", "settled": "settled"})
    yield from event_filters(entries, domain)


def _entry(
    clip: ClipAnnotations, questions: Sequence[AdjudicationItem], folders: RunFolders, clips: dict[str, PageClip]
) -> Entry:
    """A clip with an annotation on each side; the sides are added to `clips`."""
    open_events = {
        (author, event.id): "; ".join(question.reasons) for question in questions for author, event in question.events
    }
    videos = [folders.video_of(annotation) for annotation in clip.annotations]
    video = next((video for video in videos if video.path is not None), VideoFile())
    sides = []
    for number, annotation in enumerate(clip.annotations):
        key = f"{clip.clip_id}/{number}"
        notes = {
            event.id: ("open", f"to be settled: {open_events[annotation.author, event.id]}")
            if (annotation.author, event.id) in open_events
            else ("settled", "settled without a person")
            for event in annotation.findings
        }
        clips[key] = PageClip.of(annotation, video if number == 0 else VideoFile(), notes)
        sides.append((annotation.author, "", key))
    settled = [
        event
        for annotation in clip.annotations
        for event in annotation.findings
        if (annotation.author, event.id) not in open_events
    ]
    pages = {annotation.author: folders.page_of(annotation) for annotation in clip.annotations}
    return Entry(
        id=clip.clip_id,
        title=clip.clip_id,
        subtitle=next((annotation.instruction for annotation in clip.annotations if annotation.instruction), ""),
        mark=(f"{len(questions)} to settle", "bad") if questions else ("agreed", "good"),
        sentence="; ".join(reason for question in questions for reason in question.reasons) or "nothing to settle",
        tags={"dataset": (clip.dataset,)},
        events=(
            *(event_tags(event, state="open") for question in questions for _, event in question.events),
            *(event_tags(event, state="settled") for event in settled),
        ),
        changes=tuple(_change(question) for question in questions),
        sides=tuple(sides),
        links=tuple((author, clip_address(page, clip.clip_id)) for author, page in pages.items() if page),
    )


def _change(question: AdjudicationItem) -> tuple[str, str, str, int | None]:
    event: AnnotatedEvent = question.events[0][1]
    severities = [event.severity for _, event in question.events if event.severity is not None]
    return "?", "to be settled", event.type or event.dimension or "(no type)", max(severities, default=None)
