"""A fault as an event of a report: its spans by the conventions of its type, severity, description and evidence."""

from collections.abc import Mapping

from robogaze.core.clip import Clip
from robogaze.core.events import Event, Evidence
from robogaze.core.time import Span, runs
from robogaze.domains import Domain
from robogaze.forge.simulate.arm import HAND
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_frames import FaultFrames
from robogaze.forge.simulate.recording import Phase, Recording
from robogaze.forge.simulate.simulation_config import Condition, SimulationConfig

_DECISIVE = ("grasp", "release", "press")
SOURCE = "simulator"
"""The source of the evidence of simulated events."""


def covered_frames(
    recipe: SimulationConfig, domain: Domain, spec: ClipSpec, placed: PlacedFault, fault_frames: FaultFrames
) -> tuple[int, ...]:
    """The frames that the annotation of a fault covers."""
    if placed.edit is None:
        return fault_frames.shown
    covers = domain.types[placed.fault.type].span.covers
    playback = spec.playback
    return fault_frames.covered(covers, playback.recording.fps, playback.frame_count, recipe.plain_s)


def event_of(
    recipe: SimulationConfig,
    domain: Domain,
    clip: Clip,
    spec: ClipSpec,
    placed: PlacedFault,
    fault_frames: FaultFrames,
    number: int,
) -> Event:
    """A fault as an event with this number in a report."""
    fault, shown = placed.fault, fault_frames.shown
    spans = tuple(
        Span(clip.frame_times_s[first], clip.frame_span(end - 1).end)
        for first, end in runs(covered_frames(recipe, domain, spec, placed, fault_frames))
    )
    names = _names(recipe, spec, placed, fault_frames.onset)
    evidence_frames = (shown[len(fault_frames.developing) - 1], shown[len(shown) // 2], shown[-1])
    return Event(
        id=f"{clip.id}-{number}",
        dimension=domain.dimension_of[fault.type],
        type=fault.type,
        spans=spans,
        severity=fault.level(conditions(spec, fault_frames)),
        confidence=None,
        description=fault.description.format(**names),
        evidence=(
            Evidence(
                text="before it begins, and at its begin",
                frames=(max(fault_frames.onset - 1, 0), fault_frames.onset),
                source=SOURCE,
            ),
            Evidence(text=fault.evidence.format(**names), frames=tuple(dict.fromkeys(evidence_frames)), source=SOURCE),
        ),
        secondary=fault.secondary,
    )


def conditions(spec: ClipSpec, fault_frames: FaultFrames) -> tuple[Condition, ...]:
    """The conditions of severity rules that hold."""
    found: list[Condition] = []
    if {subtask.obj.name for subtask in spec.subtasks} & fault_frames.bodies:
        found.append("handled")
    if fault_frames.shown[-1] == spec.playback.frame_count - 1:
        found.append("lasting")
    if set(fault_frames.shown) & _decisive(spec.playback.recording):
        found.append("decisive")
    return tuple(found)


def _decisive(recording: Recording) -> set[int]:
    """The frames in which something is grasped, released or pressed."""
    ends = [phase.first for phase in recording.phases[1:]] + [len(recording.states)]
    held = zip(recording.phases, ends, strict=True)
    return {number for phase, end in held if phase.name in _DECISIVE for number in range(phase.first, end)}


def _names(recipe: SimulationConfig, spec: ClipSpec, placed: PlacedFault, onset: int) -> dict[str, str]:
    """The names for the description of a fault: those of the subtask at its onset, and its own."""
    part_names = spec.sampled.setup.part_names
    at_onset = spec.playback.recording.phase_at(onset)
    subtask = spec.subtasks[placed.subtask if placed.edit is None else at_onset.subtask]
    phase = _phase(recipe, part_names, at_onset)
    names = {
        "object": subtask.obj.name,
        "goal": subtask.goal.name,
        "into": subtask.goal.shape.preposition,
        "hand": part_names[f"{subtask.side}{HAND}"],
        "phase": phase,
        "Phase": phase[0].upper() + phase[1:],
        **placed.description_fields,
    }
    return names | {f"an_{key}": _with_article(names[key]) for key in ("object", "other") if key in names}


def _phase(recipe: SimulationConfig, names: Mapping[str, str], phase: Phase) -> str:
    hand = names[f"{phase.side}{HAND}"]
    return recipe.phases[phase.name].format(hand=hand, object=phase.obj, goal=phase.goal)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
