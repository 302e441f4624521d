"""Generating one clip: it is drawn, recorded and checked, drawn again until it is accepted, and written with its
report.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import av
import numpy as np
from pydantic import Field

from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.data import Data
from robogaze.core.report import Provenance, Report
from robogaze.core.time import runs
from robogaze.domains import Domain
from robogaze.errors import RobogazeError
from robogaze.forge.simulate.arm import OutOfReach
from robogaze.forge.simulate.checks import audit, motion_problem, visibility_problem
from robogaze.forge.simulate.clip_spec import (
    ClipSpec,
    FaultFrames,
    compare_pictures,
    compare_with_twin,
    event_of,
    sample_clip,
)
from robogaze.forge.simulate.playback import Frame, Gl, Renderer, apply_picture_edits
from robogaze.forge.simulate.recording import FPS, UnstableSimulation
from robogaze.forge.simulate.scene_sampler import DrawRejected
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig, Variation
from robogaze.media.decode import read_frames

MAX_DRAWS = 60
"""The number of times a clip is drawn before it is given up."""
_ENCODING = {"crf": "20", "preset": "fast", "tune": "zerolatency", "g": str(4 * FPS), "threads": "1"}
"""Without look-ahead, so that the encoded clip and its twin are equal until they differ."""


@dataclass(frozen=True)
class PlannedClip:
    """A clip to generate: its name, its number and its variation. `twin` is the name of the twin's clip, or empty."""

    name: str
    number: int
    variation: Variation
    twin: str = ""


@dataclass(frozen=True)
class SimulationContext:
    """The settings that all clips of a data set share. `seed` and a clip's number decide everything that is drawn.

    `world` names one of the recipe's worlds; None means everything.
    """

    folder: Path
    domain: Domain
    recipe: SimulationConfig
    seed: int
    size: tuple[int, int]
    gl: Gl = "auto"
    world: str | None = None


class SimulatedClip(Data):
    """A generated clip: its report and its twin's, its line of truth.jsonl, and the reasons for rejected draws."""

    reports: tuple[Report, ...] = Field(min_length=1, max_length=2)
    truth: dict[str, Any]
    rejected: dict[str, int]


class NoValidDraw(RobogazeError):
    """No draw of a clip was accepted. `rejected` counts the reasons."""

    def __init__(self, name: str, make: str, rejected: Mapping[str, int]) -> None:
        super().__init__(name, make, dict(rejected))
        self.name, self.make, self.rejected = name, make, dict(rejected)

    def __str__(self) -> str:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in self.rejected.items())
        return f"{self.name} ({self.make}): all {MAX_DRAWS} draws were rejected: {reasons}; try another --seed"


def generate_clip(context: SimulationContext, planned: PlannedClip) -> SimulatedClip:
    """Generate a clip and write it to the folder. Raises NoValidDraw, and RobogazeError if nothing can be rendered."""
    rejected: Counter[str] = Counter()
    for attempt in range(MAX_DRAWS):
        try:
            rng = np.random.default_rng([context.seed, planned.number, attempt])
            spec = sample_clip(context.recipe, planned.variation, context.recipe.world(context.world), rng)
        except (DrawRejected, OutOfReach, UnstableSimulation) as error:
            rejected[_reason(error)] += 1
            continue
        reason = motion_problem(spec)
        if reason is None:
            with Renderer(spec.playback.recording.scene.model, context.size, context.gl) as renderer:
                done = _render(renderer, spec, with_twin=bool(planned.twin))
            if isinstance(done, RenderedClip):
                return _written(context, planned, attempt, spec, done, rejected)
            reason = done
        rejected[reason] += 1
    raise NoValidDraw(planned.name, planned.variation.make, rejected)


def _reason(error: DrawRejected | OutOfReach | UnstableSimulation) -> str:
    if isinstance(error, DrawRejected):
        return f"no room: {error}"
    return "out of reach" if isinstance(error, OutOfReach) else "the simulation is unstable"


@dataclass(frozen=True)
class RenderedClip:
    """The frames of a clip with its faults (none for a clean clip), and the frames of its twin, if requested."""

    frames: Sequence[Frame]
    faults: tuple[tuple[SimulatedFault, FaultFrames], ...]
    twin: Sequence[Frame] = ()


