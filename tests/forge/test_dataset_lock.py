"""A data set's folder is one process's and one set of settings'."""

from pathlib import Path

import pytest

from robogaze.errors import RunError
from robogaze.forge.dataset_lock import held


def test_the_same_settings_may_come_again_and_others_may_not(tmp_path: Path) -> None:
    for _ in range(2):
        with held(tmp_path, ".kept", {"seed": 1}, made="painted"):
            assert (tmp_path / ".kept" / "settings.json").is_file()
    with (
        pytest.raises(RunError, match=r"was painted with other settings \(.*settings\.json holds them\)"),
        held(tmp_path, ".kept", {"seed": 2}, made="painted"),
    ):
        pass


def test_a_folder_that_another_holds_is_refused(tmp_path: Path) -> None:
    with (
        held(tmp_path, ".kept", {}, made="painted"),
        pytest.raises(RunError, match="is in use by another process"),
        held(tmp_path, ".kept", {}, made="painted"),
    ):
        pass


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(RunError, match=r"cannot be written .*; choose another --out"),
        held(tmp_path / "file", ".kept", {}, made="painted"),
    ):
        pass
