"""Six clips of one video, and a pipeline whose model gives the plainest answers."""

from pathlib import Path

import pytest
from synthetic import write_clip

from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.stages.pipeline import Pipeline


@pytest.fixture
def clips(tmp_path: Path) -> list[ManifestEntry]:
    path = write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    return [ManifestEntry(path=path, instruction=f"Move bar {number}", clip_id=f"bar-{number}") for number in range(6)]


@pytest.fixture
def pipeline(robot: Domain) -> Pipeline:
    return Pipeline.build(robot, "vanilla")
