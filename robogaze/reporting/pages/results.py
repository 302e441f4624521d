"""A page of results: headline, caveats, sortable tables, and the clips behind the numbers.

Comparisons, evaluations, rankings, agreements and sensitivities have such a page. An entry of the list of clips has one
or more sides (reference and prediction, before and after, annotators), which share a timeline.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isnan, log10
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from pydantic import Field

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState
from robogaze.core.data import Data
from robogaze.core.estimate import Estimate
from robogaze.core.events import Severity
from robogaze.core.report import Status, Verdict
from robogaze.core.time import Span
from robogaze.domains import Domain, domain_folders, load_domain
from robogaze.reporting.figures import interval_strip
from robogaze.reporting.pages.bundles import WrittenPage, bundles, write_files
from robogaze.reporting.pages.document import document, vocabulary
from robogaze.reporting.pages.videos import VideoFile, video_notes, video_sources
from robogaze.reporting.tables import Cell, ResultTable, cell_text

STYLES = (
    "base", "run", "list", "severity", "clip", "player", "timeline", "record", "results", "sides", "media"
)  # fmt: skip
SCRIPTS = (
    "dom", "format", "data", "frames", "address", "filter", "rows", "keys", "viewer", "places", "loop", "speed", "axis",
    "timeline", "claims", "screen", "clock", "lanes", "sort", "list", "entries", "sides", "results",
)  # fmt: skip


class PageEvent(Data):
    """An event on one side of an entry. `spans` is empty if its time is not known. `note` says how the event counts,
    and `result` says it in one word.
    """

    id: str
    dimension: str | None
    type: str | None
    spans: tuple[Span, ...]
    severity: Severity | None
    confidence: float | None
    description: str
    result: str = ""
    note: str = ""


class PageClip(Data):
    """A clip as one side of an entry.

    `coverage` is None if every dimension counts as examined, and `duration_s` is None if it is not known. `video` is
    the source that the page plays, and the clip begins at `start_s` in this video. `file` is not written to the page.
    """

    id: str
    status: Status
    verdict: Verdict
    instruction: str | None
    duration_s: float | None
    frame_times_s: tuple[float, ...]
    coverage: dict[str, CoverageState] | None
    video: str | None
    start_s: float
    file: VideoFile = Field(VideoFile(), exclude=True)
    events: tuple[PageEvent, ...]

    @classmethod
    def of(
        cls, annotation: ClipAnnotation, video: VideoFile, notes: Mapping[str, tuple[str, str]] | None = None
    ) -> "PageClip":
        """An annotation as one side of an entry. `notes` has the result and the note of events, by event id."""
        return cls(
            id=annotation.clip_id,
            status=annotation.status,
            verdict=annotation.verdict,
            instruction=annotation.instruction,
            duration_s=annotation.duration_s,
            frame_times_s=tuple(annotation.frame_times_s or ()),
            coverage=None if annotation.coverage is None else dict(annotation.coverage),
            video=video.path,
            start_s=video.start_s,
            file=video,
            events=tuple(_page_event(event, *(notes or {}).get(event.id, ("", ""))) for event in annotation.findings),
        )


def _page_event(event: AnnotatedEvent, result: str, note: str) -> PageEvent:
    copied = [name for name in PageEvent.model_fields if name not in ("result", "note")]
    return PageEvent(**{name: getattr(event, name) for name in copied}, result=result, note=note)


Link = Callable[[int, int], str]
"""The address behind a cell, by row and column; empty for none."""


@dataclass(frozen=True)
class PageCell:
    """A cell: its text, the value it is sorted by, its interval as a drawing, and the address of its clips."""

    text: str
    sort: str
    strip: Markup | None
    href: str


@dataclass(frozen=True)
class PageTable:
    """A table of a page. Each column has a name and the range of the axis of its drawings; the range is empty if it is
    0 to 1 or differs between rows.
    """

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[PageCell, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PageSection:
    """A part of the page that can be opened. `summary` is shown in its heading; `figures` are SVG documents."""

    title: str
    tables: tuple[PageTable, ...]
    summary: str = ""
    open: bool = False
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """An item of the title line. `label` is plain text, `name` is text from a user, and `href` is the address of the
    page with this name.
    """

    label: str
    name: str
    href: str | None = None


@dataclass(frozen=True)
class ValidityCheck:
    """A sentence above the numbers. `good` is false if the sentence limits what the result shows.

    If the list of clips can be filtered to the clips in question, `status` is their status or verdict.
    """

    good: bool
    sentence: str
    status: str | None = None


@dataclass(frozen=True)
class Filter:
    """A choice above the list of clips. `tag` is a tag of the entries or of their events, and `values` has the text
    that is shown for each value of the tag.
    """

    tag: str
    label: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """A clip or prompt in the list.

    `mark` is a word with its tone (`good`, `care`, `bad` or empty). `tags` and the tags of `events` are matched by
    filters. `changes` are (sign, word, type, severity). `sides` are (label, name, key of the `PageClip`). `links` are
    (text, address).
    """

    id: str
    title: str
    subtitle: str
    mark: tuple[str, str]
    sentence: str
    tags: Mapping[str, tuple[str, ...]]
    events: tuple[Mapping[str, tuple[str, ...]], ...]
    changes: tuple[tuple[str, str, str, int | None], ...]
    sides: tuple[tuple[str, str, str], ...]
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ResultPage:
    """The content of a page.

    `kind` is the name of the result, and `noun` is the word for an entry of the list. With `one_video`, the sides of an
    entry show the same video.
    """

    kind: str
    noun: str
    headline: str
    facts: tuple[Fact, ...]
    checks: tuple[ValidityCheck, ...]
    sections: tuple[PageSection, ...]
    filters: tuple[Filter, ...]
    entries: tuple[Entry, ...]
    clips: Mapping[str, PageClip]
    one_video: bool

    @property
    def title(self) -> str:
        """The title of the document."""
        return f"{self.kind}: {', '.join(fact.name for fact in self.facts)}"


def page_table(
    table: ResultTable, *, names: Mapping[str, str] | None = None, link: Link | None = None, axis_per_row: bool = False,
    without_notes: Sequence[str] = (),
) -> PageTable:  # fmt: skip
    """A table in which intervals are also drawn. In the first column, `names` replaces ids by names.

    The drawings of a column share an axis; with `axis_per_row`, the drawings of a row share an axis. Empty columns are
    left out.
    """
    columns = [[row[number] for row in table.rows] for number in range(len(table.columns))]
    shown = [number for number, cells in enumerate(columns) if any(cell is not None for cell in cells)]
    axes = [_axis(column) for column in columns]
    rows = []
    for number, row in enumerate(table.rows):
        row_axis = _axis(row)
        cells = []
        for column in shown:
            cell = row[column]
            text = (names or {}).get(str(cell), cell_text(cell)) if column == 0 else cell_text(cell)
            axis = row_axis if axis_per_row else axes[column]
            strip = Markup(interval_strip(cell, *axis)) if isinstance(cell, Estimate) else None
            cells.append(PageCell(text, _sort_value(cell, text), strip, "" if link is None else link(number, column)))
        rows.append(tuple(cells))
    ranges = ["" if axis_per_row or axis == (0.0, 1.0) else f"{axis[0]:g} to {axis[1]:g}" for axis in axes]
    heads = tuple((table.columns[number], ranges[number]) for number in shown)
    notes = tuple(note for note in table.notes if note not in without_notes)
    return PageTable(table.title, heads, tuple(rows), notes)


def _axis(cells: Sequence[Cell]) -> tuple[float, float]:
    """The axis of some estimates: from 0, or symmetric around 0 if a value is negative."""
    estimates = [cell for cell in cells if isinstance(cell, Estimate)]
    values = [value for cell in estimates for value in (cell.value, cell.low, cell.high) if not isnan(value)]
    edge = _round_up(max(map(abs, values), default=1.0))
    return (-edge, edge) if min(values, default=0.0) < -1e-9 else (0.0, edge)


def _round_up(value: float) -> float:
    """The next larger of 0.1, 0.25, 0.5, 1, 2.5, 5, 10, ..."""
    power = 10.0 ** max(floor(log10(value)), -1) if value > 0 else 0.1
    return next(step * power for step in (1, 2.5, 5, 10) if value <= step * power * (1 + 1e-9))


def _sort_value(cell: Cell, text: str) -> str:
    """The number to sort by; empty for undefined values, which stay last."""
    value = cell.value if isinstance(cell, Estimate) else cell
    if isinstance(value, int | float):
        return "" if isnan(value) else repr(float(value))
    return text.lower()


def event_tags(event: AnnotatedEvent, **more: str) -> dict[str, tuple[str, ...]]:
    """The tags of an event: dimension, type, and every severity up to its own."""
    return {
        "dimension": tuple(name for name in (event.dimension, *event.secondary) if name),
        "type": (event.type,) if event.type else (),
        "severity": levels_up_to(event.severity),
        **{name: (value,) for name, value in more.items()},
    }


def levels_up_to(severity: int | None) -> tuple[str, ...]:
    """The severities that an event reaches; empty if its severity is not known."""
    return tuple(str(level) for level in range(1, (severity or 0) + 1))


def clip_address(page: str, clip_id: str) -> str:
    """The address of a clip on the page of its run."""
    return f"{quote(page)}#clip={quote(clip_id)}"


def event_filters(entries: Sequence[Entry], domain: Domain | None) -> Iterator[Filter]:
    """The filters by dimension, type and severity; each offers the values that occur in the entries."""
    names = names_of(domain)
    for tag, label in (("dimension", "Dimension"), ("type", "Type")):
        found = {value for entry in entries for event in entry.events for value in event[tag]}
        if found:
            by_name = sorted(found, key=lambda value: names.get(value, value))
            yield Filter(tag, label, {value: names.get(value, value) for value in by_name})
    levels = sorted({level for entry in entries for event in entry.events for level in event["severity"]}, reverse=True)
    if levels:
        yield Filter(
            "severity", "Severity", {level: level if level == "5" else f"{level} or worse" for level in levels}
        )


def names_of(domain: Domain | None) -> dict[str, str]:
    """The names of dimensions and types by id; empty without a domain."""
    if domain is None:
        return {}
    dimensions = {dimension.id: dimension.name for dimension in domain.dimensions.values()}
    return dimensions | {event_type.id: event_type.name for event_type in domain.types.values()}


def domain_of(taxonomies: set[str], named: str | None = None) -> Domain | None:
    """The domain with the name `named`. Without a name, it is the built-in domain of the taxonomy, or None if there are
    several taxonomies or no built-in domain fits.
    """
    if named is not None:
        return load_domain(named)
    known = (load_domain(name) for name in domain_folders())
    return next((domain for domain in known if taxonomies == {domain.ref.taxonomy}), None)


def write_result_page(page: ResultPage, folder: Path, domain: Domain | None) -> WrittenPage:
    """Write index.html, and the files next to it that a large page needs."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {key: clip.file for key, clip in page.clips.items() if clip.file.path is not None}
    videos = video_sources(files, folder)
    path = write_files(folder, result_files(page, videos, domain))
    return WrittenPage(path, tuple(video_notes(videos, files)))


def result_files(
    page: ResultPage, videos: Mapping[str, str | None], domain: Domain | None
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of a page, `index.html` last. `videos` maps the key of a clip to the
    source of its video.
    """
    files: dict[str, str | None] = {}
    in_page: Mapping[str, str] | None = None
    clips = ((key, clip.with_(video=videos.get(key)).model_dump_json()) for key, clip in page.clips.items())
    for bundle in bundles(clips):
        files |= dict.fromkeys(bundle.data, bundle.file)
        if bundle.file is None:
            in_page = bundle.data
        else:
            yield bundle.file, bundle.text
    data = {
        "vocabulary": vocabulary(domain),
        "entries": {
            "noun": page.noun,
            "oneVideo": page.one_video,
            "entries": [_entry(entry, files) for entry in page.entries],
        },
    }
    yield "index.html", document("results.html.j2", page.title, STYLES, SCRIPTS, data, in_page, page=page)


def _entry(entry: Entry, files: Mapping[str, str | None]) -> dict[str, Any]:
    sides = [{"label": label, "name": name, "key": key, "file": files[key]} for label, name, key in entry.sides]
    return {**vars(entry), "sides": sides}
