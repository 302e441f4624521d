"""Parquet, written only: `clips.parquet`, one row per clip, and `events.parquet`, one row per span of an event."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from robogaze.core.annotation import FIELDS
from robogaze.core.coverage import CoverageState
from robogaze.datasets.formats.base import ExportedReport, Format, ReportWriter
from robogaze.datasets.formats.csv_events import SPAN_COLUMNS, span_rows
from robogaze.datasets.parquet_files import parquet_bytes

_CLIP_COLUMNS: Mapping[str, str] = {
    "clip_id": "string",
    "author": "string",
    "pipeline": "string",
    "status": "string",
    "verdict": "string",
    "instruction": "string",
    **dict.fromkeys(FIELDS, "string"),
    "video": "string",
    "sha256": "string",
    "duration_s": "double",
    "fps": "double",
    "frame_count": "int64",
    "width": "int64",
    "height": "int64",
    **dict.fromkeys(get_args(CoverageState), "int64"),
    "events": "int64",
    "failures": "int64",
    "calls": "int64",
    "cost_usd": "double",
}
"""The columns of the table of clips, with their types; a state of coverage counts dimensions."""


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """Both tables. Raises MissingExtra without pyarrow."""
    spans = [row for clip in clips for row in span_rows(clip.report)]
    return {
        "clips.parquet": parquet_bytes(_CLIP_COLUMNS, [_clip_row(clip) for clip in clips]),
        "events.parquet": parquet_bytes(SPAN_COLUMNS, spans),
    }


def _clip_row(exported: ExportedReport) -> dict[str, Any]:
    clip, report = exported.clip, exported.report
    of_clip = ("sha256", "instruction", *FIELDS, "duration_s", "fps", "frame_count", "width", "height")
    coverage = [dimension.state for dimension in report.coverage.values()]
    return {
        "clip_id": clip.id,
        "video": exported.video,
        **{name: getattr(clip, name) for name in of_clip},
        **{name: getattr(report, name) for name in ("author", "pipeline", "status", "verdict")},
        **{state: coverage.count(state) for state in get_args(CoverageState)},
        **{name: len(getattr(report, name)) for name in ("events", "failures")},
        "calls": report.usage.calls,
        "cost_usd": report.usage.cost_usd,
    }


FORMAT = Format("parquet", writer=ReportWriter(files))
