"""Turns a fault into an event of a report, with spans, severity, description and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

from robogaze.core.clip import Clip
from robogaze.core.events import Event, Evidence
from robogaze.core.time import Span, runs
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.forge.simulate.arm import HAND
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_frames import FaultFrames
from robogaze.forge.simulate.simulation_config import FILE, Condition, SimulatedFault, SimulationConfig

_DECISIVE = ("grasp", "release", "press")
SOURCE = "simulator"
"""The source of the evidence of simulated events."""


@dataclass(frozen=True)
class MeasuredFault:
    """A fault of a clip with its frames; `covered` are the frames that the annotation covers."""

    placed: PlacedFault
    frames: FaultFrames
    covered: tuple[int, ...]


def measured_fault(
    config: SimulationConfig, domain: Domain, spec: ClipSpec, placed: PlacedFault, frames: FaultFrames
) -> MeasuredFault:
    """A fault with the frames that its annotation covers. For an edit, the convention of the event type decides which;
    otherwise they are all frames in which the fault shows.
    """
    covered, playback = frames.shown, spec.playback
    if placed.edit is not None:
        covers = domain.types[placed.fault.type].span.covers
        covered = frames.covered(covers, playback.recording.fps, playback.frame_count, config.plain_s)
    return MeasuredFault(placed, frames, covered)


def event_of(
    config: SimulationConfig, domain: Domain, clip: Clip, spec: ClipSpec, measured: MeasuredFault, number: int
) -> Event:
    """The event that reports a fault; `number` is the number of the event in the report."""
    fault, fault_frames = measured.placed.fault, measured.frames
    spans = tuple(
        Span(clip.frame_times_s[first], clip.frame_span(end - 1).end) for first, end in runs(measured.covered)
    )
    shown, names = fault_frames.shown, _names(config, spec, measured.placed, fault_frames.onset)
    evidence_frames = (shown[len(fault_frames.developing) - 1], shown[len(shown) // 2], shown[-1])
    onset_frames = (max(fault_frames.onset - 1, 0), fault_frames.onset)
    return Event(
        id=f"{clip.id}-{number}",
        dimension=domain.dimension_of[fault.type],
        type=fault.type,
        spans=spans,
        severity=fault.level(conditions(spec, fault_frames)),
        confidence=None,
        description=_filled(fault, fault.description, names),
        evidence=(
            Evidence(text="before the onset, and at the onset", frames=onset_frames, source=SOURCE),
            Evidence(
                text=_filled(fault, fault.evidence, names),
                frames=tuple(dict.fromkeys(evidence_frames)),
                source=SOURCE,
            ),
        ),
        secondary=fault.secondary,
    )


def _filled(fault: SimulatedFault, text: str, names: Mapping[str, str]) -> str:
    try:
        return text.format(**names)
    except KeyError as error:
        known = ", ".join(sorted(names))
        raise InputError(
            f"{FILE}: {fault.make}: unknown field {{{error.args[0]}}} in {text!r}; known: {known}"
        ) from error


def conditions(spec: ClipSpec, fault_frames: FaultFrames) -> tuple[Condition, ...]:
    """The conditions of severity rules that a fault meets."""
    found: list[Condition] = []
    if {subtask.obj.name for subtask in spec.subtasks} & fault_frames.bodies:
        found.append("handled")
    if fault_frames.shown[-1] == spec.playback.frame_count - 1:
        found.append("lasting")
    if any(spec.playback.recording.phase_at(number).name in _DECISIVE for number in fault_frames.shown):
        found.append("decisive")
    return tuple(found)


def _names(config: SimulationConfig, spec: ClipSpec, placed: PlacedFault, onset: int) -> dict[str, str]:
    """The names for the description of a fault: the names of the subtask at the onset, and the fault's own names."""
    part_names = spec.sampled.setup.part_names
    at_onset = spec.playback.recording.phase_at(onset)
    subtask = spec.subtasks[placed.subtask if placed.edit is None else at_onset.subtask]
    hand = part_names[f"{at_onset.side}{HAND}"]
    phase = config.phases[at_onset.name].format(hand=hand, object=at_onset.obj, goal=at_onset.goal)
    names = {
        "object": subtask.obj.name,
        "goal": subtask.goal.name,
        "into": subtask.goal.shape.preposition,
        "hand": part_names[f"{subtask.side}{HAND}"],
        "phase": phase,
        "Phase": phase[0].upper() + phase[1:],
        **placed.description_fields,
    }
    for key in ("object", "other"):
        if key in names:
            names[f"an_{key}"] = f"{'an' if names[key][0] in 'aeiou' else 'a'} {names[key]}"
    return names
