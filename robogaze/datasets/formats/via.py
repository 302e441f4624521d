"""VIA (VGG Image Annotator, version 3): video projects.

    {"project": {"vid_list", ...}, "attribute": {aid: {"aname", "anchor_id", "type", "options": {oid: text}}},
     "file": {fid: {"fname", "type"}}, "view": {vid: {"fid_list": [fid]}},
     "metadata": {mid: {"vid", "z": [s, e], "av": {aid: value}}}}

Times are seconds. A view of a video is a clip; its id is the name of the file without folder and suffix. An entry of
`metadata` with two times is one event. The label of the entry names a type or a dimension; it is also the description
if there is no other description. Attributes are found by name, in upper or lower case. The label is `type`, `label`,
`glitch_type` or `class`, or else the first select or radio attribute of segments. The description is `description`,
`comment`, `text` or `notes`; the severity is `severity`. A value is a text, or the id or the text of an option.

Values of other attributes of a segment are counted in a warning.

An entry without two times is left out, unless it marks the clip as clean. If it has a label, it is refused, because its
event would be lost. A clip without segments is clean if an entry for the whole file (`z` is empty) has an attribute
`clean` with the value clean, yes, true or 1. Otherwise, the clip is unscored, because it looks the same whether
somebody watched it or not. The project does not name an author.

Writes `via.json`. A segment is one span, so an event with several spans is several segments. A report that is
incomplete or undecided is a view without entries, which is read as unscored. Parts of longer videos are left out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.report import Report, Status
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    leave_out_undecided,
)
from robogaze.datasets.formats.records import ForeignRecord, Identifier, Whole, parse
from robogaze.datasets.formats.time_axis import TimeAxis

_TABLES = ("attribute", "file", "view", "metadata")
_VERSION = "3.1.1"

_VIDEO_FILE, _BY_ADDRESS = 4, 2
"""The type of a video file, and the `loc` of a file that is opened by its address."""
_TEXT, _CHECKBOX, _RADIO, _SELECT = 1, 2, 3, 4
"""The types of attributes."""
_OF_SEGMENT, _OF_FILE = "FILE1_Z2_XY0", "FILE1_Z0_XY0"
"""The anchors of attributes: a span of time, and the whole file."""

_LABELS = ("type", "label", "glitch_type", "class")
_DESCRIPTIONS = ("description", "comment", "text", "notes")
_SEVERITY, _CLEAN = "severity", "clean"
_SEVERITIES = ("1", "2", "3", "4", "5")
_AFFIRMATIVE = ("clean", "yes", "true", "1")


class _Attribute(ForeignRecord):
    aname: str
    anchor_id: str | None = None
    type: Whole
    options: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The name without surrounding spaces, in lower case."""
        return self.aname.strip().casefold()


class _File(ForeignRecord):
    fname: str
    type: Whole


class _FileList(ForeignRecord):
    fid_list: list[str]


class _Values(ForeignRecord):
    """An entry of `metadata`: a segment has two times, a point has one time, and the whole file has no time."""

    z: list[float] = []
    av: dict[str, Identifier] = {}


@dataclass(frozen=True)
class _Attributes:
    """The attributes of a project, by id, and the ids of the attributes that are read, in order of preference."""

    by_id: Mapping[str, _Attribute]
    labels: Sequence[str]
    descriptions: Sequence[str]
    severities: Sequence[str]
    clean: Sequence[str]


@dataclass(frozen=True)
class _View:
    """A view: its id, its entries as they are in the file, by id, and the attributes of the project."""

    vid: str
    entries: Mapping[str, Any]
    attributes: _Attributes


