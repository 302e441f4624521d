"""Details of single formats."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from formats.samples import (
    TEXT,
    VIA_ATTRIBUTES,
    bench_record,
    bug,
    studio_region,
    studio_task,
    via_clean,
    via_entry,
    via_project,
    write,
)
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets.formats.read import ReadAnnotations, read_annotations
from robogaze.errors import InputError

# VideoGlitchBench.


def test_same_clip_name_in_two_titles_gives_two_clips(tmp_path: Path) -> None:
    path = write(tmp_path / "batch.json", [bench_record("1.mp4"), bench_record("1", game_name="Garden")])
    read = read_annotations(path)
    assert [(annotation.clip_id, annotation.fields) for annotation in read.annotations] == [
        ("Kitchen/1", {"game_name": "Kitchen"}),
        ("Garden/1", {"game_name": "Garden"}),
    ]


def test_without_a_title_the_folder_is_used(tmp_path: Path) -> None:
    write(tmp_path / "Kitchen" / "1.json", bench_record("1", game_name=None))
    write(tmp_path / "Garden" / "1.json", bench_record("1", game_name=""))
    path = write(tmp_path / "1.json", bench_record("1", game_name=None))
    assert [annotation.clip_id for annotation in read_annotations(tmp_path).annotations] == [
        "1",
        "Garden/1",
        "Kitchen/1",
    ]
    assert read_annotations(path).annotations[0].fields == {}


def test_long_and_short_keys_are_read(tmp_path: Path) -> None:
    long = {"id": "77", **bench_record("1", TEXT)}
    short = {"video": "1", "game": "Kitchen", "no_bugs": False, "bugs": [TEXT], "intervals": [[[1.0, 2.5]]]}
    found = [read_annotations(write(tmp_path / "one.json", record)).annotations[0] for record in (long, short)]
    assert found[0].clip_id == found[1].clip_id == "Kitchen/1"
    assert found[0].findings == found[1].findings == (AnnotatedEvent("1", (Span(1.0, 2.5),), TEXT),)
    assert [annotation.fields for annotation in found] == [{"game_name": "Kitchen"}, {"game": "Kitchen"}]


def test_intervals_of_a_bug_are_joined(tmp_path: Path) -> None:
    times = [[[23, 24], [12, 15], [14, 16]], []]
    path = write(tmp_path / "one.json", bench_record("1", "a", "b", time_nodes=times))
    (annotation,) = read_annotations(path).annotations
    assert [event.spans for event in annotation.findings] == [(Span(12, 16), Span(23, 24)), ()]


def test_empty_interval_needs_a_frame_rate(tmp_path: Path) -> None:
    path = write(tmp_path / "one.json", bench_record("1", "a", time_nodes=[[[3, 3]]]))
    with pytest.raises(InputError, match=r"time_nodes\.0\.0\.1: a span of zero length means one frame, but"):
        read_annotations(path)
    assert read_annotations(path, fps=4.0).annotations[0].findings[0].spans == (Span(3, 3.25),)


# GBQA.


def test_bug_is_an_event_without_a_span(tmp_path: Path) -> None:
    path = write(tmp_path / "bugs.json", {"game_name": "castle", "game_title": "Castle", "bugs": [bug(id=0)]})
    (annotation,) = read_annotations(path).annotations
    assert annotation.clip_id == "castle"
    assert annotation.findings == (AnnotatedEvent("0", (), TEXT, None, "passing_through", difficulty="easy"),)


@pytest.mark.parametrize(
    "texts",
    [
        {"observed_fault": "x", "actual_behavior": "y", "description": "z", "title": "t"},
        {"actual_behavior": "x", "description": "y"},
        {"description": "x", "title": "y"},
        {"observed_fault": None, "description": "", "title": "x"},
    ],
)
def test_description_is_the_fault_else_description_else_title(texts: dict[str, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "bugs.json", {"game_name": "castle", "bugs": [texts]})
    assert read_annotations(path).annotations[0].findings[0].description == "x"


def test_agent_report_and_bug_file_have_one_clip_id(tmp_path: Path) -> None:
    agents = {"metadata": {"game_session_id": "s"}, "game": {"name": "castle"}, "bugs": [bug(confidence=0.9)]}
    for record in (agents, {"game_id": "castle", "bugs": []}, {"game_name": "castle", "game_id": "castle", "bugs": []}):
        assert read_annotations(write(tmp_path / "bugs.json", record)).annotations[0].clip_id == "castle"


# ActivityNet.


def test_label_is_the_default_description(tmp_path: Path) -> None:
    results = [{"label": "Blur", "segment": [0, 1]}, {"label": "Blur", "segment": [1, 2], "description": "It blurs."}]
    (annotation,) = read_annotations(write(tmp_path / "a.json", {"results": {"cup": results}})).annotations
    assert [event.description for event in annotation.findings] == ["Blur", "It blurs."]


def test_videos_without_annotations_are_clean_with_a_warning(tmp_path: Path) -> None:
    videos = {name: {"duration": 4.0, "subset": "testing", "annotations": []} for name in ("cup", "pot")}
    read = read_annotations(write(tmp_path / "a.json", {"database": videos, "taxonomy": []}))
    assert [(annotation.clean, annotation.duration_s, annotation.fields) for annotation in read.annotations] == [
        (True, 4.0, {"split": "testing"})
    ] * 2
    assert read.warnings == ("2 clips without annotations (read as clean)",)


def test_invalid_result_is_refused_with_its_key(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"results": {"cup": [{"label": "Blur", "segment": [0, "1"]}]}})
    with pytest.raises(InputError, match=r"a\.json:8: results\.cup\.0\.segment\.1: Input should be a valid number"):
        read_annotations(path)


def test_database_and_results_in_one_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"database": {"cup": {"annotations": []}}, "results": {"cup": []}})
    with pytest.raises(InputError, match="expected exactly one of the keys 'database' and 'results'"):
        read_annotations(path)


# Label Studio.


def studio(tmp_path: Path, *tasks: dict[str, Any], **options: Any) -> ReadAnnotations:
    return read_annotations(write(tmp_path / "export.json", [*tasks]), **{"fps": 16.0, "first_frame": 1, **options})


def only(read: ReadAnnotations) -> ClipAnnotation:
    (annotation,) = read.annotations
    return annotation


def test_first_frame_is_required(tmp_path: Path) -> None:
    message = (
        "gives times in frames; give the number of the first frame with --first-frame: 1 in Label Studio's own timeline"
    )
    with pytest.raises(InputError, match=message):
        studio(tmp_path, studio_task("cup", studio_region()), first_frame=None, lenient=True)
    with pytest.raises(
        InputError, match=r"ranges\.0\.start: frame numbers must be converted to seconds, but .* give it with --fps"
    ):
        studio(tmp_path, studio_task("cup", studio_region()), fps=None)


def test_range_includes_its_last_frame_and_starts_at_first_frame(tmp_path: Path) -> None:
    region = studio_region(ranges=[{"start": 3, "end": 5}])
    assert only(studio(tmp_path, studio_task("cup", region))).findings[0].spans == (Span(2 / 16, 5 / 16),)
    counted_from_0 = studio(tmp_path, studio_task("cup", region), first_frame=0)
    assert only(counted_from_0).findings[0].spans == (Span(3 / 16, 6 / 16),)


def test_rate_in_the_data_of_a_task_has_priority(tmp_path: Path) -> None:
    cup, pot = studio_task("cup", studio_region()), studio_task("pot", studio_region())
    cup["data"]["fps"] = 8
    read = {annotation.clip_id: annotation.findings[0].spans for annotation in studio(tmp_path, cup, pot).annotations}
    assert read == {"cup": (Span(2.0, 5.0),), "pot": (Span(1.0, 2.5),)}
    cup["data"]["fps"] = "8"
    with pytest.raises(
        InputError, match=r"0\.annotations\.0: the fps in the task's data must be a number above 0, not '8'"
    ):
        studio(tmp_path, cup)


def test_results_of_a_region_belong_to_its_event(tmp_path: Path) -> None:
    results = [
        studio_region(),
        {"id": "r1", "from_name": "what", "value": {"text": ["The cup", "falls."]}, "type": "textarea"},
        {"id": "r1", "from_name": "severity", "value": {"rating": 4}, "type": "rating"},
        {"id": "r1", "from_name": "certainty", "value": {"rating": 2}, "type": "rating"},
        {"id": "r2", **{key: value for key, value in studio_region().items() if key != "id"}},
        {"id": "r2", "from_name": "severity", "value": {"number": 2}, "type": "number"},
        {"id": "r3", "from_name": "whole", "value": {"choices": ["good"]}, "type": "choices"},
        {"from_name": "whole", "value": {"text": "A good clip."}, "type": "textarea"},
    ]
    read = studio(tmp_path, studio_task("cup", *results))
    found = [(event.id, event.description, event.severity, event.type) for event in only(read).findings]
    assert found == [
        ("r1", "The cup falls.", 4, "passing_through"),
        ("r2", "passing_through", 2, "passing_through"),
    ]
    assert read.warnings == ("2 results outside every timeline label (left out)",)


def test_each_person_has_an_annotation_and_a_cancelled_one_is_unscored(tmp_path: Path) -> None:
    task = studio_task("cup", studio_region())
    first = task["annotations"][0]
    people = [{"completed_by": {"id": 1, "email": "ada@example.org"}}, {"was_cancelled": True, "completed_by": 8}]
    task["annotations"] = [first, *({**first, **who} for who in people)]
    read = studio(tmp_path, task)
    assert [(annotation.author, annotation.status, len(annotation.findings)) for annotation in read.annotations] == [
        ("3", "complete", 1),
        ("ada@example.org", "complete", 1),
        ("8", "unscored", 0),
    ]
    task["annotations"].append(first)
    with pytest.raises(
        InputError, match=r"3 has two annotations of cup: .*: 0\.annotations\.0 and .*: 0\.annotations\.3"
    ):
        studio(tmp_path, task)


def test_predictions_are_read_if_there_is_no_annotation(tmp_path: Path) -> None:
    guess = {"model_version": "gpt", "score": 0.3, "result": [studio_region()]}
    only_guessed = {**studio_task("cup"), "annotations": [], "predictions": [guess]}
    assert [annotation.author for annotation in studio(tmp_path, only_guessed).annotations] == ["gpt"]
    read = studio(tmp_path, only_guessed, studio_task("pot"))
    assert [(annotation.clip_id, annotation.author) for annotation in read.annotations] == [("pot", "3")]


@pytest.mark.parametrize(
    ("data", "clip_id"),
    [
        ({"clip_id": "the cup", "video": "x.mp4"}, "the cup"),
        ({"video": "/data/upload/1/3d3ad63e-the_cup.mp4"}, "the_cup"),
        ({"video": "/data/local-files/?d=films%2Fa/the%20cup.mp4"}, "the cup"),
        ({"video": "https://example.org/films/the%20cup.mp4?token=a"}, "the cup"),
        ({"video": "the.cup.mp4"}, "the.cup"),
    ],
)
def test_clip_id_comes_from_the_task_or_the_video(data: dict[str, str], clip_id: str, tmp_path: Path) -> None:
    assert only(studio(tmp_path, studio_task("x", data=data))).clip_id == clip_id


# VIA.


def via(tmp_path: Path, *entries: dict[str, Any], lenient: bool = False, **changes: Any) -> ReadAnnotations:
    return read_annotations(write(tmp_path / "kitchen.json", via_project(*entries, **changes)), lenient=lenient)


def attributes(**changes: Mapping[str, Any]) -> dict[str, Any]:
    """The sample's attributes; `a1` changes the attribute 1."""
    return {aid: {**attribute, **changes.get(f"a{aid}", {})} for aid, attribute in VIA_ATTRIBUTES.items()}


