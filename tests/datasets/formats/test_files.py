"""Which files of a path hold accounts."""

from pathlib import Path

import pytest

from formats.samples import write
from robogaze.datasets.formats.read import find_files
from robogaze.errors import InputError


def found(folder: Path, *names: str) -> tuple[list[str], int]:
    for name in names:
        write(folder / name, "x")
    files = find_files(folder)
    return [file.as_posix() for file in files.files], files.others


def test_a_file_is_itself_whatever_it_is_called(tmp_path: Path) -> None:
    path = write(tmp_path / "_thing.txt", "x")
    files = find_files(path)
    assert files.root / files.files[0] == path
    assert files.others == 0


def test_the_order_is_that_of_the_names(tmp_path: Path) -> None:
    assert found(tmp_path, "b.json", "a/z.json", "c.csv", "a.jsonl", "a/b.tsv")[0] == [
        "a/b.tsv",
        "a/z.json",
        "a.jsonl",
        "b.json",
        "c.csv",
    ]


def test_where_files_are_named_report_only_these_are_read_and_the_others_are_counted(tmp_path: Path) -> None:
    names = ("cup/report.json", "cup/video_meta.json", "cup/frames/3.jpg", "a/pot/report.json", "summary.jsonl")
    assert found(tmp_path, *names) == (["a/pot/report.json", "cup/report.json"], 2)


def test_a_run_that_keeps_its_reports_together_is_read_there(tmp_path: Path) -> None:
    names = ("run.json", "manifest.jsonl", "unreadable.json", "reports/b.json", "reports/a.json", "calls.sqlite")
    assert found(tmp_path, *names) == (["reports/a.json", "reports/b.json"], 0)


def test_hidden_files_and_those_set_aside_by_an_underscore_are_passed_over(tmp_path: Path) -> None:
    assert found(tmp_path, "a.json", ".part-1.json", "_notes.json", ".git/b.json", "_old/c.json") == (["a.json"], 0)


def test_nothing_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no file of reports or annotations"):
        found(tmp_path, "clip.mp4", "run.json")
    with pytest.raises(InputError, match="nowhere does not exist"):
        find_files(tmp_path / "nowhere")
