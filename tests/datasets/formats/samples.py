"""One sample of every format: the same two clips, `cup` with one event and `pot` with none."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from making import coverage, make_clip

from robogaze.core.events import Event
from robogaze.core.report import DomainRef, Report
from robogaze.core.time import Span
from robogaze.datasets.formats.gbqa_markdown import markdown_report

TEXT = "The cup passes through the table."
REFERENCE = DomainRef(id="cups", version="1", taxonomy="e" * 64, fingerprint="f" * 64)


def make_event(**changes: Any) -> Event:
    known: dict[str, Any] = {
        "id": "E1",
        "dimension": "matter",
        "type": "passing_through",
        "spans": (Span(1.0, 2.5),),
        "severity": 4,
        "confidence": 0.75,
        "description": TEXT,
        "evidence": (),
    }
    return Event(**{**known, **changes})


def make_report(clip_id: str, *events: Event, **changes: Any) -> Report:
    known: dict[str, Any] = {
        "clip": make_clip(id=clip_id),
        "domain": REFERENCE,
        "pipeline": "full",
        "author": "robogaze",
        "coverage": coverage("matter"),
        "events": events,
    }
    return Report(**{**known, **changes})


def report(clip_id: str, *events: Event, **changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = make_report(clip_id, *events, **changes).model_dump(mode="json")
    return value


CSV = f"""clip_id,dimension,type,start_s,end_s,severity,confidence,description
cup,matter,passing_through,1.0,2.5,4,0.75,{TEXT}
pot,,,,,,,
"""


@dataclass(frozen=True)
class Sample:
    """The files of a source, what it takes to read them, and which clips they are about.

    The event has the span [1, 2.5) (no span if `timed` is False) and the type `passing_through` (no type if `typed` is
    False). `table` says that the file is a table, not JSON.
    """

    files: Mapping[str, Any]
    clip_ids: tuple[str, str] = ("cup", "pot")
    options: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = True
    typed: bool = True
    table: bool = False

    def write(self, folder: Path) -> Path:
        """The path to read: the file, if there is one only, else the folder."""
        for name, content in self.files.items():
            write(folder / name, content)
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


def write(path: Path, content: Any) -> Path:
    """A file with a text, or with a value as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def release_glitch(**changes: Any) -> dict[str, Any]:
    known = {
        "event_id": "E1",
        "glitch_type": "passing_through",
        "dimension": "matter",
        "start_time": 1.0,
        "end_time": 2.5,
        "start_frame": 16,
        "end_frame": 40,
        "severity": 4,
        "confidence": 0.75,
        "description": TEXT,
        "evidence": ["frame 20"],
    }
    return {**known, **changes}


def release_report(video_id: str, *glitches: dict[str, Any]) -> dict[str, Any]:
    meta = {"video_path": "v.mp4", "fps": 16.0, "total_frames": 64, "duration_s": 4.0, "width": 64, "height": 48}
    return {
        "video_id": video_id,
        "task_instruction": "Put the cup into the pot",
        "video_meta": meta,
        "glitches": [*glitches],
        "no_glitch_reason": None if glitches else "none",
    }


def demo_event(**changes: Any) -> dict[str, Any]:
    known = {
        "event_id": "e1",
        "dimension": "matter",
        "type": "passing_through",
        "label": "Passing through",
        "start_s": 1.0,
        "end_s": 2.5,
        "severity": 4,
        "description": TEXT,
    }
    return {**known, **changes}


def demo_clip(clip_id: str, *events: dict[str, Any], **changes: Any) -> dict[str, Any]:
    known = {
        "clip_id": clip_id,
        "file": f"{clip_id}.mp4",
        "instruction": "Put the cup into the pot",
        "split": "kitchen",
        "duration_s": 4.0,
        "fps": 16.0,
        "frames": 64,
        "failure_free": not events,
        "n_events": len(events),
        "events": [*events],
    }
    return {**known, **changes}


def bench_record(name: str, *bugs: str, **changes: Any) -> dict[str, Any]:
    known = {
        "video_name": name,
        "game_name": "Kitchen",
        "no_bugs": not bugs,
        "bugs": [*bugs],
        "time_nodes": [[[1.0, 2.5]] for _ in bugs],
    }
    return {**known, **changes}


def studio_region(**value: Any) -> dict[str, Any]:
    known = {"ranges": [{"start": 17, "end": 40}], "timelinelabels": ["passing_through"]}
    return {"id": "r1", "from_name": "tl", "to_name": "video", "type": "timelinelabels", "value": {**known, **value}}


def studio_task(clip_id: str, *results: dict[str, Any], **changes: Any) -> dict[str, Any]:
    annotation = {"id": 9, "completed_by": 3, "was_cancelled": False, "result": [*results]}
    return {
        "id": 1,
        "data": {"video": f"/data/upload/1/3d3ad63e-{clip_id}.mp4"},
        "annotations": [annotation],
        **changes,
    }


