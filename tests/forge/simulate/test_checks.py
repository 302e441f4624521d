"""Clips that must be rejected."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.arm import FINGERS
from robogaze.forge.simulate.checks import DEEPEST_M, audit, motion_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.simulation_config import SimulationConfig


def with_recording(spec: ClipSpec, recording: Recording) -> ClipSpec:
    """The clean clip with another recording."""
    playback = replace(spec.playback, recording=recording)
    return replace(spec, playback=playback, twin=playback)


def test_a_clean_clip_is_accepted_and_the_audit_finds_nothing(spec: ClipSpec) -> None:
    assert motion_problem(spec) is None
    assert audit(spec.playback.recording, spec.sampled.setup).findings == ()


def test_overlapping_bodies_are_rejected(spec: ClipSpec) -> None:
    depth = spec.playback.recording.penetration_m.copy()
    depth[10] = DEEPEST_M * 1.1
    assert motion_problem(with_recording(spec, replace(spec.playback.recording, penetration_m=depth))) == "penetration"


def test_a_grasp_that_one_finger_leaves_is_rejected(spec: ClipSpec) -> None:
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    middle = next(phase.first for phase in recording.phases if phase.name == "carry") + 8
    pair = frozenset((subtask.obj.name, f"{subtask.side}{FINGERS[0]}"))
    contacts = tuple(
        pairs - {pair} if number == middle else pairs for number, pairs in enumerate(recording.touching_sometime)
    )
    assert (
        motion_problem(with_recording(spec, replace(recording, touching_sometime=contacts))) == "a grasp does not hold"
    )


def test_a_clean_clip_does_its_task(spec: ClipSpec) -> None:
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    states = recording.states.copy()
    states[-1, recording.scene.qpos_start(subtask.obj.name)] += 0.3
    assert motion_problem(with_recording(spec, replace(recording, states=states))) == "the task is not done in the twin"


def test_a_label_of_an_undone_task_rejects_a_done_one(spec: ClipSpec, recipe: SimulationConfig) -> None:
    undone = next(fault for fault in recipe.faults if fault.task_done is False)
    placed = PlacedFault(undone, (), {}, frozenset(), behaviour=spec.behaviours[0])
    assert motion_problem(replace(spec, faults=(placed,))) == "the result does not match the label"


def test_a_bystander_that_moves_is_rejected(spec: ClipSpec) -> None:
    recording = moved(
        spec, spec.sampled.setup.bystanders[0].name, axis=0, by_m=np.linspace(0, 0.05, spec.playback.frame_count)
    )
    assert motion_problem(with_recording(spec, recording)) == "a bystander is touched"


def test_the_audit_finds_a_jump(spec: ClipSpec) -> None:
    recording = moved(
        spec, spec.sampled.setup.bystanders[0].name, axis=1, by_m=0.2 * (np.arange(spec.playback.frame_count) > 30)
    )
    found = audit(recording, spec.sampled.setup)
    assert found.findings == ("jump",)
    assert found.step_m == pytest.approx(0.2, abs=0.01)


def test_the_audit_finds_an_object_in_the_air(spec: ClipSpec) -> None:
    recording, name = spec.playback.recording, spec.sampled.setup.bystanders[0].name
    off = tuple(
        frozenset(pair for pair in pairs if name not in pair) if 10 <= number < 15 else pairs
        for number, pairs in enumerate(recording.touching_sometime)
    )
    found = audit(replace(recording, touching_sometime=off), spec.sampled.setup)
    assert found.findings == ("without support",)
    assert found.unheld_frames == 5


def test_a_falling_object_is_not_in_the_air(spec: ClipSpec) -> None:
    name = spec.sampled.setup.bystanders[0].name
    seconds = np.arange(spec.playback.frame_count) / 16
    recording = moved(spec, name, axis=2, by_m=-0.5 * 9.81 * np.minimum(seconds, 0.2) ** 2)
    nothing = tuple(frozenset(pair for pair in pairs if name not in pair) for pairs in recording.touching_sometime[:3])
    found = audit(
        replace(recording, touching_sometime=(*nothing, *recording.touching_sometime[3:])), spec.sampled.setup
    )
    assert found.unheld_frames <= 1


def moved(spec: ClipSpec, obj: str, axis: int, by_m: np.ndarray) -> Recording:
    recording = spec.playback.recording
    states = recording.states.copy()
    states[:, recording.scene.qpos_start(obj) + axis] += by_m
    return replace(recording, states=states)
