"""A fault shows where the clip is rendered differently without it; its annotation covers what people mark."""

from dataclasses import replace

import numpy as np
import pytest
from making import make_clip

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.forge.simulate import EDITS
from robogaze.forge.simulate.arm import Vector
from robogaze.forge.simulate.checks import visibility_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_event import MeasuredFault, conditions, event_of
from robogaze.forge.simulate.fault_frames import FaultFrames, act_frames, changes_picture, measure
from robogaze.forge.simulate.playback import PlaybackEdit, Renderer
from robogaze.forge.simulate.recorded_setup import RecordedSetup
from robogaze.forge.simulate.scene_sampler import DrawRejected
from robogaze.forge.simulate.simulation_config import Act, SeverityRule, SimulatedFault, SimulationConfig

CLEAN = {"change_light", "move_lamp", "go_round"}
FAULT = SimulatedFault(type="wobble", make="hover", severity=(SeverityRule(level=3),), description="d", evidence="e")


def with_edit(spec: ClipSpec, edit: PlaybackEdit) -> ClipSpec:
    """The clean clip with a fault that an edit makes."""
    placed = PlacedFault(FAULT, edit.bodies, edit.description_fields, frozenset(), edit=edit)
    return replace(spec, playback=replace(spec.playback, edits=(edit,)), faults=(placed,))


def compared(spec: ClipSpec, renderer: Renderer) -> FaultFrames:
    return measure(renderer, spec, spec.faults[0])


def problem(spec: ClipSpec, renderer: Renderer) -> str | None:
    return visibility_problem(spec, spec.faults[0], renderer, compared(spec, renderer))


def raised(spec: ClipSpec, first: int, last: int, by_m: float = 0.05) -> PlaybackEdit:
    """The first bystander is higher for some frames."""
    name = spec.sampled.setup.bystanders[0].name
    height = spec.playback.recording.scene.qpos_start(name) + 2

    def state(number: int, whole: Vector) -> None:
        whole[height] += by_m

    return PlaybackEdit((first, last), bodies=(name,), state=state)


def test_a_fault_has_exactly_the_frames_that_differ_without_it(spec: ClipSpec, renderer: Renderer) -> None:
    found = compared(with_edit(spec, raised(spec, 20, 31)), renderer)
    assert found.shown == tuple(range(20, 31))
    assert found.developing == (20,), "it develops at once; the rest is its result"
    assert found.bodies == {spec.sampled.setup.bystanders[0].name}


def test_an_edit_that_does_nothing_has_no_frames(spec: ClipSpec, renderer: Renderer) -> None:
    assert compared(with_edit(spec, PlaybackEdit()), renderer).shown == ()


def test_an_edit_that_changes_another_body_is_rejected(spec: ClipSpec, renderer: Renderer) -> None:
    edited = with_edit(spec, replace(raised(spec, 20, 31), bodies=("table",)))
    assert problem(edited, renderer) == "bodies that the edit does not name differ from the twin"


def test_an_invisible_fault_is_rejected(spec: ClipSpec, renderer: Renderer) -> None:
    tiny = with_edit(spec, raised(spec, 20, 31, by_m=3e-4))
    assert problem(tiny, renderer) == "the event shows no visible difference from the twin"
    hidden = spec.sampled.setup.hidden_objects[0].name
    assert problem(with_edit(spec, replace(raised(spec, 20, 31), bodies=(hidden,))), renderer)


def test_each_fault_is_measured_without_the_others(spec: ClipSpec, renderer: Renderer) -> None:
    first, second = raised(spec, 20, 25), raised(spec, 30, 40)
    both = with_edit(spec, first)
    both = replace(both, playback=replace(both.playback, edits=(first, second)))
    assert compared(both, renderer).shown == tuple(range(20, 25))


@pytest.mark.parametrize("make", ["fade_in", "fade_out", "morph"])
def test_what_fades_develops_as_long_as_its_opacity_changes(
    make: str, spec: ClipSpec, recorded: RecordedSetup, renderer: Renderer
) -> None:
    found = compared(with_edit(spec, sample_edit(make, recorded)), renderer)
    assert 12 <= len(found.developing) <= 40


LASTING = FaultFrames(tuple(range(50, 100)), tuple(range(50, 55)), frozenset())
PASSING = FaultFrames(tuple(range(50, 80)), tuple(range(50, 55)), frozenset())
BRIEF = FaultFrames((50, 51, 52), (50,), frozenset())