VIA_ATTRIBUTES: Mapping[str, Any] = {
    "1": {
        "aname": "Type",
        "anchor_id": "FILE1_Z2_XY0",
        "type": 4,
        "desc": "What happens",
        "options": {"0": "floating", "1": "passing_through"},
        "default_option_id": "",
    },
    "2": {"aname": "comment", "anchor_id": "FILE1_Z2_XY0", "type": 1, "desc": "", "options": {}},
    "3": {
        "aname": "Severity",
        "anchor_id": "FILE1_Z2_XY0",
        "type": 3,
        "options": {f"{n}": f"{n + 1}" for n in range(5)},
    },
    "4": {"aname": "Clean", "anchor_id": "FILE1_Z0_XY0", "type": 2, "desc": "", "options": {"0": "yes"}},
}


def via_entry(**changes: Any) -> dict[str, Any]:
    known = {"vid": "1", "flg": 0, "z": [1.0, 2.5], "xy": [], "av": {"1": "1", "2": TEXT, "3": "3"}}
    return {**known, **changes}


def via_clean(vid: str) -> dict[str, Any]:
    return via_entry(vid=vid, z=[], av={"4": "0"})


def via_project(
    *entries: dict[str, Any], names: Sequence[str] = ("cup.mp4", "pot.mp4"), **changes: Any
) -> dict[str, Any]:
    numbered = {f"{number}": name for number, name in enumerate(names, start=1)}
    known = {
        "project": {
            "pid": "__VIA_PROJECT_ID__",
            "rev": "__VIA_PROJECT_REV_ID__",
            "rev_timestamp": "__VIA_PROJECT_REV_TIMESTAMP__",
            "pname": "Kitchen",
            "creator": "VGG Image Annotator (http://www.robots.ox.ac.uk/~vgg/software/via)",
            "data_format_version": "3.1.1",
            "vid_list": [*numbered],
        },
        "config": {"file": {"loc_prefix": {"1": "", "2": "", "3": "", "4": ""}}, "ui": {}},
        "attribute": VIA_ATTRIBUTES,
        "file": {fid: {"fid": fid, "fname": name, "type": 4, "loc": 1, "src": ""} for fid, name in numbered.items()},
        "metadata": {f"{entry['vid']}_{number}": entry for number, entry in enumerate(entries)},
        "view": {vid: {"fid_list": [vid]} for vid in numbered},
    }
    return {**known, **changes}


def bug(**changes: Any) -> dict[str, Any]:
    return {"id": "BUG-1", "bug_type": "passing_through", "difficulty": "easy", "observed_fault": TEXT, **changes}


SAMPLES: Mapping[str, Sample] = {
    "report": Sample({"cup/report.json": report("cup", make_event()), "pot/report.json": report("pot")}),
    "robogaze_demo": Sample({"clips.json": {"clips": [demo_clip("cup", demo_event()), demo_clip("pot")]}}),
    "robogaze_release": Sample(
        {
            "kitchen/cup/report.json": release_report("cup", release_glitch()),
            "kitchen/pot/report.json": release_report("pot"),
        },
        clip_ids=("kitchen__cup", "kitchen__pot"),
    ),
    "videoglitchbench": Sample(
        {"batch_report.json": [bench_record("cup", TEXT), bench_record("pot.mp4")]},
        clip_ids=("Kitchen/cup", "Kitchen/pot"),
        typed=False,
    ),
    "gbqa": Sample(
        {
            "a.json": {"game_name": "cup", "total_bugs": 1, "bugs": [bug()]},
            "b.json": {"metadata": {"source": "x"}, "game": {"name": "pot"}, "bugs": []},
        },
        timed=False,
    ),
    "gbqa_markdown": Sample(
        {
            "cup/report.md": markdown_report("cup", 3, [{"title": "Cup", "confidence": 0.75, "description": TEXT}], ""),
            "pot/report.md": markdown_report("pot", 3, [], ""),
        },
        timed=False,
        typed=False,
    ),
    "activitynet": Sample(
        {
            "labels.json": {
                "version": "1",
                "database": {
                    "cup": {
                        "duration": 4.0,
                        "subset": "kitchen",
                        "annotations": [{"label": "passing_through", "segment": [1.0, 2.5]}],
                    },
                    "pot": {"duration": 4.0, "subset": "kitchen", "annotations": []},
                },
            }
        }
    ),
    "label_studio": Sample(
        {"export.json": [studio_task("cup", studio_region()), studio_task("pot")]},
        options={"fps": 16.0, "first_frame": 1},
    ),
    "via": Sample({"via.json": via_project(via_entry(), via_clean("2"))}),
    "csv": Sample({"events.csv": CSV}, table=True),
}
