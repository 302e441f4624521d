"""Drawers, doors and buttons: moved by what touches them, and done when the joint says so."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.forge.simulate.accept import faults_of_motion
from robogaze.forge.simulate.behaviours import COURSES
from robogaze.forge.simulate.body import HAND_PARTS
from robogaze.forge.simulate.clip_spec import Story, tell
from robogaze.forge.simulate.draw import Player
from robogaze.forge.simulate.edits import move_by_itself
from robogaze.forge.simulate.fixtures import pivot, turned
from robogaze.forge.simulate.motion import Take, record
from robogaze.forge.simulate.recipe import Doing, SimulationConfig, World
from robogaze.forge.simulate.stage import NoRoom, StagedSetting
from robogaze.forge.simulate.tasks import MoveJob, all_done, is_done

FRONTS = ("open", "close", "open_door", "close_door")
WORKED = (*FRONTS, "press")
SMALL = (96, 64)


@pytest.fixture(scope="module")
def stories(recipe: SimulationConfig) -> dict[str, Story]:
    """A clean clip of each task in which another fixture stands by."""
    return {name: beside_another(recipe.only([name])) for name in WORKED}


def beside_another(recipe: SimulationConfig) -> Story:
    drawn = (tell(recipe, Doing(make="plain"), World(), np.random.default_rng([1, seed])) for seed in range(20))
    return next(story for story in drawn if story.cast.setting.idle_goals and not turned_away(story))


def turned_away(story: Story) -> bool:
    return (faults_of_motion(story) or "").endswith(" is turned away from the camera")


def touched(take: Take, job: MoveJob) -> list[int]:
    """The frames in which the hand is at the fixture of a job."""
    pairs = {frozenset((job.thing.name, f"{job.side}{part}")) for part in HAND_PARTS}
    return [number for number, found in enumerate(take.touched) if pairs & found]


@pytest.mark.parametrize("task", WORKED)
def test_a_fixture_is_worked_by_touch_alone_and_the_clip_is_clean(stories: dict[str, Story], task: str) -> None:
    story = stories[task]
    take, job = story.film.take, story.asked[0]
    assert faults_of_motion(story) is None
    assert not is_done(take, job, 0)
    at = touched(take, job)
    assert not is_done(take, job, at[len(at) // 2]), "the hand is still at it"
    moved = np.flatnonzero(np.abs(np.diff(take.way(job.thing.name))) > 5e-4)
    assert at[0] - 1 <= moved[0], "it does not begin to move before it is touched"
    untouched = record(take.scene, {})
    assert not is_done(untouched, job, len(untouched.states) - 1)


@pytest.mark.parametrize("task", WORKED)
def test_to_work_the_other_one_or_none_is_not_what_was_asked_for(stories: dict[str, Story], task: str) -> None:
    story = stories[task]
    for make in ("take_other", "give_up"):
        course = COURSES[make](story.cast.setting, np.random.default_rng(0))
        take = record(story.film.take.scene, {story.asked[0].side: course.jobs[0].moves()})
        last = len(take.states) - 1
        assert not all_done(take, story.asked, last), make
        assert all_done(take, course.jobs, last) == (make == "take_other")


@pytest.mark.parametrize("task", FRONTS)
def test_a_front_that_is_moved_by_a_part_of_its_way_is_neither_open_nor_shut(
    stories: dict[str, Story], task: str
) -> None:
    story = stories[task]
    course = COURSES["fall_short"](story.cast.setting, np.random.default_rng(0))
    take = record(story.film.take.scene, {story.asked[0].side: course.jobs[0].moves()})
    way = take.way(story.asked[0].thing.name)
    assert abs(way[-1] - way[0]) > 0.01
    assert not all_done(take, story.asked, len(take.states) - 1)


@pytest.mark.parametrize("task", ["open_door", "close_door"])
def test_a_door_turns_about_its_hinge_by_what_its_handle_goes(stories: dict[str, Story], task: str) -> None:
    take, door = stories[task].film.take, stories[task].asked[0].thing
    model = take.scene.model
    data = mujoco.MjData(model)
    hinges, turns = [], []
    for state in take.states:
        data.qpos[:] = state
        mujoco.mj_kinematics(model, data)
        hinges.append(data.joint(door.name).xanchor.copy())
        turns.append(2 * np.arctan2(data.body(door.name).xquat[3], data.body(door.name).xquat[0]))
    assert np.allclose(hinges, (*(pivot(door) or ()), 0.0), atol=1e-9)
    assert np.allclose(
        np.unwrap(turns) - turns[0], [turned(door, way) - turned(door, door.out_m) for way in take.way(door.name)]
    )
    assert np.ptp(take.way(door.name)) > 0.1


def test_two_doors_side_by_side_are_hinged_at_their_outer_ends(stories: dict[str, Story]) -> None:
    for task in ("open_door", "close_door"):
        setting = stories[task].cast.setting
        own, other = setting.jobs[0].thing, setting.idle_goals[0]
        assert own.hinge == -other.hinge
        hinges = np.array([pivot(own), pivot(other)])
        width = 2 * own.shape.size[0]
        assert 2 * width < np.linalg.norm(hinges[0] - hinges[1]) < 2.1 * width


def test_a_hand_beside_the_handle_of_a_door_leaves_it_shut(stories: dict[str, Story]) -> None:
    story = stories["open_door"]
    course = COURSES["miss"](story.cast.setting, np.random.default_rng(0))
    take = record(story.film.take.scene, {story.asked[0].side: course.jobs[0].moves()})
    for door in (story.asked[0].thing, story.cast.setting.idle_goals[0]):
        assert take.moved_m(door.name).max() < 1e-3
    assert not touched(take, story.asked[0])


def test_a_lamp_is_lit_while_its_button_is_down(stories: dict[str, Story]) -> None:
    story = stories["press"]
    take, job = story.film.take, story.asked[0]
    lit = [number for number, state in enumerate(take.states) if take.scene.lit_lamps(state)]
    assert lit
    assert lit == list(range(lit[0], lit[-1] + 1))
    assert set(lit) <= set(touched(take, job))
    lamp = f"{job.thing.name} case"
    with Player(take.scene.model, SMALL) as player:
        before, on = (player.look(story.film, number, story.eye) for number in (lit[0] - 1, lit[0]))
    assert lamp in before.differences(on)


@pytest.mark.parametrize("task", FRONTS)
def test_a_front_that_cannot_be_seen_is_turned_down(stories: dict[str, Story], task: str) -> None:
    story = stories[task]
    behind = replace(story.eye, azimuth=story.eye.azimuth + 180)
    film = replace(story.film, views={"main": behind})
    assert turned_away(replace(story, film=film, twin=film))


@pytest.mark.parametrize("task", WORKED)
def test_another_fixture_that_is_stirred_is_turned_down(stories: dict[str, Story], task: str) -> None:
    story = stories[task]
    take, idle = story.film.take, story.cast.setting.idle_goals[0]
    states = take.states.copy()
    states[-1, take.scene.place_of(idle.name)] += 0.01 / idle.lever_m
    film = replace(story.film, take=replace(take, states=states))
    assert faults_of_motion(replace(story, film=film, twin=film)) == "a bystander is touched"


@pytest.mark.parametrize("task", ["close", "close_door"])
def test_a_front_that_moves_by_itself_is_the_idle_one(stories: dict[str, Story], task: str) -> None:
    story = stories[task]
    stage = StagedSetting(story.cast.setting, story.film.take, story.film.views)
    edit = move_by_itself(stage, np.random.default_rng(0))
    idle = story.cast.setting.idle_goals[0]
    assert edit.bodies == (idle.name,)
    place, states = stage.take.scene.place_of(idle.name), stage.take.states
    edited = np.array([edit.state(number, state.copy()) for number, state in enumerate(states)])
    assert np.flatnonzero((edited != states).any(axis=0)).tolist() == [place]
    way = edited[:, place]
    assert way[0] == states[0, place]
    assert way[-1] * idle.lever_m < 0.4 * idle.way_m < way[0] * idle.lever_m, "it stood open and shuts"
    alone = replace(stage, setting=replace(story.cast.setting, idle_goals=()))
    with pytest.raises(NoRoom, match="no other fixture"):
        move_by_itself(alone, np.random.default_rng(0))
