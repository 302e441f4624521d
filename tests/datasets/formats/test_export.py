"""The contract of every format that is written."""

from pathlib import Path

import pytest

from formats.run_samples import reports, uneven, videos
from robogaze.core.report import Report
from robogaze.datasets.formats.export import Export, export_reports, export_writers
from robogaze.errors import InputError

each_format = pytest.mark.parametrize("name", sorted(export_writers()))


def export(name: str, folder: Path, *given: Report) -> Export:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    if name == "gbqa":
        given = tuple(as_play(report) for report in given)
    return export_reports(given, videos(folder / "clips", uneven()), name, folder / "out")


@each_format
def test_every_clip_is_exported_or_counted_with_a_reason(name: str, tmp_path: Path) -> None:
    found = export(name, tmp_path, *reports(), uneven())
    assert found.clips + sum(found.left_out.values()) == 6
    assert found.clips >= 3
    assert all(found.left_out)


def as_play(report: Report) -> Report:
    return report.with_(provenance=report.provenance.with_(media={"environment": "castle"}))


WITH_COVERAGE = ("csv", "jsonl", "parquet", "label-studio", "via", "webvtt", "gbqa")
"""The formats that have a clip's status, and its verdict or coverage, or that show which clips are not annotated."""


@each_format
def test_undecided_reports_are_left_out_of_formats_without_coverage(name: str, tmp_path: Path) -> None:
    lacks = () if name in WITH_COVERAGE else ("partial", "unscored", "undecided")
    found = export(name, tmp_path, *reports())
    assert found.left_out == {f"with the state {what}, which the format cannot express": 1 for what in lacks}


@each_format
def test_export_is_repeatable_and_writes_nothing(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path, *reports()) == export(name, tmp_path, *reports())
    assert list(tmp_path.iterdir()) == []


@each_format
def test_exported_files_have_a_folder_only_in_a_format_with_several_files_a_clip(name: str, tmp_path: Path) -> None:
    files = [Path(file) for file in export(name, tmp_path, *reports()).files]
    assert files
    assert all(len(file.parts) == (2 if name == "gbqa" else 1) for file in files)
    assert not any(part.startswith(".") for file in files for part in file.parts)


@each_format
def test_export_without_reports_has_no_clips(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path).clips == 0


def test_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no format 'coco' to export to; the formats are: jsonl, csv, "):
        export("coco", tmp_path)
