"""A data set of all that the built-in domain plants, made once."""

from pathlib import Path

import pytest

from robogaze.datasets.manifest import ManifestEntry
from robogaze.forge.plant.planted_dataset import PlantingOptions, plant_clips
from robogaze.forge.plant.planting_config import PlantingConfig, load_planting_config

from .sample_clips import INSTRUCTION, scenery, write


@pytest.fixture(scope="session")
def config() -> PlantingConfig:
    return load_planting_config("robot")


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> tuple[ManifestEntry, ...]:
    """Two clips with an instruction."""
    folder = tmp_path_factory.mktemp("sources")
    paths = [write(folder / f"take_{seed}.mp4", scenery(seed)) for seed in (1, 2)]
    return tuple(ManifestEntry(path=path, instruction=INSTRUCTION) for path in paths)


@pytest.fixture(scope="session")
def folder(
    tmp_path_factory: pytest.TempPathFactory, sources: tuple[ManifestEntry, ...], config: PlantingConfig
) -> Path:
    """A data set with every glitch, planted once in each clip."""
    folder = tmp_path_factory.mktemp("planted")
    plant_clips(sources, PlantingOptions(config, config.select(()), 1, 0), folder)
    return folder
