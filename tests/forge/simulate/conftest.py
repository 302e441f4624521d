"""A recorded clip that many tests share, and something to draw it with.

The simulator is imported by what is used only: where it is missing, each module of tests is skipped and says so.
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
    from robogaze.forge.simulate.clip_spec import Story
    from robogaze.forge.simulate.draw import Player
    from robogaze.forge.simulate.make import Workshop
    from robogaze.forge.simulate.recipe import SimulationConfig
    from robogaze.forge.simulate.stage import StagedSetting

SMALL = (96, 64)


@pytest.fixture(scope="session")
def domain() -> Domain:
    return load_domain("robot")


@pytest.fixture(scope="session")
def recipe() -> SimulationConfig:
    from robogaze.forge.simulate.recipe import load_recipe

    return load_recipe("robot")


@pytest.fixture(scope="session")
def story(recipe: SimulationConfig) -> Story:
    """A clean clip: a thing is picked up and placed, a bystander stands by."""
    from robogaze.forge.simulate.clip_spec import tell
    from robogaze.forge.simulate.recipe import Doing, World

    only = recipe.with_(tasks={"place": recipe.tasks["place"]})
    return tell(only, Doing(make="plain"), World(), np.random.default_rng(4))


@pytest.fixture(scope="session")
def stage(story: Story) -> StagedSetting:
    from robogaze.forge.simulate.stage import StagedSetting

    return StagedSetting(story.cast.setting, story.film.take, story.film.views)


@pytest.fixture(scope="session")
def player(story: Story) -> Iterator[Player]:
    from robogaze.forge.simulate.draw import Player

    try:
        made = Player(story.film.take.scene.model, SMALL)
    except RobogazeError as error:
        pytest.skip(str(error))
    with made:
        yield made


@pytest.fixture
def workshop(tmp_path: Path, domain: Domain, recipe: SimulationConfig, player: Player) -> Workshop:
    from robogaze.forge.simulate.make import Workshop

    return Workshop(tmp_path / "set", domain, recipe, seed=3, size=SMALL)
