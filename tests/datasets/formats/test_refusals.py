"""Invalid input is refused with file, line and key; a lenient reading skips that clip."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from domains.folders import line_of

from formats.samples import CSV, SAMPLES, Sample, write
from robogaze.datasets.formats.read import read_annotations
from robogaze.errors import InputError

MARK = "<here>"
"""Marks the invalid value in a copy of the sample, so that its line is not found by the code under test."""

Change = tuple[str, tuple[str | int, ...], Any, str, str]
"""Format, place in the first file, new value (... removes the key), key in the message, and message."""

NUMBER, WHOLE = "Input should be a valid number", "Input should be a valid integer"
FINITE = "Input should be a finite number"
NAN, GONE = float("nan"), ...

_DEMO: tuple[str | int, ...] = ("clips", 0, "events", 0)
_RELEASE: tuple[str | int, ...] = ("glitches", 0)
_STUDIO: tuple[str | int, ...] = (0, "annotations", 0)
_VIA: tuple[str | int, ...] = ("metadata", "1_0")
_NET: tuple[str | int, ...] = ("database", "cup", "annotations", 0)

CHANGES: tuple[Change, ...] = (
    # A number is a number: no text, no truth value, not NaN, no fraction of a step.
    ("report", ("events", 0, "severity"), "4", "events.0.severity", WHOLE),
    ("report", ("events", 0, "severity"), True, "events.0.severity", WHOLE),
    ("report", ("events", 0, "confidence"), NAN, "events.0.confidence", FINITE),
    ("report", ("events", 0, "spans"), [["1.0", 2.5]], "events.0.spans.0.0", NUMBER),
    ("report", ("clip", "fps"), "16.0", "clip.fps", NUMBER),
    ("robogaze_demo", (*_DEMO, "start_s"), "1.0", "clips.0.events.0.start_s", NUMBER),
    ("robogaze_demo", (*_DEMO, "end_s"), NAN, "clips.0.events.0.end_s", FINITE),
    ("robogaze_demo", (*_DEMO, "severity"), "4", "clips.0.events.0.severity", WHOLE),
    ("robogaze_demo", (*_DEMO, "severity"), 4.5, "clips.0.events.0.severity", WHOLE),
    ("robogaze_demo", ("clips", 0, "failure_free"), "false", "clips.0.failure_free", "Input should be a valid boolean"),
    ("robogaze_release", (*_RELEASE, "start_frame"), "12.0", "glitches.0.start_frame", WHOLE),
    ("robogaze_release", (*_RELEASE, "end_frame"), 39.5, "glitches.0.end_frame", WHOLE),
    ("robogaze_release", (*_RELEASE, "severity"), "5/5", "glitches.0.severity", WHOLE),
    ("robogaze_release", ("video_meta", "fps"), 0.0, "video_meta.fps", "Input should be greater than 0"),
    ("videoglitchbench", (0, "no_bugs"), "false", "0.no_bugs", "Input should be a valid boolean"),
    ("videoglitchbench", (0, "time_nodes", 0, 0, 1), "2", "0.time_nodes.0.0.1", NUMBER),
    ("gbqa", ("bugs", 0, "confidence"), "high", "bugs.0.confidence", NUMBER),
    ("activitynet", (*_NET, "segment", 0), None, "database.cup.annotations.0.segment.0", NUMBER),
    ("activitynet", (*_NET, "score"), 64.95, "database.cup.annotations.0.score", "Input should be less than or equal"),
    ("label_studio", (*_STUDIO, "result", 0, "value", "ranges", 0, "start"), "17",
     "0.annotations.0.result.0.value.ranges.0.start", WHOLE),
    ("robogaze_demo", ("clips", 0, "frames"), 10**9, "clips.0.frames", "Input should be less than or equal to"),
    ("via", (*_VIA, "z", 0), "1.0", "metadata.1_0.z.0", NUMBER),
    ("via", (*_VIA, "z", 1), NAN, "metadata.1_0.z.1", FINITE),
    # What every event needs is there.
    ("report", ("events", 0, "severity"), GONE, "events.0.severity", "Field required"),
    ("robogaze_demo", (*_DEMO, "severity"), GONE, "clips.0.events.0.severity", "Field required"),
    ("robogaze_demo", (*_DEMO, "description"), GONE, "clips.0.events.0.description", "Field required"),
    ("robogaze_release", (*_RELEASE, "severity"), GONE, "glitches.0.severity", "Field required; null means that"),
    ("robogaze_release", (*_RELEASE, "severity"), 0, "glitches.0.severity", "Input should be greater than or equal"),
    ("robogaze_release", (*_RELEASE, "glitch_type"), GONE, "glitches.0.glitch_type", "Field required"),
    ("robogaze_release", (*_RELEASE, "description"), GONE, "glitches.0.description",
     "Field required unless there is a note"),
    ("robogaze_release", ("video_id",), GONE, "video_id", "Field required"),
    ("videoglitchbench", (0, "time_nodes"), GONE, "0.time_nodes", "Field required"),
    ("gbqa", ("bugs", 0, "observed_fault"), GONE, "bugs.0", "a bug needs a description under one of th"),
    ("activitynet", (*_NET, "label"), GONE, "database.cup.annotations.0.label", "Field required"),
    ("activitynet", ("database", "cup", "annotations"), GONE, "database.cup.annotations", "Field required"),
    ("label_studio", (*_STUDIO, "result", 0, "value", "ranges"), [],
     "0.annotations.0.result.0.value.ranges", "a region needs a range"),
    ("label_studio", (0, "data"), {}, "0.annotations.0", "the task's data has neither a clip_id nor a video"),
    ("via", (*_VIA, "z"), [1.0], "metadata.1_0.z", "an event needs two times, a start and an end, but the entry"),
    ("via", (*_VIA, "z"), [], "metadata.1_0.z", "an event needs two times, a start and an end, but the entry"),
    ("via", (*_VIA, "av", "1"), "7", "metadata.1_0.av.1", "'7' is not an option of the attribute 'Type'"),
    ("via", (*_VIA, "av", "3"), "9", "metadata.1_0.av.3", "'9' is not an option of the attribute 'Severity'"),
    ("via", ("file", "1", "fname"), GONE, "file.1.fname", "Field required"),
    ("via", ("file", "1"), GONE, "view.1.fid_list.0", "there is no file '1'"),
    ("via", ("file", "1", "fname"), "", "view.1", "'' is not a valid clip id"),
    ("via", ("view", "1", "fid_list"), ["1", "2"], "view.1.fid_list", "expected a view of one video, not of 2"),
    # Spans go forward, within the clip.
    ("report", ("events", 0, "spans"), [[2.5, 1.0]], "events.0.spans.0", "a span must end after it starts"),
    ("report", ("events", 0, "spans"), [[1.0, 4.5]], "", "E1 lies outside the clip, which is 4.000 s long"),
    ("robogaze_demo", (*_DEMO, "end_s"), 0.5, "clips.0.events.0.end_s",
     "the span ends at 0.5 s, which is before its start"),
    ("robogaze_demo", (*_DEMO, "start_s"), -1, "clips.0.events.0.start_s", "-1 s is before the start of the clip"),
    ("robogaze_release", (*_RELEASE, "end_frame"), 8, "glitches.0.end_frame",
     "the span starts with frame 16, but ends before frame 8"),
    ("robogaze_release", (*_RELEASE, "end_frame"), 99, "glitches.0.end_frame", "frame 99 is not in the clip, which"),
    ("videoglitchbench", (0, "time_nodes", 0, 0), [3, 2], "0.time_nodes.0.0.1",
     "the span ends at 2 s, which is before its start"),
    ("videoglitchbench", (0, "time_nodes", 0, 0), [3], "0.time_nodes.0.0", "List should have at least 2 items"),
    ("activitynet", (*_NET, "segment"), [5, 6], "database.cup.annotations.0.segment.0", "5 s is after the end of"),
    ("label_studio", (*_STUDIO, "result", 0, "value", "ranges", 0, "start"), 0,
     "0.annotations.0.result.0.value.ranges.0.start", "there is no frame -1"),
    ("via", (*_VIA, "z"), [2.5, 1.0], "metadata.1_0.z.1", "the span ends at 1 s, which is before its start at 2.5 s"),
    # A clip does not contradict itself.
    ("via", ("metadata", "1_9"), {"vid": "1", "z": [], "av": {"4": "0"}}, "metadata.1_9.av.4",
     "a clip with segments cannot be clean"),
    ("report", ("status",), "unscored", "", "status is 'unscored', but coverage, events and failures make it"),
    ("report", ("verdict",), "clean", "", "verdict is 'clean', but coverage, events and failures make it"),
    ("report", ("coverage", "matter", "state"), "seen", "coverage.matter.state", "Input should be 'examined', "),
    ("report", ("schema_version",), 1, "schema_version", "this report has schema 1"),
    ("report", ("evnts",), [], "evnts", "unknown key"),
    ("robogaze_demo", ("clips", 0, "n_events"), 2, "clips.0.n_events",
     "this value contradicts the number of events: 1"),
    ("robogaze_demo", ("clips", 0, "failure_free"), True, "clips.0.failure_free",
     "this value contradicts the number of events: 1"),
    ("robogaze_demo", ("clips", 0, "duration_s"), 8.0, "clips.0", "a duration of 8 s contradicts 64 frames"),
    ("videoglitchbench", (0, "no_bugs"), True, "0.no_bugs", "this value contradicts the number of bugs: 1"),
    ("videoglitchbench", (0, "time_nodes"), [], "0.time_nodes", "there are 0 entries for 1 bugs"),
    ("videoglitchbench", (0, "studio_name"), "x", "0", "game_name and studio_name could both be the title"),
    ("gbqa", ("game_name",), GONE, "",
     "expected one name of the tested title, in a key such as game_name; found: none"),
    ("gbqa", ("other_name",), "pan", "",
     "expected one name of the tested title, in a key such as game_name; found: cup, pan"),
    ("label_studio", (*_STUDIO, "result", 0, "value", "timelinelabels"), ["a", "b"],
     "0.annotations.0.result.0.value.timelinelabels", "a region must have one label, not 2"),
    ("robogaze_demo", ("clips", 0, "clip_id"), "", "clips.0", "'' is not a valid clip id"),
)  # fmt: skip


def put(value: Any, place: tuple[str | int, ...], new: Any) -> None:
    for step in place[:-1]:
        value = value[_key(value, step)]
    if new is GONE:
        del value[_key(value, place[-1])]
    else:
        value[_key(value, place[-1])] = new


def _key(value: Any, step: str | int) -> str | int:
    """A step as a key of the value: the keys of an object are texts, even if they look like numbers."""
    return str(step) if isinstance(value, dict) else step


def reported_place(place: tuple[str | int, ...], new: Any, key: str) -> tuple[str | int, ...]:
    """The place whose line is reported: the key, or the parent of a missing key."""
    reported: tuple[str | int, ...] = tuple(int(step) if step.isdecimal() else step for step in key.split(".") if step)
    return reported[:-1] if new is GONE and ".".join(map(str, place)) == key else reported


def changed(name: str, place: tuple[str | int, ...], new: Any) -> tuple[Sample, Callable[[tuple[str | int, ...]], int]]:
    """A sample with the change, and a function that gives the line of a place in its first file."""
    files = json.loads(json.dumps(SAMPLES[name].files))
    first = next(iter(files))
    put(files[first], place, new)

    def line(reported: tuple[str | int, ...]) -> int:
        marked = json.loads(json.dumps(files[first]))
        text = json.dumps(marked, indent=2, ensure_ascii=False)
        if not reported:
            return 1
        put(marked, reported, MARK)
        return next(
            number
            for number, (was, now) in enumerate(
                zip(text.split("\n"), json.dumps(marked, indent=2, ensure_ascii=False).split("\n"), strict=False), 1
            )
            if was != now
        )

    return Sample(files, SAMPLES[name].clip_ids, SAMPLES[name].options), line


@pytest.mark.parametrize(("name", "place", "new", "key", "why"), CHANGES, ids=[f"{c[0]}-{c[3]}" for c in CHANGES])
def test_invalid_value_is_refused_with_file_line_and_key(
    name: str, place: tuple[str | int, ...], new: Any, key: str, why: str, tmp_path: Path
) -> None:
    sample, line = changed(name, place, new)
    path = sample.write(tmp_path)
    file = tmp_path / next(iter(sample.files))
    where = f"{file}:{line(reported_place(place, new, key))}: {key}: " if key else f"{file}: "
    with pytest.raises(InputError) as refused:
        read_annotations(path, **sample.options)
    assert str(refused.value).startswith(f"{where}{why}")
    assert str(refused.value).endswith("; use --lenient to skip what does not fit")
    read = read_annotations(path, lenient=True, **sample.options)
    assert [annotation.clip_id for annotation in read.annotations] == [sample.clip_ids[1]]
    (left,) = read.skipped
    assert left.startswith(f"{where}{why}")


ROWS = (
    (CSV.replace("1.0,2.5", "1.0,nan"), 2, "end_s", NUMBER),
    (CSV.replace("1.0,2.5", "1_0,2.5"), 2, "start_s", NUMBER),
    (CSV.replace("1.0,2.5", "2.5,1.0"), 2, "end_s", "the span ends at 1 s, which is before its start at 2.5 s"),
    (CSV.replace("1.0,2.5", ",2.5"), 2, "end_s", "expected start_s and end_s, or start_frame and end_frame"),
    (CSV.replace(",4,", ",4.5,"), 2, "severity", WHOLE),
    (CSV.replace(",4,", ",severe,"), 2, "severity", WHOLE),
    (CSV.replace(",4,", ",6,"), 2, "severity", "Input should be less than or equal to 5"),
    (CSV.replace(",0.75,", ",75,"), 2, "confidence", "Input should be less than or equal to 1"),
    (CSV.replace("pot,,", ",matter,"), 3, "clip_id", "Field required"),
    (CSV.replace("\npot,,,,", "\ncup,,,,"), None, "", "if a clip has events, each of its rows must describe an event"),
)


@pytest.mark.parametrize(("text", "line", "key", "why"), ROWS, ids=[f"{row[2]}-{row[3][:20]}" for row in ROWS])
def test_invalid_cell_is_refused_with_line_and_column(
    text: str, line: int | None, key: str, why: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "events.csv", text)
    where = f"{path}:{line}: {key}: " if key else f"{path}:2: "
    with pytest.raises(InputError) as refused:
        read_annotations(path)
    assert str(refused.value).startswith(f"{where}{why}")
    (left,) = read_annotations(path, lenient=True).skipped
    assert str(refused.value) == f"{left}; use --lenient to skip what does not fit"


def test_invalid_jsonl_line_is_refused_with_its_number(tmp_path: Path) -> None:
    good, bad = (json.dumps(SAMPLES["report"].files[f"{name}/report.json"]) for name in ("pot", "cup"))
    path = write(tmp_path / "reports.jsonl", f"{good}\n\n{bad.replace(': 4,', ': 4.5,')}\n{{\n")
    with pytest.raises(InputError, match=r"reports\.jsonl:3: events\.0\.severity: Input should be a valid integer"):
        read_annotations(path)
    read = read_annotations(path, lenient=True)
    assert [annotation.clip_id for annotation in read.annotations] == ["pot"]
    assert [skipped.split(": ")[:2] for skipped in read.skipped] == [
        [f"{path}:3", "events.0.severity"],
        [f"{path}:4", "Invalid JSON"],
    ]


def test_whole_numbers_may_be_written_as_floats(tmp_path: Path) -> None:
    sample, _ = changed("robogaze_release", ("glitches", 0, "severity"), 4.0)
    assert read_annotations(sample.write(tmp_path / "a")).annotations[0].findings[0].severity == 4
    path = write(tmp_path / "events.csv", CSV.replace(",4,", ",4.0,"))
    assert read_annotations(path).annotations[0].findings[0].severity == 4


def test_line_of_an_error_is_found_in_compact_json(tmp_path: Path) -> None:
    text = '{"clip_id": "cup",\n"events": [\n{"event_id": "1", "type": "x", "start_s": 1,\n"end_s": "2",\n'
    path = write(tmp_path / "clip.json", f'{text}"severity": 1, "description": "x"}}]}}')
    with pytest.raises(InputError, match=r"clip\.json:4: events\.0\.end_s: "):
        read_annotations(path)
    assert line_of(path, '"end_s"') == 4
