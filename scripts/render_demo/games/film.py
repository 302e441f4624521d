"""Writing a clip and what is true about it.

A clip is drawn twice, with its glitch and without. In each stretch that the glitch was planted in, its span begins with
the first frame that differs visibly from the clean twin and ends after the last one; nowhere else may they differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from render_demo.dataset import measured
from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.events import Event, Evidence
from robogaze.core.report import Provenance, Report
from robogaze.core.sampling import evenly
from robogaze.core.time import Span
from robogaze.domains import load_domain

DOMAIN = "game"
FPS, WIDTH_PX, HEIGHT_PX = 24, 640, 360

_ENCODING = {"crf": "23", "preset": "slow", "bf": "0", "g": str(4 * FPS), "threads": "1"}
_SOURCE = "renderer"
_VISIBLE_LEVELS, _VISIBLE_PIXELS = 12, 12

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Glitch:
    """Something wrong in a clip: what is to be said of it, and the stretches of frames (end exclusive) it is in."""

    dimension: str
    type: str
    severity: int
    description: str
    to_see: str
    stretches: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Story:
    """A clip: `draw` gives the picture of a frame, with the glitch or, when told False, without."""

    name: str
    title: str
    family: str
    count: int
    draw: Callable[[int, bool], Frame]
    glitch: Glitch | None = None


def make(story: Story, folder: Path) -> Report:
    """Write a clip into a data set's folder and say what is true about it."""
    uri = f"clips/{story.name}.mp4"
    path = folder / uri
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = [story.draw(number, True) for number in range(story.count)]
    _encode(path, frames)
    clip = Clip(
        id=story.name, uri=uri, instruction=story.title, split="demo", task_family=story.family, **measured(path)
    )
    return _report(clip, () if story.glitch is None else (_event(clip, story.glitch, _seen(story, frames)),))


def refreshed(report: Report, folder: Path) -> Report:
    """The same report for the film and the domain as they are now; its events stay."""
    return _report(report.clip.with_(**measured(folder / report.clip.uri)), report.events)


def _report(clip: Clip, events: tuple[Event, ...]) -> Report:
    domain = load_domain(DOMAIN)
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline="ground_truth",
        author=_SOURCE,
        coverage=all_examined(domain.dimensions, "rendered: the truth is known"),
        events=events,
        provenance=Provenance(versions={"opencv-python-headless": version("opencv-python-headless")}),
    )


def _seen(story: Story, frames: Sequence[Frame]) -> list[int]:
    """The frames that differ visibly from those of the clean twin."""
    return [number for number, frame in enumerate(frames) if _differ(frame, story.draw(number, False))]


def _differ(frame: Frame, twin: Frame) -> bool:
    """Whether a viewer could tell two pictures apart: some pixels differ by more than a shade."""
    change = np.abs(frame.astype(np.int16) - twin).max(axis=2)
    return int((change > _VISIBLE_LEVELS).sum()) >= _VISIBLE_PIXELS


def _event(clip: Clip, glitch: Glitch, seen: Sequence[int]) -> Event:
    by_stretch = [[number for number in seen if first <= number < end] for first, end in glitch.stretches]
    if sum(map(len, by_stretch)) != len(seen) or not all(by_stretch):
        raise ValueError(f"{clip.id}: frames {seen} differ, which are not those of {glitch.stretches}")
    spans = [Span(clip.frame_span(some[0]).start, clip.frame_span(some[-1]).end) for some in by_stretch]
    return Event(
        id=f"{clip.id}-1",
        dimension=glitch.dimension,
        type=glitch.type,
        spans=tuple(spans),
        severity=glitch.severity,
        confidence=None,
        description=glitch.description,
        evidence=tuple(
            Evidence(text=glitch.to_see, frames=evenly(some, 3), view="main", source=_SOURCE) for some in by_stretch
        ),
    )


def _encode(path: Path, frames: Sequence[Frame]) -> None:
    """Write H.264 that every player and browser shows; one thread, so that equal frames give equal bytes."""
    height, width = frames[0].shape[:2]
    with av.open(path, "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=FPS, options=_ENCODING)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
