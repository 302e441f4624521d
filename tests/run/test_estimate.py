"""What a run will take, before it starts."""

from pathlib import Path

import pytest
from making import coverage

from robogaze.backends import ModelConfig, ModelsConfig
from robogaze.backends.middleware.rate_limit import Price
from robogaze.core.report import Usage
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.run.engines.base import ClipTask
from robogaze.run.estimate import estimate
from robogaze.stages.pipeline import Pipeline


def priced() -> ModelsConfig:
    model = ModelConfig(kind="scripted", price=Price(prompt_usd=1, completion_usd=2))
    return ModelsConfig(models={"model": model}, roles={"vlm": "model"})


@pytest.mark.parametrize(("pipeline", "calls"), [("vanilla", 1), ("vote3", 3)])
async def test_estimate_comes_from_a_rehearsal(
    robot: Domain, clips: list[ManifestEntry], pipeline: str, calls: int
) -> None:
    tasks = [ClipTask(clip.clip_id or "", clip) for clip in clips]
    found = await estimate(tasks, {}, Pipeline.build(robot, pipeline), priced())
    assert found is not None
    assert (found.clips, found.sample, found.measured, found.calls) == (6, 3, False, 6 * calls)
    assert found.prompt_tokens is not None
    assert found.completion_tokens is not None
    assert found.cost_usd is not None
    least, most = found.cost_usd
    assert least == pytest.approx((found.prompt_tokens + 2 * found.completion_tokens[0]) / 1e6)
    assert most == pytest.approx((found.prompt_tokens + 2 * found.completion_tokens[1]) / 1e6)


async def test_unreadable_clip_is_not_rehearsed(robot: Domain, tmp_path: Path, clips: list[ManifestEntry]) -> None:
    missing = ClipTask("missing", ManifestEntry(path=tmp_path / "missing.mp4"))
    tasks = [missing, *(ClipTask(clip.clip_id or "", clip) for clip in clips)]
    found = await estimate(tasks, {}, Pipeline.build(robot, "vanilla"), priced())
    assert found is not None
    assert found.calls == 7
    assert await estimate([missing], {}, Pipeline.build(robot, "vanilla"), priced()) is None


async def test_estimate_comes_from_enough_finished_clips(robot: Domain, clips: list[ManifestEntry]) -> None:
    def summary(calls: int, cost: float | None = 0.5) -> ReportSummary:
        usage = Usage(calls=calls, prompt_tokens=100 * calls, completion_tokens=None, cost_usd=cost)
        return ReportSummary(
            pipeline="vanilla",
            author="",
            status="complete",
            verdict="clean",
            coverage=coverage("a"),
            events=(),
            usage=usage,
        )

    tasks = [ClipTask(clip.clip_id or "", clip) for clip in clips]
    finished = {f"{number}": summary(number) for number in range(1, 6)}
    found = await estimate(tasks, finished, Pipeline.build(robot, "vanilla"), priced())
    assert found is not None
    assert (found.measured, found.sample, found.calls, found.prompt_tokens) == (True, 5, 18, 1800)
    assert (found.completion_tokens, found.cost_usd) == (None, (3.0, 3.0))
    unpriced = await estimate(tasks, {**finished, "9": summary(3, None)}, Pipeline.build(robot, "vanilla"), priced())
    assert unpriced is not None
    assert unpriced.cost_usd is None, "an unknown cost makes the total unknown"