def test_via_segment_is_an_event_with_the_texts_of_its_options(tmp_path: Path) -> None:
    cup = via(tmp_path, via_entry(), via_entry(z=[3, 3.5], av={"1": "floating"}), via_clean("2")).annotations[0]
    assert cup.findings == (
        AnnotatedEvent("1_0", (Span(1.0, 2.5),), TEXT, None, "passing_through", severity=4),
        AnnotatedEvent("1_1", (Span(3.0, 3.5),), "floating", None, "floating"),
    )
    assert (cup.author, cup.status, cup.source) == ("kitchen", "complete", f"{tmp_path / 'kitchen.json'}: view.1")


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 2.0, 3.0]])
def test_via_label_without_two_times_is_refused_and_skipped_when_lenient(times: list[float], tmp_path: Path) -> None:
    entries = via_entry(), via_entry(z=times), via_clean("2")
    with pytest.raises(InputError, match=r"kitchen\.json:\d+: metadata\.1_1\.z: an event needs two times"):
        via(tmp_path, *entries)
    read = via(tmp_path, *entries, lenient=True)
    assert [annotation.clip_id for annotation in read.annotations] == ["pot"]
    assert [skipped.split(": ")[1] for skipped in read.skipped] == ["metadata.1_1.z"]


def test_via_entries_without_two_times_and_without_a_label_are_counted(tmp_path: Path) -> None:
    read = via(tmp_path, via_entry(), via_entry(z=[1.0], av={"1": "", "2": "Here."}), via_clean("2"))
    assert [len(annotation.findings) for annotation in read.annotations] == [1, 0]
    assert read.warnings == ("1 metadata record without two times (left out)",)


