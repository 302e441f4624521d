"""The formats of RoboGaze's authors: the project page's annotations and the release's files."""

from pathlib import Path
from typing import Any

import pytest

from formats.samples import (
    TEXT,
    demo_clip,
    demo_event,
    release_glitch,
    release_report,
    write,
)
from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import Span
from robogaze.datasets.formats.label_mapping import load_labels
from robogaze.datasets.formats.read import read_annotations
from robogaze.datasets.pairing import match_clip_ids
from robogaze.errors import InputError

# The project page.


def test_page_clip_has_instruction_frames_and_fields(tmp_path: Path) -> None:
    clip = demo_clip("cup", demo_event(), generator="Dreams 2", embodiment=None, duration_s=4.01)
    (annotation,) = read_annotations(write(tmp_path / "cup.json", clip)).annotations
    assert annotation.findings == (
        AnnotatedEvent("e1", (Span(1.0, 2.5),), TEXT, "matter", "passing_through", severity=4),
    )
    assert annotation.instruction == "Put the cup into the pot"
    assert annotation.fields == {"split": "kitchen", "generator": "Dreams 2"}
    assert annotation.duration_s == 4.01
    assert annotation.frame_times_s is not None
    assert list(annotation.frame_times_s) == [number / 16 for number in range(64)]


def second_version_event(**changes: Any) -> dict[str, Any]:
    """An event as the page of the second version has it: without an id and a label, and often without a severity."""
    event = demo_event(severity=None, evidence_limiting=False, **changes)
    return {key: value for key, value in event.items() if key not in ("event_id", "label")}


def test_events_of_the_second_version_are_numbered(tmp_path: Path) -> None:
    events = [second_version_event(), second_version_event(start_s=0.0)]
    clip = {**demo_clip("cup", *events, video=None, note=None, resolution="640x480"), "file": None}
    clip = {key: value for key, value in clip.items() if key not in ("file", "split", "frames", "n_events")}
    (annotation,) = read_annotations(write(tmp_path / "clips.json", {"about": "Words.", "clips": [clip]})).annotations
    assert [(event.id, event.severity) for event in annotation.findings] == [("E1", None), ("E2", None)]
    assert annotation.clip_file is None


def test_a_clip_is_paired_by_its_video_where_its_id_differs(tmp_path: Path) -> None:
    references = read_annotations(write(tmp_path / "people.json", demo_clip("cup_2", video="cup.mp4"))).annotations
    predictions = read_annotations(write(tmp_path / "model.json", {**demo_clip("cup"), "file": None})).annotations
    matched = match_clip_ids(references, predictions)
    assert [annotation.clip_id for annotation in matched.annotations] == ["cup_2"]
    assert str(matched) == "1 by stem"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Object shape drift", ("object_distortion", "object_scene_consistency")),
        ("object_color_or_shape_drift", ("object_color_or_shape_drift", "object_scene_consistency")),
        ("Object color drift", ("object_color_or_shape_drift", "object_scene_consistency")),
        ("other_implausible_dynamics", ("impossible_motion", "physical_plausibility")),
        ("ignored_constraint", ("ignored_instruction_constraint", "instruction_consistency")),
    ],
)
def test_names_of_the_second_version_are_read_as_types_of_the_taxonomy(
    label: str, expected: tuple[str, str], tmp_path: Path
) -> None:
    path = write(tmp_path / "clips.json", demo_clip("cup", second_version_event(type=label, dimension=None)))
    (annotation,) = read_annotations(path, labels=load_labels("robot")).annotations
    (event,) = annotation.findings
    assert (event.type, event.dimension) == expected


def test_null_severity_is_not_rated(tmp_path: Path) -> None:
    clip = demo_clip("cup", demo_event(severity=None))
    assert read_annotations(write(tmp_path / "cup.json", clip)).annotations[0].findings[0].severity is None


def test_label_is_used_without_a_type_and_one_is_required(tmp_path: Path) -> None:
    clip = demo_clip("cup", demo_event(type=None))
    assert read_annotations(write(tmp_path / "cup.json", clip)).annotations[0].findings[0].type == "Passing through"
    clip = demo_clip("cup", demo_event(type=None, label=None))
    with pytest.raises(InputError, match=r"events\.0\.type: a type or a label is missing"):
        read_annotations(write(tmp_path / "cup.json", clip))


# The release.


def reference(video_id: str, *glitches: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"video_id": video_id, "task": "Put it there", "glitches": [*glitches], **changes}


def person_glitch(**changes: Any) -> dict[str, Any]:
    known = {"glitch_id": "G7", "glitch_type": "passing_through", "start_frame": 16, "end_frame": 40}
    return {**known, "human_severity": 3, "note": "It  passes\nthrough.", **changes}


