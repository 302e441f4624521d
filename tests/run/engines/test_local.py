"""Clips side by side in this process."""

import asyncio
from pathlib import Path

import pytest

from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.run.engines.base import ClipTask, ClipWorker, EngineContext, Result
from robogaze.run.engines.local import Local
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline


async def test_finished_clips_are_yielded_before_the_error_of_another_is_raised(
    robot: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def diagnosed(worker: ClipWorker, task: ClipTask, decoding: asyncio.Semaphore) -> Result:
        if task.clip_id == "bad":
            raise InputError("bad")
        return Result(task.clip_id)

    monkeypatch.setattr(ClipWorker, "__call__", diagnosed)
    engine = Local(EngineContext(RunSetup("robot", Pipeline.build(robot, "vanilla")), RunOptions()))
    tasks = [ClipTask(name, ManifestEntry(path=Path("bar.mp4"))) for name in ("a", "bad", "b", "c")]
    seen = []

    async def collect() -> None:
        async for result in engine.run(tasks):
            seen.append(result.clip_id)

    with pytest.raises(InputError, match="bad"):
        await collect()
    assert sorted(seen) == ["a", "b", "c"]