def test_via_video_that_nobody_touched_is_unscored(tmp_path: Path) -> None:
    cup, pot = via(tmp_path, via_entry()).annotations
    assert (cup.status, cup.verdict) == ("complete", "faulty")
    assert (pot.status, pot.verdict) == ("unscored", "undecided")


@pytest.mark.parametrize(
    ("changes", "value", "clean"),
    [
        ({}, "0", True),
        ({}, "yes", True),
        ({}, "", False),
        ({"options": {"0": "watched", "1": "Clean"}}, "0,1", True),
        ({"options": {"0": "watched", "1": "Clean"}}, "0", False),
        ({"type": 4, "options": {"0": "yes", "1": "no"}}, "1", False),
        ({"type": 1, "options": {}}, "True", True),
        ({"type": 1, "options": {}}, "1", True),
        ({"type": 1, "options": {}}, "no", False),
    ],
)
def test_via_clip_is_clean_if_its_file_says_so(
    changes: dict[str, Any], value: str, clean: bool, tmp_path: Path
) -> None:
    entry = via_entry(vid="2", z=[], av={"4": value})
    pot = via(tmp_path, via_entry(), entry, attribute=attributes(a4=changes)).annotations[1]
    assert (pot.status, pot.clean) == ("complete" if clean else "unscored", clean)


