"""JSONL: a whole report a line, as in its own file. Nothing is lost."""

from collections.abc import Mapping, Sequence

from robogaze.datasets.exporters.base import Exported, Exporter, nothing


def files(clips: Sequence[Exported]) -> Mapping[str, str | bytes]:
    """`reports.jsonl`."""
    return {"reports.jsonl": "".join(f"{one.report.model_dump_json()}\n" for one in clips)}


EXPORTER = Exporter("jsonl", "reports.jsonl, a report a line", nothing, files)
