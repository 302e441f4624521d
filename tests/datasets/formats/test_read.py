"""Reading: formats, folders, duplicates."""

import json
from pathlib import Path

import pytest

from formats.samples import SAMPLES, demo_clip, report, write
from robogaze.datasets.formats.read import find_files, format_readers, read_annotations
from robogaze.errors import InputError


def test_unknown_content_lists_the_known_formats(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"frames": []})
    with pytest.raises(InputError) as refused:
        read_annotations(path)
    known = ", ".join(format_readers())
    way_out = f"to see why a format does not fit, give it with --format: {known}"
    assert str(refused.value).startswith(f"{path}: is in no known format; {way_out}")


def test_ambiguous_format_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "thing.json", {"video_id": "cup", "glitches": [], "results": {"cup": []}})
    message = "fits the formats robogaze_release and activitynet; give the right format with --format"
    with pytest.raises(InputError, match=message):
        read_annotations(path)
    assert [annotation.clip_id for annotation in read_annotations(path, format="robogaze_release").annotations] == [
        "cup"
    ]
    assert [annotation.clip_id for annotation in read_annotations(path, format="activitynet").annotations] == ["cup"]


def test_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=f"there is no format 'coco' to read; the formats are: auto, {', '.join(format_readers())}"
    ):
        read_annotations(tmp_path, format="coco")


def test_folder_is_read_in_the_format_of_its_first_file(tmp_path: Path) -> None:
    write(tmp_path / "a.json", demo_clip("cup"))
    write(tmp_path / "b.json", report("pot"))
    with pytest.raises(InputError, match=r"b\.json:1: clip_id: Field required"):
        read_annotations(tmp_path)
    read = read_annotations(tmp_path, lenient=True)
    assert (read.format, [annotation.clip_id for annotation in read.annotations]) == ("robogaze_demo", ["cup"])


def test_lenient_reading_skips_an_unknown_first_file(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"schema": "an index"})
    write(tmp_path / "b.json", demo_clip("cup"))
    read = read_annotations(tmp_path, lenient=True)
    assert [annotation.clip_id for annotation in read.annotations] == ["cup"]
    (skipped,) = read.skipped
    assert skipped.startswith(f"{tmp_path / 'a.json'}: is in no known format")


def test_author_defaults_to_the_name_of_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "ada" / "ben.json", demo_clip("cup"))
    assert read_annotations(file).annotations[0].author == "ben"
    assert read_annotations(file.parent).annotations[0].author == "ada"
    monkeypatch.chdir(file.parent)
    assert read_annotations(Path()).annotations[0].author == "ada"


def test_records_of_any_format_can_be_jsonl(tmp_path: Path) -> None:
    lines = [json.dumps(SAMPLES["gbqa"].files[name]) for name in ("a.json", "b.json")]
    read = read_annotations(write(tmp_path / "bugs.jsonl", "\n".join(lines)))
    assert (read.format, [annotation.clip_id for annotation in read.annotations]) == ("gbqa", ["cup", "pot"])


def test_events_are_candidates_if_all_have_a_confidence(tmp_path: Path) -> None:
    results = [{"label": "x", "segment": [0, 1], "score": 0.5}, {"label": "y", "segment": [1, 2], "score": 0.9}]
    (annotation,) = read_annotations(write(tmp_path / "all.json", {"results": {"cup": results}})).annotations
    assert annotation.candidates == annotation.findings
    del results[0]["score"]
    (annotation,) = read_annotations(write(tmp_path / "some.json", {"results": {"cup": results}})).annotations
    assert (annotation.candidates, len(annotation.findings)) == ((), 2)


def test_duplicate_event_id_is_refused(tmp_path: Path) -> None:
    rows = [{"id": "1", "observed_fault": "a"}, {"id": 1, "observed_fault": "b"}]
    path = write(tmp_path / "bugs.json", {"a_name": "cup", "bugs": rows})
    with pytest.raises(InputError, match=r"bugs\.json: cup has two events with the id '1'"):
        read_annotations(path)


# Which files are read.


def found(folder: Path, *names: str) -> tuple[list[str], int]:
    for name in names:
        write(folder / name, "x")
    files = find_files(folder)
    return [file.as_posix() for file in files.files], files.others


def test_single_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = write(tmp_path / "_thing.txt", "x")
    files = find_files(path)
    assert files.root / files.files[0] == path
    assert files.others == 0


def test_files_are_sorted_by_name(tmp_path: Path) -> None:
    skipped = (".part-1.json", "_notes.json", ".git/b.json", "_old/c.json")
    assert found(tmp_path, "b.json", "a/z.json", "c.csv", "a.jsonl", "a/b.tsv", *skipped)[0] == [
        "a/b.tsv",
        "a/z.json",
        "a.jsonl",
        "b.json",
        "c.csv",
    ]


def test_suffixes_may_be_in_capital_letters(tmp_path: Path) -> None:
    assert found(tmp_path, "a.csv", "b.CSV", "c.Json")[0] == ["a.csv", "b.CSV", "c.Json"]


def test_report_json_files_are_preferred_and_others_counted(tmp_path: Path) -> None:
    names = ("cup/report.json", "cup/video_meta.json", "cup/frames/3.jpg", "a/pot/report.json", "summary.jsonl")
    assert found(tmp_path, *names) == (["a/pot/report.json", "cup/report.json"], 2)


def test_reports_folder_of_a_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "unreadable.json").write_text("[]")
    names = ("run.json", "manifest.jsonl", "reports/b.json", "reports/a.json", "calls.sqlite")
    assert found(tmp_path, *names) == (["reports/a.json", "reports/b.json"], 0)


def test_folder_without_annotations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no file of reports or annotations"):
        found(tmp_path, "clip.mp4", "run.json")
    with pytest.raises(InputError, match="nowhere does not exist"):
        find_files(tmp_path / "nowhere")


def test_a_folder_of_runs_is_no_run_and_the_error_names_them(tmp_path: Path) -> None:
    for name in ("new", "old"):
        write(tmp_path / name / "run.json", {})
        write(tmp_path / name / "reports" / "cup.json", report("cup"))
    write(tmp_path / "comparison.json", {})
    message = f"is not a run folder, but contains the run folders new, old; use one of them, for example {tmp_path}/new"
    with pytest.raises(InputError, match=message):
        find_files(tmp_path)
    assert [annotation.clip_id for annotation in read_annotations(tmp_path / "new").annotations] == ["cup"]


def test_the_plays_of_a_run_are_not_read_beside_its_reports(tmp_path: Path) -> None:
    SAMPLES["gbqa"].write(tmp_path / "plays" / "cup 1")
    (tmp_path / "plays" / "cup 1" / "a.json").rename(tmp_path / "plays" / "cup 1" / "report.json")
    write(tmp_path / "run.json", {})
    write(tmp_path / "reports" / "cup 1.json", SAMPLES["report"].files["cup/report.json"])
    assert read_annotations(tmp_path).format == "report"
