"""Drawers, doors and buttons move by contact, and their joint decides when a task is done."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate import BEHAVIOURS
from robogaze.forge.simulate.arm import HAND_PARTS
from robogaze.forge.simulate.checks import motion_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, sample_clip
from robogaze.forge.simulate.fixtures import pivot, turned
from robogaze.forge.simulate.playback import Renderer
from robogaze.forge.simulate.recorded_setup import RecordedSetup
from robogaze.forge.simulate.recording import ArmStage, Move, Recording, record
from robogaze.forge.simulate.scene_sampler import ClipRequest, DrawRejected
from robogaze.forge.simulate.simulation_config import SimulationConfig, Variation, WorldConfig
from robogaze.forge.simulate.state_edits import move_by_itself
from robogaze.forge.simulate.tasks import Subtask, is_done

FRONTS = ("open", "close", "open_door", "close_door")
OPERATED = (*FRONTS, "press")
SMALL = (96, 64)


@pytest.fixture(scope="module")
def specs(config: SimulationConfig) -> dict[str, ClipSpec]:
    """A clean clip of each task in which another fixture stands by."""
    return {name: beside_another(config.with_tasks([name])) for name in OPERATED}


def beside_another(config: SimulationConfig) -> ClipSpec:
    drawn = (
        sample_clip(config, ClipRequest((Variation(make="plain"),)), WorldConfig(), np.random.default_rng([1, seed]))
        for seed in range(20)
    )
    return next(spec for spec in drawn if spec.sampled.setup.unused_goals and not turned_away(spec))


def turned_away(spec: ClipSpec) -> bool:
    return (motion_problem(spec) or "").endswith(" is turned away from the camera")


def contact_frames(recording: Recording, subtask: Subtask) -> list[int]:
    """The frames in which the hand is at the fixture of a subtask."""
    pairs = {frozenset((subtask.obj.name, f"{subtask.side}{part}")) for part in HAND_PARTS}
    return [number for number, found in enumerate(recording.touching_sometime) if pairs & found]


@pytest.mark.parametrize("task", OPERATED)
def test_a_fixture_moves_by_contact_alone_and_the_clip_is_clean(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    assert motion_problem(spec) is None
    assert not is_done(recording, subtask, 0)
    at = contact_frames(recording, subtask)
    assert not is_done(recording, subtask, at[len(at) // 2]), "the hand is still at it"
    moved = np.flatnonzero(np.abs(np.diff(recording.offsets_m(subtask.obj.name))) > 5e-4)
    assert at[0] - 1 <= moved[0], "it does not begin to move before it is touched"
    untouched = record(recording.scene, [ArmStage(recording.scene.sides[0], lambda scene, state: [Move(1.0)])])
    assert not is_done(untouched, subtask, len(untouched.states) - 1)


@pytest.mark.parametrize("task", OPERATED)
def test_operating_the_other_fixture_or_none_does_not_do_the_task(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    for make in ("take_other", "give_up"):
        behaviour = BEHAVIOURS.load(make)(spec.sampled.setup, np.random.default_rng(0))
        recording = record(spec.playback.recording.scene, [behaviour.subtasks[0].stage])
        last = len(recording.states) - 1
        assert not is_done(recording, spec.subtasks[0], last), make
        assert is_done(recording, behaviour.subtasks[0], last) == (make == "take_other")


@pytest.mark.parametrize("task", FRONTS)
def test_a_front_moved_part_of_its_travel_is_neither_open_nor_shut(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    behaviour = BEHAVIOURS.load("fall_short")(spec.sampled.setup, np.random.default_rng(0))
    recording = record(spec.playback.recording.scene, [behaviour.subtasks[0].stage])
    way = recording.offsets_m(spec.subtasks[0].obj.name)
    assert abs(way[-1] - way[0]) > 0.01
    assert not is_done(recording, spec.subtasks[0], len(recording.states) - 1)


@pytest.mark.parametrize("task", ["open_door", "close_door"])
def test_a_door_turns_about_its_hinge_by_the_travel_of_its_handle(specs: dict[str, ClipSpec], task: str) -> None:
    recording, door = specs[task].playback.recording, specs[task].subtasks[0].obj
    model = recording.scene.model
    data = mujoco.MjData(model)
    hinges, turns = [], []
    for state in recording.states:
        data.qpos[:] = state
        mujoco.mj_kinematics(model, data)
        hinges.append(data.joint(door.name).xanchor.copy())
        turns.append(2 * np.arctan2(data.body(door.name).xquat[3], data.body(door.name).xquat[0]))
    assert np.allclose(hinges, (*(pivot(door) or ()), 0.0), atol=1e-9)
    assert np.allclose(
        np.unwrap(turns) - turns[0],
        [turned(door, way) - turned(door, door.offset_m) for way in recording.offsets_m(door.name)],
    )
    assert np.ptp(recording.offsets_m(door.name)) > 0.1


def test_two_doors_side_by_side_are_hinged_at_their_outer_ends(specs: dict[str, ClipSpec]) -> None:
    for task in ("open_door", "close_door"):
        setup = specs[task].sampled.setup
        own, other = setup.subtasks[0].obj, setup.unused_goals[0]
        assert own.hinge == -other.hinge
        hinges = np.array([pivot(own), pivot(other)])
        width = 2 * own.shape.size[0]
        assert 2 * width < np.linalg.norm(hinges[0] - hinges[1]) < 2.1 * width


def test_a_hand_next_to_the_handle_of_a_door_leaves_it_shut(specs: dict[str, ClipSpec]) -> None:
    spec = specs["open_door"]
    behaviour = BEHAVIOURS.load("miss")(spec.sampled.setup, np.random.default_rng(0))
    recording = record(spec.playback.recording.scene, [behaviour.subtasks[0].stage])
    for door in (spec.subtasks[0].obj, spec.sampled.setup.unused_goals[0]):
        assert recording.moved_m(door.name).max() < 1e-3
    assert not contact_frames(recording, spec.subtasks[0])


def test_a_lamp_is_lit_while_its_button_is_down(specs: dict[str, ClipSpec]) -> None:
    spec = specs["press"]
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    lit = [number for number, state in enumerate(recording.states) if recording.scene.lit_lamp_geoms(state)]
    assert lit
    assert lit == list(range(lit[0], lit[-1] + 1))
    assert set(lit) <= set(contact_frames(recording, subtask))
    lamp = f"{subtask.obj.name} case"
    with Renderer(recording.scene.model, SMALL) as renderer:
        before, on = (
            renderer.frame_state(spec.playback, number, spec.playback.first_view) for number in (lit[0] - 1, lit[0])
        )
    assert lamp in before.differences(on)


@pytest.mark.parametrize("task", ["open", "close_door"])
def test_a_front_turned_away_is_rejected(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    behind = replace(spec.first_camera, azimuth=spec.first_camera.azimuth + 180)
    playback = replace(spec.playback, views={"main": behind})
    assert turned_away(replace(spec, playback=playback, twin=playback))


@pytest.mark.parametrize("task", ["open", "close_door", "press"])
def test_an_idle_fixture_that_moves_is_rejected(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    recording, idle = spec.playback.recording, spec.sampled.setup.unused_goals[0]
    states = recording.states.copy()
    states[-1, recording.scene.qpos_start(idle.name)] += 0.01 / idle.lever_m
    playback = replace(spec.playback, recording=replace(recording, states=states))
    assert motion_problem(replace(spec, playback=playback, twin=playback)) == "a bystander is touched"


@pytest.mark.parametrize("task", ["close", "close_door"])
def test_a_front_that_moves_by_itself_is_the_idle_one(specs: dict[str, ClipSpec], task: str) -> None:
    spec = specs[task]
    playback = spec.playback
    recorded = RecordedSetup(spec.sampled.setup, playback.recording, playback.views, playback.frame_count)
    edit = move_by_itself(recorded, np.random.default_rng(0))
    idle = spec.sampled.setup.unused_goals[0]
    assert edit.bodies == (idle.name,)
    place, states = recorded.recording.scene.qpos_start(idle.name), recorded.recording.states
    edited = states.copy()
    for number in range(*edit.frames):
        edit.state(number, edited[number])
    assert np.flatnonzero((edited != states).any(axis=0)).tolist() == [place]
    way = edited[:, place]
    assert way[0] == states[0, place]
    assert way[-1] * idle.lever_m < 0.4 * idle.travel_m < way[0] * idle.lever_m, "it stood open and shuts"
    alone = replace(recorded, setup=replace(spec.sampled.setup, unused_goals=()))
    with pytest.raises(DrawRejected, match="no other fixture"):
        move_by_itself(alone, np.random.default_rng(0))
