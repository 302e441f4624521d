"""FiftyOne: a FiftyOneTemporalDetectionDataset, `data.json` (where each video lies) and `labels.json`.

Times are seconds; a detection is one span, so an event that recurs is several. Videos are named by their whole path;
of a clip that is a part of one the times are those of the whole video.
FiftyOne itself is not needed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.report import Report
from robogaze.datasets.exporters.base import Exported, Exporter, on_file, unfinished
from robogaze.store import file_name


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`data.json` and `labels.json`."""
    classes = sorted({event.type for one in clips for event in one.report.events})
    labels = {_name(one): list(_detections(one.report)) for one in clips}
    return {
        "data.json": json.dumps({_name(one): one.path.as_posix() for one in clips}, ensure_ascii=False, indent=1)
        + "\n",
        "labels.json": json.dumps({"classes": classes, "labels": labels}, ensure_ascii=False, indent=1) + "\n",
    }


def _name(one: Exported) -> str:
    """The clip's id as FiftyOne takes it: it reads a name as a file's, and drops what follows a dot."""
    return file_name(one.clip.id).replace(".", "%2E")


def _detections(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        names = ("id", "dimension", "severity", "description")
        attributes = {name: value for name in names if (value := getattr(event, name)) is not None}
        confidence = {} if event.confidence is None else {"confidence": event.confidence}
        for span in (on_file(one, report.clip) for one in event.spans):
            yield {"label": event.type, "timestamps": [span.start, span.end], **confidence, "attributes": attributes}


EXPORTER = Exporter("fiftyone", "data.json and labels.json, temporal detections", unfinished, files)