def test_prediction_id_is_data_set_and_video(tmp_path: Path) -> None:
    for dataset in ("sim", "real"):
        write(tmp_path / dataset / "4" / "report.json", release_report("4", release_glitch()))
        write(tmp_path / dataset / "4" / "video_meta.json", {"fps": 16.0})
    read = read_annotations(tmp_path)
    assert [(annotation.clip_id, annotation.fields) for annotation in read.annotations] == [
        ("real__4", {"split": "real"}),
        ("sim__4", {"split": "sim"}),
    ]
    assert read.annotations[0].instruction == "Put the cup into the pot"
    assert read.annotations[0].findings[0].confidence == 0.75


def test_data_set_is_not_added_twice_to_an_id(tmp_path: Path) -> None:
    write(tmp_path / "sim" / "sim__4" / "report.json", release_report("sim__4"))
    write(tmp_path / "sim" / "real__4" / "report.json", release_report("real__4"))
    assert [annotation.clip_id for annotation in read_annotations(tmp_path).annotations] == ["sim__real__4", "sim__4"]


@pytest.mark.parametrize(
    ("record", "clip_id", "fields"),
    [
        (reference("sim__4"), "sim__4", {}),
        (reference("x", source_dataset="sim", source_video_id=4), "sim__4", {"split": "sim"}),
        (reference("x", source_dataset="sim"), "x", {"split": "sim"}),
        (reference("x", source_video_id="4"), "x", {}),
    ],
)
def test_reference_id_comes_from_its_source_or_its_video(
    record: dict[str, Any], clip_id: str, fields: dict[str, str], tmp_path: Path
) -> None:
    (annotation,) = read_annotations(write(tmp_path / "4.json", record)).annotations
    assert (annotation.clip_id, annotation.fields, annotation.instruction) == (clip_id, fields, "Put it there")


def test_reference_frames_use_the_times_of_the_prediction(tmp_path: Path) -> None:
    write(tmp_path / "out" / "sim" / "4" / "report.json", release_report("4"))
    path = write(tmp_path / "gt" / "sim__4.json", reference("sim__4", person_glitch(end_frame=64)))
    with pytest.raises(
        InputError, match=r"sim__4\.json:8: glitches\.0\.start_frame: frame numbers must be converted to seconds, but "
    ):
        read_annotations(path.parent)
    predictions = read_annotations(tmp_path / "out")
    (annotation,) = read_annotations(
        path.parent, clips={annotation.clip_id: annotation for annotation in predictions.annotations}
    ).annotations
    assert annotation.findings[0].spans == (Span(1.0, 4.0),)
    assert annotation.frame_times_s is predictions.annotations[0].frame_times_s
    assert annotation.duration_s == 4.0


def test_reference_frames_use_a_given_rate(tmp_path: Path) -> None:
    path = write(tmp_path / "4.json", reference("4", person_glitch()))
    (annotation,) = read_annotations(path, fps=8.0).annotations
    assert annotation.findings == (
        AnnotatedEvent("G7", (Span(2.0, 5.0),), "It passes through.", None, "passing_through", severity=3),
    )
    assert annotation.frame_times_s is None


def test_frames_are_preferred_to_times(tmp_path: Path) -> None:
    both = release_glitch(start_frame=8, end_frame=24)
    times = release_glitch(event_id="E2", start_frame=None, end_frame=None)
    path = write(tmp_path / "report.json", release_report("4", both, times))
    assert [event.spans for event in read_annotations(path).annotations[0].findings] == [
        (Span(0.5, 1.5),),
        (Span(1.0, 2.5),),
    ]


def test_glitch_with_equal_frames_is_one_frame(tmp_path: Path) -> None:
    glitch = release_glitch(start_frame=63, end_frame=63)
    read = read_annotations(write(tmp_path / "report.json", release_report("4", glitch)))
    assert read.annotations[0].findings[0].spans == (Span(63 / 16, 4.0),)
    assert read.warnings == ("1 span with the same first and end frame (read as this one frame)",)


def test_half_a_span_is_refused(tmp_path: Path) -> None:
    glitch = release_glitch(end_frame=None, end_time=None)
    path = write(tmp_path / "report.json", release_report("4", glitch))
    with pytest.raises(InputError, match=r"glitches\.0: expected start_frame and end_frame, or start_time and end_t"):
        read_annotations(path)


def test_texts_and_ids_follow_the_released_evaluator(tmp_path: Path) -> None:
    both = {"note": "A note.", "description": "A description."}
    glitches = [release_glitch(**both), release_glitch(event_id=None, description=None, note="Only this.")]
    (predicted,) = read_annotations(write(tmp_path / "report.json", release_report("4", *glitches))).annotations
    assert [(event.id, event.description) for event in predicted.findings] == [
        ("E1", "A description."),
        ("2", "Only this."),
    ]
    path = write(tmp_path / "4.json", reference("4", person_glitch(**both, severity=None), person_glitch(glitch_id=8)))
    (reference_annotation,) = read_annotations(path, fps=16.0).annotations
    assert [(event.id, event.description, event.severity) for event in reference_annotation.findings] == [
        ("G7", "A note.", 3),
        ("8", "It passes through.", 3),
    ]
