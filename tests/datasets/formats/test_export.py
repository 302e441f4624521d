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
    return export_reports(given, videos(folder / "clips", uneven()), name, folder / "out")


@each_format
def test_every_clip_is_exported_or_counted_with_a_reason(name: str, tmp_path: Path) -> None:
    found = export(name, tmp_path, *reports(), uneven())
    assert found.clips + sum(found.left_out.values()) == 6
    assert found.clips >= 3
    assert all(found.left_out)


WITH_COVERAGE = ("csv", "jsonl", "parquet", "label-studio", "webvtt")
"""The formats that have a clip's status, and its verdict or coverage."""


@each_format
def test_undecided_reports_are_left_out_of_formats_without_coverage(name: str, tmp_path: Path) -> None:
    lacks = () if name in WITH_COVERAGE else ("partial", "unscored", "undecided")
    found = export(name, tmp_path, *reports())
    assert found.left_out == {f"{what}, which the format cannot express": 1 for what in lacks}


@each_format
def test_export_is_repeatable_and_writes_nothing(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path, *reports()) == export(name, tmp_path, *reports())
    assert list(tmp_path.iterdir()) == []


@each_format
def test_exported_file_names_have_no_folder(name: str, tmp_path: Path) -> None:
    files = export(name, tmp_path, *reports()).files
    assert files
    assert all(Path(file).name == file and not file.startswith(".") for file in files)


@each_format
def test_export_without_reports_has_no_clips(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path).clips == 0


def test_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no format 'coco' to export to; the formats are: jsonl, csv, "):
        export("coco", tmp_path)
