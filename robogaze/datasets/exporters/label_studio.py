"""Label Studio: tasks with predictions, to correct by hand, and the labelling configuration they belong to.

Its timeline counts frames from 1 and includes the last one; a region is one span, so an event that recurs is several
regions. Description and severity belong to the region. Frames are counted at one rate, so a clip whose frames do not
follow at one is left out, and so is a part of a longer video, which it cannot show. A clip whose
report is not complete, or undecided, is a task without a prediction.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from robogaze.core.clip import Clip
from robogaze.core.report import Report
from robogaze.core.time import Span, frames_in
from robogaze.datasets.exporters.base import Exported, Exporter, steady, unfinished

_VIDEO, _TIMELINE, _TEXT, _SEVERITY = "video", "events", "description", "severity"


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`tasks.json` and `config.xml`."""
    tasks = [_task(one) for one in clips]
    labels = sorted({event.type for one in clips for event in one.report.events})
    return {"tasks.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", "config.xml": _configuration(labels)}


def unshown(report: Report) -> str | None:
    """Leaves out clips without one rate, and parts of longer videos."""
    if report.clip.start_s is not None:
        return "a part of a longer video, which the format cannot say"
    return None if steady(report.clip) else "without one frame rate, which the format cannot say"


def _task(one: Exported) -> dict[str, Any]:
    clip, report = one.clip, one.report
    data = {"clip_id": clip.id, "video": one.video, "fps": clip.fps, "instruction": clip.instruction or ""}
    decided = unfinished(report) is None
    said = [{"model_version": report.author, "result": list(_result(report))}] if decided else []
    return {"data": {**data, "status": report.status, "verdict": report.verdict}, "predictions": said}


def _result(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        for number, span in enumerate(event.spans, start=1):
            ranges = [_range(span, report.clip)]
            region = {"id": event.id if len(event.spans) == 1 else f"{event.id}.{number}", "to_name": _VIDEO}
            label = {"ranges": ranges, "timelinelabels": [event.type]}
            yield {**region, "from_name": _TIMELINE, "type": "timelinelabels", "value": label}
            text = {"ranges": ranges, "text": [event.description]}
            yield {**region, "from_name": _TEXT, "type": "textarea", "value": text}
            if event.severity is not None:
                rating = {"ranges": ranges, "rating": event.severity}
                yield {**region, "from_name": _SEVERITY, "type": "rating", "value": rating}


def _range(span: Span, clip: Clip) -> dict[str, int]:
    """The frames of a span; the one that is shown where it holds none."""
    numbers = frames_in([span], clip.frame_times_s) or {clip.frame_at(span.start)}
    return {"start": min(numbers) + 1, "end": max(numbers) + 1}


def _configuration(labels: Sequence[str]) -> str:
    listed = "\n".join(f"    <Label value={quoteattr(label)}/>" for label in labels)
    return f"""<View>
  <Text name="instruction" value="$instruction"/>
  <Video name="{_VIDEO}" value="$video" frameRate="$fps"/>
  <TimelineLabels name="{_TIMELINE}" toName="{_VIDEO}">
{listed}
  </TimelineLabels>
  <TextArea name="{_TEXT}" toName="{_VIDEO}" perRegion="true"/>
  <Rating name="{_SEVERITY}" toName="{_VIDEO}" perRegion="true" maxRating="5"/>
</View>
"""


EXPORTER = Exporter("label-studio", "tasks.json with predictions, and config.xml", unshown, files)
