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
from robogaze.engines.base import ClipWorker, Engine, Result, Task
from robogaze.engines.local import Local
from robogaze.engines.ray import Ray, WorkerConfig
from robogaze.errors import BudgetExhausted, InputError, ModelChanged
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
def tasks(tmp_path: Path) -> list[Task]:
    path = write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    return [Task(f"bar-{number}", ManifestEntry(path=path, instruction=f"Move bar {number}")) for number in range(8)]


@asynccontextmanager
async def local(url: str | None, **limits: Any) -> AsyncIterator[Engine]:
    pipeline = Pipeline.build(load_domain(default_domain()), "vanilla" if url else "pixels")
    models = None if url is None else Models.open(config(url, **limits), None, {})
    yield Local(ClipWorker(pipeline, models))
    if models is not None:
        await models.close()


@asynccontextmanager
async def on_ray(url: str | None, **limits: Any) -> AsyncIterator[Engine]:
    pipeline = "vanilla" if url else "pixels"
    yield Ray(WorkerConfig(default_domain(), pipeline, config(url, **limits) if url else None), workers=1)


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


def ran(engine: AbstractAsyncContextManager[Engine], tasks: Sequence[Task]) -> tuple[dict[str, Result], Any]:
    kept: list[Result] = []

    async def run() -> Any:
        async with engine as opened:
            return await opened.run(tasks, kept.append)

    stopped = asyncio.run(run())
    assert len({one.clip_id for one in kept}) == len(kept), "each clip is kept once"
    return {one.clip_id: one for one in kept}, stopped


def test_every_clip_comes_back_once_with_its_report(make: Make, tasks: list[Task]) -> None:
    with running(Stub()) as url:
        kept, stopped = ran(make(url), tasks)
    assert stopped is None
    assert set(kept) == {task.clip_id for task in tasks}
    for task in tasks:
        report = kept[task.clip_id].report
        assert report is not None
        assert (report.status, report.clip.instruction) == ("complete", task.entry.instruction)
        assert set(kept[task.clip_id].frames) >= {
            frame for one in report.events for e in one.evidence for frame in e.frames
        }


def test_an_engine_without_clips_has_nothing_to_do(make: Make) -> None:
    assert ran(make(None), []) == ({}, None)


def test_a_clip_that_cannot_be_read_says_why_and_the_others_go_on(
    make: Make, tasks: list[Task], tmp_path: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    with running(Stub()) as url:
        kept, _ = ran(make(url), [Task("bad", ManifestEntry(path=tmp_path / "bad.mp4")), *tasks[:2]])
    assert kept["bad"].report is None
    assert "bad.mp4" in (kept["bad"].unreadable or "")
    assert all(kept[task.clip_id].report is not None for task in tasks[:2])


def test_a_run_that_is_stopped_on_purpose_says_so(make: Make, tasks: list[Task]) -> None:
    with running(Stub()) as url:
        kept, stopped = ran(make(url, calls=1), tasks)
    assert isinstance(stopped, BudgetExhausted)
    assert len(kept) < len(tasks)


def test_a_clip_that_another_model_answered_is_not_kept_and_ends_the_run(
    tasks: list[Task], tmp_path: Path, cluster: Any
) -> None:
    recipe, answers, kept = (
        WorkerConfig(default_domain(), "vanilla"),
        AnswerStore(tmp_path / "answers.sqlite"),
        list[Result](),
    )

    def run(stub: Stub) -> Any:
        with running(stub) as url:
            engine = Ray(replace(recipe, models=config(url)), workers=1, first=answers.first_told)
            return asyncio.run(engine.run(tasks[len(kept) :][:4], kept.append))

    assert run(Stub()) is None
    assert isinstance(run(Stub(name="another")), ModelChanged)
    answers.close()
    assert [one.clip_id for one in kept] == [task.clip_id for task in tasks[:4]]


def test_a_fault_of_the_user_is_raised_as_it_is(tasks: list[Task], cluster: Any) -> None:
    with pytest.raises(InputError, match="has no pipeline 'nothing'"):
        asyncio.run(Ray(WorkerConfig(default_domain(), "nothing"), workers=1).run(tasks, lambda result: None))


def test_a_node_that_is_lost_loses_no_clip(tasks: list[Task], cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    stub, kept = Stub(held=True), list[Result]()

    async def until(happened: Callable[[], bool]) -> None:
        late = time.monotonic() + 60
        while not happened():
            assert time.monotonic() < late
            await asyncio.sleep(0.05)

    async def lose_a_node(url: str) -> Any:
        engine = Ray(WorkerConfig(default_domain(), "vanilla", config(url), in_flight=1), workers=2)
        run = asyncio.create_task(engine.run(tasks, kept.append))
        await until(lambda: stub.most_at_once == 2)
        await asyncio.to_thread(cluster.remove_node, node, allow_graceful=False)
        await until(lambda: stub.left == 1)
        stub.held = False
        return await run

    with running(stub) as url:
        assert asyncio.run(lose_a_node(url)) is None
    assert sorted(one.clip_id for one in kept) == [task.clip_id for task in tasks]
    assert all(one.report is not None and one.report.status == "complete" for one in kept)
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
        await Ray(WorkerConfig(default_domain(), "pixels"), workers=1).run([], lambda result: None)
    assert asked == ["local"]
