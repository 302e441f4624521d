"""The outcome of a clip in which a fault leaves the task undone or in doubt: an event in addition to the fault's event.

People annotate this outcome as an event (the cascade rule of the taxonomy). A clip has no outcome if the task ends as
it should, or if a fault of the clip is itself an outcome. Whether there is an outcome depends on the end of the clip:
on where the objects are, and on how the clip then still differs from the clip without the fault.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from robogaze.core.clip import Clip
from robogaze.core.events import Event, Evidence
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.forge.simulate.arm import HAND_PARTS
from robogaze.forge.simulate.clip_spec import ClipSpec
from robogaze.forge.simulate.fault_event import SOURCE, MeasuredFault
from robogaze.forge.simulate.simulation_config import OutcomeKind, SimulationConfig
from robogaze.forge.simulate.tasks import Subtask, is_done


@dataclass(frozen=True)
class Outcome:
    """How a clip ends. The outcome lasts from the frame `first` to the end of the clip."""

    kind: OutcomeKind
    subtask: Subtask
    first: int


def outcome_of(config: SimulationConfig, spec: ClipSpec, faults: Sequence[MeasuredFault]) -> Outcome | None:
    """The outcome of a clip, None if the task is done and nothing is in doubt."""
    types = {outcome.type for outcome in config.outcomes.values()}
    if any(measured.placed.fault.type in types for measured in faults):
        return None
    for measured in sorted(faults, key=lambda measured: measured.placed.edit is not None):
        outcome = _of_behaviour(spec, measured) if measured.placed.edit is None else _of_edit(spec, measured)
        if outcome is not None:
            return outcome
    return None


def _of_behaviour(spec: ClipSpec, measured: MeasuredFault) -> Outcome | None:
    """After a wrong act, the outcome starts at the end of the act. If the act lasts to the end of the clip, the outcome
    starts when the task should be done. If the clip itself is cut off, the outcome starts with the annotation of the
    fault.
    """
    first, end = next(part for part in spec.sampled.parts if part[0] <= measured.placed.subtask < part[1])
    recording, count = spec.playback.recording, spec.playback.frame_count
    since = recording.stage_ends[first - 1] if first else 0
    last = min(recording.stage_ends[end - 1], count) - 1
    undone = [subtask for subtask in spec.subtasks[first:end] if not is_done(recording, subtask, last, since)]
    later = {subtask.obj.name for subtask in spec.subtasks[end:]}
    if not undone or undone[0].obj.name in later:
        return None
    over = measured.covered
    if count < len(recording.states):
        return Outcome("cut", undone[0], over[0])
    start = over[-1] + 1 if over[-1] + 1 < count else max(over[0], min(_due(spec, end - 1), count - 2))
    return Outcome("held" if _is_held(spec, undone[0]) else "not_done", undone[0], start)


def _of_edit(spec: ClipSpec, measured: MeasuredFault) -> Outcome | None:
    """After a lasting change of a task's object, the outcome starts when the task is over and the change is
    complete.
    """
    edit, frames, count = measured.placed.edit, measured.frames, spec.playback.frame_count
    if edit is None or edit.edits_picture or edit.view is not None or frames.shown[-1] < count - 1:
        return None
    handled = [subtask for subtask in spec.subtasks if subtask.obj.name in edit.bodies]
    if not handled:
        return None
    return Outcome("changed", handled[-1], min(max(_due(spec, handled[-1].number), frames.developing[-1]), count - 2))


def _due(spec: ClipSpec, subtask: int) -> int:
    """The frame in which a subtask should be visibly done: in the twin, the arm leaves the object in this frame."""
    left = spec.twin.recording.first_frame(spec.subtasks[subtask].ending_phase, subtask)
    return spec.twin.recording.stage_ends[subtask] - 1 if left is None else left


def _is_held(spec: ClipSpec, subtask: Subtask) -> bool:
    touching = spec.playback.recording.touching_throughout[spec.playback.frame_count - 1]
    sides = {played.side for played in spec.played}
    return any(frozenset((subtask.obj.name, f"{side}{part}")) in touching for side in sides for part in HAND_PARTS)


def outcome_event(config: SimulationConfig, domain: Domain, clip: Clip, outcome: Outcome, number: int) -> Event:
    """The event that reports an outcome; `number` is the number of the event in the report."""
    stated, subtask = config.outcomes[outcome.kind], outcome.subtask
    names = {"object": subtask.obj.name, "goal": subtask.goal.name, "into": subtask.goal.shape.preposition}
    last = clip.frame_count - 1
    return Event(
        id=f"{clip.id}-{number}",
        dimension=domain.dimension_of[stated.type],
        type=stated.type,
        spans=(Span(clip.frame_times_s[outcome.first], clip.duration_s),),
        severity=stated.severity,
        confidence=None,
        description=stated.description.format(**names),
        evidence=(Evidence(text="the end of the clip", frames=(outcome.first, last), source=SOURCE),),
    )
