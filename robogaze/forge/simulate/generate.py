"""Generating one clip: drawing, recording and checking until a draw is accepted, then writing clip and report."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
from robogaze.forge.simulate.checks import audit, motion_problem, unusual_problem, visibility_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, sample_clip
from robogaze.forge.simulate.fault_event import MeasuredFault, event_of, measured_fault
from robogaze.forge.simulate.fault_frames import FaultFrames, changes_picture, measure
from robogaze.forge.simulate.outcome import Outcome, outcome_event, outcome_of
from robogaze.forge.simulate.playback import Frame, Gl, Renderer, apply_picture_edits
from robogaze.forge.simulate.recording import UnstableSimulation
from robogaze.forge.simulate.scene_sampler import ClipRequest, DrawRejected
from robogaze.forge.simulate.simulation_config import SimulationConfig
from robogaze.media.decode import read_frames

MAX_DRAWS = 60
"""The number of draws of a clip before the clip is given up."""
_ENCODING = {"crf": "20", "preset": "fast", "tune": "zerolatency", "g": "64", "threads": "1"}
"""Without look-ahead, so that equal frames at the start of a clip and its twin are encoded equally."""


@dataclass(frozen=True)
class PlannedClip:
    """A clip to generate: name, number and content. `twin` is the name of the twin's clip, or empty.

    `draws` are the numbers of the draws to try, in order. Two clips with the same number and the same first variation
    show the same scene in a draw with the same number.
    """

    name: str
    number: int
    request: ClipRequest
    twin: str = ""
    draws: tuple[int, ...] = tuple(range(MAX_DRAWS))


@dataclass(frozen=True)
class SimulationContext:
    """The settings that all clips of a data set share. `seed` and a clip's number decide everything that is drawn.

    `world` names one of the configuration's worlds; None means the world that contains everything. `difficulty` names
    one of the configuration's difficulties.
    """

    folder: Path
    domain: Domain
    config: SimulationConfig
    seed: int
    size: tuple[int, int]
    gl: Gl = "auto"
    world: str | None = None
    difficulty: str | None = None


class SimulatedClip(Data):
    """A generated clip: the reports on the clip and its twin, the clip's line in truth.jsonl, and the number of
    rejected draws by reason.
    """

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
        return f"{self.name} ({self.make}): all draws were rejected: {reasons}; try another --seed"


def generate_clip(context: SimulationContext, planned: PlannedClip) -> SimulatedClip:
    """Generate a clip and write it to the folder. Raises NoValidDraw, and RobogazeError if nothing can be rendered."""
    rejected: Counter[str] = Counter()
    for attempt in planned.draws:
        try:
            rng = np.random.default_rng([context.seed, planned.number, attempt])
            spec = sample_clip(context.config, planned.request, context.config.world(context.world), rng)
        except (DrawRejected, OutOfReach, UnstableSimulation) as error:
            rejected[_reason(error)] += 1
            continue
        if reason := motion_problem(spec):
            rejected[reason] += 1
            continue
        with Renderer(spec.playback.recording.scene.model, context.size, context.gl) as renderer:
            faults = _rendered(context, planned, spec, renderer)
            if isinstance(faults, str):
                rejected[faults] += 1
                continue
            accepted = _AcceptedClip(context, planned, spec, faults, outcome_of(context.config, spec, faults))
            reports, truth = accepted.reports(renderer), accepted.truth(attempt)
            return SimulatedClip(reports=reports, truth=truth, rejected=dict(rejected))
    raise NoValidDraw(planned.name, planned.request.variations[0].make, rejected)


def _reason(error: DrawRejected | OutOfReach | UnstableSimulation) -> str:
    if isinstance(error, DrawRejected):
        return f"no room: {error}"
    return "out of reach" if isinstance(error, OutOfReach) else "the simulation is unstable"


def _rendered(
    context: SimulationContext, planned: PlannedClip, spec: ClipSpec, renderer: Renderer
) -> tuple[MeasuredFault, ...] | str:
    """Render a clip to its file and return its faults, or the reason for rejecting it; cheap checks come first.

    One frame is in memory at a time.
    """
    found: list[FaultFrames] = []
    for placed in spec.faults:
        fault_frames = measure(renderer, spec, placed)
        if reason := visibility_problem(spec, placed, renderer, fault_frames):
            return reason
        found.append(fault_frames)
    if reason := unusual_problem(spec, renderer):
        return reason
    changed: list[list[int]] = [[] for _ in spec.faults]

    def frames() -> Iterator[Frame]:
        for number in range(spec.playback.frame_count):
            plain = renderer.frame(spec.playback, number)
            for placed, numbers in zip(spec.faults, changed, strict=True):
                edit = placed.edit
                if edit is not None and edit.edits_picture and changes_picture(spec, edit, number, plain):
                    numbers.append(number)
            yield apply_picture_edits(spec.playback, number, plain)

    _write_video(_path(context, planned.name), frames(), spec.playback.recording.fps)
    for place, placed in enumerate(spec.faults):
        if placed.edit is not None and placed.edit.edits_picture:
            if not changed[place]:
                return "no difference from the twin"
            found[place] = FaultFrames(tuple(changed[place]), tuple(changed[place]), frozenset())
    return tuple(
        measured_fault(context.config, context.domain, spec, placed, fault_frames)
        for placed, fault_frames in zip(spec.faults, found, strict=True)
    )


def _path(context: SimulationContext, name: str) -> Path:
    return context.folder / _uri(name)


def _uri(name: str) -> str:
    return f"clips/{name}.mp4"


@dataclass(frozen=True)
class _AcceptedClip:
    """A clip that passed all checks and is written, with its faults and its outcome."""

    context: SimulationContext
    planned: PlannedClip
    spec: ClipSpec
    faults: tuple[MeasuredFault, ...]
    outcome: Outcome | None

    def reports(self, renderer: Renderer) -> tuple[Report, ...]:
        """The reports on the clip and, if the plan asks for a twin, on the twin. The twin is rendered for this."""
        twin = self.planned.twin if self.faults else ""
        provenance = {
            "source": self.planned.name,
            "untouched": twin,
            "plant": self.planned.request.variations[0].make if self.faults else "",
            "seed": self.context.seed,
        }
        reports = [self._report(self.planned.name, provenance)]
        if twin:
            whole = self.spec.twin
            if len(self.faults) == 1 and self.faults[0].placed.behaviour is None:
                whole = replace(whole, frame_count=self.spec.playback.frame_count)
            frames = (renderer.frame(whole, number) for number in range(whole.frame_count))
            _write_video(_path(self.context, twin), frames, whole.recording.fps)
            clean = replace(self, faults=(), outcome=None)
            reports.append(clean._report(twin, {**provenance, "plant": ""}))
        return tuple(reports)

    def _report(self, name: str, provenance: Mapping[str, Any]) -> Report:
        """The report of a written clip. `provenance` has the source and the change for `forge report`."""
        domain, config, sampled = self.context.domain, self.context.config, self.spec.sampled
        clip = Clip(
            id=name,
            uri=_uri(name),
            instruction=sampled.instruction,
            task_family=sampled.tasks[0].family if len(sampled.tasks) == 1 else "several tasks in order",
            embodiment=config.embodiments[len(sampled.marks) - 1],
            layout=self.spec.layout,
            **_video_fields(_path(self.context, name)),
        )
        events = [
            event_of(config, domain, clip, self.spec, measured, number)
            for number, measured in enumerate(self.faults, start=1)
        ]
        if self.outcome is not None:
            events.append(outcome_event(config, domain, clip, self.outcome, len(events) + 1))
        return Report(
            clip=clip,
            domain=domain.ref,
            pipeline="ground_truth",
            author="simulator",
            coverage=all_examined(domain.dimensions, "simulated: the truth is known"),
            events=tuple(events),
            provenance=Provenance(
                versions={package: version(package) for package in ("robogaze", "mujoco", "av")},
                media={"planted": dict(provenance)},
            ),
        )

    def truth(self, attempt: int) -> dict[str, Any]:
        """The clip's line of truth.jsonl, with the data that a report cannot contain."""
        context, planned, spec = self.context, self.planned, self.spec
        own = audit(spec.twin.recording, spec.sampled.setup)
        count = spec.playback.frame_count
        phases = [phase for phase in spec.playback.recording.phases if phase.first < count]
        return {
            "clip_id": planned.name,
            "twin": planned.twin if self.faults and planned.twin else None,
            "make": planned.request.variations[0].make,
            "type": self.faults[0].placed.fault.type if self.faults else None,
            "seed": [context.seed, planned.number, attempt],
            "tasks": len(spec.sampled.tasks),
            "difficulty": context.difficulty,
            "ways": sorted(planned.request.ways),
            "unusual": list(spec.unusual),
            "faults": [_fault_truth(measured) for measured in self.faults],
            "outcome": self.outcome and {"kind": self.outcome.kind, "span_frames": [[self.outcome.first, count]]},
            "phases": [{"name": phase.name, "first": phase.first, "thing": phase.obj} for phase in phases],
            "audit": {
                "depth_mm": round(1000 * own.penetration_m, 2),
                "step_mm": round(1000 * own.step_m, 1),
                "unheld_frames": own.unheld_frames,
                "findings": list(own.findings),
            },
        }