@pytest.mark.parametrize(
    ("covers", "frames", "wanted"),
    [
        ("appearance", LASTING, (50, 60)),  # until it is plain, half a second after it is complete
        ("appearance", BRIEF, (50, 53)),  # all of what comes and goes at once
        ("change", LASTING, (50, 55)),
        ("change", PASSING, (50, 55)),  # without the way back
        ("act", LASTING, (50, 55)),  # its result lasts
        ("act", PASSING, (50, 80)),
        ("state", LASTING, (50, 100)),
        ("state", PASSING, (50, 80)),
        ("outcome", PASSING, (54, 100)),
    ],
)
def test_an_annotation_covers_what_people_mark(covers: str, frames: FaultFrames, wanted: tuple[int, int]) -> None:
    assert frames.covered(covers, fps=10, frame_count=100, plain_s=0.5) == tuple(range(*wanted))


def test_an_act_is_given_by_the_phases_of_its_subtask(spec: ClipSpec) -> None:
    recording, count = spec.playback.recording, spec.playback.frame_count
    first = {phase.name: phase.first for phase in recording.phases}
    grasp = act_frames(recording, Act(since="grasp", until="carry"), 0, count)
    assert grasp == tuple(range(first["grasp"], first["carry"]))
    later = act_frames(recording, Act(since="grasp", until="carry", plus_s=0.5), 0, count)
    assert later == tuple(range(first["grasp"], first["carry"] + 8))
    assert act_frames(recording, Act(since="release", after=True), 0, count) == tuple(range(first["retreat"], count))
    assert act_frames(recording, Act(since="approach", most_s=1.0), 0, first["carry"]) == tuple(
        range(first["carry"] - 16, first["carry"])
    )


def test_a_behaviour_without_an_act_is_an_error(spec: ClipSpec, renderer: Renderer) -> None:
    with pytest.raises(InputError, match="the fault hover is a behaviour and needs 'act'"):
        measure(renderer, spec, PlacedFault(FAULT, (), {}, frozenset()))


def test_a_placeholder_that_a_fault_does_not_fill_in_is_an_error(
    config: SimulationConfig, domain: Domain, spec: ClipSpec
) -> None:
    fault = next(fault for fault in config.faults if fault.make == "hover").with_(evidence="the {asked} is in the air")
    placed = PlacedFault(fault, (), {}, frozenset(), edit=PlaybackEdit())
    measured = MeasuredFault(placed, FaultFrames((1,), (1,), frozenset()), ())
    message = "hover: unknown field {asked} in 'the {asked} is in the air'; known: Phase, an_object, "
    with pytest.raises(InputError, match=message):
        event_of(config, domain, make_clip(), spec, measured, 1)


def test_conditions_of_severity(spec: ClipSpec, renderer: Renderer) -> None:
    last = spec.playback.frame_count
    grasp = spec.playback.recording.first_frame("grasp", 0) or 0
    lasting = with_edit(spec, raised(spec, grasp + 1, last))
    assert conditions(lasting, compared(lasting, renderer)) == ("lasting", "decisive")
    early = compared(with_edit(spec, raised(spec, 2, 4)), renderer)
    assert conditions(spec, early) == ()
    assert conditions(spec, replace(early, bodies=frozenset((spec.subtasks[0].obj.name,)))) == ("handled",)


@pytest.mark.parametrize("make", sorted(set(EDITS.names()) - CLEAN - {"swap_marks", "move_by_itself"}))
def test_every_edit_changes_only_the_bodies_it_names(
    make: str, spec: ClipSpec, recorded: RecordedSetup, renderer: Renderer
) -> None:
    edit = sample_edit(make, recorded)
    edited = with_edit(spec, edit)
    assert 1 <= edit.frames[0] < edit.frames[1] <= spec.playback.frame_count, "the clip starts without it"
    if edit.edits_picture:
        noise = np.random.default_rng(0).integers(0, 256, (spec.playback.frame_count, 64, 96, 3), np.uint8)
        changed = [number for number, frame in enumerate(noise) if changes_picture(edited, edit, number, frame)]
        assert set(changed) <= set(range(*edit.frames))
        assert changed
        return
    found = compared(edited, renderer)
    assert found.shown
    assert set(found.shown) <= set(range(*edit.frames))
    if edit.bodies:
        assert found.bodies <= set(edit.bodies)
        assert problem(edited, renderer) != "the clip differs from the twin before the onset"


def sample_edit(make: str, recorded: RecordedSetup) -> PlaybackEdit:
    for seed in range(40):
        try:
            return EDITS.load(make)(recorded, np.random.default_rng(seed))
        except DrawRejected:
            continue
    raise AssertionError(f"{make}: every draw was rejected")
