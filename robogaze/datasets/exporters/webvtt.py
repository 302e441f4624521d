"""WebVTT: a file of cues a clip, to see the events while it plays. A cue is a span of an event.

A clip without a verdict, or with a report that is not complete, says so in a comment. Of a clip that is a part of a
longer video the times are those of the whole video, which is what plays.
"""

from collections.abc import Mapping, Sequence

from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets.exporters.base import Exported, Exporter, nothing, on_file
from robogaze.store import file_name


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`<clip>.vtt` for each."""
    return {f"{file_name(one.clip.id)}.vtt": _text(one.report) for one in clips}


def _text(report: Report) -> str:
    spans = ((on_file(span, report.clip), event) for event in report.events for span in event.spans)
    cues = sorted(spans, key=lambda cue: cue[0])
    decided = report.status == "complete" and report.verdict != "undecided"
    head = ["WEBVTT", *([] if decided else [f"NOTE status: {report.status}, verdict: {report.verdict}"])]
    return "\n\n".join([*head, *(_cue(span, event) for span, event in cues)]) + "\n"


def _cue(span: Span, event: Event) -> str:
    start, end = (round(time * 1000) for time in (span.start, span.end))
    severity = "" if event.severity is None else f", severity {event.severity}"
    # A cue ends after it starts, also where a span is shorter than the format can say.
    when = f"{_clock(start)} --> {_clock(max(end, start + 1))}"
    return "\n".join([_line(event.id), when, _line(f"{event.type}{severity}: {event.description}")])


def _clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"


def _line(text: str) -> str:
    """A text as one line, without what would be read as markup or as another cue."""
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


EXPORTER = Exporter("webvtt", "<clip>.vtt, a cue an event", nothing, files)
