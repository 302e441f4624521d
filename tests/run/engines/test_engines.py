"""What every engine does, and what a lost node costs."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stub_server import Stub, running
from synthetic import write_clip

from robogaze.backends import AnswerStore, Models, ModelsConfig
from robogaze.datasets import ManifestEntry
from robogaze.domains import default_domain, load_domain
from robogaze.errors import BudgetExhausted, InputError, ModelChanged, RunStopped
from robogaze.run.engines.base import ClipTask, Engine, EngineContext, Result
from robogaze.run.engines.local import Local
from robogaze.run.engines.ray import Ray
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline

ray = pytest.importorskip("ray", reason="needs the extra ray")

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, in this process and at its end
MEMORY = 100 * 2**20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each, and a head without; this process is connected."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.add_node(num_cpus=1, object_store_memory=MEMORY)
    ray.init(address=made.address, log_to_driver=False)
    made.wait_for_nodes()
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def tasks(tmp_path: Path) -> list[ClipTask]:
    path = write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    return [
        ClipTask(f"bar-{number}", ManifestEntry(path=path, instruction=f"Move bar {number}")) for number in range(8)
    ]


@asynccontextmanager
async def local(url: str | None, **limits: Any) -> AsyncIterator[Engine]:
    pipeline = Pipeline.build(load_domain(default_domain()), "vanilla" if url else "pixels")
    models = None if url is None else Models.open(config(url, **limits), None, {})
    yield Local(context_of(pipeline, models))
    if models is not None:
        await models.close()


@asynccontextmanager
async def on_ray(url: str | None, **limits: Any) -> AsyncIterator[Engine]:
    yield Ray(ray_context(config(url, **limits) if url else None))


def context_of(pipeline: Pipeline, models: Models | None = None) -> EngineContext:
    return EngineContext(RunSetup(default_domain(), pipeline), RunOptions(), models=models)


def ray_context(models: ModelsConfig | None, **options: Any) -> EngineContext:
    """What a Ray engine is given, whose workers open the models themselves."""
    pipeline = Pipeline.build(load_domain(default_domain()), "vanilla" if models else "pixels")
    return EngineContext(RunSetup(default_domain(), pipeline, models), RunOptions(**{"workers": 1, **options}))


def config(url: str, **limits: Any) -> ModelsConfig:
    model = {"kind": "openai", "name": "stub", "url": url, "limits": limits, "frames": "uniform 4"}
    return ModelsConfig.model_validate({"models": {"stub": model}, "roles": {"vlm": "stub"}})


ENGINES = {"local": local, "ray": on_ray}
Make = Callable[..., AbstractAsyncContextManager[Engine]]


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest) -> Make:
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return ENGINES[request.param]


def ran(engine: AbstractAsyncContextManager[Engine], tasks: Sequence[ClipTask]) -> tuple[dict[str, Result], Any]:
    results: list[Result] = []

    async def run() -> RunStopped | None:
        async with engine as opened:
            return await collect(opened, tasks, results)

    stopped = asyncio.run(run())
    assert len({result.clip_id for result in results}) == len(results), "each clip is yielded once"
    return {result.clip_id: result for result in results}, stopped


async def collect(engine: Engine, tasks: Sequence[ClipTask], results: list[Result]) -> RunStopped | None:
    """Put an engine's results into a list; returns why it stopped early, None if it did not."""
    try:
        async for result in engine.run(tasks):
            results.append(result)
    except RunStopped as stopped:
        return stopped
    return None


def test_every_clip_comes_back_once_with_its_report(make: Make, tasks: list[ClipTask]) -> None:
    with running(Stub()) as url:
        kept, stopped = ran(make(url), tasks)
    assert stopped is None
    assert set(kept) == {task.clip_id for task in tasks}
    for task in tasks:
        report = kept[task.clip_id].report
        assert report is not None
        assert (report.status, report.clip.instruction) == ("complete", task.entry.instruction)
        assert set(kept[task.clip_id].frames) >= {
            frame for event in report.events for e in event.evidence for frame in e.frames
        }


def test_an_engine_without_clips_has_nothing_to_do(make: Make) -> None:
    assert ran(make(None), []) == ({}, None)


def test_an_unreadable_clip_has_its_reason_and_the_others_are_scored(
    make: Make, tasks: list[ClipTask], tmp_path: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    with running(Stub()) as url:
        kept, _ = ran(make(url), [ClipTask("bad", ManifestEntry(path=tmp_path / "bad.mp4")), *tasks[:2]])
    assert kept["bad"].report is None
    assert "bad.mp4" in (kept["bad"].unreadable or "")
    assert all(kept[task.clip_id].report is not None for task in tasks[:2])


def test_a_stopped_run_reports_why(make: Make, tasks: list[ClipTask]) -> None:
    with running(Stub()) as url:
        kept, stopped = ran(make(url, calls=1), tasks)
    assert isinstance(stopped, BudgetExhausted)
    assert len(kept) < len(tasks)


def test_clip_that_another_model_answered_is_not_yielded_and_stops_the_run(
    tasks: list[ClipTask], tmp_path: Path, cluster: Any
) -> None:
    answers, results = AnswerStore(tmp_path / "answers.sqlite"), list[Result]()

    def run(stub: Stub) -> RunStopped | None:
        with running(stub) as url:
            engine = Ray(replace(ray_context(config(url)), answers=answers))
            return asyncio.run(collect(engine, tasks[len(results) :][:4], results))

    assert run(Stub()) is None
    assert isinstance(run(Stub(name="another")), ModelChanged)
    answers.close()
    assert [result.clip_id for result in results] == [task.clip_id for task in tasks[:4]]


def test_error_of_a_worker_is_raised_as_it_is(tasks: list[ClipTask], cluster: Any) -> None:
    engine = Ray(ray_context(None))
    engine.config = replace(engine.config, pipeline="nothing")
    with pytest.raises(InputError, match="has no pipeline 'nothing'"):
        asyncio.run(collect(engine, tasks, []))


def test_a_node_that_is_lost_loses_no_clip(tasks: list[ClipTask], cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    stub, kept = Stub(held=True), list[Result]()

    async def until(happened: Callable[[], bool]) -> None:
        late = time.monotonic() + 180
        while not happened():
            assert time.monotonic() < late
            await asyncio.sleep(0.05)

    async def lose_a_node(url: str) -> Any:
        engine = Ray(ray_context(config(url), workers=2, clips_at_once=1))
        run = asyncio.create_task(collect(engine, tasks, kept))
        await until(lambda: stub.most_at_once == 2)
        await asyncio.to_thread(cluster.remove_node, node, allow_graceful=False)
        await until(lambda: stub.left == 1)
        stub.held = False
        return await run

    with running(stub) as url:
        assert asyncio.run(lose_a_node(url)) is None
    assert sorted(result.clip_id for result in kept) == [task.clip_id for task in tasks]
    assert all(result.report is not None and result.report.status == "complete" for result in kept)
    assert stub.requests > len(tasks), "what the lost node was at work on is asked again"


async def test_without_an_address_ray_joins_no_cluster_of_an_earlier_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Stop(Exception):
        pass

    def init(address: str, **_: Any) -> None:
        asked.append(address)
        raise Stop

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(Stop):
        await collect(Ray(ray_context(None)), [], [])
    assert asked == ["local"]
