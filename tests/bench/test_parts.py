"""Which clips a run has, in what order and in which part; what changed; what it will take; joining parts."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from making import coverage, models_of
from synthetic import write_clip

from robogaze.backends import AnswerStore, ModelConfig, ModelsConfig
from robogaze.backends.middleware.rate_limit import Price
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.bench import RunOptions, RunResult, run_clips
from robogaze.bench.changes import changes
from robogaze.bench.estimate import estimate
from robogaze.bench.merge import merge
from robogaze.bench.plan import take_stock
from robogaze.bench.shards import Shard, random_order, shards_of
from robogaze.core.report import Usage
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.engines.base import ClipWorker, Task
from robogaze.engines.local import Local
from robogaze.errors import RunError
from robogaze.stages.pipeline import Pipeline
from robogaze.store import RunFolder, StoredRun


@pytest.fixture
def clips(tmp_path: Path) -> list[ManifestEntry]:
    path = write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    return [ManifestEntry(path=path, instruction=f"Move bar {number}", clip_id=f"bar-{number}") for number in range(6)]


@pytest.fixture
def unit(robot: Domain) -> ClipWorker:
    return ClipWorker(Pipeline.build(robot, "vanilla"), models_of(RehearsalBackend()))


async def run(clips: list[ManifestEntry], unit: ClipWorker, root: Path, shard: str | None = None) -> RunResult:
    """Do a flat run in which the answers cost nothing."""
    told = {"pipeline": unit.pipeline.name, **({"shard": shard} if shard else {})}
    with RunFolder(root, told, flat=True) as folder:
        folder.claim()
        return await run_clips(clips, Local(unit), RunOptions(folder))


# Shards and order.


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as 3/8"):
        Shard.parse(text)


def test_shards_share_no_clip_and_forget_none_whoever_cuts_them_and_from_where() -> None:
    clips = [ManifestEntry(path=Path(f"a/{number}.mp4"), instruction="Stir") for number in range(100)]
    elsewhere = [one.with_(path=Path("/far/away") / one.path) for one in clips]
    names = []
    for number in range(1, 5):
        here = [one.path.name for one in Shard(number, 4).of(clips, Path())]
        assert here == [one.path.name for one in Shard(number, 4).of(elsewhere, Path("/far/away"))]
        assert len(here) > 10
        names += here
    assert sorted(names) == sorted(one.path.name for one in clips)


def test_one_video_with_many_instructions_is_spread_over_the_shards() -> None:
    clips = [ManifestEntry(path=Path("bar.mp4"), instruction=f"Move bar {number}") for number in range(40)]
    assert all(len(Shard(number, 2).of(clips, Path())) > 10 for number in (1, 2))


def test_a_clip_stays_in_its_shard_when_others_come() -> None:
    clips = [ManifestEntry(path=Path(f"{number}.mp4")) for number in range(50)]
    assert set(Shard(2, 3).of(clips[:20], Path())) <= set(Shard(2, 3).of(clips, Path()))


def test_the_order_is_random_by_seed_and_the_same_for_a_seed() -> None:
    ids = [f"clip-{number}" for number in range(200)]
    first, again, other = (sorted(ids, key=random_order(seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert 60 < sum(int(one.split("-")[1]) < 100 for one in first[:100]) + 20 < 80, "a beginning is a fair sample"


# Taking stock.


def test_a_file_that_did_not_change_is_not_read_again(
    tmp_path: Path, clips: list[ManifestEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunFolder(tmp_path / "run", {}, flat=True) as folder:
        stock = take_stock(clips[:1], folder)
        folder.enter(*(one.line.with_(path=folder.address(one.entry.path)) for one in stock.clips.values()))
        read = list[Path]()

        def digest(entry: ManifestEntry) -> str:
            read.append(entry.path)
            return "f" * 64

        monkeypatch.setattr("robogaze.bench.plan.content_sha256", digest)
        assert take_stock(clips[:1], folder).clips == stock.clips
        assert read == []
        os.utime(clips[0].path, ns=(0, 0))
        assert take_stock(clips[:1], folder).clips["bar-0"].line.sha256 == "f" * 64


async def test_what_became_of_the_manifest_is_known(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    await run(clips[:4], unit, tmp_path / "run")
    with RunFolder(tmp_path / "run", {"pipeline": "vanilla"}, flat=True) as folder:
        found = changes(take_stock(clips[1:], folder), folder)
        assert (found.new, found.gone) == (["bar-4", "bar-5"], ["bar-0"])
    with RunFolder(tmp_path / "other", {}, flat=True) as folder:
        assert changes(take_stock(clips, folder), folder).new == (), "a run that begins has no new clips"


async def test_a_file_that_was_replaced_under_another_id_is_refused(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    unnamed = [clips[0].with_(clip_id=None)]
    await run(unnamed, unit, tmp_path / "run")
    write_clip(unnamed[0].path, frames=24, width=64, height=48)
    with (
        RunFolder(tmp_path / "run", {"pipeline": "vanilla"}, flat=True) as folder,
        pytest.raises(RunError, match=r"bar\.mp4 was replaced since .* began"),
    ):
        changes(take_stock([unnamed[0].with_(clip_id="other")], folder), folder)


# The run itself.


async def test_clips_are_done_in_the_order_asked_for_and_reported_in_the_manifests(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    seen = list[str]()
    job = RunOptions(
        order=lambda clip_id: str(9 - int(clip_id[-1])),
        on_settled=lambda settled: seen.append(settled.clip_id),
    )
    outcome = await run_clips(clips, Local(unit, in_flight=1), job)
    assert seen == [one.clip_id for one in reversed(clips)]
    assert list(outcome.digests) == [one.clip_id for one in clips]


async def test_a_run_that_is_told_not_to_go_on_writes_nothing(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    told = list[int]()

    async def stop(tasks: object, done: object) -> bool:
        told.append(len(tasks))  # type: ignore[arg-type]
        return False

    with RunFolder(tmp_path / "run", {}, flat=True) as folder:
        outcome = await run_clips(clips, Local(unit), RunOptions(folder, before=stop))
        assert (told, outcome.diagnosed, folder.lines) == ([6], set(), ())
        assert not (tmp_path / "run" / "run.json").exists()


# Estimates.


def priced() -> ModelsConfig:
    model = ModelConfig(kind="scripted", price=Price(prompt_usd=1, completion_usd=2))
    return ModelsConfig(models={"model": model}, roles={"vlm": "model"})


@pytest.mark.parametrize(("pipeline", "calls"), [("vanilla", 1), ("vote3", 3)])
async def test_a_run_is_rehearsed_before_it_begins(
    robot: Domain, clips: list[ManifestEntry], pipeline: str, calls: int
) -> None:
    tasks = [Task(one.clip_id or "", one) for one in clips]
    found = await estimate(tasks, {}, Pipeline.build(robot, pipeline), priced())
    assert found is not None
    assert (found.clips, found.sample, found.measured, found.calls) == (6, 3, False, 6 * calls)
    assert found.prompt_tokens is not None
    assert found.completion_tokens is not None
    assert found.cost_usd is not None
    least, most = found.cost_usd
    assert least == pytest.approx((found.prompt_tokens + 2 * found.completion_tokens[0]) / 1e6)
    assert most == pytest.approx((found.prompt_tokens + 2 * found.completion_tokens[1]) / 1e6)


async def test_a_clip_that_cannot_be_read_is_not_rehearsed(
    robot: Domain, tmp_path: Path, clips: list[ManifestEntry]
) -> None:
    gone = Task("gone", ManifestEntry(path=tmp_path / "gone.mp4"))
    tasks = [gone, *(Task(one.clip_id or "", one) for one in clips)]
    found = await estimate(tasks, {}, Pipeline.build(robot, "vanilla"), priced())
    assert found is not None
    assert found.calls == 7
    assert await estimate([gone], {}, Pipeline.build(robot, "vanilla"), priced()) is None


async def test_clips_that_are_done_say_what_the_others_take(robot: Domain, clips: list[ManifestEntry]) -> None:
    def digest(calls: int, cost: float | None = 0.5) -> ReportSummary:
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

    tasks = [Task(one.clip_id or "", one) for one in clips]
    done = {f"{number}": digest(number) for number in range(1, 6)}
    found = await estimate(tasks, done, Pipeline.build(robot, "vanilla"), priced())
    assert found is not None
    assert (found.measured, found.sample, found.calls, found.prompt_tokens) == (True, 5, 18, 1800)
    assert (found.completion_tokens, found.cost_usd) == (None, (3.0, 3.0))
    unpriced = await estimate(tasks, {**done, "9": digest(3, None)}, Pipeline.build(robot, "vanilla"), priced())
    assert unpriced is not None
    assert unpriced.cost_usd is None, "what is not known of one is not known of all"


# Joining.


async def test_joined_shards_are_the_run_that_was_never_cut(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    await run(clips, unit, tmp_path / "whole")
    for number in (1, 2):
        shard = Shard(number, 2)
        await run(list(shard.of(clips, tmp_path)), unit, shard.folder(tmp_path / "cut"), str(shard))
    found = merge(sorted(shards_of(tmp_path / "cut").iterdir()), tmp_path / "cut")
    assert (found.runs, found.clips, found.reports, found.repeated, found.missing) == (2, 6, 6, 0, ())
    whole, cut = StoredRun.at(tmp_path / "whole"), StoredRun.at(tmp_path / "cut")
    for one in clips:
        written = [run.report_path(one.clip_id or "").read_bytes() for run in (whole, cut)]
        assert written[0] == written[1]
    assert {line.model_dump_json() for line in whole.lines} == {line.model_dump_json() for line in cut.lines}
    assert "shard" not in json.loads((tmp_path / "cut" / "run.json").read_text())


async def test_a_shard_that_is_missing_is_named_and_taken_in_later(
    tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker
) -> None:
    out, late = tmp_path / "run", Shard(2, 3)
    for number in (1, 3):
        await run(list(Shard(number, 3).of(clips, tmp_path)), unit, Shard(number, 3).folder(out), f"{number}/3")
    first = merge(sorted(shards_of(out).iterdir()), out)
    assert first.missing == ("2/3",)
    await run(list(late.of(clips, tmp_path)), unit, late.folder(out), str(late))
    again = merge(sorted(shards_of(out).iterdir()), out)
    assert (again.missing, again.reports, again.repeated) == ((), 6, first.reports)


async def test_the_more_complete_report_wins(tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker) -> None:
    for name in ("a", "b"):
        await run(clips[:1], unit, tmp_path / name)
    stored = StoredRun.at(tmp_path / "a")
    report = stored.report("bar-0")
    assert report is not None
    worse = report.with_(coverage=coverage(not_examined=list(report.coverage)), events=(), hypotheses=())
    stored.report_path("bar-0").write_text(worse.model_dump_json())
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert StoredRun.at(tmp_path / "both").report("bar-0") == report


Spoil = Callable[[dict[str, str]], None]


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ({"pipeline": "vanilla"}, {"pipeline": "full"}, "done differently"),
        ({"pipeline": "vanilla", "shard": "1/2"}, {"pipeline": "vanilla", "shard": "2/3"}, "different counts"),
        ({"pipeline": "vanilla", "shard": "1/2"}, {"pipeline": "vanilla"}, "shards and whole runs"),
    ],
)
def test_what_does_not_belong_together_is_not_joined(
    tmp_path: Path, first: dict[str, str], second: dict[str, str], why: str
) -> None:
    for name, told in (("a", first), ("b", second)):
        with RunFolder(tmp_path / name, told, flat=True) as folder:
            folder.claim()
    with pytest.raises(RunError, match=why):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def test_a_folder_without_a_run_is_not_joined(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"holds no run: it has no run\.json"):
        merge([tmp_path], tmp_path / "out")


async def test_answers_come_along(tmp_path: Path, clips: list[ManifestEntry], unit: ClipWorker) -> None:
    await run(clips[:1], unit, tmp_path / "a")
    store = AnswerStore(tmp_path / "a" / "calls.sqlite")
    store.spent("eyes").add_call()
    store.close()
    merge([tmp_path / "a"], tmp_path / "out")
    store = AnswerStore(tmp_path / "out" / "calls.sqlite")
    assert store.spent("eyes").calls == 1
    store.close()
