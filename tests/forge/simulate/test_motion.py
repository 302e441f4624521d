"""Recordings: physics that can be trusted, and the same every time."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.accept import held
from robogaze.forge.simulate.clip_spec import Story
from robogaze.forge.simulate.kinematics import OutOfReach
from robogaze.forge.simulate.motion import Move, Unstable, record
from robogaze.forge.simulate.tasks import all_done, is_done


def test_a_thing_is_brought_to_its_goal_by_friction_alone(story: Story) -> None:
    take, job = story.film.take, story.asked[0]
    model = take.scene.model
    assert set(model.eq_type) == {mujoco.mjtEq.mjEQ_JOINT}, "fingers are coupled, and nothing else is tied to anything"
    assert held(take, job)
    assert is_done(take, job, len(take.states) - 1)
    assert not is_done(take, job, len(take.states) // 2)


def test_slippery_fingers_do_not_hold(story: Story) -> None:
    job = story.asked[0]
    take = record(story.film.take.scene, {job.side: job.moves()}, slippery=True)
    assert not held(take, job)
    assert not all_done(take, story.asked, len(take.states) - 1)


def test_the_same_plan_gives_the_same_states(story: Story) -> None:
    job = story.asked[0]
    again = record(story.film.take.scene, {job.side: job.moves()})
    assert np.array_equal(again.states, story.film.take.states)
    assert again.touching == story.film.take.touching


def test_a_ghost_is_passed_through_and_stays(story: Story) -> None:
    job, ghost = story.asked[0], story.cast.setting.others[0]
    through = replace(job, via=(*ghost.at, job.thing.half_m + 0.02), lift=0.05)
    take = record(story.film.take.scene, {job.side: through.moves()}, ghosts=[ghost.name])
    assert np.allclose(take.pose(-1, ghost.name), take.pose(0, ghost.name), atol=1e-3)
    assert not any(ghost.name in pair and "table" not in pair for pairs in take.touched for pair in pairs)


def test_phases_follow_each_other_and_name_what_they_are_about(story: Story) -> None:
    take, job = story.film.take, story.asked[0]
    names = [phase.name for phase in take.phases]
    assert names == ["approach", "descend", "grasp", "carry", "release", "retreat"]
    assert {(phase.thing, phase.goal) for phase in take.phases} == {(job.thing.name, job.goal.name)}
    assert [phase.first for phase in take.phases] == sorted(phase.first for phase in take.phases)
    assert take.phase_at(take.phases[3].first).name == "carry"
    assert take.phase_at(take.phases[3].first - 1).name == "grasp"


def test_a_place_out_of_reach_is_refused(story: Story) -> None:
    scene = story.film.take.scene
    with pytest.raises(OutOfReach, match="cannot reach"):
        record(scene, {scene.sides[0]: [Move(0.5, (2.0, 0.0, 0.2))]})


def test_a_way_round_a_place_keeps_its_distance_from_it(story: Story) -> None:
    scene = story.film.take.scene
    start, end, middle = (0.5, 0.0, 0.2), (0.4, -0.1, 0.2), (0.4, 0.0)
    take = record(scene, {scene.sides[0]: [Move(0.8, start), Move(1.0, end, around=middle, phase="carry"), Move(0.1)]})
    data = mujoco.MjData(scene.model)
    tools = []
    for state in take.states[take.phases[0].first + 1 :]:
        data.qpos[:] = state
        mujoco.mj_kinematics(scene.model, data)
        tools.append(data.site(f"{scene.sides[0]}tool").xpos.copy())
    away = np.array(tools)[:, :2] - middle
    assert np.allclose(np.linalg.norm(away, axis=1), 0.1, atol=1e-3)
    angles = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    assert (np.diff(angles) < 1e-3).all(), "the shorter way"
    assert np.allclose(tools[-1], end, atol=1e-3)


def test_a_simulation_that_breaks_down_is_turned_down_and_says_nothing(
    story: Story, capfd: pytest.CaptureFixture[str]
) -> None:
    scene, job = story.film.take.scene, story.asked[0]
    broken = copy(scene.model)
    broken.opt.gravity[:] = 1e12
    with pytest.raises(Unstable):
        record(replace(scene, model=broken), {job.side: job.moves()})
    assert capfd.readouterr() == ("", "")
