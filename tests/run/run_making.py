"""Runs without a server."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from making import models_of

from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.datasets import ManifestEntry
from robogaze.run.execute import ScoringRun, open_run
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline


async def execute(
    clips: Sequence[ManifestEntry],
    pipeline: Pipeline,
    out: Path | None = None,
    shard: str | None = None,
    options: RunOptions | None = None,
) -> ScoringRun:
    """Execute a run whose model gives the plainest answers."""
    options = replace(options or RunOptions(), out=out, shard=shard)
    models = models_of(RehearsalBackend())
    with open_run(clips, RunSetup("robot", pipeline), options, models=models, root=clips[0].path.parent) as run:
        async for _ in run.execute():
            pass
    return run
