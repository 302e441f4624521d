"""FiftyOne (written, not read): a FiftyOneTemporalDetectionDataset, `data.json` (the videos) and `labels.json`.

Times are seconds. A detection is one span, so an event with several spans is several detections. Videos are named by
their absolute path; for a part of a video, times are relative to the whole video. FiftyOne itself is not needed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.report import Report
from robogaze.datasets.formats.base import ExportedReport, Format, ReportWriter, leave_out_undecided, span_in_file
from robogaze.store import file_name


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`data.json` and `labels.json`."""
    data = {_name(clip): clip.path.as_posix() for clip in clips}
    classes = sorted({event.type for clip in clips for event in clip.report.events})
    labels = {_name(clip): list(_detections(clip.report)) for clip in clips}
    return {
        "data.json": json.dumps(data, ensure_ascii=False, indent=1) + "\n",
        "labels.json": json.dumps({"classes": classes, "labels": labels}, ensure_ascii=False, indent=1) + "\n",
    }


def _name(exported: ExportedReport) -> str:
    """The clip's id for FiftyOne, which treats it as a file name and drops what follows a dot."""
    return file_name(exported.clip.id).replace(".", "%2E")


def _detections(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        names = ("id", "dimension", "severity", "description")
        attributes = {name: value for name in names if (value := getattr(event, name)) is not None}
        confidence = {} if event.confidence is None else {"confidence": event.confidence}
        for span in (span_in_file(span, report.clip) for span in event.spans):
            yield {"label": event.type, "timestamps": [span.start, span.end], **confidence, "attributes": attributes}


FORMAT = Format(writer=ReportWriter(files, leave_out_undecided))