@pytest.mark.parametrize("name", ["LABEL", "glitch_type", "class", "What happens"])
def test_via_label_is_a_named_attribute_or_the_first_choice_of_segments(name: str, tmp_path: Path) -> None:
    others = {"0": {"aname": "place", "anchor_id": "FILE1_Z0_XY0", "type": 4, "options": {"1": "kitchen"}}}
    named = {**others, **attributes(a1={"aname": name, "type": 3})}
    cup = via(tmp_path, via_entry(), attribute=named).annotations[0]
    assert [event.type for event in cup.findings] == ["passing_through"]


def test_via_segment_without_a_label_has_no_type(tmp_path: Path) -> None:
    read = via(tmp_path, via_entry(av={"1": "", "2": TEXT}))
    assert read.annotations[0].findings == (AnnotatedEvent("1_0", (Span(1.0, 2.5),), TEXT),)
    assert read.warnings == ("1 segment without a label (read as an event without a type)",)


def test_via_segment_with_two_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"metadata\.1_0\.av\.1: a segment must have one label, not 2"):
        via(tmp_path, via_entry(av={"1": "0,1"}), attribute=attributes(a1={"type": 2}))


def test_via_severity_that_is_not_1_to_5_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"metadata\.1_0\.av\.3: 'high' is not a severity from 1 to 5"):
        via(tmp_path, via_entry(av={"1": "1", "3": "0"}), attribute=attributes(a3={"options": {"0": "high"}}))


def test_via_values_of_other_attributes_are_counted(tmp_path: Path) -> None:
    named = attributes(a3={"aname": "Severity (1 to 5)"})
    read = via(tmp_path, via_entry(), via_entry(z=[3.0, 3.5], av={"1": "1", "3": "", "9": "x"}), attribute=named)
    assert [event.severity for event in read.annotations[0].findings] == [None, None]
    assert read.warnings == ("1 value of the attribute 'Severity (1 to 5)' (not read)",)


def test_via_clip_id_is_the_stem_and_pictures_are_no_clips(tmp_path: Path) -> None:
    project = via_project(via_entry(), names=("films/the cup.v1.mp4", "photo.png"))
    project["file"]["2"]["type"] = 2
    read = read_annotations(write(tmp_path / "kitchen.json", project))
    assert [annotation.clip_id for annotation in read.annotations] == ["the cup.v1"]


def test_via_entry_of_no_view_and_other_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"metadata\.9_0\.vid: the entry does not name a view"):
        via(tmp_path, via_entry(vid="9"))
    with pytest.raises(InputError, match=r"project\.data_format_version: expected version 3, not '4\.0'"):
        via(tmp_path, project={"vid_list": [], "data_format_version": "4.0"})


# CSV.


def rows(tmp_path: Path, *lines: str, **options: Any) -> ReadAnnotations:
    return read_annotations(write(tmp_path / "events.csv", "\n".join(lines)), **options)


def test_rows_with_one_event_id_are_spans_of_one_event(tmp_path: Path) -> None:
    read = rows(tmp_path, "clip_id;event_id;start_s;end_s;severity", "cup;a;3;4;2", "cup;b;0;1;", "cup;a;1;2;")
    assert only(read).findings == (
        AnnotatedEvent("a", (Span(1, 2), Span(3, 4)), "", severity=2),
        AnnotatedEvent("b", (Span(0, 1),), ""),
    )


