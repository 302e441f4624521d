"""What is wrong with the clips of a manifest."""

from hashlib import sha256
from pathlib import Path

import pytest

from robogaze.datasets.check import CheckResult, DecodedFacts, check_entries
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import VideoError

LATER = 4e9
"""A time after all files of the tests were written."""


def seen(pictures: str, fps: float = 16.0, frames: int = 8) -> DecodedFacts:
    return DecodedFacts(tuple(number / fps for number in range(frames)), frames / fps, pictures)


def check(films: dict[str, DecodedFacts | None], **changes: object) -> CheckResult:
    """Check clips whose files show what is said; None for one that cannot be read."""
    entries = [ManifestEntry(path=Path(name), **{"instruction": "Stir", **changes}) for name in films]

    def look(entry: ManifestEntry) -> DecodedFacts:
        if (film := films[entry.path.name]) is None:
            raise VideoError(f"{entry.path} is cut short")
        return film

    return check_entries(entries, LATER, look)


def told(checked: CheckResult) -> list[tuple[str, str]]:
    return [(one.file, one.kind) for one in checked.problems]


def test_clips_that_are_as_they_should_be_have_no_problem() -> None:
    assert check({"a": seen("A"), "b": seen("B")}) == CheckResult(2, ())


def test_every_file_is_looked_at_also_after_one_that_cannot_be_read() -> None:
    found = check({"a": None, "b": seen("B"), "c": None})
    assert told(found) == [("a", "unreadable"), ("c", "unreadable")]
    assert found.problems[0].message == "a is cut short"


def test_nothing_that_can_be_read_is_no_crash() -> None:
    assert told(check({"a": None})) == [("a", "unreadable")]


def test_the_same_pictures_are_a_duplicate_of_the_first_that_shows_them() -> None:
    found = check({"a": seen("A"), "b": seen("A"), "c": seen("A")})
    assert told(found) == [("b", "duplicate"), ("c", "duplicate")]
    assert found.problems[1].message == "shows the same pictures as a"


def test_a_missing_instruction_is_told() -> None:
    assert told(check({"a": seen("A")}, instruction=" ")) == [("a", "no instruction")]


def test_a_rate_that_is_not_the_others_is_odd() -> None:
    found = check({"a": seen("A"), "b": seen("B", fps=24.0), "c": seen("C")})
    assert told(found) == [("b", "odd rate")]
    assert found.problems[0].message == "has 24.00 frames per second; the median of the manifest is 16.00"


def test_rates_that_are_meant_to_be_the_same_are_not_odd() -> None:
    assert not check({"a": seen("A", fps=30.0), "b": seen("B", fps=30000 / 1001)}).problems


def test_frames_that_are_shown_for_another_time_than_most_are_told() -> None:
    gap = DecodedFacts((0.0, 0.1, 0.2, 0.4, 0.5), 0.6, "A")
    found = check({"a": gap})
    assert told(found) == [("a", "uneven frames")]
    assert found.problems[0].message.startswith("1 of 4 frames are shown longer or shorter")


def test_times_in_milliseconds_are_even() -> None:
    """Matroska rounds each time: 33, 34, 33 ms at 30 frames a second."""
    times = tuple(round(number / 30, 3) for number in range(30))
    assert not check({"a": DecodedFacts(times, 1.0, "A")}).problems


def test_a_single_frame_is_even() -> None:
    assert not check({"a": seen("A", frames=1)}).problems


@pytest.mark.parametrize("name", ["cup.mp4", "first.png"])
def test_a_file_that_is_newer_than_the_manifest_is_stale(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    entry = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", initial_frame=tmp_path / "first.png")
    written_s = (tmp_path / name).stat().st_mtime
    assert not check_entries([entry], written_s, lambda one: seen("A")).problems
    (problem,) = check_entries([entry], written_s - 1, lambda one: seen("A")).problems
    assert problem.kind == "stale"
    assert problem.message.startswith(f"{name} was changed after")


def test_where_the_manifest_tells_a_files_content_that_alone_says_whether_it_is_stale(tmp_path: Path) -> None:
    (tmp_path / "cup.mp4").write_bytes(b"red")
    same = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", sha256=sha256(b"red").hexdigest())
    other = same.with_(sha256=sha256(b"blue").hexdigest())
    assert not check_entries([same], 0.0, lambda one: seen("A")).problems  # changed later, and yet the same
    (problem,) = check_entries([other], LATER, lambda one: seen("A")).problems
    assert problem.kind == "stale"
    assert "cup.mp4 was replaced after the manifest was written" in problem.message


def test_a_file_that_is_gone_is_not_stale_too(tmp_path: Path) -> None:
    def look(entry: ManifestEntry) -> DecodedFacts:
        raise VideoError(f"{entry.path} does not exist")

    entry = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", sha256=sha256(b"red").hexdigest())
    assert told(check_entries([entry], LATER, look)) == [(f"{tmp_path}/cup.mp4", "unreadable")]


def test_parts_of_one_file_are_told_apart() -> None:
    parts = [ManifestEntry(path=Path("all.mp4"), start_s=at, end_s=at + 1.0) for at in (0.0, 1.0)]
    found = check_entries(parts, LATER, lambda one: seen(f"{one.start_s}"))
    assert told(found) == [("all.mp4#t=0.0,1.0", "no instruction"), ("all.mp4#t=1.0,2.0", "no instruction")]


def test_problems_are_counted_by_kind() -> None:
    found = check({"a": seen("A"), "b": seen("A"), "c": None}, instruction=None)
    assert found.counts == {"no instruction": 3, "duplicate": 1, "unreadable": 1}
