"""VideoGlitchBench and GliDe: `{"video_name", ..., "no_bugs", "bugs": [text], "time_nodes": [[[s, e], ...], ...]}`.

One record, or a list of them; `time_nodes[i]` are the intervals of bug i, in seconds. The short spelling `video` and
`intervals` is read, too. A record names, beside its clip, the title it was recorded in, in one more text whose key ends
as the clip's does; where it does not, the folder does that the file lies in. The clip's id is `<title>/<clip>`, so
that clips of one name stay apart, and the title is a field, under the key it has there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import AliasChoices, Field

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, WrittenIntervals
from robogaze.core.time import Span, union
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Foreign, Interval, parse
from robogaze.datasets.formats.time_axis import TimeAxis

_CLIP_KEYS = {"video_name": "_name", "video": ""}
"""The keys a clip's name can have, with how the key of its title ends."""
_OWN_KEYS = {*_CLIP_KEYS, "id"}


class _Record(Foreign):
    clip: str = Field(validation_alias=AliasChoices(*_CLIP_KEYS))
    no_bugs: bool
    bugs: list[str]
    intervals: list[list[Interval]] = Field(validation_alias=AliasChoices("time_nodes", "intervals"))


def recognises(value: Any) -> bool:
    """A record, or a list of them."""
    records = value if isinstance(value, list) else [value]
    return bool(records) and all(isinstance(one, dict) and {"no_bugs", "bugs"} <= one.keys() for one in records)


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each record."""
    if isinstance(document.value, list):
        for number, record in enumerate(document.value):
            yield AnnotationPart(document, (number,), record)
    else:
        yield AnnotationPart(document, (), document.value)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """A record as an account."""
    record = parse(_Record, part.value)
    spelt = "time_nodes" if "time_nodes" in part.value else "intervals"
    if record.no_bugs == bool(record.bugs):
        raise FormatError(f"this does not go with {len(record.bugs)} bugs", ("no_bugs",))
    if len(record.intervals) != len(record.bugs):
        raise FormatError(f"there are {len(record.intervals)} entries for {len(record.bugs)} bugs", (spelt,))
    title = _title(part.value)
    folder = part.document.folders[-1:]
    name = "/".join((*(title.values() or folder), record.clip.removesuffix(".mp4")))
    axis = reading.axis(name)
    findings = [
        AnnotatedEvent(
            str(number + 1),
            _spans(record.intervals[number], axis, (spelt, number), as_written=reading.as_written),
            text,
            written=WrittenIntervals("seconds", tuple((start, end) for start, end in record.intervals[number])),
        )
        for number, text in enumerate(record.bugs)
    ]
    return reading.account(part, name, findings, axis, fields=title)


def _title(record: Mapping[str, Any]) -> dict[str, str]:
    """The title a clip was recorded in, under its key; empty when the record names none."""
    ending = next(ending for key, ending in _CLIP_KEYS.items() if key in record)
    found = {
        key: value
        for key, value in record.items()
        if key.endswith(ending) and key not in _OWN_KEYS and isinstance(value, str) and value
    }
    if len(found) > 1:
        raise FormatError(f"{' and '.join(found)} could both name the title of the clip; keep one")
    return found


def _spans(intervals: list[list[float]], axis: TimeAxis, at: tuple[str, int], *, as_written: bool) -> tuple[Span, ...]:
    """The spans of an event; those of no length are left out where they are kept as written and no rate is known."""
    found = []
    for number, (start, end) in enumerate(intervals):
        if as_written and start == end and axis.fps is None and axis.times_s is None:
            continue
        found.append(axis.seconds(start, end, (*at, number, 0), (*at, number, 1)))
    return union(found)


FORMAT = Format(
    "videoglitchbench",
    "VideoGlitchBench and GliDe: {video_name, no_bugs, bugs, time_nodes}",
    recognises,
    split,
    read,
)
