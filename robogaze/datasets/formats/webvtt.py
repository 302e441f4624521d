"""WebVTT (written, not read): a file of cues per clip, to see the events while the video plays. A cue is a span of an
event.

If a report is incomplete or undecided, a comment says so. For a part of a video, times are relative to the whole video,
because the whole video is played.
"""

from collections.abc import Mapping, Sequence

from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets.formats.base import ExportedReport, Format, ReportWriter, keep_all, span_in_file
from robogaze.store import file_name


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`<clip>.vtt` for each clip."""
    return {f"{file_name(clip.clip.id)}.vtt": _text(clip.report) for clip in clips}


def _text(report: Report) -> str:
    spans = ((span_in_file(span, report.clip), event) for event in report.events for span in event.spans)
    cues = sorted(spans, key=lambda cue: cue[0])
    decided = report.status == "complete" and report.verdict != "undecided"
    head = ["WEBVTT", *([] if decided else [f"NOTE status: {report.status}, verdict: {report.verdict}"])]
    return "\n\n".join([*head, *(_cue(span, event) for span, event in cues)]) + "\n"


def _cue(span: Span, event: Event) -> str:
    start_ms, end_ms = (round(time * 1000) for time in (span.start, span.end))
    severity = "" if event.severity is None else f", severity {event.severity}"
    # A cue must end after it starts, even if the span is shorter than a millisecond.
    times = f"{_timestamp(start_ms)} --> {_timestamp(max(end_ms, start_ms + 1))}"
    return "\n".join([_line(event.id), times, _line(f"{event.type}{severity}: {event.description}")])


def _timestamp(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"


def _line(text: str) -> str:
    """A text as one line, with markup escaped."""
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


FORMAT = Format(writer=ReportWriter(files, keep_all))
