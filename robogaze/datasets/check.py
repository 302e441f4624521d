"""Whether the clips of a manifest are what a benchmark takes them for. Every file is looked at, to its end.

unreadable       the video, or its initial frame, is missing, cut short, or none
duplicate        it shows the same pictures as an earlier one, whatever file they are in
no instruction   most of what can be judged, is judged against it
odd rate         its frames a second are not those of the others
uneven frames    some are shown longer than others: pictures are missing, or it was recorded so
stale            it holds something else than the manifest says (sha256); where that says nothing, it was changed later
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median, median_low

from robogaze.datasets.manifest import ManifestEntry, file_sha256
from robogaze.errors import VideoError

_SAME_RATE = 0.01
"""By what share two rates may differ: 29.97 and 30 are meant to be the same."""

_CLOCK_S = 0.002
"""By how much frames may be shown longer or shorter: Matroska keeps times in milliseconds, at either end."""


@dataclass(frozen=True)
class DecodedFacts:
    """What a video shows: the time of each frame, its length, and a fingerprint of all its pictures."""

    times_s: tuple[float, ...]
    duration_s: float
    pictures: str

    @property
    def fps(self) -> float:
        """The mean rate."""
        return len(self.times_s) / self.duration_s


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a clip."""

    file: str
    kind: str
    message: str


@dataclass(frozen=True)
class Checked:
    """What a check found, in the order of the manifest."""

    clips: int
    problems: tuple[Problem, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each kind of problem is there."""
        return Counter(problem.kind for problem in self.problems)


def check_entries(
    entries: Sequence[ManifestEntry], written_s: float, look: Callable[[ManifestEntry], DecodedFacts]
) -> Checked:
    """Look at every clip. `written_s` is when the manifest was written; `look` raises VideoError."""
    seen: list[DecodedFacts | None] = []
    problems: list[list[Problem]] = []
    first: dict[str, ManifestEntry] = {}
    content = cache(file_sha256)  # many clips may be parts of one file
    for entry in entries:
        said = (*_without_looking(entry), *_stale(entry, written_s, content))
        here = [Problem(entry.address, kind, message) for kind, message in said]
        try:
            one = look(entry)
            if (before := first.setdefault(one.pictures, entry)) is not entry:
                here.append(Problem(entry.address, "duplicate", f"shows the same pictures as {before.address}"))
            seen.append(one)
        except VideoError as error:
            here.append(Problem(entry.address, "unreadable", f"{error}"))
            seen.append(None)
        problems.append(here)
    usual = median_low([one.fps for one in seen if one is not None]) if any(seen) else 0.0
    for entry, shown, here in zip(entries, seen, problems, strict=True):
        if shown is not None:
            here += [Problem(entry.address, kind, message) for kind, message in _of_time(shown, usual)]
    return Checked(len(entries), tuple(problem for here in problems for problem in here))


def _without_looking(entry: ManifestEntry) -> Iterator[tuple[str, str]]:
    if entry.instruction is None:
        yield "no instruction", "it is not said what the clip was made for"


def _stale(entry: ManifestEntry, written_s: float, content: Callable[[Path], str]) -> Iterator[tuple[str, str]]:
    """By content where the manifest tells it; a missing file is no stale one, and is found when it is looked at."""
    if entry.sha256 is not None and entry.path.is_file():
        try:
            entry.check_content(content(entry.path))
        except VideoError as error:
            yield "stale", f"{error}"
    for path in (entry.path if entry.sha256 is None else None, entry.initial_frame):
        if path is not None and _changed_s(path) > written_s:
            yield "stale", f"{path.name} was changed after the manifest was written; import it again"


def _of_time(seen: DecodedFacts, usual: float) -> Iterator[tuple[str, str]]:
    if abs(seen.fps / usual - 1) > _SAME_RATE:
        yield "odd rate", f"has {seen.fps:.2f} frames a second, where others have {usual:.2f}"
    gaps_s = [after - before for before, after in pairwise(seen.times_s)]
    uneven = [gap for gap in gaps_s if abs(gap - median(gaps_s)) > _CLOCK_S]
    if uneven:
        what = f"from {min(gaps_s):.3f} to {max(gaps_s):.3f} s"
        yield "uneven frames", f"{len(uneven)} of {len(gaps_s)} are shown for another time than most ({what})"


def _changed_s(path: Path) -> float:
    return path.stat().st_mtime if path.is_file() else 0.0
