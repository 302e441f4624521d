"""Whether the annotated spans of simulated clips are those in which their films differ from their clean twins' films.

Reads a data set that was written with --twins, or makes one first, and decodes every glitchy clip and its twin. The
first frame that differs at all is held against the annotated onset. After a fault has ended the encoder goes on from
other pictures and leaves noise, so the last frame is the last that differs in 20 pixels by more than 8 levels, each
pixel averaged with those around it, 7 by 7.

A clip that ends early is the beginning of its twin: nothing differs, and its span ends where it ends. Where the motion
takes another course, the annotation begins when a body is 2 cm from where it is in the twin, and the picture before.

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
    """Frames of a clip: the first that differs from its twin at all, and the last that does so visibly.

    None where none does.
    """

    first: int | None
    last: int | None


@dataclass(frozen=True)
class Checked:
    """A glitchy clip: by how many frames its annotated onset and last frame are later than those of the pixels.

    None where the pixels do not say.
    """

    clip_id: str
    make: str
    onset: int | None
    end: int | None


def difference(clip: Sequence[Frame], twin: Sequence[Frame]) -> Difference:
    """Compare frame by frame; where the twin is over, with its last frame."""
    first = last = None
    for number, frame in enumerate(clip):
        apart = frame.astype(np.float32) - twin[min(number, len(twin) - 1)]
        if first is None and apart.any():
            first = number
        if (np.abs(cv2.blur(apart, (AROUND_PX, AROUND_PX))).max(axis=2) > LEVELS).sum() >= PIXELS:
            last = number
    return Difference(first, last)


def annotated(report: Report) -> tuple[int, int]:
    """The first and the last frame of all spans of a report."""
    times = np.array(report.clip.frame_times_s)
    spans = [span for event in report.events for span in event.spans]
    inside = [np.flatnonzero((times >= span.start - 1e-6) & (times < span.end - 1e-6)) for span in spans]
    return int(min(frames[0] for frames in inside)), int(max(frames[-1] for frames in inside))


def checked(folder: Path) -> Iterator[Checked]:
    """Every glitchy clip of a data set with twins."""
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
    """One clip."""
    report, twin = reports[truth["clip_id"]], reports[truth["twin"]]
    shown, clean = ([frame.image for frame in read_frames(folder / one.clip.uri)] for one in (report, twin))
    found, (first, last) = difference(shown, clean), annotated(report)
    if truth["make"] == ENDS_EARLY and found.first is None:
        return Checked(report.clip.id, truth["make"], None, last - (len(shown) - 1))
    return Checked(
        report.clip.id,
        truth["make"],
        None if found.first is None else first - found.first,
        None if found.last is None else last - found.last,
    )


def counts(offsets: Sequence[int | None]) -> str:
    """How many are exact, within one frame, and other; the last with the range they are in."""
    known = [one for one in offsets if one is not None]
    other = [one for one in known if abs(one) > 1]
    told = f"{sum(one == 0 for one in known):3} {sum(abs(one) == 1 for one in known):3} {len(other):3}"
    return f"{told}  {f'{min(other):+} .. {max(other):+}' if other else '':12}"


def table(all_: Sequence[Checked]) -> Iterator[str]:
    """The lines of the table by make, and the disagreements by name."""
    by_make: dict[str, list[Checked]] = defaultdict(list)
    for one in all_:
        by_make[one.make].append(one)
    yield f"{'':16} {'':5}  {'onset':26}  end"
    yield f"{'make':16} clips   =  ±1 other                =  ±1 other"
    for make, ones in [*sorted(by_make.items()), ("all", list(all_))]:
        onset, end = counts([one.onset for one in ones]), counts([one.end for one in ones])
        yield f"{make:16} {len(ones):5} {onset} {end}".rstrip()
    for one in all_:
        if one.onset or one.end:
            yield f"{one.clip_id} ({one.make}): onset {_told(one.onset)}, end {_told(one.end)}"


def _told(offset: int | None) -> str:
    return "not in the pixels" if offset is None else "exact" if offset == 0 else f"{offset:+} frames"


def main() -> None:
    """Read the command line, make what is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="DATA_SET", nargs="+", type=Path)
    parser.add_argument("--make", type=int, metavar="CLIPS", help="make each data set first, with so many clips")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--size", default="320x240")
    asked = parser.parse_args()
    for folder in asked.folders if asked.make else ():
        words = ["--out", str(folder), "--clips", str(asked.make), "--seed", str(asked.seed), "--size", asked.size]
        simulate = [sys.executable, "-m", "robogaze", "forge", "simulate", *words, "--clean-share", "0", "--twins"]
        subprocess.run(simulate, check=True)
    print(*table([one for folder in asked.folders for one in checked(folder)]), sep="\n")


if __name__ == "__main__":
    main()
