"""CSV: a row a span of an event, and a row without an event for a clip in which nothing was found.

It is read again by `robogaze.datasets.formats.csv_events`. Frames are given only where their times follow from a rate.
Without `coverage` a clip would count as examined in every dimension.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.annotation import FIELDS
from robogaze.core.coverage import as_cell, states
from robogaze.datasets.exporters.base import Exported, Exporter, nothing
from robogaze.datasets.exporters.records import EVENT_COLUMNS, event_rows, rate

_CLIP = ("clip_id", "author", "status", "coverage", "instruction", *FIELDS, "duration_s", "fps", "frame_count")
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
    covered = as_cell(states(one.report.coverage))
    whose = {"clip_id": clip.id, "author": one.report.author, "status": one.report.status, "coverage": covered}
    for row in event_rows(one.report) or [{}]:
        yield {**whose, **same, **rate(clip), **row}


EXPORTER = Exporter("csv", "events.csv, a row an event", nothing, files)
