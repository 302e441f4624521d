"""Every export, read back: with our own reader if there is one, else by the format's rules."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import pytest
from making import make_clip

from formats.run_samples import CUP, reports, uneven, videos
from formats.samples import make_event, make_report
from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets.formats.export import export_reports
from robogaze.datasets.formats.read import read_annotations

ONE_LINE = " ".join(CUP.split())


def exported(to: str, folder: Path, given: Iterable[Report] = ()) -> Path:
    """The folder that an export was written to."""
    found = export_reports(tuple(given) or reports(), videos(folder / "clips", uneven()), to, folder / "out")
    (folder / "out").mkdir()
    for name, content in found.files.items():
        (folder / "out" / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "out"


def annotations(path: Path, **options: Any) -> dict[str, ClipAnnotation]:
    return {annotation.clip_id: annotation for annotation in read_annotations(path, **options).annotations}


def spans(annotation: ClipAnnotation) -> list[tuple[Span, ...]]:
    return [event.spans for event in annotation.findings]


# JSONL and CSV say all that an annotation does.


def test_jsonl_contains_the_full_reports(tmp_path: Path) -> None:
    read = exported("jsonl", tmp_path) / "reports.jsonl"
    assert tuple(map(Report.model_validate_json, read.read_text().split("\n")[:-1])) == reports()
    assert set(annotations(read)) == {"kitchen/cup.v1", "pot", "part", "none", "pixels"}


def test_csv_keeps_status_coverage_events_and_fields(tmp_path: Path) -> None:
    read = annotations(exported("csv", tmp_path) / "events.csv")
    for report in reports():
        wanted, got = annotation_of(report), read[report.clip.id]
        for name in ("author", "status", "coverage", "verdict", "duration_s", "instruction", "fields", "clean"):
            assert getattr(got, name) == getattr(wanted, name), name
        assert [event.content for event in got.findings] == [event.content for event in wanted.findings]
        assert list(got.frame_times_s or ()) == pytest.approx(list(wanted.frame_times_s or ()))


def test_csv_has_no_frame_rate_without_a_constant_one(tmp_path: Path) -> None:
    read = annotations(exported("csv", tmp_path, [uneven()]) / "events.csv")["uneven"]
    assert (read.frame_times_s, read.duration_s) == (None, 0.6)
    assert spans(read) == [(Span(0.2, 0.5),)]


# Parquet.


def test_parquet_has_a_table_of_clips_and_one_of_spans(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = exported("parquet", tmp_path)
    clips, events = (parquet.read_table(folder / f"{name}.parquet").to_pylist() for name in ("clips", "events"))
    assert [(row["clip_id"], row["status"], row["verdict"], row["events"]) for row in clips] == [
        ("kitchen/cup.v1", "complete", "faulty", 2),
        ("pot", "complete", "clean", 0),
        ("part", "partial", "undecided", 0),
        ("none", "unscored", "undecided", 0),
        ("pixels", "complete", "undecided", 0),
    ]
    states = ("examined", "ruled_out", "partial", "not_examined", "failures")
    assert [tuple(row[name] for name in states) for row in clips] == [
        (2, 0, 0, 0, 0),
        (2, 0, 0, 0, 0),
        (1, 0, 0, 1, 1),
        (0, 0, 0, 2, 1),
        (1, 0, 1, 0, 0),
    ]
    assert clips[0]["video"] == "../clips/kitchen/cup.v1.mp4"
    assert [(event["event_id"], event["start_s"], event["end_s"], event["severity"]) for event in events] == [
        ("E1", 1.0, 1.5, 4),
        ("E1", 2.0, 2.0625, 4),
        ("E2", 1.0, 2.5, None),
    ]
    assert events[0]["checkpoint"] == "iter_4000"
    assert events[0]["description"] == CUP


def test_parquet_has_its_columns_without_events(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(exported("parquet", tmp_path, reports()[1:]) / "events.parquet")
    assert table.num_rows == 0
    assert str(table.schema.field("severity").type) == "int64"
    assert str(table.schema.field("start_s").type) == "double"


# Formats for only complete reports that are faulty or clean.


def test_activitynet_has_complete_clips_and_one_segment_per_span(tmp_path: Path) -> None:
    path = exported("activitynet", tmp_path) / "activitynet.json"
    read = annotations(path)
    assert set(read) == {"kitchen/cup.v1", "pot"}
    assert spans(read["kitchen/cup.v1"]) == [(Span(1.0, 1.5),), (Span(2.0, 2.0625),), (Span(1.0, 2.5),)]
    assert [(event.type, event.dimension, event.severity) for event in read["kitchen/cup.v1"].findings] == [
        ("passing_through", "matter", 4),
        ("passing_through", "matter", 4),
        ("floating", "matter", None),
    ]
    assert read["kitchen/cup.v1"].fields == {"split": "test"}
    assert read["pot"].clean


def test_activitynet_has_the_keys_and_taxonomy_tree_of_the_format(tmp_path: Path) -> None:
    value = json.loads((exported("activitynet", tmp_path) / "activitynet.json").read_text())
    assert set(value) == {"version", "taxonomy", "database"}
    assert all({"duration", "subset", "annotations"} <= video.keys() for video in value["database"].values())
    names = {node["nodeId"]: node["nodeName"] for node in value["taxonomy"]}
    assert {node["nodeName"]: node["parentName"] for node in value["taxonomy"]} == {
        "Root": None,
        "matter": "Root",
        "floating": "matter",
        "passing_through": "matter",
    }
    assert all(names.get(node["parentId"]) == node["parentName"] for node in value["taxonomy"])


def test_fiftyone_names_every_video_with_labels(tmp_path: Path) -> None:
    folder = exported("fiftyone", tmp_path)
    data, labels = (json.loads((folder / name).read_text()) for name in ("data.json", "labels.json"))
    assert set(labels) == {"classes", "labels"}
    assert set(data) == set(labels["labels"]) == {"kitchen%2Fcup%2Ev1", "pot"}
    assert data["pot"] == str((tmp_path / "clips/pot.mp4").resolve())
    assert labels["labels"]["pot"] == []
    detections = labels["labels"]["kitchen%2Fcup%2Ev1"]
    assert {detection["label"] for detection in detections} == set(labels["classes"])
    assert [detection["timestamps"] for detection in detections] == [[1.0, 1.5], [2.0, 2.0625], [1.0, 2.5]]
    assert detections[0]["confidence"] == 0.75
    assert "confidence" not in detections[2]
    assert detections[0]["attributes"] == {"id": "E1", "dimension": "matter", "severity": 4, "description": CUP}


# VideoGlitchBench.


def test_videoglitchbench_record_has_the_keys_of_the_benchmark_and_is_read_again(tmp_path: Path) -> None:
    path = exported("videoglitchbench", tmp_path) / "batch_report.json"
    cup, pot = json.loads(path.read_text())
    assert cup == {
        "video_name": "cup.v1.mp4",
        "cups_name": "kitchen",
        "no_bugs": False,
        "bugs": [CUP, "The lid floats."],
        "time_nodes": [[[1.0, 1.5], [2.0, 2.0625]], [[1.0, 2.5]]],
    }
    assert (pot["no_bugs"], pot["bugs"], pot["time_nodes"]) == (True, [], [])
    read = annotations(path)["kitchen/cup.v1"]
    assert spans(read) == [(Span(1.0, 1.5), Span(2.0, 2.0625)), (Span(1.0, 2.5),)]
    assert [event.description for event in read.findings] == [CUP, "The lid floats."]
    assert read.fields == {"cups_name": "kitchen"}


def test_videoglitchbench_title_from_a_long_instruction_fits_in_a_clip_id(tmp_path: Path) -> None:
    report = make_report("pot", clip=make_clip(id="pot", instruction="Pick up the cup,\nthen put it down. " * 20))
    (clip_id,) = annotations(exported("videoglitchbench", tmp_path, [report]) / "batch_report.json")
    assert clip_id.startswith("Pick up the cup, then put it down. Pick")
    assert clip_id.endswith("…/pot")
    assert len(clip_id) == 200


@pytest.mark.parametrize(("instruction", "title"), [("ARK", "ARK"), (None, "")])
def test_videoglitchbench_title_defaults_to_the_instruction(
    instruction: str | None, title: str, tmp_path: Path
) -> None:
    report = make_report("pot", clip=make_clip(id="pot", instruction=instruction))
    (record,) = json.loads((exported("videoglitchbench", tmp_path, [report]) / "batch_report.json").read_text())
    assert record["cups_name"] == title


# Label Studio.


def test_label_studio_keeps_spans_descriptions_and_severities(tmp_path: Path) -> None:
    path = exported("label-studio", tmp_path) / "tasks.json"
    read = annotations(path, fps=16.0, first_frame=1)
    assert set(read) == {"kitchen/cup.v1", "pot"}
    cup = read["kitchen/cup.v1"]
    assert spans(cup) == [(Span(1.0, 1.5),), (Span(2.0, 2.0625),), (Span(1.0, 2.5),)]
    assert [(event.id, event.type, event.severity) for event in cup.findings] == [
        ("E1.1", "passing_through", 4),
        ("E1.2", "passing_through", 4),
        ("E2", "floating", None),
    ]
    assert cup.findings[0].description == CUP
    assert cup.author == "robogaze"
    assert read["pot"].clean


def test_label_studio_counts_frames_from_1_with_the_last(tmp_path: Path) -> None:
    tasks = json.loads((exported("label-studio", tmp_path) / "tasks.json").read_text())
    values = [task["value"] for task in tasks[0]["predictions"][0]["result"] if task["type"] == "timelinelabels"]
    assert [value["ranges"] for value in values] == [
        [{"start": 17, "end": 24}],
        [{"start": 33, "end": 33}],
        [{"start": 17, "end": 40}],
    ]


def test_label_studio_has_no_prediction_for_undecided_reports(tmp_path: Path) -> None:
    tasks = json.loads((exported("label-studio", tmp_path) / "tasks.json").read_text())
    assert {task["data"]["clip_id"]: len(task["predictions"]) for task in tasks} == {
        "kitchen/cup.v1": 1,
        "pot": 1,
        "part": 0,
        "none": 0,
        "pixels": 0,
    }
    assert {(task["data"]["status"], task["data"]["verdict"]) for task in tasks if not task["predictions"]} == {
        ("partial", "undecided"), ("unscored", "undecided"), ("complete", "undecided")
    }  # fmt: skip


def test_label_studio_results_match_the_configuration(tmp_path: Path) -> None:
    folder = exported("label-studio", tmp_path)
    tree = ET.fromstring((folder / "config.xml").read_text())
    kinds = {element.get("name"): element.tag.lower() for element in tree.iter() if element.get("name")}
    labels = {element.get("value") for element in tree.iter("Label")}
    tasks = json.loads((folder / "tasks.json").read_text())
    variables = {element.get(key, "").removeprefix("$") for element in tree.iter() for key in ("value", "frameRate")}
    assert {"video", "fps", "instruction"} <= variables & tasks[0]["data"].keys()
    for task in tasks[0]["predictions"][0]["result"]:
        assert kinds[task["from_name"]] == task["type"]
        assert kinds[task["to_name"]] == "video"
        assert set(task["value"].get("timelinelabels", [])) <= labels


# VIA.


def test_via_keeps_spans_descriptions_and_severities(tmp_path: Path) -> None:
    read = annotations(exported("via", tmp_path) / "via.json")
    assert set(read) == {"cup.v1", "pot", "part", "none", "pixels"}
    cup = read["cup.v1"]
    assert spans(cup) == [(Span(1.0, 1.5),), (Span(2.0, 2.0625),), (Span(1.0, 2.5),)]
    assert [(event.type, event.severity, event.description) for event in cup.findings] == [
        ("passing_through", 4, CUP),
        ("passing_through", 4, CUP),
        ("floating", None, "The lid floats."),
    ]
    assert (cup.author, cup.status) == ("via", "complete")
    assert {name for name, annotation in read.items() if annotation.clean} == {"pot"}
    assert {name for name, annotation in read.items() if annotation.status == "unscored"} == {"part", "none", "pixels"}


def test_via_has_a_view_of_every_clip_and_values_of_its_attributes(tmp_path: Path) -> None:
    value = json.loads((exported("via", tmp_path) / "via.json").read_text())
    assert set(value) == {"project", "config", "attribute", "file", "view", "metadata"}
    assert value["project"]["vid_list"] == list(value["view"])
    assert [view["fid_list"] for view in value["view"].values()] == [[fid] for fid in value["file"]]
    assert {key: value["file"]["1"][key] for key in ("fname", "type", "src")} == {
        "fname": "kitchen/cup.v1.mp4",
        "type": 4,
        "src": "../clips/kitchen/cup.v1.mp4",
    }
    assert [(entry["vid"], entry["z"]) for entry in value["metadata"].values()] == [
        ("1", [1.0, 1.5]),
        ("1", [2.0, 2.0625]),
        ("1", [1.0, 2.5]),
        ("2", []),
    ]
    for entry in value["metadata"].values():
        for aid, chosen in entry["av"].items():
            attribute = value["attribute"][aid]
            assert attribute["anchor_id"] == ("FILE1_Z2_XY0" if entry["z"] else "FILE1_Z0_XY0")
            assert attribute["type"] == 1 or chosen in attribute["options"]


# WebVTT.


def cues(text: str) -> list[tuple[float, float, str]]:
    """The cues of a file, by the rules of the format."""
    head, *blocks = text.removesuffix("\n").split("\n\n")
    assert head == "WEBVTT"
    found = []
    for block in blocks:
        if block.startswith("NOTE"):
            continue
        name, times, *text = block.split("\n")
        assert "-->" not in name + "".join(text)
        assert not re.search(r"<|&(?!amp;|lt;|gt;)", "".join(text))
        parsed = re.fullmatch(r"(\d\d):(\d\d):(\d\d\.\d{3}) --> (\d\d):(\d\d):(\d\d\.\d{3})", times)
        assert parsed is not None, times
        numbers = [float(number) for number in parsed.groups()]
        start, end = (3600 * h + 60 * m + s for h, m, s in (numbers[:3], numbers[3:]))
        assert start < end
        found.append((start, end, " ".join(text)))
    assert found == sorted(found, key=lambda cue: cue[0])
    return found


def test_webvtt_has_a_file_per_clip_and_a_cue_per_span(tmp_path: Path) -> None:
    folder = exported("webvtt", tmp_path)
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.vtt" for name in ("kitchen%2Fcup.v1", "pot", "part", "none", "pixels")
    }
    text = 'passing_through, severity 4: The cup &lt;b&gt; "passes" &amp; --&gt; through, the table; slowly'
    assert cues((folder / "kitchen%2Fcup.v1.vtt").read_text()) == [
        (1.0, 1.5, text),
        (1.0, 2.5, "floating: The lid floats."),
        (2.0, 2.062, text),
    ]
    assert cues((folder / "pot.vtt").read_text()) == []


def test_webvtt_shows_spans_shorter_than_a_millisecond(tmp_path: Path) -> None:
    short = make_report("short", make_event(spans=(Span(1.0001, 1.0002),)))
    files = export_reports([short], {"short": tmp_path / "short.mp4"}, "webvtt", tmp_path).files
    assert [cue[:2] for cue in cues(str(files["short.vtt"]))] == [(1.0, 1.001)]


def test_webvtt_notes_undecided_reports(tmp_path: Path) -> None:
    folder = exported("webvtt", tmp_path)
    notes = {path.stem: re.findall("^NOTE.*", path.read_text(), re.MULTILINE) for path in folder.iterdir()}
    assert notes == {
        "kitchen%2Fcup.v1": [],
        "pot": [],
        "part": ["NOTE status: partial, verdict: undecided"],
        "none": ["NOTE status: unscored, verdict: undecided"],
        "pixels": ["NOTE status: complete, verdict: undecided"],
    }


def test_webvtt_is_read_by_ffmpeg(tmp_path: Path) -> None:
    text = (exported("webvtt", tmp_path) / "kitchen%2Fcup.v1.vtt").read_bytes()
    with av.open(BytesIO(text), format="webvtt") as container:
        packets = [packet for packet in container.demux() if packet.size]
    assert [(packet.pts, packet.duration) for packet in packets] == [(1000, 500), (1000, 1500), (2000, 62)]
    assert ONE_LINE.split("<")[0] in bytes(packets[0]).decode()


# A part of a longer video: times are the clip's own where the clip is named, and the video's where that is shown.


def part_of_a_video() -> Report:
    clip = make_clip(id="kitchen/cup.v1", start_s=10.0, end_s=14.0)
    return make_report(clip.id, make_event(id="E1", spans=(Span(1.0, 1.5),)), clip=clip)


@pytest.mark.parametrize("to", ["jsonl", "csv", "activitynet"])
def test_formats_that_name_the_clip_use_its_times(to: str, tmp_path: Path) -> None:
    (path,) = exported(to, tmp_path, [part_of_a_video()]).iterdir()
    assert spans(annotations(path)["kitchen/cup.v1"]) == [(Span(1.0, 1.5),)]


def test_fiftyone_uses_the_times_of_the_video(tmp_path: Path) -> None:
    labels = json.loads((exported("fiftyone", tmp_path, [part_of_a_video()]) / "labels.json").read_text())
    assert [label["timestamps"] for label in labels["labels"]["kitchen%2Fcup%2Ev1"]] == [[11.0, 11.5]]


def test_webvtt_uses_the_times_of_the_video(tmp_path: Path) -> None:
    (path,) = exported("webvtt", tmp_path, [part_of_a_video()]).iterdir()
    assert "00:00:11.000 --> 00:00:11.500" in path.read_text()


def test_tables_give_the_part_with_the_video(tmp_path: Path) -> None:
    found = export_reports([part_of_a_video()], videos(tmp_path), "parquet", tmp_path)
    rows = pytest.importorskip("pyarrow.parquet").read_table(BytesIO(found.files["clips.parquet"])).to_pylist()
    assert [row["video"] for row in rows] == ["kitchen/cup.v1.mp4#t=10.0,14.0"]


@pytest.mark.parametrize(
    ("to", "report", "reason"),
    [
        ("label-studio", uneven(), "without the constant frame rate that the format needs"),
        ("label-studio", part_of_a_video(), "cut from a longer video, which the format cannot express"),
        ("via", part_of_a_video(), "cut from a longer video, which the format cannot express"),
    ],
)
def test_clips_that_a_format_cannot_express_are_left_out(to: str, report: Report, reason: str, tmp_path: Path) -> None:
    assert export_reports([report], videos(tmp_path, uneven()), to, tmp_path).left_out == {reason: 1}
