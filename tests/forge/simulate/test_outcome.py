"""The outcome of a clip: an event beside the fault after which the clip does not end as it should."""

from dataclasses import replace

import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.domains import Domain
from robogaze.forge.simulate.arm import FINGERS
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_frames import FaultFrames
from robogaze.forge.simulate.outcome import outcome_of
from robogaze.forge.simulate.playback import PlaybackEdit
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.simulation_config import SimulationConfig


def frames(first: int, end: int) -> FaultFrames:
    return FaultFrames(tuple(range(first, end)), tuple(range(first, end)), frozenset())


def of_type(recipe: SimulationConfig, kind: str) -> PlacedFault:
    fault = next(fault for fault in recipe.faults if fault.type == kind)
    return PlacedFault(fault, (), {}, frozenset())


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


def test_a_fault_after_which_the_task_is_done_has_no_outcome(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain
) -> None:
    faults = ((of_type(recipe, "wrong_effector"), frames(5, 20)),)
    assert outcome_of(recipe, domain, spec, faults) is None
    assert outcome_of(recipe, domain, spec, ()) is None


def test_a_task_that_stays_undone_is_an_event_from_the_end_of_the_wrong_act(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain
) -> None:
    found = outcome_of(recipe, domain, undone(spec), ((of_type(recipe, "wrong_object"), frames(5, 20)),))
    assert found is not None
    assert (found.kind, found.first, found.subtask.obj) == ("not_done", 20, spec.subtasks[0].obj)


def test_an_object_that_is_still_held_is_said_to_be(spec: ClipSpec, recipe: SimulationConfig, domain: Domain) -> None:
    recording, subtask, count = spec.playback.recording, spec.subtasks[0], spec.playback.frame_count
    pair = frozenset((subtask.obj.name, f"{subtask.side}{FINGERS[0]}"))
    touching = (*recording.touching_throughout[:-1], recording.touching_throughout[-1] | {pair})
    held = with_recording(spec, replace(recording, touching_throughout=touching))
    found = outcome_of(recipe, domain, held, ((of_type(recipe, "wrong_object"), frames(5, count)),))
    release = next(phase.first for phase in recording.phases if phase.name == "release")
    assert found is not None
    assert (found.kind, found.first) == ("held", release)


def test_a_fault_that_is_an_outcome_has_no_other_beside_it(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain
) -> None:
    faults = ((of_type(recipe, "task_incompletion"), frames(5, 20)),)
    assert outcome_of(recipe, domain, undone(spec), faults) is None


def test_an_object_that_stays_changed_is_in_doubt_once_the_task_is_over(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain
) -> None:
    placed = replace(of_type(recipe, "object_distortion"), edit=changed(spec))
    found = outcome_of(recipe, domain, spec, ((placed, frames(10, spec.playback.frame_count)),))
    assert found is not None
    assert found.kind == "changed"
    assert found.first == spec.playback.frame_count - 2, "the change develops until the end"
    assert outcome_of(recipe, domain, spec, ((placed, frames(10, 20)),)) is None, "it is as before at the end"


@pytest.mark.parametrize("other", ["another object", "one view only"])
def test_a_change_that_the_task_does_not_depend_on_has_no_outcome(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain, other: str
) -> None:
    edit = changed(spec, name="something") if other == "another object" else changed(spec, view="exterior left")
    placed = replace(of_type(recipe, "object_distortion"), edit=edit)
    assert outcome_of(recipe, domain, spec, ((placed, frames(10, spec.playback.frame_count)),)) is None


def test_a_clip_that_is_cut_off_ends_in_doubt_from_its_cause(
    spec: ClipSpec, recipe: SimulationConfig, domain: Domain
) -> None:
    recording = spec.playback.recording
    carry = next(phase.first for phase in recording.phases if phase.name == "carry")
    cut = replace(spec, playback=replace(spec.playback, frame_count=carry + 3))
    found = outcome_of(recipe, domain, cut, ((of_type(recipe, "premature_termination"), frames(carry, carry + 3)),))
    assert found is not None
    assert (found.kind, found.first) == ("cut", carry)