def recognises(value: Any) -> bool:
    """A project with its list of views, and with attributes, files, views and metadata."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("project"), dict)
        and isinstance(value["project"].get("vid_list"), list)
        and all(isinstance(value.get(table), dict) for table in _TABLES)
    )


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each view of a video.

    The place of each part is the whole document, because the contents of a view are spread over several tables.
    """
    value = document.value
    if not recognises(value):
        raise FormatError(f"expected a project with a vid_list, and the objects {', '.join(_TABLES)}")
    version = value["project"].get("data_format_version", _VERSION)
    if not (isinstance(version, str) and version.startswith("3.")):
        raise FormatError(f"expected version 3, not {version!r}", ("project", "data_format_version"))
    attributes = _attributes(value["attribute"])
    entries: dict[str, dict[str, Any]] = {vid: {} for vid in value["view"]}
    for mid, entry in value["metadata"].items():
        vid = entry.get("vid") if isinstance(entry, dict) else None
        if not (isinstance(vid, str) and vid in entries):
            raise FormatError("the entry does not name a view", ("metadata", mid, "vid"))
        entries[vid][mid] = entry
    for vid, view in value["view"].items():
        if not _without_video(view, value["file"]):
            yield AnnotationPart(document, (), _View(vid, entries[vid], attributes))


def _attributes(table: Mapping[str, Any]) -> _Attributes:
    attributes = {aid: parse(_Attribute, value, ("attribute", aid)) for aid, value in table.items()}

    def named(*names: str) -> list[str]:
        """The ids of the attributes with these names. Attributes of segments come first; otherwise, the order is that
        of the names.
        """
        found = [aid for aid, attribute in attributes.items() if attribute.name in names]
        return sorted(
            found,
            key=lambda aid: (attributes[aid].anchor_id != _OF_SEGMENT, names.index(attributes[aid].name)),
        )

    others = (*_DESCRIPTIONS, _SEVERITY, _CLEAN)
    choices = [
        aid
        for aid, attribute in attributes.items()
        if attribute.anchor_id == _OF_SEGMENT and attribute.type in (_SELECT, _RADIO) and attribute.name not in others
    ]
    return _Attributes(
        attributes, named(*_LABELS) or choices[:1], named(*_DESCRIPTIONS), named(_SEVERITY), named(_CLEAN)
    )


