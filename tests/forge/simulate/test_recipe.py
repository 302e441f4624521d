"""simulate.yaml and the taxonomy it speaks in."""

from itertools import combinations, pairwise
from pathlib import Path
from string import Formatter
from typing import get_args

import numpy as np
import pytest
from pydantic import ValidationError

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.forge.simulate.clip_spec import MAKES, tell
from robogaze.forge.simulate.recipe import (
    Doing,
    Links,
    SeverityRule,
    SimulatedFault,
    SimulationConfig,
    Surface,
    World,
    load_recipe,
)
from robogaze.forge.simulate.scene import build
from robogaze.forge.simulate.surfaces import SURFACES
from robogaze.forge.simulate.tasks import MoveJob
from robogaze.forge.simulate.things import SimulatedThing

WORDS = {"thing", "goal", "into", "hand", "phase", "Phase", "a_thing", "other", "a_other", "part", "asked"}


def names_in(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def test_every_type_of_the_taxonomy_can_be_made(recipe: SimulationConfig, domain: Domain) -> None:
    assert set(recipe.types) == set(domain.types)


def test_everything_that_is_to_be_made_is_known(recipe: SimulationConfig) -> None:
    assert {one.make for one in (*recipe.faults, *recipe.clean)} <= MAKES
    assert {fault.make for fault in recipe.seconds} == set(recipe.second)


def test_secondary_dimensions_and_tasks_of_a_fault_exist(recipe: SimulationConfig, domain: Domain) -> None:
    for fault in recipe.faults:
        assert set(fault.secondary) <= set(domain.dimensions) - {domain.dimension_of[fault.type]}, fault.make
    for one in (*recipe.faults, *recipe.clean):
        assert set(one.tasks) <= set(recipe.tasks), one.make


def test_a_sentence_names_only_what_it_can_be_told(recipe: SimulationConfig) -> None:
    for fault in recipe.faults:
        assert names_in(fault.description) | names_in(fault.to_see) <= WORDS, fault.make
    for said in recipe.phases.values():
        assert names_in(said) <= {"hand", "thing", "goal"}


def test_worlds_share_no_surroundings_and_are_parts_of_all_there_is(recipe: SimulationConfig) -> None:
    everything = World()
    for name in set(World.model_fields) - {"things"}:
        whole, parts = getattr(everything, name), [getattr(world, name) for world in recipe.worlds.values()]
        if isinstance(whole[0], str):
            assert all(set(part) <= set(whole) for part in parts), name
            assert all(not set(one) & set(other) for one, other in combinations(parts, 2)), name
        else:
            assert all(whole[0] <= low < high <= whole[1] for low, high in parts), name
            assert all(one[1] <= other[0] for one, other in pairwise(sorted(parts))), name


def test_there_is_a_world_whose_things_are_in_no_other(recipe: SimulationConfig) -> None:
    *others, last = recipe.worlds.values()
    assert last.things
    assert not set(last.things).intersection(*(world.things for world in others))


def test_a_world_has_its_own_things_and_goals_and_the_same_fixtures(recipe: SimulationConfig) -> None:
    world = World(things=("cup", "book", "plate", "pad"))
    there = recipe.within(world)
    assert (set(there.things), set(there.goals)) == ({"cup", "book"}, {"plate", "pad"})
    assert there.tasks["place"].things == ("cup",)
    assert there.tasks["stack"].goals == ("book",)
    assert there.tasks["open"] == recipe.tasks["open"]
    assert recipe.within(World()) == recipe


@pytest.mark.parametrize(
    ("things", "told"),
    [
        (("cup", "teapot"), "no thing or goal teapot"),
        (("bottle", "plate"), "name at least two things and two goals"),
        (("bottle", "ball", "plate", "basket"), "nothing is left for the task two"),
    ],
)
def test_a_world_with_nothing_for_a_task_is_refused(
    recipe: SimulationConfig, things: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ValidationError, match=f"worlds.bare.things: .*{told}"):
        recipe.with_(worlds={"bare": World(things=things)})


def test_a_task_that_names_what_is_not_there_is_refused(recipe: SimulationConfig) -> None:
    place = recipe.tasks["place"].with_(things=("cube", "teapot"))
    with pytest.raises(ValidationError, match=r"tasks\.place: there is no teapot; there are: ball, "):
        recipe.with_(tasks={"place": place})
    with pytest.raises(ValidationError, match=r"tasks\.open: there is no drawer"):
        recipe.with_(fixtures={})


def test_a_clip_of_a_world_has_its_things_only(recipe: SimulationConfig) -> None:
    world = recipe.world("fifth")
    story = tell(recipe, Doing(make="plain", tasks=("place",)), world, np.random.default_rng(2))
    kinds = {thing.kind for thing in story.cast.setting.things}
    assert kinds <= set(world.things)


def test_every_surface_and_every_link_can_be_drawn(recipe: SimulationConfig) -> None:
    kinds = {name: World.model_fields[name].default for name in ("links", "tables", "walls")}
    assert set(get_args(Links)) == set(kinds["links"])
    assert set(get_args(Surface)) == {*kinds["tables"], *kinds["walls"]}
    for links in kinds["links"]:
        build([], {"": (1.0, 0.0, 0.0)}, World(links=(links,)), np.random.default_rng(0))
    for surface in get_args(Surface):
        picture = SURFACES[surface](np.array([0.4, 0.5, 0.6]), np.random.default_rng(0))
        assert picture.shape[:2] == (512, 512)
        assert picture.std() > 0


def test_every_shape_a_task_names_is_there(recipe: SimulationConfig) -> None:
    for task in recipe.tasks.values():
        assert set(task.things) <= set(recipe.things if task.goals else recipe.fixtures)
        assert set(task.goals) <= {*recipe.goals, *recipe.things}


def test_every_phase_of_a_job_has_a_name(recipe: SimulationConfig) -> None:
    shape = recipe.things["cube"]
    thing, goal = (SimulatedThing(name, "cube", shape, (1, 1, 1), (x, 0.0)) for name, x in (("a", 0.3), ("b", 0.5)))
    for manner in ("place", "push"):
        phases = {move.phase for move in MoveJob(thing, goal, "", manner).moves()}
        assert phases <= set(recipe.phases)
    for manner, kind in (
        *(("open", "drawer"), ("close", "drawer")),
        *(("open", "door"), ("close", "door")),
        ("press", "button"),
    ):
        fixture = SimulatedThing("a", kind, recipe.fixtures[kind], (1, 1, 1), (0.4, 0.0), loose=False)
        job = MoveJob(fixture, fixture, "", manner)
        phases = {move.phase for move in job.moves()}
        assert {job.main, job.ending} <= phases <= set(recipe.phases)


def test_pick_and_place_is_the_most_frequent(recipe: SimulationConfig) -> None:
    weights = {name: task.weight for name, task in recipe.tasks.items()}
    assert max(weights, key=lambda name: weights[name]) == "place"
    assert all(weight <= weights["place"] / 4 for name, weight in weights.items() if name != "place")


def test_chosen_tasks_keep_what_can_be_done_in_them_and_in_its_order(recipe: SimulationConfig) -> None:
    only = recipe.only(["press", "push"])
    assert list(only.tasks) == ["push", "press"]
    kept = [fault for fault in recipe.faults if not fault.tasks or {"push", "press"} & {*fault.tasks}]
    assert [(fault.type, fault.make) for fault in only.faults] == [(fault.type, fault.make) for fault in kept]
    assert all(set(one.tasks) <= {"push", "press"} for one in (*only.faults, *only.clean))
    assert {one.make for one in recipe.clean} - {one.make for one in only.clean} == {"grasp_again", "drop", "detour"}
    assert recipe.only([]) is recipe


def test_a_task_that_is_not_there_is_told_the_ones_that_are(recipe: SimulationConfig) -> None:
    with pytest.raises(InputError, match="there is no task 'fold'; these are: place, two, "):
        recipe.only(["place", "fold"])


def test_tasks_in_which_nothing_can_go_wrong_are_refused(recipe: SimulationConfig) -> None:
    right_only = recipe.with_(faults=[fault.with_(tasks=["two"]) for fault in recipe.faults], second=())
    with pytest.raises(InputError, match="there is nothing wrong to be done in push"):
        right_only.only(["push"])


def test_the_first_severity_rule_whose_conditions_hold_decides() -> None:
    fault = fault_with(SeverityRule(level=5, when=("handled", "lasting")), SeverityRule(level=3))
    assert fault.level(["handled", "lasting", "decisive"]) == 5
    assert fault.level(["handled"]) == 3


def test_a_severity_without_a_last_resort_is_refused() -> None:
    with pytest.raises(ValueError, match="the last rule of a severity has no conditions"):
        fault_with(SeverityRule(level=5, when=("handled",)))


def test_a_domain_without_a_recipe_says_which_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").touch()
    with pytest.raises(InputError, match=r"simulate\.yaml does not exist"):
        load_recipe(tmp_path)


def fault_with(*severity: SeverityRule) -> SimulatedFault:
    return SimulatedFault(type="wobble", make="jump", severity=severity, description="It wobbles.", to_see="a wobble")
