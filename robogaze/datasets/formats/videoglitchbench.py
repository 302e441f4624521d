"""VideoGlitchBench and GliDe: `{"video_name", title, "no_bugs", "bugs": [text], "time_nodes": [[[s, e], ...], ...]}`.

One record, or a list of them; `time_nodes[i]` are the intervals of bug i, in seconds. The short keys `video` and
`intervals` are also read. The title that a clip was recorded in is the text under another key that ends with `_name`;
if the clip's key is `video`, it is the only other text. If there is no such text, the title is the name of the file's
folder. The clip's id is `<title>/<clip>`, so that clips with the same name remain distinct, and the title is a field
under its key.

In files that are written, the title is the part of the clip's id before the last slash or, if there is no slash, the
instruction, on one line and so short that the clip's id is valid. The key of the title is the domain's id followed by
`_name`. Dimensions, types and severities are lost.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import AliasChoices, Field

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, WrittenIntervals
from robogaze.core.clip import ID_LENGTH
from robogaze.core.report import Report
from robogaze.core.time import Span, union
from robogaze.datasets.documents import FormatError
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    leave_out_undecided,
    split_records,
)
from robogaze.datasets.formats.records import ForeignRecord, Interval, parse
from robogaze.datasets.formats.time_axis import TimeAxis

_CLIP_KEYS = {"video_name": "_name", "video": ""}
"""The keys of a clip's name, with the ending of the title's key."""
_OWN_KEYS = {*_CLIP_KEYS, "id"}


class _Record(ForeignRecord):
    clip: str = Field(validation_alias=AliasChoices(*_CLIP_KEYS))
    no_bugs: bool
    bugs: list[str]
    intervals: list[list[Interval]] = Field(validation_alias=AliasChoices("time_nodes", "intervals"))


def recognises(value: Any) -> bool:
    """A record, or a list of records."""
    records = value if isinstance(value, list) else [value]
    return bool(records) and all(
        isinstance(record, dict) and {"no_bugs", "bugs"} <= record.keys() for record in records
    )


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a record."""
    record = parse(_Record, part.value)
    key = "time_nodes" if "time_nodes" in part.value else "intervals"
    if record.no_bugs == bool(record.bugs):
        raise FormatError(f"this value contradicts the number of bugs: {len(record.bugs)}", ("no_bugs",))
    if len(record.intervals) != len(record.bugs):
        raise FormatError(f"there are {len(record.intervals)} entries for {len(record.bugs)} bugs", (key,))
    title = _title(part.value)
    folder = part.document.folders[-1:]
    clip_id = "/".join((*(title.values() or folder), record.clip.removesuffix(".mp4")))
    axis = context.time_axis(clip_id)
    events = [
        AnnotatedEvent(
            str(number + 1),
            _spans(record.intervals[number], axis, (key, number), as_written=context.as_written),
            text,
            written=WrittenIntervals("seconds", tuple((start, end) for start, end in record.intervals[number])),
        )
        for number, text in enumerate(record.bugs)
    ]
    return context.annotation(part, clip_id, events, axis, fields=title)


def _title(record: Mapping[str, Any]) -> dict[str, str]:
    """The title that a clip was recorded in, under its key; empty if the record names no title."""
    ending = next(ending for key, ending in _CLIP_KEYS.items() if key in record)
    titles = {
        key: value
        for key, value in record.items()
        if key.endswith(ending) and key not in _OWN_KEYS and isinstance(value, str) and value
    }
    if len(titles) > 1:
        raise FormatError(f"{' and '.join(titles)} could both be the title of the clip; keep one")
    return titles


def _spans(
    intervals: list[list[float]], axis: TimeAxis, place: tuple[str, int], *, as_written: bool
) -> tuple[Span, ...]:
    """The spans of an event, without spans of zero length if times are kept as written and no rate is known."""
    spans = []
    for number, (start, end) in enumerate(intervals):
        if as_written and start == end and axis.fps is None and axis.times_s is None:
            continue
        spans.append(axis.seconds(start, end, (*place, number, 0), (*place, number, 1)))
    return union(spans)


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`batch_report.json`, the name that GliDe uses."""
    records = [_record(clip.report) for clip in clips]
    return {"batch_report.json": json.dumps(records, ensure_ascii=False, indent=1) + "\n"}


def _record(report: Report) -> dict[str, Any]:
    title, _, name = report.clip.id.rpartition("/")
    return {
        "video_name": f"{name}.mp4",
        f"{report.domain.id}_name": title or _instruction(report, ID_LENGTH - len(name) - 1),
        "no_bugs": not report.events,
        "bugs": [event.description for event in report.events],
        "time_nodes": [[[span.start, span.end] for span in event.spans] for event in report.events],
    }


def _instruction(report: Report, length: int) -> str:
    """The instruction on one line, with an ellipsis if it would be longer than `length`."""
    text = " ".join((report.clip.instruction or "").split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


FORMAT = Format(
    AnnotationReader(recognises, split_records, read),
    ReportWriter(files, leave_out_undecided),
)
