"""A recorded clip and a renderer that tests share.

The simulator is imported late: if it is missing, each test module is skipped with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from robogaze.domains import Domain, load_domain
from robogaze.errors import RobogazeError

if TYPE_CHECKING:
    from robogaze.forge.simulate.clip_spec import ClipSpec
    from robogaze.forge.simulate.generate import SimulationContext
    from robogaze.forge.simulate.playback import Renderer
    from robogaze.forge.simulate.recorded_setup import RecordedSetup
    from robogaze.forge.simulate.simulation_config import SimulationConfig

SMALL = (96, 64)


@pytest.fixture(scope="session")
def domain() -> Domain:
    return load_domain("robot")


@pytest.fixture(scope="session")
def config() -> SimulationConfig:
    from robogaze.forge.simulate.load_config import load_simulation_config

    return load_simulation_config("robot")


@pytest.fixture(scope="session")
def spec(config: SimulationConfig) -> ClipSpec:
    """A clean clip: an object is picked up and placed, with a bystander."""
    from robogaze.forge.simulate.clip_spec import sample_clip
    from robogaze.forge.simulate.scene_sampler import ClipRequest
    from robogaze.forge.simulate.simulation_config import Variation, WorldConfig

    only = config.with_(tasks={"place": config.tasks["place"]})
    return sample_clip(only, ClipRequest((Variation(make="plain"),)), WorldConfig(), np.random.default_rng(4))


@pytest.fixture(scope="session")
def recorded(spec: ClipSpec) -> RecordedSetup:
    from robogaze.forge.simulate.recorded_setup import RecordedSetup

    playback = spec.playback
    return RecordedSetup(spec.sampled.setup, playback.recording, playback.views, playback.frame_count)


@pytest.fixture(scope="session")
def renderer(spec: ClipSpec) -> Iterator[Renderer]:
    from robogaze.forge.simulate.playback import Renderer

    try:
        made = Renderer(spec.playback.recording.scene.model, SMALL)
    except RobogazeError as error:
        pytest.skip(str(error))
    with made:
        yield made


@pytest.fixture
def context(tmp_path: Path, domain: Domain, config: SimulationConfig, renderer: Renderer) -> SimulationContext:
    from robogaze.forge.simulate.generate import SimulationContext

    return SimulationContext(tmp_path / "set", domain, config, seed=3, size=SMALL)
