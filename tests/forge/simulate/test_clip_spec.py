"""Spans are the differences between a clip and its clean twin."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate import EDITS
from robogaze.forge.simulate.arm import Vector
from robogaze.forge.simulate.behaviours import Behaviour
from robogaze.forge.simulate.checks import visibility_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, compare_pictures, compare_with_twin, conditions
from robogaze.forge.simulate.playback import Playback, PlaybackEdit, Renderer
from robogaze.forge.simulate.scene_sampler import DrawRejected, RecordedSetup
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig

CLEAN = {"change_light", "go_round"}


def with_edit(spec: ClipSpec, recipe: SimulationConfig, make: str, edit: PlaybackEdit) -> ClipSpec:
    fault = next((fault for fault in recipe.faults if fault.make == make), recipe.faults[0])
    playback = replace(spec.playback, edits=(edit,))
    twin = Playback(spec.playback.recording, (), spec.playback.views, spec.playback.frame_count)
    return replace(
        spec,
        playback=playback,
        twin=twin,
        fault=fault,
        make=make,
        bodies=edit.bodies,
        description_fields=edit.description_fields,
    )


def raised(spec: ClipSpec, first: int, last: int, by_m: float = 0.05) -> PlaybackEdit:
    """The first bystander is higher for some frames."""
    name = spec.sampled.setup.bystanders[0].name
    height = spec.playback.recording.scene.qpos_start(name) + 2

    def state(number: int, whole: Vector) -> Vector:
        whole[height] += by_m if first <= number < last else 0.0
        return whole

    return PlaybackEdit(bodies=(name,), state=state)


def test_a_fault_has_exactly_the_frames_that_differ_from_the_twin(
    spec: ClipSpec, recipe: SimulationConfig, renderer: Renderer
) -> None:
    edited = with_edit(spec, recipe, "hover", raised(spec, 20, 31))
    found = compare_with_twin(renderer, edited)
    assert found.shown == tuple(range(20, 31))
    assert found.developing == (20,), "it develops at once; the rest is its result"
    assert found.bodies == {spec.sampled.setup.bystanders[0].name}


def test_a_clip_that_is_its_own_twin_has_no_fault(spec: ClipSpec, recipe: SimulationConfig, renderer: Renderer) -> None:
    assert compare_with_twin(renderer, with_edit(spec, recipe, "hover", PlaybackEdit())).shown == ()


def test_an_edit_that_changes_another_body_is_rejected(
    spec: ClipSpec, recipe: SimulationConfig, renderer: Renderer
) -> None:
    edited = replace(with_edit(spec, recipe, "hover", raised(spec, 20, 31)), bodies=("table",))
    reason = visibility_problem(edited, renderer, compare_with_twin(renderer, edited))
    assert reason == "bodies differ from the twin that the edit does not name"


def test_an_invisible_fault_is_rejected(spec: ClipSpec, recipe: SimulationConfig, renderer: Renderer) -> None:
    tiny = with_edit(spec, recipe, "hover", raised(spec, 20, 31, by_m=3e-4))
    assert (
        visibility_problem(tiny, renderer, compare_with_twin(renderer, tiny))
        == "the event is not visibly different from the twin"
    )
    deep = with_edit(
        spec, recipe, "hover", replace(raised(spec, 20, 31), bodies=(spec.sampled.setup.hidden_objects[0].name,))
    )
    assert visibility_problem(deep, renderer, compare_with_twin(renderer, deep)) is not None


def test_the_fault_of_a_clip_that_ends_early_is_the_phase_that_is_cut(spec: ClipSpec, renderer: Renderer) -> None:
    carry = next(phase.first for phase in spec.playback.recording.phases if phase.name == "carry")
    cut = replace(
        spec,
        playback=replace(spec.playback, frame_count=carry + 5),
        behaviour=Behaviour(spec.subtasks, (spec.subtasks[0].obj.name,), cut_in=("carry", 0.2)),
    )
    assert compare_with_twin(renderer, cut).shown == tuple(range(carry, carry + 5))


def test_conditions_of_severity(spec: ClipSpec, recipe: SimulationConfig, renderer: Renderer) -> None:
    last = spec.playback.frame_count
    grasp = next(phase.first for phase in spec.playback.recording.phases if phase.name == "grasp")
    lasting = with_edit(spec, recipe, "hover", raised(spec, grasp + 1, last))
    assert conditions(lasting, compare_with_twin(renderer, lasting)) == ("lasting", "decisive")
    early = compare_with_twin(renderer, with_edit(spec, recipe, "hover", raised(spec, 2, 4)))
    assert conditions(spec, early) == ()
    assert conditions(spec, replace(early, bodies=frozenset((spec.subtasks[0].obj.name,)))) == ("handled",)


@pytest.mark.parametrize("make", sorted(set(EDITS.names()) - CLEAN - {"swap_marks", "move_by_itself"}))
def test_every_edit_changes_only_the_bodies_it_names(
    make: str, spec: ClipSpec, recorded: RecordedSetup, recipe: SimulationConfig, renderer: Renderer
) -> None:
    edit = sample_edit(make, recorded)
    edited = with_edit(spec, recipe, make, edit)
    noise = np.random.default_rng(0).integers(0, 256, (spec.playback.frame_count, 64, 96, 3), np.uint8)
    found = compare_pictures(edited, list(noise)) if edit.edits_picture else compare_with_twin(renderer, edited)
    assert found.shown
    assert found.shown[0] >= 1, "the clip starts like its twin"
    if edit.bodies:
        assert found.bodies <= set(edit.bodies)
        assert visibility_problem(edited, renderer, found) != "the clip differs from the twin before the onset"


def test_marks_are_exchanged_between_two_arms_only(recorded: RecordedSetup) -> None:
    with pytest.raises(DrawRejected, match="a single arm"):
        EDITS.load("swap_marks")(recorded, np.random.default_rng(0))


def test_clean_variations_are_edits_too() -> None:
    assert set(EDITS.names()) >= CLEAN


def sample_edit(make: str, recorded: RecordedSetup) -> PlaybackEdit:
    for seed in range(40):
        try:
            return EDITS.load(make)(recorded, np.random.default_rng(seed))
        except DrawRejected:
            continue
    raise AssertionError(f"{make}: every draw was rejected")


def test_every_fault_is_described_in_a_sentence(recipe: SimulationConfig) -> None:
    assert all(isinstance(fault, SimulatedFault) and fault.description.endswith(".") for fault in recipe.faults)
