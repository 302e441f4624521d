"""Contact sheets of simulated clips, one per event type and per clean variation: the pictures of
docs/forge-sheets.md.

Reads data sets of `robogaze forge simulate` and takes for each type the first clip that has the fewest faults. Six
frames of a clip: before the onset, at the onset, when the fault has developed, in its middle, at its end, and the last
of the clip; those of the fault have a red border. The frames of a clean clip are evenly spaced.

    python scripts/research/contact_sheets.py DATA_SET [DATA_SET ...] --out docs/pictures/forge [--by-task]
"""

import argparse
import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.report import Report
from robogaze.media.decode import read_frames

COLUMNS, COUNT = 3, 6
CELL = (264, 198)
BORDER_PX, CAPTION_PX, LINE_PX = 3, 17, 16
MOST_BYTES = 42_000
QUALITIES = (82, 74, 66, 58, 50, 40)
INK, FAULT, PAPER = (30, 30, 30), (200, 30, 30), 250

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Clip:
    """A clip with its line of truth.jsonl and its report."""

    folder: Path
    truth: dict[str, Any]
    report: Report

    @property
    def title(self) -> str:
        return f"{self.truth['type'] or 'clean'} ({self.truth['make']}), {self.report.clip.task_family}"

    @property
    def fault(self) -> list[int]:
        """The frames of its faults; empty for a clean clip."""
        return [n for fault in self.truth["faults"] for first, last in fault["frames"] for n in range(first, last)]


def clips(folder: Path) -> Iterator[Clip]:
    """The clips of a data set in order, without twins."""
    lines = (folder / "annotations.jsonl").read_text().splitlines()
    reports = {report.clip.id: report for report in map(Report.model_validate_json, lines)}
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        yield Clip(folder, truth, reports[truth["clip_id"]])


def chosen(candidates: Sequence[Clip], by_task: bool) -> dict[str, Clip]:
    """The clip for each sheet by the name of the sheet: the first of those with the fewest faults."""
    found: dict[str, Clip] = {}
    for clip in sorted(candidates, key=lambda clip: len(clip.truth["faults"])):
        name = clip.truth["type"] or f"clean-{clip.truth['make']}"
        if by_task:
            name = f"task-{(clip.report.clip.task_family or '').replace(' ', '-')}"
        if name != "clean-plain":
            found.setdefault(name, clip)
    return dict(sorted(found.items()))


def looks(clip: Clip, length: int) -> list[int]:
    """The numbers of the frames to show, in order."""
    if not clip.fault:
        return [round(n) for n in np.linspace(0, length - 1, COUNT)]
    first = clip.truth["faults"][0]
    (onset, _), (_, end) = first["frames"][0], first["frames"][-1]
    event = first["event_frames"][-1][1] - 1
    wanted = {max(onset - 1, 0), onset, event, (onset + end) // 2, end - 1, length - 1}
    # Where some of these are the same, the widest gap is filled.
    while len(wanted) < COUNT:
        stops = sorted({0, *wanted})
        gaps = [(after - before, before) for before, after in pairwise(stops)]
        width, before = max(gaps)
        wanted.add(before + width // 2)
    return sorted(wanted)


def sheet(clip: Clip) -> Frame:
    frames = [frame.image for frame in read_frames(clip.folder / clip.report.clip.uri)]
    times, fault = clip.report.clip.frame_times_s, set(clip.fault)
    cells = [
        _cell(frames[n], f"frame {n}, {times[n]:.2f} s", FAULT if n in fault else None)
        for n in looks(clip, len(frames))
    ]
    rows = [np.hstack(cells[start : start + COLUMNS]) for start in range(0, COUNT, COLUMNS)]
    captions = [f'"{clip.report.clip.instruction}"', *(event.description for event in clip.report.events)]
    return np.vstack([_head(clip.title, captions, rows[0].shape[1]), *rows])


def _cell(frame: Frame, caption: str, colour: tuple[int, int, int] | None) -> Frame:
    """A frame with a border and a caption."""
    width, height = CELL
    cell = np.full((height + 2 * BORDER_PX + CAPTION_PX, width + 2 * BORDER_PX, 3), PAPER, np.uint8)
    if colour is not None:
        cell[: height + 2 * BORDER_PX] = colour
    inner = np.s_[BORDER_PX : BORDER_PX + height, BORDER_PX : BORDER_PX + width]
    cell[inner] = cv2.resize(frame, CELL, interpolation=cv2.INTER_AREA)
    _write(cell, caption, (6, height + 2 * BORDER_PX + 12), 0.38, colour or INK)
    return cell


def _head(title: str, captions: Sequence[str], width: int) -> Frame:
    lines = [line for caption in captions for line in textwrap.wrap(caption, width // 6)]
    head = np.full((26 + LINE_PX * len(lines), width, 3), PAPER, np.uint8)
    _write(head, title, (6, 18), 0.52, INK)
    for number, line in enumerate(lines, start=1):
        _write(head, line, (6, 18 + LINE_PX * number), 0.38, INK)
    return head


def _write(picture: Frame, text: str, place: tuple[int, int], scale: float, colour: tuple[int, int, int]) -> None:
    cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 1, cv2.LINE_AA)


def encoded(picture: Frame) -> bytes:
    """A WebP of the best quality below the size limit, or of the lowest quality."""
    for quality in QUALITIES:
        _, data = cv2.imencode(".webp", picture[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
        if len(data) <= MOST_BYTES:
            break
    return data.tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", metavar="DATA_SET", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--by-task", action="store_true", help="a sheet for each kind of task, not for each type")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, clip in chosen([clip for folder in args.folders for clip in clips(folder)], args.by_task).items():
        data = encoded(sheet(clip))
        (args.out / f"{name}.webp").write_bytes(data)
        print(f"{name}: {clip.report.clip.id}, {len(data) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
