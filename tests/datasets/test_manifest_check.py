"""Checks of the clips of a manifest."""

from hashlib import sha256
from pathlib import Path

import pytest

from robogaze.datasets.manifest import ManifestEntry
from robogaze.datasets.manifest_check import CheckResult, DecodedFacts, check_entries
from robogaze.errors import VideoError

LATER = 4e9
"""A time after all files of the tests were written."""


def facts_of(pictures: str, fps: float = 16.0, frames: int = 8) -> DecodedFacts:
    return DecodedFacts(tuple(number / fps for number in range(frames)), frames / fps, pictures)


def check(decoded: dict[str, DecodedFacts | None], **changes: object) -> CheckResult:
    """Check clips whose decoded facts are given; None is an unreadable file."""
    entries = [ManifestEntry(path=Path(name), **{"instruction": "Stir", **changes}) for name in decoded]

    def look(entry: ManifestEntry) -> DecodedFacts:
        if (facts := decoded[entry.path.name]) is None:
            raise VideoError(f"{entry.path} is cut short")
        return facts

    return check_entries(entries, LATER, look)


def kinds(checked: CheckResult) -> list[tuple[str, str]]:
    return [(problem.file, problem.kind) for problem in checked.problems]


def test_valid_clips_have_no_problem() -> None:
    assert check({"a": facts_of("A"), "b": facts_of("B")}) == CheckResult(2, ())


def test_check_continues_after_an_unreadable_file() -> None:
    found = check({"a": None, "b": facts_of("B"), "c": None})
    assert kinds(found) == [("a", "unreadable"), ("c", "unreadable")]
    assert found.problems[0].message == "a is cut short"


def test_check_without_a_readable_file_reports_all() -> None:
    assert kinds(check({"a": None})) == [("a", "unreadable")]


def test_same_pictures_are_a_duplicate_of_the_first_clip() -> None:
    found = check({"a": facts_of("A"), "b": facts_of("A"), "c": facts_of("A")})
    assert kinds(found) == [("b", "duplicate"), ("c", "duplicate")]
    assert found.problems[1].message == "shows the same pictures as a"


def test_missing_instruction_is_reported() -> None:
    assert kinds(check({"a": facts_of("A")}, instruction=" ")) == [("a", "no instruction")]


def test_different_frame_rate_is_odd() -> None:
    found = check({"a": facts_of("A"), "b": facts_of("B", fps=24.0), "c": facts_of("C")})
    assert kinds(found) == [("b", "odd rate")]
    assert found.problems[0].message == "has 24.00 frames per second; the median of the manifest's clips is 16.00"


def test_nearly_equal_frame_rates_are_not_odd() -> None:
    assert not check({"a": facts_of("A", fps=30.0), "b": facts_of("B", fps=30000 / 1001)}).problems


def test_uneven_frames_are_reported() -> None:
    gap = DecodedFacts((0.0, 0.1, 0.2, 0.4, 0.5), 0.6, "A")
    found = check({"a": gap})
    assert kinds(found) == [("a", "uneven frames")]
    assert found.problems[0].message.startswith("1 of 4 frames are shown longer or shorter")


def test_times_rounded_to_milliseconds_are_even() -> None:
    """Matroska rounds each time: 33, 34, 33 ms at 30 frames a second."""
    times = tuple(round(number / 30, 3) for number in range(30))
    assert not check({"a": DecodedFacts(times, 1.0, "A")}).problems


def test_single_frame_is_even() -> None:
    assert not check({"a": facts_of("A", frames=1)}).problems


@pytest.mark.parametrize("name", ["cup.mp4", "first.png"])
def test_file_newer_than_the_manifest_is_stale(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    entry = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", initial_frame=tmp_path / "first.png")
    written_s = (tmp_path / name).stat().st_mtime
    assert not check_entries([entry], written_s, lambda entry: facts_of("A")).problems
    (problem,) = check_entries([entry], written_s - 1, lambda entry: facts_of("A")).problems
    assert problem.kind == "stale"
    assert problem.message.startswith(f"{name} was changed after")


def test_sha256_decides_over_the_modification_time(tmp_path: Path) -> None:
    (tmp_path / "cup.mp4").write_bytes(b"red")
    same = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", sha256=sha256(b"red").hexdigest())
    other = same.with_(sha256=sha256(b"blue").hexdigest())
    assert not check_entries([same], 0.0, lambda entry: facts_of("A")).problems  # changed later, and yet the same
    (problem,) = check_entries([other], LATER, lambda entry: facts_of("A")).problems
    assert problem.kind == "stale"
    assert "cup.mp4 was replaced after the manifest was written" in problem.message


def test_missing_file_is_not_stale(tmp_path: Path) -> None:
    def look(entry: ManifestEntry) -> DecodedFacts:
        raise VideoError(f"{entry.path} does not exist")

    entry = ManifestEntry(path=tmp_path / "cup.mp4", instruction="Stir", sha256=sha256(b"red").hexdigest())
    assert kinds(check_entries([entry], LATER, look)) == [(f"{tmp_path}/cup.mp4", "unreadable")]


def test_parts_of_one_file_are_separate_clips() -> None:
    parts = [ManifestEntry(path=Path("all.mp4"), start_s=at, end_s=at + 1.0) for at in (0.0, 1.0)]
    found = check_entries(parts, LATER, lambda entry: facts_of(f"{entry.start_s}"))
    assert kinds(found) == [("all.mp4#t=0.0,1.0", "no instruction"), ("all.mp4#t=1.0,2.0", "no instruction")]


def test_problems_are_counted_by_kind() -> None:
    found = check({"a": facts_of("A"), "b": facts_of("A"), "c": None}, instruction=None)
    assert found.counts == {"no instruction": 3, "duplicate": 1, "unreadable": 1}