def _render(renderer: Renderer, spec: ClipSpec, with_twin: bool) -> RenderedClip | str:
    """Render a clip, or return the reason for rejecting it; cheap checks come first."""
    faults: list[tuple[SimulatedFault, FaultFrames]] = []
    of_picture = spec.fault is not None and spec.playback.edits[0].edits_picture
    if spec.fault is not None and not of_picture:
        fault_frames = compare_with_twin(renderer, spec)
        reason = visibility_problem(spec, renderer, fault_frames)
        if reason is not None:
            return reason
        faults.append((spec.fault, fault_frames))
    plain = [renderer.frame(spec.playback, number) for number in range(spec.playback.frame_count)]
    fault = spec.fault if of_picture else spec.second_fault
    if fault is not None:
        faults.append((fault, compare_pictures(spec, plain)))
    if len(faults) == 2 and set(faults[0][1].developing) & set(faults[1][1].shown):
        return "one fault hides the other"
    frames = [apply_picture_edits(spec.playback, number, plain) for number in range(len(plain))]
    return RenderedClip(frames, tuple(faults), _twin(renderer, spec, plain) if with_twin and faults else ())


def _twin(renderer: Renderer, spec: ClipSpec, plain: Sequence[Frame]) -> Sequence[Frame]:
    """The twin's frames to the end of its recording; for an edit of the picture, the unedited frames."""
    if spec.playback.edits[0].edits_picture:
        return plain
    whole = replace(spec.twin, frame_count=len(spec.twin.recording.states))
    return [renderer.frame(whole, number) for number in range(whole.frame_count)]


def _written(
    context: SimulationContext,
    planned: PlannedClip,
    attempt: int,
    spec: ClipSpec,
    rendered: RenderedClip,
    rejected: Mapping[str, int],
) -> SimulatedClip:
    twin = planned.twin if rendered.twin else ""
    provenance = {
        "source": planned.name,
        "untouched": twin,
        "plant": planned.variation.make if spec.fault else "",
        "seed": context.seed,
    }
    reports = [_write_clip(context, planned.name, rendered.frames, spec, provenance, rendered.faults)]
    if twin:
        reports.append(_write_clip(context, twin, rendered.twin, spec, {**provenance, "plant": ""}, ()))
    truth = _truth(context, planned, attempt, spec, rendered)
    return SimulatedClip(reports=tuple(reports), truth=truth, rejected=dict(rejected))


def _write_clip(
    context: SimulationContext,
    name: str,
    frames: Sequence[Frame],
    spec: ClipSpec,
    provenance: Mapping[str, Any],
    faults: Sequence[tuple[SimulatedFault, FaultFrames]],
) -> Report:
    """Write a video and return its report. `provenance` is for `forge report`: the source, and what was done to it."""
    domain, recipe, uri = context.domain, context.recipe, f"clips/{name}.mp4"
    _write_video(context.folder / uri, frames)
    clip = Clip(
        id=name,
        uri=uri,
        instruction=spec.sampled.instruction,
        task_family=spec.sampled.task.family,
        embodiment=recipe.embodiments[len(spec.sampled.marks) - 1],
        layout=spec.layout,
        **_video_fields(context.folder / uri),
    )
    events = tuple(
        event_of(recipe, domain, clip, spec, fault, fault_frames, number)
        for number, (fault, fault_frames) in enumerate(faults, start=1)
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
            media={"planted": dict(provenance)},
        ),
    )


def _write_video(path: Path, frames: Sequence[Frame]) -> None:
    """Write frames as H.264; equal frames give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options=_ENCODING)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


def _video_fields(path: Path) -> dict[str, Any]:
    """The fields of a Clip that its file decides, decoded to the end."""
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


def _truth(
    context: SimulationContext, planned: PlannedClip, attempt: int, spec: ClipSpec, rendered: RenderedClip
) -> dict[str, Any]:
    """The clip's line of truth.jsonl, with the data that a report cannot contain."""
    own = audit(spec.twin.recording, spec.sampled.setup)
    phases = [phase for phase in spec.playback.recording.phases if phase.first < spec.playback.frame_count]
    return {
        "clip_id": planned.name,
        "twin": planned.twin if rendered.twin else None,
        "make": planned.variation.make,
        "type": spec.fault.type if spec.fault else None,
        "seed": [context.seed, planned.number, attempt],
        "bodies": sorted(name for name in spec.bodies if name),
        "faults": [
            {
                "make": fault.make,
                "type": fault.type,
                "frames": runs(fault_frames.shown),
                "event_frames": runs(fault_frames.developing),
            }
            for fault, fault_frames in rendered.faults
        ],
        "phases": [{"name": phase.name, "first": phase.first, "thing": phase.obj} for phase in phases],
        "audit": {
            "depth_mm": round(1000 * own.penetration_m, 2),
            "step_mm": round(1000 * own.step_m, 1),
            "unheld_frames": own.unheld_frames,
            "findings": list(own.findings),
        },
    }
