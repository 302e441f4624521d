"""How a page comes by its videos."""

from hashlib import sha256
from pathlib import Path

import pytest

from robogaze.reporting.pages import videos
from robogaze.reporting.pages.videos import is_linked, video_sources

ABC = sha256(b"abc").hexdigest()


def make(folder: Path, *names: str) -> dict[str, Path]:
    """Files of three bytes, by the name without its ending."""
    for name in names:
        (folder / name).write_bytes(b"abc")
    return {Path(name).stem: folder / name for name in names}


def test_small_videos_are_carried(tmp_path: Path) -> None:
    found = video_sources(make(tmp_path, "cup.mp4", "pot.webm"), tmp_path / "run", {"cup": ABC, "pot": ABC})
    assert found == {"cup": "data:video/mp4;base64,YWJj", "pot": "data:video/webm;base64,YWJj"}
    assert not any(map(is_linked, found.values()))


def test_videos_that_are_too_large_together_are_linked_as_seen_from_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 5)
    found = video_sources(make(tmp_path, "cup.mp4", "the pot#1.mp4"), tmp_path / "run", {})
    assert found == {"cup": "../cup.mp4", "the pot#1": "../the%20pot%231.mp4"}
    assert all(map(is_linked, found.values()))


def test_what_is_gone_or_plays_nowhere_is_none_and_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 3)
    paths = {**make(tmp_path, "cup.mp4", "pot.avi"), "pan": tmp_path / "pan.mp4"}
    found = video_sources(paths, tmp_path, dict.fromkeys(paths, ABC))
    assert (found["pot"], found["pan"]) == (None, None)
    assert not is_linked(found["cup"])


def test_a_page_carries_no_other_video_than_the_one_that_was_scored(tmp_path: Path) -> None:
    """A run folder of someone else may name any file of this machine in its manifest."""
    paths = make(tmp_path, "private.mp4", "unknown.mp4")
    found = video_sources(paths, tmp_path / "run", {"private": sha256(b"another").hexdigest(), "unknown": None})
    assert found == {"private": None, "unknown": "../unknown.mp4"}
