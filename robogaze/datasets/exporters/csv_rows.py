"""CSV: a row a span of an event, one without an event for a clip in which nothing was found or judged.

It is read again by `robogaze.datasets.adapters.csv_rows`. Frames are told only where a rate tells their times.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.account import FIELDS
from robogaze.datasets.exporters.base import Exported, Exporter, nothing
from robogaze.datasets.exporters.records import EVENT_COLUMNS, event_rows, rate

_CLIP = ("clip_id", "author", "status", "instruction", *FIELDS, "duration_s", "fps", "frame_count")
_COLUMNS = (*_CLIP, *(name for name in EVENT_COLUMNS if name not in _CLIP))


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`events.csv`."""
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, _COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    for clip in clips:
        table.writerows(_rows(clip))
    return {"events.csv": text.getvalue()}


def _rows(one: Exported) -> Iterator[dict[str, Any]]:
    clip = one.clip
    same = {name: getattr(clip, name) for name in ("instruction", *FIELDS, "duration_s")}
    whose = {"clip_id": clip.id, "author": one.report.author, "status": one.report.status, **same, **rate(clip)}
    for row in event_rows(one.report) or [{}]:
        yield {**whose, **row}


EXPORTER = Exporter("csv", "events.csv, a row an event", nothing, files)
