"""Requests spread ways, negatives and lengths evenly."""

from collections import Counter
from typing import get_args

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.forge.simulate import EDITS
from robogaze.forge.simulate.request_sampler import RequestSampler
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig, Way


def sampler(config: SimulationConfig, difficulty: str | None, clips: int = 60) -> RequestSampler:
    return RequestSampler(config, difficulty, (8, 60), (10, 16), clips, np.random.default_rng(0))


def test_lengths_are_spread_over_their_range(config: SimulationConfig) -> None:
    requests = sampler(config, None)
    lengths = sorted(requests.clean(number).seconds or 0 for number in range(60))
    assert lengths[0] < 8.5
    assert lengths[-1] > 56
    assert np.ptp(np.diff(np.log(lengths))) == pytest.approx(0, abs=1e-9)


def test_two_arms_get_the_shortest_clip(config: SimulationConfig) -> None:
    fault = next(fault for fault in config.faults if fault.arms == 2)
    assert (sampler(config, "hard").faulty(fault).seconds or 0) < 8.5


def test_every_way_is_used_and_only_where_it_is_possible(config: SimulationConfig) -> None:
    requests = sampler(config, "hard")
    used: Counter[str] = Counter()
    for fault in config.faults:
        request = requests.faulty(fault)
        assert 1 <= len(request.ways) <= 3
        assert request.ways <= set(fault.ways)
        assert not request.ways >= {"short", "gradual"}
        used.update(request.ways)
    assert set(used) == set(get_args(Way))


def test_several_faults_are_of_different_types_and_the_others_are_edits(config: SimulationConfig) -> None:
    requests = sampler(config, "hard")
    found = [requests.faulty(fault) for fault in config.faults * 4]
    several = [request for request in found if "several" in request.ways]
    assert several
    for request in several:
        assert 2 <= len(request.variations) <= 3
        types = [fault.type for fault in request.variations if isinstance(fault, SimulatedFault)]
        assert len(set(types)) == len(request.variations)
        assert all(fault.make in EDITS for fault in request.variations[1:])
    assert all(len(request.variations) == 1 for request in found if "several" not in request.ways)


def test_a_single_fault_is_never_called_several(config: SimulationConfig) -> None:
    """With `--only` or `--types`, there may be no other fault for the clip."""
    alone = config.with_faults(["vanish"])
    requests = sampler(alone, "hard")
    found = [requests.faulty(alone.faults[0]) for _ in range(20)]
    assert {len(request.variations) for request in found} == {1}
    assert "several" not in {way for request in found for way in request.ways}
    assert all(request.ways for request in found)


def test_a_hard_clean_clip_has_hard_negatives(config: SimulationConfig) -> None:
    requests, negatives = sampler(config, "hard"), config.difficulty("hard").negatives
    found = [requests.clean(number) for number in range(20)]
    assert {variation.make for request in found for variation in request.variations} == {
        variation.make for variation in negatives.values()
    }
    assert not any(isinstance(variation, SimulatedFault) for request in found for variation in request.variations)
