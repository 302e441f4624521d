"""ActivityNet: `{"version", "taxonomy", "database": {clip: {"duration", "subset", "annotations"}}}`.

An annotation is one span, so an event that recurs is several. The `subset` is the split, empty where there is none.
Beside `label` and `segment` stand `dimension`, `severity`, `score` and `description`, which other readers pass over.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.report import Report
from robogaze.datasets.exporters.base import Exported, Exporter, unfinished

_VERSION = "1.3"
_ROOT = "Root"


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`activitynet.json`."""
    database = {
        one.clip.id: {
            "duration": one.clip.duration_s,
            "subset": one.clip.split or "",
            "annotations": list(_annotations(one.report)),
        }
        for one in clips
    }
    value = {"version": _VERSION, "taxonomy": _taxonomy(clips), "database": database}
    return {"activitynet.json": json.dumps(value, ensure_ascii=False, indent=1) + "\n"}


def _annotations(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        said = {name: getattr(event, name) for name in ("dimension", "severity", "description")}
        score = {} if event.confidence is None else {"score": event.confidence}
        for span in event.spans:
            yield {"label": event.type, "segment": [span.start, span.end], **said, **score}


def _taxonomy(clips: Sequence[Exported]) -> list[dict[str, Any]]:
    """The types that occur as a tree below their dimensions."""
    kinds = sorted({(event.dimension, event.type) for one in clips for event in one.report.events})
    parents = {_ROOT: 0}
    nodes: list[dict[str, Any]] = [{"nodeId": 0, "nodeName": _ROOT, "parentId": None, "parentName": None}]
    for dimension, kind in kinds:
        if dimension not in parents:
            parents[dimension] = len(nodes)
            nodes.append(_node(len(nodes), dimension, _ROOT, 0))
        nodes.append(_node(len(nodes), kind, dimension, parents[dimension]))
    return nodes


def _node(number: int, name: str, parent: str, parent_number: int) -> dict[str, Any]:
    return {"nodeId": number, "nodeName": name, "parentId": parent_number, "parentName": parent}


EXPORTER = Exporter("activitynet", "activitynet.json", unfinished, files)
