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
    contacts = list(recording.touching_sometime)
    contacts[(recording.first_frame("carry", 0) or 0) + 8] -= {
        frozenset((subtask.obj.name, f"{subtask.side}{FINGERS[0]}"))
    }
    left = with_recording(spec, replace(recording, touching_sometime=tuple(contacts)))
    assert motion_problem(left) == "a grasp does not hold"


def test_a_clean_clip_does_its_task(spec: ClipSpec) -> None:
    recording, subtask = spec.playback.recording, spec.subtasks[0]
    states = recording.states.copy()
    states[-1, recording.scene.qpos_start(subtask.obj.name)] += 0.3
    assert motion_problem(with_recording(spec, replace(recording, states=states))) == "the task is not done in the twin"


def test_a_label_of_an_undone_task_rejects_a_done_one(spec: ClipSpec, config: SimulationConfig) -> None:
    undone = next(fault for fault in config.faults if fault.task_done is False)
    placed = PlacedFault(undone, (), {}, frozenset(), behaviour=spec.behaviours[0])
    assert motion_problem(replace(spec, faults=(placed,))) == "the result does not match the label"


def test_a_bystander_that_moves_is_rejected(spec: ClipSpec) -> None:
    recording = moved(spec, axis=0, by_m=np.linspace(0, 0.05, spec.playback.frame_count))
    assert motion_problem(with_recording(spec, recording)) == "a bystander is touched"


def test_the_audit_finds_a_jump(spec: ClipSpec) -> None:
    recording = moved(spec, axis=1, by_m=0.2 * (np.arange(spec.playback.frame_count) > 30))
    found = audit(recording, spec.sampled.setup)
    assert found.findings == ("jump",)
    assert found.step_m == pytest.approx(0.2, abs=0.01)


def test_the_audit_finds_an_object_in_the_air(spec: ClipSpec) -> None:
    found = audit(untouched(spec, spec.playback.recording, range(10, 15)), spec.sampled.setup)
    assert found.findings == ("without support",)
    assert found.unheld_frames == 5


def test_a_falling_object_is_not_in_the_air(spec: ClipSpec) -> None:
    seconds = np.arange(spec.playback.frame_count) / 16
    recording = moved(spec, axis=2, by_m=-0.5 * 9.81 * np.minimum(seconds, 0.2) ** 2)
    assert audit(untouched(spec, recording, range(3)), spec.sampled.setup).unheld_frames <= 1


def moved(spec: ClipSpec, axis: int, by_m: np.ndarray) -> Recording:
    """The recording in which the first bystander is moved along an axis in each frame."""
    recording = spec.playback.recording
    states = recording.states.copy()
    states[:, recording.scene.qpos_start(spec.sampled.setup.bystanders[0].name) + axis] += by_m
    return replace(recording, states=states)


def untouched(spec: ClipSpec, recording: Recording, frames: range) -> Recording:
    """The recording in which nothing touches the first bystander in some frames."""
    name = spec.sampled.setup.bystanders[0].name
    contacts = list(recording.touching_sometime)
    for number in frames:
        contacts[number] = frozenset(pair for pair in contacts[number] if name not in pair)
    return replace(recording, touching_sometime=tuple(contacts))
