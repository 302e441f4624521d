"""Whether the frames of simulated faults (`frames` in truth.jsonl) are those in which the decoded clips differ from
their clean twins: the tables under "Spans" in docs/forge-simulate.md.

Reads a data set with twins, or makes one first, and decodes every faulty clip and its twin. The onset is compared with
the first frame that differs at all. After a fault has ended, encoder noise remains, so the end is compared with the
last frame in which 20 pixels differ by more than 8 levels, averaged over 7 by 7 pixels.

A clip that ends early is the start of its twin: nothing differs, and its span ends with the clip. A different motion
counts from the phase in which the arm does what is wrong, which may begin after the first different pixel.

    python scripts/bench/spans.py DATA_SET [DATA_SET ...]
    python scripts/bench/spans.py DATA_SET --make 60 [--seed 12] [--size 320x240]
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.report import Report
from robogaze.media.decode import read_frames

AROUND_PX, LEVELS, PIXELS = 7, 8, 20
ENDS_EARLY = "stop_early"

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Difference:
    """The first frame that differs from the twin at all, and the last that differs visibly; None if there is none."""

    first: int | None
    last: int | None


@dataclass(frozen=True)
class Checked:
    """By how many frames the annotated onset and last frame of a clip are later than in the pixels; None if the pixels
    do not show them.
    """

    clip_id: str
    make: str
    onset: int | None
    end: int | None


def difference(clip: Sequence[Frame], twin: Sequence[Frame]) -> Difference:
    """Compare frame by frame; after the end of the twin, with its last frame."""
    first = last = None
    for number, frame in enumerate(clip):
        apart = frame.astype(np.float32) - twin[min(number, len(twin) - 1)]
        if first is None and apart.any():
            first = number
        if (np.abs(cv2.blur(apart, (AROUND_PX, AROUND_PX))).max(axis=2) > LEVELS).sum() >= PIXELS:
            last = number
    return Difference(first, last)


def in_truth(truth: dict[str, Any]) -> tuple[int, int]:
    """The first and the last frame in which the faults of a clip show."""
    frames = [span for fault in truth["faults"] for span in fault["frames"]]
    return min(first for first, _ in frames), max(end for _, end in frames) - 1


def checked(folder: Path) -> Iterator[Checked]:
    """Every faulty clip of a data set with twins."""
    lines = (folder / "annotations.jsonl").read_text().splitlines()
    reports = {report.clip.id: report for report in map(Report.model_validate_json, lines)}
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        if truth["type"] is None:
            continue
        if truth["twin"] is None:
            sys.exit(f"{folder} has no twin of {truth['clip_id']}; make it with --twins")
        yield check(folder, truth, reports)


def check(folder: Path, truth: dict[str, Any], reports: dict[str, Report]) -> Checked:
    report, twin = reports[truth["clip_id"]], reports[truth["twin"]]
    shown, clean = ([frame.image for frame in read_frames(folder / shown.clip.uri)] for shown in (report, twin))
    found, (first, last) = difference(shown, clean), in_truth(truth)
    if truth["make"] == ENDS_EARLY and found.first is None:
        return Checked(report.clip.id, truth["make"], None, last - (len(shown) - 1))
    return Checked(
        report.clip.id,
        truth["make"],
        None if found.first is None else first - found.first,
        None if found.last is None else last - found.last,
    )


def counts(offsets: Sequence[int | None]) -> str:
    """The number of exact offsets, of those within one frame, and of others with their range."""
    known = [offset for offset in offsets if offset is not None]
    other = [offset for offset in known if abs(offset) > 1]
    exact, near = sum(offset == 0 for offset in known), sum(abs(offset) == 1 for offset in known)
    return f"{exact:3} {near:3} {len(other):3}  {f'{min(other):+} .. {max(other):+}' if other else '':12}"


def table(clips: Sequence[Checked]) -> Iterator[str]:
    """The table by `make`, and the clips that disagree."""
    by_make: dict[str, list[Checked]] = defaultdict(list)
    for clip in clips:
        by_make[clip.make].append(clip)
    yield f"{'':16} {'':5}  {'onset':26}  end"
    yield f"{'make':16} clips   =  ±1 other                =  ±1 other"
    for make, group in [*sorted(by_make.items()), ("all", list(clips))]:
        onset, end = counts([clip.onset for clip in group]), counts([clip.end for clip in group])
        yield f"{make:16} {len(group):5} {onset} {end}".rstrip()
    for clip in clips:
        if clip.onset or clip.end:
            yield f"{clip.clip_id} ({clip.make}): onset {_offset(clip.onset)}, end {_offset(clip.end)}"


def _offset(offset: int | None) -> str:
    return "not in the pixels" if offset is None else "exact" if offset == 0 else f"{offset:+} frames"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="DATA_SET", nargs="+", type=Path)
    parser.add_argument("--make", type=int, metavar="CLIPS", help="make each data set first, with so many clips")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--size", default="320x240")
    args = parser.parse_args()
    for folder in args.folders if args.make else ():
        options = ["--out", str(folder), "--clips", str(args.make), "--seed", str(args.seed), "--size", args.size]
        simulate = [sys.executable, "-m", "robogaze", "forge", "simulate", *options, "--clean-share", "0", "--twins"]
        subprocess.run(simulate, check=True)
    print(*table([clip for folder in args.folders for clip in checked(folder)]), sep="\n")


if __name__ == "__main__":
    main()
