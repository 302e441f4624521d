"""Parquet, written only: `clips.parquet`, one row per clip, and `events.parquet`, one row per span of an event."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, get_args

from robogaze.core.annotation import FIELDS
from robogaze.core.coverage import CoverageState
from robogaze.datasets.formats.base import ExportedReport, Format, ReportWriter, keep_all
from robogaze.datasets.formats.csv_events import SPAN_COLUMNS, span_rows
from robogaze.datasets.parquet_files import parquet_bytes


def _dimensions_in(clip: ExportedReport, state: CoverageState) -> int:
    return sum(coverage.state == state for coverage in clip.report.coverage.values())


Column = tuple[str, Callable[[ExportedReport], Any]]
"""The type of a column, and the function that gives its value."""

_CLIP_COLUMNS: Mapping[str, Column] = {
    "clip_id": ("string", attrgetter("clip.id")),
    **{name: ("string", attrgetter(f"report.{name}")) for name in ("author", "pipeline", "status", "verdict")},
    **{name: ("string", attrgetter(f"clip.{name}")) for name in ("instruction", *FIELDS)},
    "video": ("string", attrgetter("video")),
    "sha256": ("string", attrgetter("clip.sha256")),
    **{name: ("double", attrgetter(f"clip.{name}")) for name in ("duration_s", "fps")},
    **{name: ("int64", attrgetter(f"clip.{name}")) for name in ("frame_count", "width", "height")},
    **{state: ("int64", partial(_dimensions_in, state=state)) for state in get_args(CoverageState)},
    "events": ("int64", lambda clip: len(clip.report.events)),
    "failures": ("int64", lambda clip: len(clip.report.failures)),
    "calls": ("int64", attrgetter("report.usage.calls")),
    "cost_usd": ("double", attrgetter("report.usage.cost_usd")),
}
"""The columns of the table of clips; a state of coverage counts dimensions."""


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """Both tables. Raises MissingExtra without pyarrow."""
    types = {name: kind for name, (kind, _) in _CLIP_COLUMNS.items()}
    rows = [{name: value(clip) for name, (_, value) in _CLIP_COLUMNS.items()} for clip in clips]
    spans = [row for clip in clips for row in span_rows(clip.report)]
    return {"clips.parquet": parquet_bytes(types, rows), "events.parquet": parquet_bytes(SPAN_COLUMNS, spans)}


FORMAT = Format(writer=ReportWriter(files, keep_all))
