"""The outcome of a clip that does not end as it should after a fault."""

from dataclasses import replace

import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.arm import FINGERS
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_event import MeasuredFault
from robogaze.forge.simulate.fault_frames import FaultFrames
from robogaze.forge.simulate.outcome import Outcome, outcome_of
from robogaze.forge.simulate.playback import PlaybackEdit
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.simulation_config import SimulationConfig


def outcome(
    config: SimulationConfig, spec: ClipSpec, kind: str, first: int, end: int, edit: PlaybackEdit | None = None
) -> Outcome | None:
    """The outcome after a fault of this type that shows in some frames."""
    fault = next(fault for fault in config.faults if fault.type == kind)
    shown = tuple(range(first, end))
    placed = PlacedFault(fault, (), {}, frozenset(), edit=edit)
    return outcome_of(config, spec, (MeasuredFault(placed, FaultFrames(shown, shown, frozenset()), shown),))


def with_recording(spec: ClipSpec, recording: Recording) -> ClipSpec:
    return replace(spec, playback=replace(spec.playback, recording=recording))


def undone(spec: ClipSpec) -> ClipSpec:
    """The clip with its object beside the goal at the end."""
    recording = spec.playback.recording
    states = recording.states.copy()
    states[-1, recording.scene.qpos_start(spec.subtasks[0].obj.name)] += 0.3
    return with_recording(spec, replace(recording, states=states))


def changed(spec: ClipSpec, *, view: str | None = None, name: str | None = None) -> PlaybackEdit:
    edit = PlaybackEdit(frames=(10, spec.playback.frame_count), bodies=(name or spec.subtasks[0].obj.name,))
    return replace(edit, view=view)


def test_a_fault_after_which_the_task_is_done_has_no_outcome(spec: ClipSpec, config: SimulationConfig) -> None:
    assert outcome(config, spec, "wrong_effector", 5, 20) is None
    assert outcome_of(config, spec, ()) is None


def test_a_task_that_stays_undone_is_an_event_from_the_end_of_the_wrong_act(
    spec: ClipSpec, config: SimulationConfig
) -> None:
    found = outcome(config, undone(spec), "wrong_object", 5, 20)
    assert found is not None
    assert (found.kind, found.first, found.subtask.obj) == ("not_done", 20, spec.subtasks[0].obj)


def test_an_object_that_is_still_held_is_reported_as_held(spec: ClipSpec, config: SimulationConfig) -> None:
    recording, subtask, count = spec.playback.recording, spec.subtasks[0], spec.playback.frame_count
    pair = frozenset((subtask.obj.name, f"{subtask.side}{FINGERS[0]}"))
    touching = (*recording.touching_throughout[:-1], recording.touching_throughout[-1] | {pair})
    held = with_recording(spec, replace(recording, touching_throughout=touching))
    found = outcome(config, held, "wrong_object", 5, count)
    assert found is not None
    assert (found.kind, found.first) == ("held", recording.first_frame("release", 0))


def test_a_fault_that_is_an_outcome_has_no_other_outcome(spec: ClipSpec, config: SimulationConfig) -> None:
    assert outcome(config, undone(spec), "task_incompletion", 5, 20) is None


def test_an_object_that_stays_changed_is_in_doubt_once_the_task_is_over(
    spec: ClipSpec, config: SimulationConfig
) -> None:
    found = outcome(config, spec, "object_distortion", 10, spec.playback.frame_count, changed(spec))
    assert found is not None
    assert found.kind == "changed"
    assert found.first == spec.playback.frame_count - 2, "the change develops until the end"
    assert outcome(config, spec, "object_distortion", 10, 20, changed(spec)) is None, "it is as before at the end"


@pytest.mark.parametrize("other", ["another object", "one view only"])
def test_a_change_that_the_task_does_not_depend_on_has_no_outcome(
    spec: ClipSpec, config: SimulationConfig, other: str
) -> None:
    edit = changed(spec, name="something") if other == "another object" else changed(spec, view="exterior left")
    assert outcome(config, spec, "object_distortion", 10, spec.playback.frame_count, edit) is None


def test_a_clip_that_is_cut_off_ends_in_doubt_from_its_cause(spec: ClipSpec, config: SimulationConfig) -> None:
    carry = spec.playback.recording.first_frame("carry", 0) or 0
    cut = replace(spec, playback=replace(spec.playback, frame_count=carry + 3))
    found = outcome(config, cut, "premature_termination", carry, carry + 3)
    assert found is not None
    assert (found.kind, found.first) == ("cut", carry)
