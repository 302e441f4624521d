"""Recordings: plausible physics, equal for equal plans."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.arm import OutOfReach
from robogaze.forge.simulate.checks import stays_in_hand
from robogaze.forge.simulate.clip_spec import ClipSpec
from robogaze.forge.simulate.recording import ArmStage, Move, UnstableSimulation, record
from robogaze.forge.simulate.tasks import is_done


def test_an_object_is_brought_to_its_goal_by_friction_alone(spec: ClipSpec) -> None:
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    model = recording.scene.model
    assert set(model.eq_type) == {mujoco.mjtEq.mjEQ_JOINT}, "fingers are coupled, and nothing else is tied to anything"
    assert stays_in_hand(recording, subtask)
    assert is_done(recording, subtask, len(recording.states) - 1)
    assert not is_done(recording, subtask, len(recording.states) // 2)


def test_slippery_fingers_do_not_hold(spec: ClipSpec) -> None:
    subtask = spec.subtasks[0]
    recording = record(spec.playback.recording.scene, [replace(subtask, slippery=True).stage])
    assert not stays_in_hand(recording, subtask)
    assert not is_done(recording, subtask, len(recording.states) - 1)


def test_the_same_plan_gives_the_same_states(spec: ClipSpec) -> None:
    subtask = spec.subtasks[0]
    again = record(spec.playback.recording.scene, [subtask.stage])
    assert np.array_equal(again.states, spec.playback.recording.states)
    assert again.touching_throughout == spec.playback.recording.touching_throughout


def test_an_intangible_object_is_passed_through_and_stays(spec: ClipSpec) -> None:
    subtask, other = spec.subtasks[0], spec.sampled.setup.bystanders[0]
    through = replace(subtask, waypoint=(*other.at, subtask.obj.half_height_m + 0.02), lift=0.05)
    recording = record(spec.playback.recording.scene, [through.stage], intangible=[other.name])
    assert np.allclose(recording.pose(-1, other.name), recording.pose(0, other.name), atol=1e-3)
    assert not any(
        other.name in pair and "table" not in pair for pairs in recording.touching_sometime for pair in pairs
    )


def test_phases_follow_each_other_and_name_what_they_are_about(spec: ClipSpec) -> None:
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    names = [phase.name for phase in recording.phases]
    assert names == ["approach", "descend", "grasp", "carry", "release", "retreat"]
    assert {(phase.obj, phase.goal) for phase in recording.phases} == {(subtask.obj.name, subtask.goal.name)}
    assert [phase.first for phase in recording.phases] == sorted(phase.first for phase in recording.phases)
    assert recording.phase_at(recording.phases[3].first).name == "carry"
    assert recording.phase_at(recording.phases[3].first - 1).name == "grasp"


def test_a_place_out_of_reach_raises(spec: ClipSpec) -> None:
    scene = spec.playback.recording.scene
    with pytest.raises(OutOfReach, match="cannot reach"):
        record(scene, [stage_of(Move(0.5, (2.0, 0.0, 0.2)))])


def test_a_path_around_a_place_keeps_its_distance(spec: ClipSpec) -> None:
    scene = spec.playback.recording.scene
    start, end, middle = (0.5, 0.0, 0.2), (0.4, -0.1, 0.2), (0.4, 0.0)
    recording = record(scene, [stage_of(Move(0.8, start), Move(1.0, end, around=middle, phase="carry"), Move(0.1))])
    data = mujoco.MjData(scene.model)
    tools = []
    for state in recording.states[recording.phases[0].first + 1 :]:
        data.qpos[:] = state
        mujoco.mj_kinematics(scene.model, data)
        tools.append(data.site(f"{scene.sides[0]}tool").xpos.copy())
    away = np.array(tools)[:, :2] - middle
    assert np.allclose(np.linalg.norm(away, axis=1), 0.1, atol=1e-3)
    angles = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    assert (np.diff(angles) < 1e-3).all(), "the shorter way"
    assert np.allclose(tools[-1], end, atol=1e-3)


def test_a_diverging_simulation_raises_and_prints_nothing(spec: ClipSpec, capfd: pytest.CaptureFixture[str]) -> None:
    scene, subtask = spec.playback.recording.scene, spec.subtasks[0]
    broken = copy(scene.model)
    broken.opt.gravity[:] = 1e12
    with pytest.raises(UnstableSimulation):
        record(replace(scene, model=broken), [subtask.stage])
    assert capfd.readouterr() == ("", "")


def stage_of(*moves: Move) -> ArmStage:
    return ArmStage("", lambda scene, state: moves)


def test_a_stage_is_planned_from_where_things_are_when_it_begins(spec: ClipSpec) -> None:
    subtask = spec.subtasks[0]
    back = replace(subtask, goal=replace(subtask.goal, at=(0.45, -0.25)), number=1)
    recording = record(spec.playback.recording.scene, [subtask.stage, back.stage])
    first, second = recording.stage_ends
    assert is_done(recording, subtask, first - 1)
    assert second == len(recording.states)
    assert stays_in_hand(recording, back), "it takes the object from the goal of the first"
    assert {phase.subtask for phase in recording.phases if phase.first >= first} == {1}


@pytest.mark.parametrize("fps", [10, 13, 16])
def test_a_recording_has_a_state_for_every_frame_of_its_rate(spec: ClipSpec, fps: int) -> None:
    recording = record(spec.playback.recording.scene, [stage_of(Move(2.0))], fps=fps)
    assert len(recording.states) == 2 * fps
