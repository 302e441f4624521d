"""What holds for every export."""

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
def test_every_clip_is_in_it_or_counted_with_the_reason(name: str, tmp_path: Path) -> None:
    found = export(name, tmp_path, *reports(), uneven())
    assert found.clips + sum(found.left_out.values()) == 6
    assert found.clips >= 3
    assert all(found.left_out)


SAY_IT = ("csv", "jsonl", "parquet", "label-studio", "webvtt")
"""The formats that hold a clip's status, and its verdict or coverage."""


@each_format
def test_what_is_incomplete_or_undecided_is_left_out_where_the_format_cannot_say_so(name: str, tmp_path: Path) -> None:
    lacks = () if name in SAY_IT else ("partial", "unscored", "undecided")
    found = export(name, tmp_path, *reports())
    assert found.left_out == {f"{what}, which the format cannot express": 1 for what in lacks}


@each_format
def test_exporting_twice_gives_the_same_and_touches_no_disk(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path, *reports()) == export(name, tmp_path, *reports())
    assert list(tmp_path.iterdir()) == []


@each_format
def test_files_have_plain_names(name: str, tmp_path: Path) -> None:
    files = export(name, tmp_path, *reports()).files
    assert files
    assert all(Path(one).name == one and not one.startswith(".") for one in files)


@each_format
def test_no_report_at_all_is_an_export_of_none(name: str, tmp_path: Path) -> None:
    assert export(name, tmp_path).clips == 0


def test_an_unknown_format_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no format 'coco' to export to; the formats are: jsonl, csv, "):
        export("coco", tmp_path)