def _write_video(path: Path, frames: Iterable[Frame], fps: int) -> None:
    """Write frames as H.264; equal frames give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options=_ENCODING)
        stream.pix_fmt = "yuv420p"
        for number, frame in enumerate(frames):
            if number == 0:
                stream.height, stream.width = frame.shape[:2]
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


def _video_fields(path: Path) -> dict[str, Any]:
    """The fields of a Clip whose values come from the decoded file."""
    times_s: list[float] = []
    for frame in read_frames(path):
        times_s.append(frame.time_s)
        height, width = frame.image.shape[:2]
        duration_s = frame.time_s + frame.duration_s
    return {
        "sha256": sha256(path.read_bytes()).hexdigest(),
        "frame_count": len(times_s),
        "frame_times_s": tuple(times_s),
        "duration_s": duration_s,
        "fps": len(times_s) / duration_s,
        "width": width,
        "height": height,
    }


def _fault_truth(measured: MeasuredFault) -> dict[str, Any]:
    """A fault in truth.jsonl, with its frames (docs/forge-simulate.md)."""
    placed = measured.placed
    return {
        "make": placed.fault.make,
        "type": placed.fault.type,
        "ways": sorted(placed.ways),
        "bodies": sorted(name for name in placed.bodies if name),
        "view": placed.edit.view if placed.edit else None,
        "frames": runs(measured.frames.shown),
        "event_frames": runs(measured.frames.developing),
        "span_frames": runs(measured.covered),
    }
