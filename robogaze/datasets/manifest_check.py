"""Checks of a manifest's clips. Every file is decoded to its end.

unreadable       the video or its initial frame is missing, truncated, or not a video or image
duplicate        the clip shows the same pictures as an earlier clip, even if the files differ
no instruction   the manifest gives no instruction
odd rate         the clip's frame rate differs from the median of the manifest
uneven frames    some frames are shown longer or shorter than most
stale            the file does not match the manifest's sha256; without one, it changed after the manifest was written
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

_RATE_TOLERANCE = 0.01
"""The relative difference at which two frame rates still count as equal, such as 29.97 and 30."""

_DURATION_TOLERANCE_S = 0.002
"""The tolerance for the duration of a frame: Matroska rounds both of its ends to milliseconds."""


@dataclass(frozen=True)
class DecodedFacts:
    """A decoded clip: the time of each frame and the duration, in seconds, and a hash of all pictures."""

    times_s: tuple[float, ...]
    duration_s: float
    pictures: str

    @property
    def fps(self) -> float:
        """The mean frame rate."""
        return len(self.times_s) / self.duration_s


@dataclass(frozen=True)
class ClipProblem:
    """A problem of a clip."""

    file: str
    kind: str
    message: str


@dataclass(frozen=True)
class CheckResult:
    """The number of clips, and their problems in the order of the manifest."""

    clips: int
    problems: tuple[ClipProblem, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of problems of each kind."""
        return Counter(problem.kind for problem in self.problems)


def check_entries(
    entries: Sequence[ManifestEntry], written_s: float, decode: Callable[[ManifestEntry], DecodedFacts]
) -> CheckResult:
    """Check every clip.

    `written_s` is the time at which the manifest was written, in seconds since the epoch. `decode` raises VideoError
    for a clip that cannot be read.
    """
    decoded: list[DecodedFacts | None] = []
    problems: list[list[ClipProblem]] = []
    first: dict[str, ManifestEntry] = {}
    content_sha256 = cache(file_sha256)  # many clips may be parts of one file
    for entry in entries:
        found = [ClipProblem(entry.address, kind, text) for kind, text in _of_entry(entry, written_s, content_sha256)]
        try:
            facts = decode(entry)
            if (earlier := first.setdefault(facts.pictures, entry)) is not entry:
                found.append(ClipProblem(entry.address, "duplicate", f"shows the same pictures as {earlier.address}"))
            decoded.append(facts)
        except VideoError as error:
            found.append(ClipProblem(entry.address, "unreadable", f"{error}"))
            decoded.append(None)
        problems.append(found)
    usual_fps = median_low([facts.fps for facts in decoded if facts is not None]) if any(decoded) else 0.0
    for entry, clip_facts, found in zip(entries, decoded, problems, strict=True):
        if clip_facts is not None:
            found += [ClipProblem(entry.address, kind, text) for kind, text in _of_timing(clip_facts, usual_fps)]
    return CheckResult(len(entries), tuple(problem for found in problems for problem in found))


def _of_entry(
    entry: ManifestEntry, written_s: float, content_sha256: Callable[[Path], str]
) -> Iterator[tuple[str, str]]:
    """Problems that need no decoding. A missing file is not stale; decoding reports it."""
    if entry.instruction is None:
        yield "no instruction", "the manifest gives no instruction"
    if entry.sha256 is not None and entry.path.is_file():
        try:
            entry.check_content(content_sha256(entry.path))
        except VideoError as error:
            yield "stale", f"{error}"
    for path in (entry.path if entry.sha256 is None else None, entry.initial_frame):
        if path is not None and path.is_file() and path.stat().st_mtime > written_s:
            yield "stale", f"{path.name} was changed after the manifest was written; import the clip again"


def _of_timing(facts: DecodedFacts, usual_fps: float) -> Iterator[tuple[str, str]]:
    if abs(facts.fps / usual_fps - 1) > _RATE_TOLERANCE:
        yield (
            "odd rate",
            f"has {facts.fps:.2f} frames per second; the median of the manifest's clips is {usual_fps:.2f}",
        )
    gaps_s = [after - before for before, after in pairwise(facts.times_s)]
    usual_s = median(gaps_s) if gaps_s else 0.0
    uneven = [gap for gap in gaps_s if abs(gap - usual_s) > _DURATION_TOLERANCE_S]
    if uneven:
        lengths = f"{min(gaps_s):.3f} to {max(gaps_s):.3f} s"
        yield (
            "uneven frames",
            f"{len(uneven)} of {len(gaps_s)} frames are shown longer or shorter than most frames (durations: "
            f"{lengths})",
        )
