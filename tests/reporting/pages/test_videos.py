"""How a page comes by its videos."""

from hashlib import sha256
from pathlib import Path

import pytest

from robogaze.reporting.pages import videos
from robogaze.reporting.pages.videos import video_notes, video_sources

ABC = sha256(b"abc").hexdigest()


def make(folder: Path, *names: str) -> dict[str, Path]:
    """Files of three bytes, by the name without its ending."""
    for name in names:
        (folder / name).write_bytes(b"abc")
    return {Path(name).stem: folder / name for name in names}


def test_small_videos_are_embedded(tmp_path: Path) -> None:
    found = video_sources(make(tmp_path, "cup.mp4", "pot.webm"), tmp_path / "run", {"cup": ABC, "pot": ABC})
    assert found == {"cup": "data:video/mp4;base64,YWJj", "pot": "data:video/webm;base64,YWJj"}
    assert list(video_notes(found, {})) == []


def test_videos_that_are_too_large_together_are_linked_relative_to_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 5)
    paths = make(tmp_path, "cup.mp4", "the pot#1.mp4")
    found = video_sources(paths, tmp_path / "run", {})
    assert found == {"cup": "../cup.mp4", "the pot#1": "../the%20pot%231.mp4"}
    (note,) = video_notes(found, paths)
    assert note.startswith("the page links to 2 videos instead of embedding them: together they are larger than")


def test_a_missing_or_unplayable_file_has_no_source_and_does_not_count_towards_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 3)
    paths = {**make(tmp_path, "cup.mp4", "pot.avi"), "pan": tmp_path / "pan.mp4"}
    found = video_sources(paths, tmp_path, dict.fromkeys(paths, ABC))
    assert (found["pot"], found["pan"]) == (None, None)
    assert str(found["cup"]).startswith("data:")
    (note,) = video_notes(found, paths)
    assert note.startswith("the page has no video of 2 clips (pot.avi, ...): the file is missing")


def test_a_video_with_other_content_than_was_scored_is_not_embedded(tmp_path: Path) -> None:
    """A run folder of someone else may name any file of this machine in its manifest."""
    paths = make(tmp_path, "private.mp4", "unknown.mp4")
    found = video_sources(paths, tmp_path / "run", {"private": sha256(b"another").hexdigest(), "unknown": None})
    assert found == {"private": None, "unknown": "../unknown.mp4"}
