"""What an interrupted command says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from robogaze.cli import interrupt


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The message of a command that keeps nothing, after each test."""
    yield
    interrupt.keeps("nothing was saved; run the command again")


def test_a_folder_that_does_not_exist_yet_keeps_nothing(tmp_path: Path) -> None:
    interrupt.keeps_clips(tmp_path / "out")
    assert interrupt.message() == "interrupted: nothing was saved; run the command again"
    (tmp_path / "out").mkdir()
    assert f"finished clips are kept in {tmp_path / 'out'}" in interrupt.message()
