"""Parquet: `clips.parquet`, a row a clip, and `events.parquet`, a row a span of an event. Needs pyarrow."""

from collections.abc import Mapping, Sequence

from robogaze.datasets.exporters.base import Exported, Exporter, nothing
from robogaze.datasets.exporters.records import CLIP_COLUMNS, EVENT_COLUMNS, clip_rows, event_rows
from robogaze.datasets.parquet_files import as_parquet


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """Both tables."""
    events = [row for one in clips for row in event_rows(one.report)]
    return {
        "clips.parquet": as_parquet(CLIP_COLUMNS, clip_rows(clips)),
        "events.parquet": as_parquet(EVENT_COLUMNS, events),
    }


EXPORTER = Exporter("parquet", "clips.parquet and events.parquet", nothing, files)
