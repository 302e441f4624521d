"""Clips of several tasks, with faults that are hard to see."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate.arm import OutOfReach
from robogaze.forge.simulate.checks import motion_problem
from robogaze.forge.simulate.clip_spec import ClipSpec, sample_clip
from robogaze.forge.simulate.recorded_setup import RecordedSetup
from robogaze.forge.simulate.scene_sampler import ClipRequest, DrawRejected
from robogaze.forge.simulate.simulation_config import SimulationConfig, Variation, WorldConfig
from robogaze.forge.simulate.state_edits import jump


def accepted(config: SimulationConfig, request: ClipRequest, first_seed: int = 0) -> ClipSpec:
    """The first draw that passes the checks of the motion; draws before `first_seed` are known not to."""
    for seed in range(first_seed, 30):
        try:
            spec = sample_clip(config, request, WorldConfig(), np.random.default_rng(seed))
        except (DrawRejected, OutOfReach):
            continue
        if motion_problem(spec) is None:
            return spec
    raise AssertionError("every draw was rejected")


def fault(config: SimulationConfig, make: str) -> Variation:
    return next(fault for fault in config.faults if fault.make == make)


def test_a_long_clip_does_task_after_task(config: SimulationConfig) -> None:
    spec = accepted(config, ClipRequest((Variation(make="plain"),), seconds=20.0, fps=10), first_seed=1)
    assert spec.playback.frame_count == pytest.approx(200, abs=10)
    assert len(spec.sampled.tasks) >= 3
    assert spec.sampled.instruction.startswith("First, ")
    assert spec.sampled.instruction.count("Then, ") == len(spec.sampled.tasks) - 2
    assert "Finally, " in spec.sampled.instruction


def test_only_the_task_of_a_fault_of_behaviour_fails(config: SimulationConfig) -> None:
    spec = accepted(config, ClipRequest((fault(config, "let_go_beside"),), seconds=18.0, fps=10))
    (placed,) = spec.faults
    assert placed.subtask == spec.sampled.parts[spec.sampled.main][0]
    assert spec.played != spec.subtasks
    assert [number for number, (a, b) in enumerate(zip(spec.played, spec.subtasks, strict=True)) if a != b] == [
        placed.subtask
    ]


def test_hard_negatives_are_done_in_different_tasks(config: SimulationConfig) -> None:
    hard = config.difficulty("hard").negatives
    spec = accepted(config, ClipRequest((hard["retry"], hard["fall"]), seconds=18.0, fps=10))
    assert sorted(spec.unusual) == ["drop", "retry"]
    assert spec.faults == ()
    assert spec.twin.recording is spec.playback.recording
    assert sum(subtask.retry_offset is not None for subtask in spec.played) == 1


def test_a_fault_in_one_view_has_a_grid(config: SimulationConfig) -> None:
    hard = config.difficulty("hard")
    request = ClipRequest((fault(config, "vanish"),), frozenset(("one_view",)), hard, 10.0, 10)
    spec = accepted(config, request, first_seed=1)
    assert len(spec.playback.views) == 3
    assert spec.faults[0].edit is not None
    assert spec.faults[0].edit.view in spec.playback.views


def test_clutter_adds_objects(config: SimulationConfig) -> None:
    hard = config.difficulty("hard")
    request = ClipRequest((Variation(make="plain"),), frozenset(("clutter",)), hard, 10.0, 10)
    assert 5 <= len(accepted(config, request, first_seed=1).sampled.setup.bystanders) <= 8


def test_a_short_fault_is_short_and_a_gradual_one_slow(recorded: RecordedSetup, config: SimulationConfig) -> None:
    hard, rng = config.difficulty("hard"), np.random.default_rng(0)
    short = replace(recorded, ways=frozenset(("short",)), difficulty=hard)
    for _ in range(20):
        first, last = short.interval(rng, 4, 60)
        assert 2 <= last - first <= hard.longest_s * recorded.recording.fps
    gradual = replace(recorded, ways=frozenset(("gradual",)), difficulty=hard)
    assert gradual.ramp(rng, 4, 8) >= hard.gradual_s[0] * recorded.recording.fps - 1
    assert gradual.interval(rng, 0, 100)[1] == 100
    with pytest.raises(DrawRejected, match="too short"):
        gradual.interval(rng, 0, 60)


def test_a_short_jump_goes_back(recorded: RecordedSetup, config: SimulationConfig) -> None:
    hard = config.difficulty("hard")
    short = replace(recorded, ways=frozenset(("short",)), difficulty=hard)
    first, last = jump(short, np.random.default_rng(3)).frames
    assert 0 < last - first <= hard.longest_s * recorded.recording.fps