def test_frames_start_at_0_and_end_is_exclusive(tmp_path: Path) -> None:
    read = rows(tmp_path, "clip_id,fps,frame_count,start_frame,end_frame", "cup,16,64,16,40")
    assert only(read).findings[0].spans == (Span(1.0, 2.5),)
    assert only(read).duration_s == 4.0
    assert only(rows(tmp_path, "clip_id,start_frame,end_frame", "cup,16,40", fps=8.0)).findings[0].spans == (
        Span(2.0, 5.0),
    )


def test_clip_columns_may_not_contradict_each_other(tmp_path: Path) -> None:
    header = "clip_id,checkpoint,split,start_s,end_s"
    annotation = only(rows(tmp_path, header, "cup,iter_9,a,0,1", "cup,,a,1,2"))
    assert annotation.fields == {"checkpoint": "iter_9", "split": "a"}
    assert [event.id for event in annotation.findings] == ["1", "2"]
    with pytest.raises(InputError, match=r"events\.csv:3: split: 'b' contradicts 'a' on line 2"):
        rows(tmp_path, header, "cup,,a,0,1", "cup,,b,1,2")


def test_author_and_status_are_columns(tmp_path: Path) -> None:
    header = "clip_id,author,status,type,start_s,end_s"
    read = rows(tmp_path, header, "cup,ada,,x,0,1", "cup,ben,,,,", "pot,ada,unscored,,,", "pot,ben,partial,x,,")
    summary = [
        (annotation.clip_id, annotation.author, annotation.status, len(annotation.findings))
        for annotation in read.annotations
    ]
    assert summary == [
        ("cup", "ada", "complete", 1),
        ("cup", "ben", "complete", 0),
        ("pot", "ada", "unscored", 0),
        ("pot", "ben", "partial", 1),
    ]
    assert read.annotations[3].findings[0].spans == ()


def test_coverage_is_a_column_and_defaults_to_all_examined(tmp_path: Path) -> None:
    read = rows(tmp_path, "clip_id,coverage,type", "cup,x=examined y=ruled_out z=partial,", "pot,,", "pan,x=examined,a")
    found = {annotation.clip_id: annotation for annotation in read.annotations}
    assert found["cup"].coverage == {"x": "examined", "y": "ruled_out", "z": "partial"}
    assert (found["pot"].coverage, found["pan"].coverage) == (None, {"x": "examined"})
    assert {name: annotation.verdict for name, annotation in found.items()} == {
        "cup": "undecided",
        "pot": "clean",
        "pan": "faulty",
    }


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("clip_id,start_sec", "cup,1"), r"unknown column 'start_sec'; the columns are: clip_id, author,"),
        (
            ("clip_id,status,type", "cup,unscored,x"),
            "if a clip has events, each of its rows must describe an event, and its status cannot be unscored",
        ),
        (("clip_id,status", "cup,fine"), r":2: status: Input should be 'complete', 'partial' or 'unscored'"),
        (("clip_id,status", "cup,ok"), r":2: status: Input should be 'complete', 'partial' or 'unscored'"),
        (
            ("clip_id,coverage", "cup,x"),
            r":2: coverage: 'x' is not a valid coverage; expected dimension=state, with the states exam",
        ),
        (("clip_id,coverage", "cup,x=seen"), r":2: coverage: 'x=seen' is not a valid coverage"),
        (
            ("clip_id,coverage", "cup,x=examined x=partial"),
            r":2: coverage: 'x=examined x=partial' is not a valid coverage",
        ),
        (("clip_id,coverage,type", "cup,,a", "cup,x,b"), r":3: coverage: 'x' is not a valid coverage"),
        (
            ("clip_id,coverage", "cup,x=examined", "cup,x=partial"),
            r":3: coverage: 'x=partial' contradicts 'x=examined'",
        ),
        (("clip_id,event_id,start_s,end_s", "cup,a,0,1", "cup,a,,"), r"each row of event 'a' needs a start and an end"),
        (("clip_id,start_s,end_s,start_frame", "cup,0,1,3"), r"expected start_s and end_s, or start_frame"),
        (("clip_id,severity,event_id", "cup,3,a", "cup,4,a"), r":3: severity: '4' contradicts '3' on line 2"),
        (("clip_id",), "contains no report and no annotation"),
    ],
)
def test_contradictory_or_invalid_rows_are_refused(lines: tuple[str, ...], why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        rows(tmp_path, *lines)


def test_row_without_an_event_id_is_a_separate_event(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("clip_id,event_id,start_s,end_s,description\na,2,1,2,one\na,,3,4,other\na,1,5,6,third\n")
    (annotation,) = read_annotations(path).annotations
    assert {event.description: event.id for event in annotation.findings} == {"one": "2", "other": "3", "third": "1"}
