"""Reports as two tables: of clips, and of events with a row for each span. CSV and Parquet are made of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from robogaze.core.annotation import FIELDS
from robogaze.core.clip import Clip
from robogaze.core.coverage import CoverageState
from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.datasets.exporters.base import Exported, steady

CLIP_COLUMNS: Mapping[str, str] = {
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
"""The columns of the table of clips, with their types; the states of coverage count dimensions."""

EVENT_COLUMNS: Mapping[str, str] = {
    "clip_id": "string",
    "author": "string",
    "checkpoint": "string",
    "event_id": "string",
    "dimension": "string",
    "type": "string",
    "start_s": "double",
    "end_s": "double",
    "severity": "int64",
    "confidence": "double",
    "description": "string",
}
"""Those of the table of events. The rows of one `event_id` are one event that recurs."""


def clip_rows(clips: Sequence[Exported]) -> list[dict[str, Any]]:
    """A row a clip, the unscored ones included."""
    return [{**_of_clip(one.clip), **_of_report(one.report), "video": one.video} for one in clips]


def event_rows(report: Report) -> list[dict[str, Any]]:
    """A row a span of an event."""
    whose = {"clip_id": report.clip.id, "author": report.author, "checkpoint": report.clip.checkpoint}
    return [{**whose, **row} for event in report.events for row in _of_event(event)]


def rate(clip: Clip) -> dict[str, Any]:
    """What tells the time of each frame; nothing where no rate does."""
    return {"fps": clip.fps, "frame_count": clip.frame_count} if steady(clip) else {}


def _of_clip(clip: Clip) -> dict[str, Any]:
    same = ("sha256", "instruction", *FIELDS, "duration_s", "fps", "frame_count", "width", "height")
    return {"clip_id": clip.id, **{name: getattr(clip, name) for name in same}}


def _of_report(report: Report) -> dict[str, Any]:
    numbers = {name: len(getattr(report, name)) for name in ("events", "failures")}
    found = [each.state for each in report.coverage.values()]
    covered = {state: found.count(state) for state in get_args(CoverageState)}
    same = {name: getattr(report, name) for name in ("author", "pipeline", "status", "verdict")}
    return {**same, **covered, **numbers, "calls": report.usage.calls, "cost_usd": report.usage.cost_usd}


def _of_event(event: Event) -> Iterator[dict[str, Any]]:
    same = {name: getattr(event, name) for name in ("dimension", "type", "severity", "confidence", "description")}
    for span in event.spans:
        yield {"event_id": event.id, **same, "start_s": span.start, "end_s": span.end}
