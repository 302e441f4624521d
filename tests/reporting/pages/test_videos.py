"""How a page comes by its videos."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from robogaze.reporting.pages import videos
from robogaze.reporting.pages.videos import VideoFile, video_notes, video_sources

ABC = sha256(b"abc").hexdigest()
OTHER = sha256(b"other").hexdigest()


def make(folder: Path, *names: str, content: str | None = ABC) -> dict[str, VideoFile]:
    """Files of three bytes for a page in `run`, by the name without its ending."""
    (folder / "run").mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"abc")
    return {Path(name).stem: VideoFile(f"../{name}", sha256=content) for name in names}


def test_small_videos_are_embedded(tmp_path: Path) -> None:
    found = video_sources(make(tmp_path, "cup.mp4", "pot.webm"), tmp_path / "run")
    assert found == {"cup": "data:video/mp4;base64,YWJj", "pot": "data:video/webm;base64,YWJj"}
    assert list(video_notes(found, {})) == []


def test_videos_that_are_too_large_together_are_linked_relative_to_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 5)
    files = make(tmp_path, "cup.mp4", "the pot#1.mp4")
    found = video_sources(files, tmp_path / "run")
    assert found == {"cup": "../cup.mp4", "the pot#1": "../the%20pot%231.mp4"}
    (note,) = video_notes(found, files)
    assert note.startswith("the page links to 2 videos instead of embedding them: together they are larger than")


def test_a_missing_or_unplayable_file_has_no_source_and_does_not_count_towards_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 3)
    files = {**make(tmp_path, "cup.mp4", "pot.avi"), "pan": VideoFile("../pan.mp4", sha256=ABC)}
    found = video_sources(files, tmp_path / "run")
    assert (found["pot"], found["pan"]) == (None, None)
    assert str(found["cup"]).startswith("data:")
    (note,) = video_notes(found, files)
    assert note.startswith("the page has no video of 2 clips (pot.avi, ...): the file is missing")


def test_a_video_with_other_content_than_was_scored_is_not_embedded(tmp_path: Path) -> None:
    """A run folder of someone else may name any file of this machine in its manifest."""
    files = make(tmp_path, "private.mp4", content=OTHER) | make(tmp_path, "unknown.mp4", content=None)
    found = video_sources(files, tmp_path / "run")
    assert found == {"private": None, "unknown": "../unknown.mp4"}


def test_a_video_with_other_content_than_was_scored_is_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 2)
    files = make(tmp_path, "replaced.mp4", content=OTHER) | make(tmp_path, "cup.mp4")
    found = video_sources(files, tmp_path / "run")
    assert found == {"replaced": None, "cup": "../cup.mp4"}
    (_, note) = video_notes(found, files)
    assert note.startswith("the page has no video of 1 clip (replaced.mp4): the file is missing, has changed")


def test_a_linked_video_with_the_size_and_time_of_the_scored_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(videos, "EMBED_LIMIT_BYTES", 2)
    (file,) = make(tmp_path, "cup.mp4").values()
    stamp = (tmp_path / "cup.mp4").stat()
    monkeypatch.setattr(videos, "file_sha256", lambda path: pytest.fail(f"{path} is read"))
    known = VideoFile(file.path, 0.0, ABC, stamp.st_size, stamp.st_mtime_ns)
    assert video_sources({"cup": known}, tmp_path / "run") == {"cup": "../cup.mp4"}
    os.utime(tmp_path / "cup.mp4", ns=(0, stamp.st_mtime_ns + 1))
    with pytest.raises(pytest.fail.Exception, match="is read"):
        video_sources({"cup": known}, tmp_path / "run")
