"""VideoGlitchBench's records, written from a run and read again."""

import json
from pathlib import Path
from typing import Any

from making import make_clip

from formats.run_samples import CUP, reports, videos
from formats.samples import make_report
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets.formats.export import export_reports
from robogaze.datasets.formats.read import read_annotations


def records(*given: Report) -> list[dict[str, Any]]:
    files = export_reports(
        given, {report.clip.id: Path("clip.mp4") for report in given}, "videoglitchbench", Path()
    ).files
    value: list[dict[str, Any]] = json.loads(files["batch_report.json"])
    return value


def test_videoglitchbench_record_has_the_keys_of_the_benchmark() -> None:
    cup, pot = records(*reports())
    assert cup == {
        "video_name": "cup.v1.mp4",
        "cups_name": "kitchen",
        "no_bugs": False,
        "bugs": [CUP, "The lid floats."],
        "time_nodes": [[[1.0, 1.5], [2.0, 2.0625]], [[1.0, 2.5]]],
    }
    assert (pot["no_bugs"], pot["bugs"], pot["time_nodes"]) == (True, [], [])


def test_title_defaults_to_the_instruction() -> None:
    assert records(make_report("4f2x", clip=make_clip(id="4f2x", instruction="ARK")))[0]["cups_name"] == "ARK"
    assert records(make_report("4f2x", clip=make_clip(id="4f2x", instruction=None)))[0]["cups_name"] == ""


def test_written_records_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "batch_report.json"
    found = export_reports(reports(), videos(tmp_path), "videoglitchbench", tmp_path)
    path.write_text(str(found.files[path.name]))
    cup = {annotation.clip_id: annotation for annotation in read_annotations(path).annotations}["kitchen/cup.v1"]
    assert [event.spans for event in cup.findings] == [(Span(1.0, 1.5), Span(2.0, 2.0625)), (Span(1.0, 2.5),)]
    assert [event.description for event in cup.findings] == [CUP, "The lid floats."]
    assert cup.fields == {"cups_name": "kitchen"}
