"""Clips that must not pass."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.accept import faults_of_motion
from robogaze.forge.simulate.audit import DEEPEST_M, audit
from robogaze.forge.simulate.body import FINGERS
from robogaze.forge.simulate.clip_spec import Story
from robogaze.forge.simulate.motion import Take
from robogaze.forge.simulate.recipe import SimulationConfig


def taken(story: Story, take: Take) -> Story:
    """The clean story with another recording."""
    film = replace(story.film, take=take)
    return replace(story, film=film, twin=film)


def test_a_clean_clip_passes_and_the_auditor_finds_nothing(story: Story) -> None:
    assert faults_of_motion(story) is None
    assert audit(story.film.take, story.cast.setting).findings == ()


def test_bodies_in_each_other_are_turned_down(story: Story) -> None:
    depth = story.film.take.depth_m.copy()
    depth[10] = DEEPEST_M * 1.1
    assert faults_of_motion(taken(story, replace(story.film.take, depth_m=depth))) == "penetration"


def test_a_grasp_that_one_finger_leaves_is_turned_down(story: Story) -> None:
    take, job = story.film.take, story.asked[0]
    middle = next(phase.first for phase in take.phases if phase.name == "carry") + 8
    pair = frozenset((job.thing.name, f"{job.side}{FINGERS[0]}"))
    touched = tuple(pairs - {pair} if number == middle else pairs for number, pairs in enumerate(take.touched))
    assert faults_of_motion(taken(story, replace(take, touched=touched))) == "a grasp does not hold"


def test_a_task_that_is_not_done_is_not_clean(story: Story) -> None:
    take, job = story.film.take, story.asked[0]
    states = take.states.copy()
    states[-1, take.scene.place_of(job.thing.name)] += 0.3
    assert faults_of_motion(taken(story, replace(take, states=states))) == "the task is not done in the twin"


def test_a_label_that_says_undone_wants_it_undone(story: Story, recipe: SimulationConfig) -> None:
    undone = next(fault for fault in recipe.faults if fault.done is False)
    assert faults_of_motion(replace(story, fault=undone)) == "the outcome is not what the label says"


def test_a_bystander_that_moves_is_turned_down(story: Story) -> None:
    take = moved(story, story.cast.setting.others[0].name, axis=0, by_m=np.linspace(0, 0.05, story.film.length))
    assert faults_of_motion(taken(story, take)) == "a bystander is touched"


def test_the_auditor_finds_a_jump(story: Story) -> None:
    take = moved(story, story.cast.setting.others[0].name, axis=1, by_m=0.2 * (np.arange(story.film.length) > 30))
    found = audit(take, story.cast.setting)
    assert found.findings == ("jump",)
    assert found.step_m == pytest.approx(0.2, abs=0.01)


def test_the_auditor_finds_what_hangs_in_the_air(story: Story) -> None:
    take, name = story.film.take, story.cast.setting.others[0].name
    off = tuple(
        frozenset(pair for pair in pairs if name not in pair) if 10 <= number < 15 else pairs
        for number, pairs in enumerate(take.touched)
    )
    found = audit(replace(take, touched=off), story.cast.setting)
    assert found.findings == ("without support",)
    assert found.unheld_frames == 5


def test_what_falls_does_not_hang(story: Story) -> None:
    name = story.cast.setting.others[0].name
    seconds = np.arange(story.film.length) / 16
    take = moved(story, name, axis=2, by_m=-0.5 * 9.81 * np.minimum(seconds, 0.2) ** 2)
    nothing = tuple(frozenset(pair for pair in pairs if name not in pair) for pairs in take.touched[:3])
    found = audit(replace(take, touched=(*nothing, *take.touched[3:])), story.cast.setting)
    assert found.unheld_frames <= 1


def moved(story: Story, thing: str, axis: int, by_m: np.ndarray) -> Take:
    take = story.film.take
    states = take.states.copy()
    states[:, take.scene.place_of(thing) + axis] += by_m
    return replace(take, states=states)
