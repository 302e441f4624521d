"""A clip on disk: writing its pictures as a video, and its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import av
import numpy as np

from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.report import Provenance, Report
from robogaze.domains import Domain
from robogaze.forge.simulate.clip_spec import Story
from robogaze.forge.simulate.draw import Frame
from robogaze.forge.simulate.motion import FPS
from robogaze.forge.simulate.recipe import SimulatedFault, SimulationConfig
from robogaze.forge.simulate.truth import Sighting, event_of
from robogaze.media.decode import read_frames

_ENCODING = {"crf": "20", "preset": "fast", "tune": "zerolatency", "g": str(4 * FPS), "threads": "1"}
"""Without a look ahead, so that a clip and its twin are the same until they differ, encoded, too."""


@dataclass(frozen=True)
class ClipFile:
    """A clip's file in the folder of a data set."""

    folder: Path
    name: str

    @property
    def uri(self) -> str:
        """Its address in the folder."""
        return f"clips/{self.name}.mp4"

    def write(self, frames: Sequence[Frame]) -> None:
        """Write frames as H.264, the same bytes for the same pictures."""
        path = self.folder / self.uri
        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=FPS, options=_ENCODING)
            stream.height, stream.width = frames[0].shape[:2]
            stream.pix_fmt = "yuv420p"
            for frame in frames:
                picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
                container.mux(stream.encode(picture))
            container.mux(stream.encode(None))

    def measured(self) -> dict[str, Any]:
        """What the file itself says about a clip, decoded to its end."""
        path = self.folder / self.uri
        frames = list(read_frames(path))
        duration_s = frames[-1].time_s + frames[-1].duration_s
        height, width = frames[0].image.shape[:2]
        return {
            "sha256": sha256(path.read_bytes()).hexdigest(),
            "frame_count": len(frames),
            "frame_times_s": tuple(frame.time_s for frame in frames),
            "duration_s": duration_s,
            "fps": len(frames) / duration_s,
            "width": width,
            "height": height,
        }


def report_of(
    domain: Domain,
    recipe: SimulationConfig,
    reel: ClipFile,
    story: Story,
    planted: Mapping[str, Any],
    found: Sequence[tuple[SimulatedFault, Sighting]],
) -> Report:
    """What is true about a film that was written; without a fault that was found it is clean.

    `planted` is what `forge report` asks of a clip: where it comes from, and what was done in it.
    """
    clip = Clip(
        id=reel.name,
        uri=reel.uri,
        instruction=story.cast.instruction,
        task_family=story.cast.task.family,
        embodiment=recipe.embodiments[len(story.cast.marks) - 1],
        layout=story.layout,
        **reel.measured(),
    )
    events = tuple(
        event_of(recipe, domain, clip, story, fault, sighting, number)
        for number, (fault, sighting) in enumerate(found, start=1)
    )
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline="ground_truth",
        author="simulator",
        coverage=all_examined(domain.dimensions, "simulated: the truth is known"),
        events=events,
        provenance=Provenance(
            versions={package: version(package) for package in ("robogaze", "mujoco", "av")},
            media={"planted": dict(planted)},
        ),
    )
