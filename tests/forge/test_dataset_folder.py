"""The folder of a data set is locked for one process and one set of settings."""

from pathlib import Path

import pytest

from robogaze.core.data import Data
from robogaze.errors import InputError, RunError
from robogaze.forge.dataset_folder import dataset_lock, read_record


def test_equal_settings_are_accepted_again_and_others_refused(tmp_path: Path) -> None:
    for _ in range(2):
        with dataset_lock(tmp_path, ".kept", {"seed": 1}, made="painted"):
            assert (tmp_path / ".kept" / "settings.json").is_file()
    with (
        pytest.raises(RunError, match=r"was painted with other settings \(.*settings\.json lists them\)"),
        dataset_lock(tmp_path, ".kept", {"seed": 2}, made="painted"),
    ):
        pass


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with (
        dataset_lock(tmp_path, ".kept", {}, made="painted"),
        pytest.raises(RunError, match="is in use by another process"),
        dataset_lock(tmp_path, ".kept", {}, made="painted"),
    ):
        pass


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(RunError, match=r"cannot be written .*; choose another --out"),
        dataset_lock(tmp_path / "file", ".kept", {}, made="painted"),
    ):
        pass


def test_a_damaged_record_is_an_error_with_its_field(tmp_path: Path) -> None:
    class Record(Data):
        seed: int

    path = tmp_path / "record.json"
    path.write_text('{"seed": 3}')
    assert read_record(path, Record).seed == 3
    path.write_text('{"seed": "many"}')
    with pytest.raises(InputError, match=r"record\.json: seed: .*; remove the file and start again"):
        read_record(path, Record)