def _without_video(view: Any, files: Mapping[str, Any]) -> bool:
    """Whether all files of a view are of another type. If the view does not fit, the result is False, and `read`
    handles the view.
    """
    fids = view.get("fid_list") if isinstance(view, dict) else None
    if not isinstance(fids, list):
        return False
    types = [files[fid].get("type") for fid in fids if isinstance(fid, str) and isinstance(files.get(fid), dict)]
    return len(types) == len(fids) and all(type(kind) is int and kind != _VIDEO_FILE for kind in types)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a view."""
    view: _View = part.value
    place: Place = ("view", view.vid)
    file = _video(part.document.value, place)
    clip_id = PurePosixPath(file.fname).stem
    axis = context.time_axis(clip_id)
    entries = [
        _Entry(mid, parse(_Values, value, ("metadata", mid)), view.attributes) for mid, value in view.entries.items()
    ]
    events = [_event(entry, axis, context) for entry in entries if entry.is_segment]
    marks = [_clean(entry, context) for entry in entries if not entry.is_segment]
    clean = next((mark for mark in marks if mark is not None), None)
    if clean is not None and events:
        raise FormatError("a clip with segments cannot be clean", clean)
    status: Status = "complete" if events or clean is not None else "unscored"
    try:
        of_view = replace(part, place=place)
        return context.annotation(of_view, clip_id, events, axis, status=status, clip_file=file.fname)
    except FormatError as error:
        raise FormatError(error.message, place) from error


def _video(project: Mapping[str, Any], place: Place) -> _File:
    """The only video of the view at a place."""
    files, views = project["file"], project["view"]
    videos = []
    for number, fid in enumerate(parse(_FileList, views[place[-1]], place).fid_list):
        if fid not in files:
            raise FormatError(f"there is no file {fid!r}", (*place, "fid_list", number))
        file = parse(_File, files[fid], ("file", fid))
        if file.type == _VIDEO_FILE:
            videos.append(file)
    if len(videos) != 1:
        raise FormatError(f"expected a view of one video, not of {len(videos)}", (*place, "fid_list"))
    return videos[0]


@dataclass(frozen=True)
class _Entry:
    """An entry of `metadata`, with the attributes of the project."""

    mid: str
    values: _Values
    attributes: _Attributes

    @property
    def place(self) -> Place:
        """Where the entry is in the document."""
        return ("metadata", self.mid)

    @property
    def is_segment(self) -> bool:
        """Whether the entry has two times."""
        return len(self.values.z) == 2

    @property
    def unread(self) -> Iterator[str]:
        """The names of the attributes for which the entry has a value that is not read."""
        attributes = self.attributes
        read = {*attributes.labels, *attributes.descriptions, *attributes.severities}
        for aid, value in self.values.av.items():
            if aid in attributes.by_id and aid not in read and str(value).strip():
                yield attributes.by_id[aid].aname

    def first(self, aids: Sequence[str]) -> tuple[Sequence[str], Place]:
        """The texts of one attribute, and the place of its value. It is the first of these attributes for which the
        entry has a text.
        """
        for aid in aids:
            place: Place = (*self.place, "av", aid)
            if aid in self.values.av and (texts := _texts(self.values.av[aid], self.attributes.by_id[aid], place)):
                return texts, place
        return (), (*self.place, "av")


def _event(entry: _Entry, axis: TimeAxis, context: ReadingContext) -> AnnotatedEvent:
    attributes = entry.attributes
    start, end = entry.values.z
    span = axis.seconds(start, end, (*entry.place, "z", 0), (*entry.place, "z", 1))
    label, label_place = entry.first(attributes.labels)
    if len(label) > 1:
        raise FormatError(f"a segment must have one label, not {len(label)}", label_place)
    if label:
        type_, dimension = context.map_label(label[0], label_place)
    else:
        context.log.count("segment", "without a label (read as an event without a type)")
        type_, dimension = None, None
    for name in entry.unread:
        context.log.count("value", f"of the attribute {name!r} (not read)")
    description = ", ".join(entry.first(attributes.descriptions)[0] or label)
    severity = _severity(*entry.first(attributes.severities))
    return AnnotatedEvent(entry.mid, (span,), description, dimension, type_, severity=severity)


def _severity(texts: Sequence[str], place: Place) -> int | None:
    if not texts:
        return None
    if len(texts) > 1 or texts[0] not in _SEVERITIES:
        raise FormatError(f"{', '.join(texts)!r} is not a severity from 1 to 5", place)
    return int(texts[0])


def _clean(entry: _Entry, context: ReadingContext) -> Place | None:
    """The place at which an entry without two times marks the clip as clean, None without a mark.

    Raises FormatError for an entry with a label.
    """
    times, attributes = entry.values.z, entry.attributes
    if entry.first(attributes.labels)[0]:
        message = "an event needs two times, a start and an end, but the entry with this label has"
        raise FormatError(f"{message} {len(times) or 'none'}", (*entry.place, "z"))
    if times or not any(aid in entry.values.av for aid in attributes.clean):
        context.log.count("metadata record", "without two times (left out)")
        return None
    marks = [entry.first([aid]) for aid in attributes.clean]
    return next((place for texts, place in marks if any(text.casefold() in _AFFIRMATIVE for text in texts)), None)


def _texts(value: Identifier, attribute: _Attribute, place: Place) -> Sequence[str]:
    """The text of a value, or of each option that it names; empty without a value.

    Raises FormatError for a value that is not an option.
    """
    text = str(value).strip()
    if attribute.type == _TEXT:
        return [text] if text else []
    options, known = attribute.options, set(attribute.options.values())
    several = attribute.type == _CHECKBOX and text not in options and text not in known
    chosen = [choice for item in (text.split(",") if several else [text]) if (choice := item.strip())]
    if unknown := [choice for choice in chosen if choice not in options and choice not in known]:
        raise FormatError(f"{unknown[0]!r} is not an option of the attribute {attribute.aname!r}", place)
    return [text for choice in chosen if (text := options.get(choice, choice).strip())]


_TYPE_ID, _DESCRIPTION_ID, _SEVERITY_ID, _CLEAN_ID = "1", "2", "3", "4"
"""The ids of the attributes that are written."""
_IS_CLEAN = "1"
"""The id of the one option of `clean`."""


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`via.json`."""
    types = sorted({event.type for clip in clips for event in clip.report.events})
    type_ids = {type_: str(number) for number, type_ in enumerate(types, start=1)}
    views = {str(number): clip for number, clip in enumerate(clips, start=1)}
    value = {
        "project": {
            # What the tool itself writes in a project that was not shared yet.
            "pid": "__VIA_PROJECT_ID__",
            "rev": "__VIA_PROJECT_REV_ID__",
            "rev_timestamp": "__VIA_PROJECT_REV_TIMESTAMP__",
            "pname": "RoboGaze",
            "creator": "RoboGaze",
            "data_format_version": _VERSION,
            "vid_list": list(views),
        },
        "config": _CONFIG,
        "attribute": {
            _TYPE_ID: _attribute(_LABELS[0], _OF_SEGMENT, _SELECT, {oid: type_ for type_, oid in type_ids.items()}),
            _DESCRIPTION_ID: _attribute(_DESCRIPTIONS[0], _OF_SEGMENT, _TEXT, {}),
            _SEVERITY_ID: _attribute(_SEVERITY, _OF_SEGMENT, _SELECT, {level: level for level in _SEVERITIES}),
            _CLEAN_ID: _attribute(_CLEAN, _OF_FILE, _CHECKBOX, {_IS_CLEAN: _AFFIRMATIVE[0]}),
        },
        "file": {vid: _file(vid, clip) for vid, clip in views.items()},
        "view": {vid: {"fid_list": [vid]} for vid in views},
        "metadata": {
            f"{vid}_{number}": {"vid": vid, "flg": 0, "z": times, "xy": [], "av": values}
            for vid, clip in views.items()
            for number, (times, values) in enumerate(_entries(clip.report, type_ids), start=1)
        },
    }
    return {"via.json": json.dumps(value, ensure_ascii=False, indent=1) + "\n"}


