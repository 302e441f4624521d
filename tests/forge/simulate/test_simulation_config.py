"""simulate.yaml and its taxonomy."""

import re
import shutil
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from domains.folders import change

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.domains import Domain
from robogaze.domains.resources import resource_folder
from robogaze.errors import DomainError, InputError
from robogaze.forge.simulate import BEHAVIOURS, EDITS, load_config
from robogaze.forge.simulate.load_config import load_simulation_config
from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.scene import SURFACES, build_scene
from robogaze.forge.simulate.scene_sampler import ClipRequest, sample_scene
from robogaze.forge.simulate.simulation_config import (
    FILE,
    Links,
    SeverityRule,
    SimulatedFault,
    SimulationConfig,
    Surface,
    Variation,
    Way,
    WorldConfig,
)
from robogaze.forge.simulate.tasks import Subtask
from robogaze.registry import Registry

BUILT_IN = resource_folder("taxonomy") / "robot"
FITTED = ("first", "second", "third", "fourth", "fifth")


def test_every_type_of_the_taxonomy_can_be_simulated(config: SimulationConfig, domain: Domain) -> None:
    assert set(config.types) == set(domain.types)


def test_every_make_is_an_edit_or_a_behaviour(config: SimulationConfig) -> None:
    assert all(EDITS.load(name) for name in EDITS.names())
    assert all(BEHAVIOURS.load(name) for name in BEHAVIOURS.names())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    make: hover\n", "    make: hovr\n", "make: 'hovr' is not in EDITS or BEHAVIOURS; register it in "),
        ("    make: hover\n", "    make: hovr\n", "; did you mean hover?"),
        ("- {make: move_lamp}", "- {make: move_lmap}", "'move_lmap' is not in EDITS or BEHAVIOURS"),
        ("- type: object_floating", "- type: object_flaoting", "type: 'object_flaoting' is not in the taxonomy"),
        ("    type: task_incompletion", "    type: incomplete", "outcomes.not_done.type: 'incomplete' is not in"),
        ("secondary: [visual_quality]", "secondary: [visual]", "'visual' is not a dimension of the domain"),
        ("secondary: [visual_quality]", "secondary: [task_progress]", "or is the fault's own"),
        ("since: hold, after", "since: hodl, after", "act: there is no phase 'hodl'; there are: approach, "),
        ("tasks: [place, two, careful]", "tasks: [plcae, two]", "tasks: there is no task 'plcae'; there are: "),
        ("{make: retry, tasks: [place, stack], c", "{make: retry, tasks: [plcae], c", "retry.tasks: there is no"),
        ("second_faults: [defocus", "second_faults: [defcous", "second_faults: there is no fault 'defcous'"),
        ("sides: {left: blue", "sides: {left: bleu", "sides: there is no colour 'bleu'; there are: black, "),
        ("[cube, block, can, cup,", "[cub, block, can,", "tasks.push.objects: there is no shape 'cub'; there are: "),
        ("    goals: [mat, pad]", "    goals: [mta]", "tasks.push.goals: there is no shape 'mta'; there are: "),
        ("    objects: [bottle, cup,", "    objects: [bottel, cup,", "fifth.objects: there is no object or goal"),
        (
            "    objects: [bottle, cup, carton, book, basket,",
            "    objects: [cup,",
            "a world needs at least two objects and two",
        ),
        (
            "    objects: [bottle, cup, carton, book, basket, plate, pad]",
            "    objects: [ball, slab, tray, bowl]",
            "worlds.fifth.objects: no object or no goal of this world is left for tasks.two",
        ),
        ("there is air under the {object}", "there is air under the {objekt}", "evidence: unknown field {objekt}"),
        ("{Phase}, the {object} rises", "{Phase}, the {object rises", "description: is not a valid format string"),
        ("on the {goal1}.", "on the {goal2}.", "tasks.stack.instruction: unknown field {goal2}; known: goal1, "),
        ("while the {hand} holds", "while the {other} holds", "phases.hold: unknown field {other}; known: goal, "),
        ('"Then, {instruction}"', '"Then, {sentence}"', "chain.next: unknown field {sentence}; known: instruction"),
        ("{side} {part}", "{side} {limb}", "arm_of_side: unknown field {limb}; known: part, side"),
        ("The clip ends while the gripper", "The clip ends {phase} while the gripper", "held.description: unknown"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    text, folder = (BUILT_IN / FILE).read_text(), changed(tmp_path, old, new)
    with pytest.raises(DomainError, match=re.escape(message)) as error:
        load_simulation_config(folder)
    assert error.value.line == 1 + text[: text.index(old)].count("\n")


def test_a_change_of_another_package_may_add_placeholders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {name: path for name, path in EDITS.own.items() if name != "hover"}
    monkeypatch.setattr(Registry, "_others", lambda registry: {"hover": None})
    monkeypatch.setattr(load_config, "EDITS", replace(EDITS, own=own))
    load_simulation_config(changed(tmp_path, "there is air under the {object}", "there is air under the {objekt}"))


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """A copy of the domain's folder with one text of simulate.yaml replaced."""
    folder = shutil.copytree(BUILT_IN, tmp_path / BUILT_IN.name)
    change(folder / FILE, old, new)
    return folder


def test_worlds_are_disjoint_subsets_of_all_surroundings(config: SimulationConfig) -> None:
    everything, worlds = WorldConfig(), [config.worlds[name] for name in FITTED]
    for name in set(WorldConfig.model_fields) - {"objects"}:
        whole, parts = getattr(everything, name), [getattr(world, name) for world in worlds]
        if isinstance(whole[0], str):
            assert all(set(part) <= set(whole) for part in parts), name
            assert all(not set(part) & set(other) for part, other in combinations(parts, 2)), name
        else:
            assert all(whole[0] <= low < high <= whole[1] for low, high in parts), name
            assert all(lower[1] <= upper[0] for lower, upper in pairwise(sorted(parts))), name


def test_the_world_for_measuring_shares_neither_arms_nor_surfaces(config: SimulationConfig) -> None:
    measured = config.worlds["sixth"]
    for name in ("links", "tables", "walls"):
        others = {part for world in [WorldConfig(), *map(config.world, FITTED)] for part in getattr(world, name)}
        assert not others & {*getattr(measured, name)}, name


def test_one_world_has_objects_that_no_other_has(config: SimulationConfig) -> None:
    *bystanders, last = (config.worlds[name] for name in FITTED)
    assert last.objects
    assert not set(last.objects).intersection(*(world.objects for world in bystanders))


def test_a_world_has_its_own_objects_and_goals_and_the_same_fixtures(config: SimulationConfig) -> None:
    world = WorldConfig(objects=("cup", "book", "plate", "pad"))
    chosen = config.in_world(world)
    assert (set(chosen.objects), set(chosen.goals)) == ({"cup", "book"}, {"plate", "pad"})
    assert chosen.tasks["place"].objects == ("cup",)
    assert chosen.tasks["stack"].goals == ("book",)
    assert chosen.tasks["open"] == config.tasks["open"]
    assert config.in_world(WorldConfig()) == config


@pytest.mark.parametrize("name", [*FITTED, "sixth"])
def test_every_world_has_enough_for_every_task(config: SimulationConfig, name: str) -> None:
    world = config.world(name)
    assert set(world.objects) <= {*config.objects, *config.goals}
    chosen = config.in_world(world)
    assert min(len(chosen.objects), len(chosen.goals)) >= 2
    for task in (*chosen.tasks.values(), chosen.chain.carry):
        known = {*chosen.objects, *chosen.goals} if task.goals else {*chosen.fixtures}
        assert task.objects
        assert {*task.objects, *task.goals} <= known


def test_a_scene_of_a_world_has_only_its_objects(config: SimulationConfig) -> None:
    world = config.world("fifth")
    request = ClipRequest((Variation(make="plain", tasks=("place",)),))
    sampled = sample_scene(config.in_world(world), request, np.random.default_rng(2))
    assert {obj.kind for obj in sampled.setup.objects} <= set(world.objects)


def test_every_surface_and_every_link_style_can_be_built(config: SimulationConfig) -> None:
    kinds = {name: WorldConfig.model_fields[name].default for name in ("links", "tables", "walls")}
    measured = config.worlds["sixth"]
    assert set(get_args(Links)) == {*kinds["links"], *measured.links}
    assert set(get_args(Surface)) == {*kinds["tables"], *kinds["walls"], *measured.tables, *measured.walls}
    for links in get_args(Links):
        build_scene([], {"": (1.0, 0.0, 0.0)}, WorldConfig(links=(links,)), np.random.default_rng(0))
    for surface in get_args(Surface):
        tone = SURFACES[surface](np.random.default_rng(0))
        assert tone.shape == (512, 512)
        assert tone.std() > 0


def test_every_phase_of_a_subtask_has_a_description(config: SimulationConfig) -> None:
    shape = config.objects["cube"]
    obj, goal = (SimulatedObject(name, "cube", shape, (1, 1, 1), (x, 0.0)) for name, x in (("a", 0.3), ("b", 0.5)))
    for action in ("place", "push"):
        phases = {move.phase for move in Subtask(obj, goal, "", action).moves()}
        assert phases <= set(config.phases)
    operated = (("open", "drawer"), ("close", "drawer"), ("open", "door"), ("close", "door"), ("press", "button"))
    for action, kind in operated:
        fixture = SimulatedObject("a", kind, config.fixtures[kind], (1, 1, 1), (0.4, 0.0), movable=False)
        subtask = Subtask(fixture, fixture, "", action)
        phases = {move.phase for move in subtask.moves()}
        assert {subtask.main_phase, subtask.ending_phase} <= phases <= set(config.phases)


def test_selected_tasks_keep_their_variations_in_order(config: SimulationConfig) -> None:
    only = config.with_tasks(["press", "push"])
    assert list(only.tasks) == ["push", "press"]
    kept = [fault for fault in config.faults if not fault.tasks or {"push", "press"} & {*fault.tasks}]
    assert [(fault.type, fault.make) for fault in only.faults] == [(fault.type, fault.make) for fault in kept]
    assert all(set(variation.tasks) <= {"push", "press"} for variation in (*only.faults, *only.clean))
    assert {variation.make for variation in config.clean} - {variation.make for variation in only.clean} == {
        "grasp_again",
        "retry",
        "drop",
        "detour",
    }
    assert config.with_tasks([]) is config


def test_the_first_severity_rule_whose_conditions_hold_decides() -> None:
    fault = fault_with(SeverityRule(level=5, when=("handled", "lasting")), SeverityRule(level=3))
    assert fault.level(["handled", "lasting", "decisive"]) == 5
    assert fault.level(["handled"]) == 3


def test_a_severity_without_an_unconditional_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="the last rule of a severity must have no conditions"):
        fault_with(SeverityRule(level=5, when=("handled",)))


def test_a_domain_without_simulate_yaml_is_an_error_with_the_missing_file(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").touch()
    with pytest.raises(InputError, match=r"simulate\.yaml does not exist"):
        load_simulation_config(tmp_path)


def fault_with(*severity: SeverityRule) -> SimulatedFault:
    return SimulatedFault(type="wobble", make="jump", severity=severity, description="It wobbles.", evidence="a wobble")


def test_a_fault_of_behaviour_has_an_act_unless_it_is_measured(config: SimulationConfig) -> None:
    measured = {"brush_past", "pass_through"}
    for fault in config.faults:
        if fault.make in BEHAVIOURS:
            assert (fault.act is None) == (fault.make in measured), fault.make
            assert fault.act is None or {fault.act.since, fault.act.until or ""} <= {*config.phases}, fault.make


def test_every_way_of_a_difficulty_is_possible_for_some_fault(config: SimulationConfig) -> None:
    assert {way for fault in config.faults for way in fault.ways} == set(get_args(Way))


def test_an_unknown_difficulty_is_answered_with_the_known_ones(config: SimulationConfig) -> None:
    with pytest.raises(InputError, match="unknown difficulty 'fiendish'; known: hard"):
        config.difficulty("fiendish")
