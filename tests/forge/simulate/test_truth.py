"""The truth of a clip is its difference from the clean twin."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.accept import faults_of_sight
from robogaze.forge.simulate.behaviours import Course
from robogaze.forge.simulate.camera_edits import SIGHT_EDITS
from robogaze.forge.simulate.clip_spec import PLAYBACK, Story
from robogaze.forge.simulate.draw import Film, PlaybackEdit, Player
from robogaze.forge.simulate.kinematics import Vector
from robogaze.forge.simulate.recipe import SimulatedFault, SimulationConfig
from robogaze.forge.simulate.stage import NoRoom, StagedSetting
from robogaze.forge.simulate.truth import conditions, sight, sight_in_picture

CLEAN = {"change_light", "go_round"}


def with_edit(story: Story, recipe: SimulationConfig, make: str, edit: PlaybackEdit) -> Story:
    fault = next((fault for fault in recipe.faults if fault.make == make), recipe.faults[0])
    film = replace(story.film, edits=(edit,))
    twin = Film(story.film.take, (), story.film.views, story.film.length)
    return replace(story, film=film, twin=twin, fault=fault, make=make, bodies=edit.bodies, facts=edit.facts)


def raised(story: Story, first: int, last: int, by_m: float = 0.05) -> PlaybackEdit:
    """The first bystander is higher for some frames."""
    name = story.cast.setting.others[0].name
    height = story.film.take.scene.place_of(name) + 2

    def state(number: int, whole: Vector) -> Vector:
        whole[height] += by_m if first <= number < last else 0.0
        return whole

    return PlaybackEdit(bodies=(name,), state=state)


def test_a_fault_has_the_frames_that_differ_from_the_twin_and_no_others(
    story: Story, recipe: SimulationConfig, player: Player
) -> None:
    edited = with_edit(story, recipe, "hover", raised(story, 20, 31))
    found = sight(player, edited)
    assert found.frames == tuple(range(20, 31))
    assert found.event == (20,), "it comes about at once, and what follows is its state"
    assert found.bodies == {story.cast.setting.others[0].name}


def test_a_clip_that_is_its_own_twin_has_no_fault(story: Story, recipe: SimulationConfig, player: Player) -> None:
    assert sight(player, with_edit(story, recipe, "hover", PlaybackEdit())).frames == ()


def test_what_an_edit_does_to_another_body_is_turned_down(
    story: Story, recipe: SimulationConfig, player: Player
) -> None:
    edited = replace(with_edit(story, recipe, "hover", raised(story, 20, 31)), bodies=("table",))
    reason = faults_of_sight(edited, player, sight(player, edited))
    assert reason == "more differs from the twin than the edit is about"


def test_a_fault_that_cannot_be_seen_is_turned_down(story: Story, recipe: SimulationConfig, player: Player) -> None:
    tiny = with_edit(story, recipe, "hover", raised(story, 20, 31, by_m=3e-4))
    assert faults_of_sight(tiny, player, sight(player, tiny)) == "the event cannot be told from the twin"
    deep = with_edit(
        story, recipe, "hover", replace(raised(story, 20, 31), bodies=(story.cast.setting.spares[0].name,))
    )
    assert faults_of_sight(deep, player, sight(player, deep)) is not None


def test_a_clip_that_ends_early_goes_wrong_in_the_phase_that_is_broken_off(story: Story, player: Player) -> None:
    carry = next(phase.first for phase in story.film.take.phases if phase.name == "carry")
    cut = replace(
        story,
        film=replace(story.film, length=carry + 5),
        course=Course(story.asked, (story.asked[0].thing.name,), stop_in=("carry", 0.2)),
    )
    assert sight(player, cut).frames == tuple(range(carry, carry + 5))


def test_conditions_say_what_is_affected_and_when(story: Story, recipe: SimulationConfig, player: Player) -> None:
    last = story.film.length
    grasp = next(phase.first for phase in story.film.take.phases if phase.name == "grasp")
    lasting = with_edit(story, recipe, "hover", raised(story, grasp + 1, last))
    assert conditions(lasting, sight(player, lasting)) == ("lasting", "decisive")
    early = sight(player, with_edit(story, recipe, "hover", raised(story, 2, 4)))
    assert conditions(story, early) == ()
    assert conditions(story, replace(early, bodies=frozenset((story.asked[0].thing.name,)))) == ("handled",)


@pytest.mark.parametrize("make", sorted(set(PLAYBACK) - CLEAN - {"swap_marks", "move_by_itself"}))
def test_every_edit_differs_from_the_twin_only_where_it_says(
    make: str, story: Story, stage: StagedSetting, recipe: SimulationConfig, player: Player
) -> None:
    edit = drawn(make, stage)
    edited = with_edit(story, recipe, make, edit)
    noise = np.random.default_rng(0).integers(0, 256, (story.film.length, 64, 96, 3), np.uint8)
    found = sight_in_picture(edited, list(noise)) if edit.on_picture else sight(player, edited)
    assert found.frames
    assert found.frames[0] >= 1, "the clip begins as its twin does"
    if edit.bodies:
        assert found.bodies <= set(edit.bodies)
        assert faults_of_sight(edited, player, found) != "the clip differs from the twin before the onset"


def test_marks_are_exchanged_between_two_arms_only(stage: StagedSetting) -> None:
    with pytest.raises(NoRoom, match="a single arm"):
        PLAYBACK["swap_marks"](stage, np.random.default_rng(0))


def test_what_is_clean_though_unusual_is_an_edit_too() -> None:
    assert set(SIGHT_EDITS) >= CLEAN


def drawn(make: str, stage: StagedSetting) -> PlaybackEdit:
    for seed in range(40):
        try:
            return PLAYBACK[make](stage, np.random.default_rng(seed))
        except NoRoom:
            continue
    raise AssertionError(f"{make} never finds room")


def test_a_fault_of_the_recipe_is_told_in_a_sentence(recipe: SimulationConfig) -> None:
    assert all(isinstance(fault, SimulatedFault) and fault.description.endswith(".") for fault in recipe.faults)