_CONFIG = {
    "file": {"loc_prefix": {"1": "", "2": "", "3": "", "4": ""}},
    "ui": {
        "file_content_align": "center",
        "file_metadata_editor_visible": True,
        "spatial_metadata_editor_visible": True,
        "temporal_segment_metadata_editor_visible": True,
        "spatial_region_label_attribute_id": "",
        "gtimeline_visible_row_count": "4",
    },
}
"""The settings of a new project."""


def why_left_out(report: Report) -> str | None:
    """The reason to leave out a clip that is part of a longer video; None for any other clip."""
    return None if report.clip.start_s is None else "cut from a longer video, which the format cannot express"


def _attribute(name: str, anchor: str, kind: int, options: Mapping[str, str]) -> dict[str, Any]:
    return {"aname": name, "anchor_id": anchor, "type": kind, "desc": "", "options": options, "default_option_id": ""}


def _file(fid: str, clip: ExportedReport) -> dict[str, Any]:
    """A file under the name of its clip, so that the name gives the clip's id."""
    name = f"{clip.clip.id}{clip.path.suffix}"
    return {"fid": fid, "fname": name, "type": _VIDEO_FILE, "loc": _BY_ADDRESS, "src": quote(clip.video)}


def _entries(report: Report, type_ids: Mapping[str, str]) -> Iterator[tuple[list[float], dict[str, str]]]:
    """The times and the values of each entry."""
    if leave_out_undecided(report) is not None:
        return
    if report.verdict == "clean":
        yield [], {_CLEAN_ID: _IS_CLEAN}
    for event in report.events:
        severity = {} if event.severity is None else {_SEVERITY_ID: str(event.severity)}
        values = {_TYPE_ID: type_ids[event.type], _DESCRIPTION_ID: event.description, **severity}
        for span in event.spans:
            yield [span.start, span.end], values


FORMAT = Format(
    AnnotationReader(recognises, split, read),
    ReportWriter(files, why_left_out),
)
