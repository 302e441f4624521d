"""Rendering a clip and saying what is true about it.

A span is where a clip's frames differ from those of its clean twin; nothing about it is typed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import av

from render_demo.dataset import DOMAIN, measured
from render_demo.motion import FPS
from render_demo.picture import Fault, Frame, Player, Story, differ
from robogaze.core.clip import Clip, Layout
from robogaze.core.coverage import all_examined
from robogaze.core.events import Event, Evidence
from robogaze.core.report import Provenance, Report
from robogaze.core.sampling import evenly
from robogaze.core.time import Span, runs
from robogaze.domains import load_domain
from robogaze.media.compose import split

_ENCODING = {"crf": "23", "preset": "slow", "bf": "0", "g": str(4 * FPS), "threads": "1"}
_SOURCE = "simulator"


@dataclass(frozen=True)
class Sighting:
    """The frames in which a fault can be seen, by view."""

    fault: Fault
    by_view: dict[str, list[int]]

    @property
    def frames(self) -> list[int]:
        """The frames in which it can be seen in any view, in order."""
        return sorted({number for numbers in self.by_view.values() for number in numbers})


def make(story: Story, folder: Path) -> Report:
    """Render a clip into a data set's folder and say what is true about it."""
    uri = f"clips/{story.name}.mp4"
    path = folder / uri
    path.parent.mkdir(parents=True, exist_ok=True)
    with Player(story) as player:
        frames = list(player.frames(story))
        sightings = [_look(player, story, fault, frames) for fault in story.faults]
    _encode(path, frames)
    clip = Clip(
        id=story.name,
        uri=uri,
        instruction=story.instruction,
        split="demo",
        task_family=story.family,
        embodiment="six-joint arm with a two-finger gripper",
        layout=Layout.parse(story.layout),
        **measured(path),
    )
    domain = load_domain(DOMAIN)
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline="ground_truth",
        author=_SOURCE,
        coverage=all_examined(domain.dimensions, "rendered: the truth is known"),
        events=tuple(_event(clip, number, sighting) for number, sighting in enumerate(sightings, start=1)),
        provenance=Provenance(versions={package: version(package) for package in ("mujoco", "av")}),
    )


def _look(player: Player, story: Story, fault: Fault, frames: Sequence[Frame]) -> Sighting:
    """Find the frames in which a fault can be seen, by drawing the clip again without it."""
    layout = Layout.parse(story.layout)
    by_view: dict[str, list[int]] = {name: [] for name in layout.active}
    for number, twin in enumerate(player.frames(story.without(fault))):
        if fault.during is not None and number not in fault.during:
            continue
        for name, view, twin_view in zip(
            layout.active, split(frames[number], layout), split(twin, layout), strict=True
        ):
            if differ(view, twin_view):
                by_view[name].append(number)
    return Sighting(fault, {name: numbers for name, numbers in by_view.items() if numbers})


def _event(clip: Clip, number: int, sighting: Sighting) -> Event:
    fault = sighting.fault
    stretches = runs(sighting.frames)
    if len(stretches) != 1:
        raise ValueError(f"{clip.id}: the {fault.type} is seen in {stretches}; it should be in sight throughout")
    ((first, end),) = stretches
    return Event(
        id=f"{clip.id}-{number}",
        dimension=fault.dimension,
        type=fault.type,
        secondary=fault.secondary,
        spans=(Span(clip.frame_span(first).start, clip.frame_span(end - 1).end),),
        severity=fault.severity,
        confidence=None,
        description=fault.description,
        evidence=tuple(
            Evidence(text=fault.to_see, frames=evenly(numbers, 3), view=view, source=_SOURCE)
            for view, numbers in sighting.by_view.items()
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
