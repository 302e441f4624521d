"""The way in: formats, folders, what is there twice."""

import json
from pathlib import Path

import pytest

from formats.samples import SAMPLES, bench_record, demo_clip, report, write
from robogaze.datasets.formats import FORMATS, read_accounts
from robogaze.errors import InputError


def test_what_is_in_no_known_format_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"frames": []})
    with pytest.raises(InputError) as refused:
        read_accounts(path)
    assert str(refused.value).startswith(f"{path}: is in no known format (report, reports of RoboGaze")
    assert all(f"{one.name}, {one.holds}" in str(refused.value) for one in FORMATS.values())


def test_what_could_be_in_two_formats_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"video_id": "cup", "glitches": [], "results": {"cup": []}})
    message = "could be in the formats robogaze_release and activitynet; name the right one with --format"
    with pytest.raises(InputError, match=message):
        read_accounts(path)
    assert [one.clip_id for one in read_accounts(path, format="robogaze_release").accounts] == ["cup"]
    assert [one.clip_id for one in read_accounts(path, format="activitynet").accounts] == ["cup"]


def test_an_unknown_format_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"there is no format 'coco'; there is: auto, {', '.join(FORMATS)}"):
        read_accounts(tmp_path, format="coco")


@pytest.mark.parametrize("fps", [0.0, -16.0, float("inf"), float("nan")])
def test_a_frame_rate_is_above_0(fps: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fps is none; --fps wants a number above 0"):
        read_accounts(tmp_path, fps=fps)


def test_a_folder_is_read_in_the_format_of_its_first_file(tmp_path: Path) -> None:
    write(tmp_path / "a.json", demo_clip("cup"))
    write(tmp_path / "b.json", report("pot"))
    with pytest.raises(InputError, match=r"b\.json:1: clip_id: Field required"):
        read_accounts(tmp_path)
    read = read_accounts(tmp_path, lenient=True)
    assert (read.format, [one.clip_id for one in read.accounts]) == ("robogaze_demo", ["cup"])


def test_when_lenient_a_first_file_that_is_nothing_does_not_decide(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"schema": "an index"})
    write(tmp_path / "b.json", demo_clip("cup"))
    read = read_accounts(tmp_path, lenient=True)
    assert [one.clip_id for one in read.accounts] == ["cup"]
    assert [(one.file, one.line, one.key) for one in read.skipped] == [(f"{tmp_path / 'a.json'}", None, "")]


def test_accounts_come_in_the_order_of_the_files_names_whenever_those_were_written(tmp_path: Path) -> None:
    names = ["pot", "cup", "pan", "a/lid", "Z"]
    for name in names:
        write(tmp_path / f"{name}.json", demo_clip(name))
    assert [one.clip_id for one in read_accounts(tmp_path).accounts] == ["Z", "a/lid", "cup", "pan", "pot"]


def test_shards_say_together_what_the_whole_says(tmp_path: Path) -> None:
    clips = [demo_clip(f"clip {number}") for number in range(6)]
    write(tmp_path / "whole.json", {"clips": clips})
    for number in range(3):
        write(tmp_path / "shards" / f"{number}.json", {"clips": clips[number::3]})
    whole, shards = (read_accounts(tmp_path / name).accounts for name in ("whole.json", "shards"))
    told = [{one.clip_id: (one.findings, one.status, one.fields) for one in side} for side in (whole, shards)]
    assert told[0] == told[1]


def test_who_speaks_is_the_name_of_the_path_where_no_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "ada" / "ben.json", demo_clip("cup"))
    assert read_accounts(file).accounts[0].author == "ben"
    assert read_accounts(file.parent).accounts[0].author == "ada"
    monkeypatch.chdir(file.parent)
    assert read_accounts(Path()).accounts[0].author == "ada"


def test_one_id_twice_is_refused_even_across_files(tmp_path: Path) -> None:
    write(tmp_path / "batch_report.json", [bench_record("cup")])
    write(tmp_path / "cup_report.json", bench_record("cup"))
    with pytest.raises(InputError) as refused:
        read_accounts(tmp_path)
    both = f"in {tmp_path / 'batch_report.json'}: 0 and in {tmp_path / 'cup_report.json'}"
    assert str(refused.value) == f"{tmp_path.name} has two accounts of Kitchen/cup: {both}; keep one of them"


def test_records_of_any_format_may_stand_a_line_each(tmp_path: Path) -> None:
    lines = [json.dumps(SAMPLES["gbqa"].files[name]) for name in ("a.json", "b.json")]
    read = read_accounts(write(tmp_path / "bugs.jsonl", "\n".join(lines)))
    assert (read.format, [one.clip_id for one in read.accounts]) == ("gbqa", ["cup", "pot"])


def test_a_finding_is_a_candidate_for_a_threshold_where_all_have_a_confidence(tmp_path: Path) -> None:
    said = [{"label": "x", "segment": [0, 1], "score": 0.5}, {"label": "y", "segment": [1, 2], "score": 0.9}]
    (account,) = read_accounts(write(tmp_path / "all.json", {"results": {"cup": said}})).accounts
    assert account.candidates == account.findings
    del said[0]["score"]
    (account,) = read_accounts(write(tmp_path / "some.json", {"results": {"cup": said}})).accounts
    assert (account.candidates, len(account.findings)) == ((), 2)


def test_two_events_of_one_id_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "1", "observed_fault": "a"}, {"id": 1, "observed_fault": "b"}]
    path = write(tmp_path / "bugs.json", {"a_name": "cup", "bugs": rows})
    with pytest.raises(InputError, match=r"bugs\.json: cup has two events with the id '1'"):
        read_accounts(path)
