"""The way in: formats, folders, what is there twice."""

import json
from pathlib import Path

import pytest

from formats.samples import SAMPLES, bench_record, demo_clip, report, write
from robogaze.datasets.formats.read import format_readers, read_annotations
from robogaze.errors import InputError


def test_what_is_in_no_known_format_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"frames": []})
    with pytest.raises(InputError) as refused:
        read_annotations(path)
    assert str(refused.value).startswith(f"{path}: is in no known format (report, reports of RoboGaze")
    assert all(f"{name}, {reader.summary}" in str(refused.value) for name, reader in format_readers().items())


def test_what_could_be_in_two_formats_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"video_id": "cup", "glitches": [], "results": {"cup": []}})
    message = "fits the formats robogaze_release and activitynet; name the right one with --format"
    with pytest.raises(InputError, match=message):
        read_annotations(path)
    assert [one.clip_id for one in read_annotations(path, format="robogaze_release").annotations] == ["cup"]
    assert [one.clip_id for one in read_annotations(path, format="activitynet").annotations] == ["cup"]


def test_an_unknown_format_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=f"there is no format 'coco' to read; the formats are: auto, {', '.join(format_readers())}"
    ):
        read_annotations(tmp_path, format="coco")


@pytest.mark.parametrize("fps", [0.0, -16.0, float("inf"), float("nan")])
def test_a_frame_rate_is_above_0(fps: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a frame rate must be above 0, not "):
        read_annotations(tmp_path, fps=fps)


def test_a_folder_is_read_in_the_format_of_its_first_file(tmp_path: Path) -> None:
    write(tmp_path / "a.json", demo_clip("cup"))
    write(tmp_path / "b.json", report("pot"))
    with pytest.raises(InputError, match=r"b\.json:1: clip_id: Field required"):
        read_annotations(tmp_path)
    read = read_annotations(tmp_path, lenient=True)
    assert (read.format, [one.clip_id for one in read.annotations]) == ("robogaze_demo", ["cup"])


def test_when_lenient_a_first_file_that_is_nothing_does_not_decide(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"schema": "an index"})
    write(tmp_path / "b.json", demo_clip("cup"))
    read = read_annotations(tmp_path, lenient=True)
    assert [one.clip_id for one in read.annotations] == ["cup"]
    assert [(one.file, one.line, one.key) for one in read.skipped] == [(f"{tmp_path / 'a.json'}", None, "")]


def test_accounts_come_in_the_order_of_the_files_names_whenever_those_were_written(tmp_path: Path) -> None:
    names = ["pot", "cup", "pan", "a/lid", "Z"]
    for name in names:
        write(tmp_path / f"{name}.json", demo_clip(name))
    assert [one.clip_id for one in read_annotations(tmp_path).annotations] == ["Z", "a/lid", "cup", "pan", "pot"]


def test_shards_say_together_what_the_whole_says(tmp_path: Path) -> None:
    clips = [demo_clip(f"clip {number}") for number in range(6)]
    write(tmp_path / "whole.json", {"clips": clips})
    for number in range(3):
        write(tmp_path / "shards" / f"{number}.json", {"clips": clips[number::3]})
    whole, shards = (read_annotations(tmp_path / name).annotations for name in ("whole.json", "shards"))
    told = [{one.clip_id: (one.findings, one.status, one.fields) for one in side} for side in (whole, shards)]
    assert told[0] == told[1]


def test_who_speaks_is_the_name_of_the_path_where_no_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "ada" / "ben.json", demo_clip("cup"))
    assert read_annotations(file).annotations[0].author == "ben"
    assert read_annotations(file.parent).annotations[0].author == "ada"
    monkeypatch.chdir(file.parent)
    assert read_annotations(Path()).annotations[0].author == "ada"


def test_one_id_twice_is_refused_even_across_files(tmp_path: Path) -> None:
    write(tmp_path / "batch_report.json", [bench_record("cup")])
    write(tmp_path / "cup_report.json", bench_record("cup"))
    with pytest.raises(InputError) as refused:
        read_annotations(tmp_path)
    both = f"in {tmp_path / 'batch_report.json'}: 0 and in {tmp_path / 'cup_report.json'}"
    assert str(refused.value) == f"{tmp_path.name} has two annotations of Kitchen/cup: {both}; keep one of them"


def test_records_of_any_format_may_stand_a_line_each(tmp_path: Path) -> None:
    lines = [json.dumps(SAMPLES["gbqa"].files[name]) for name in ("a.json", "b.json")]
    read = read_annotations(write(tmp_path / "bugs.jsonl", "\n".join(lines)))
    assert (read.format, [one.clip_id for one in read.annotations]) == ("gbqa", ["cup", "pot"])


def test_a_finding_is_a_candidate_for_a_threshold_where_all_have_a_confidence(tmp_path: Path) -> None:
    said = [{"label": "x", "segment": [0, 1], "score": 0.5}, {"label": "y", "segment": [1, 2], "score": 0.9}]
    (account,) = read_annotations(write(tmp_path / "all.json", {"results": {"cup": said}})).annotations
    assert account.candidates == account.findings
    del said[0]["score"]
    (account,) = read_annotations(write(tmp_path / "some.json", {"results": {"cup": said}})).annotations
    assert (account.candidates, len(account.findings)) == ((), 2)


def test_two_events_of_one_id_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "1", "observed_fault": "a"}, {"id": 1, "observed_fault": "b"}]
    path = write(tmp_path / "bugs.json", {"a_name": "cup", "bugs": rows})
    with pytest.raises(InputError, match=r"bugs\.json: cup has two events with the id '1'"):
        read_annotations(path)
