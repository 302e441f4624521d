"""VideoGlitchBench and GliDe: a list of `{"video_name", title, "no_bugs", "bugs": [text], "time_nodes": [[[s, e]]]}`.

`time_nodes[i]` are the spans of bug i, in seconds. The title of a clip is what its id `<title>/<clip>` says; where it
says none, the text that came with the clip. It stands under the name of the domain with `_name`, as it does there.

It is read again by `robogaze.datasets.formats.videoglitchbench`. Dimensions, types and severities are lost.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from robogaze.core.report import Report
from robogaze.datasets.exporters.base import Exported, Exporter, unfinished


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`batch_report.json`, as GliDe calls it."""
    records = [_record(one.report) for one in clips]
    return {"batch_report.json": json.dumps(records, ensure_ascii=False, indent=1) + "\n"}


def _record(report: Report) -> dict[str, Any]:
    title, _, name = report.clip.id.rpartition("/")
    return {
        "video_name": f"{name}.mp4",
        f"{report.domain.id}_name": title or report.clip.instruction or "",
        "no_bugs": not report.events,
        "bugs": [event.description for event in report.events],
        "time_nodes": [[[span.start, span.end] for span in event.spans] for event in report.events],
    }


EXPORTER = Exporter("videoglitchbench", "batch_report.json, a record a clip", unfinished, files)
