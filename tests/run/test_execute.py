"""A run, from its clips to its reports."""

from pathlib import Path

import pytest
from making import models_of
from run_making import execute

from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.datasets import ManifestEntry
from robogaze.errors import OptionError
from robogaze.run.execute import open_run
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup, make_setup
from robogaze.run.shards import random_order
from robogaze.stages.pipeline import Pipeline
from robogaze.store import StoredRun


async def test_each_report_is_stored_before_its_result_is_yielded(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    setup, models = RunSetup("robot", pipeline), models_of(RehearsalBackend())
    with open_run(clips, setup, RunOptions(out=tmp_path / "run"), models=models) as run:
        seen = []
        async for result in run.execute():
            assert run.folder is not None
            assert run.folder.stored.report(result.clip_id) == result.report
            seen.append(result.clip_id)
    assert sorted(seen) == [clip.clip_id for clip in clips]


async def test_clips_are_scored_in_random_order_and_listed_in_theirs(
    clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    options = RunOptions(clips_at_once=1, seed=3)
    with open_run(clips, RunSetup("robot", pipeline), options, models=models_of(RehearsalBackend())) as run:
        seen = [result.clip_id async for result in run.execute()]
    ids = [clip.clip_id or "" for clip in clips]
    assert seen == sorted(ids, key=random_order(3)) != ids
    assert list(run.summaries) == [report.clip.id for report in run.reports()] == ids


async def test_second_start_scores_only_what_is_left(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips[:4], pipeline, tmp_path / "run")
    run = await execute(clips, pipeline, tmp_path / "run")
    assert run.scored == {"bar-4", "bar-5"}
    assert list(run.summaries) == [clip.clip_id for clip in clips]


async def test_run_that_is_not_executed_claims_no_folder(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    with open_run(clips, RunSetup("robot", pipeline), RunOptions(out=tmp_path / "run")) as run:
        assert len(run.plan.tasks) == 6
    assert not (tmp_path / "run" / "run.json").exists()
    assert StoredRun(tmp_path / "run").lines == ()


async def test_consumer_that_stops_early_keeps_what_it_saw(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    options, models = RunOptions(out=tmp_path / "run", clips_at_once=2), models_of(RehearsalBackend())
    with open_run(clips, RunSetup("robot", pipeline), options, models=models) as run:
        results = run.execute()
        first = await anext(results)
        await results.aclose()
    assert StoredRun(tmp_path / "run").has_report(first.clip_id)
    assert (await execute(clips, pipeline, tmp_path / "run")).summaries.keys() == {clip.clip_id for clip in clips}


async def test_a_start_that_scores_clips_removes_the_page_of_the_earlier_state(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips[:2], pipeline, tmp_path / "run")
    page = tmp_path / "run" / "index.html"
    page.write_text("2 clips")
    await execute(clips[:2], pipeline, tmp_path / "run")
    assert page.exists(), "nothing was scored, so the page is still right"
    options, models = RunOptions(out=tmp_path / "run", clips_at_once=1), models_of(RehearsalBackend())
    with open_run(clips, RunSetup("robot", pipeline), options, models=models) as run:
        results = run.execute()
        async for result in results:
            if result.report is not None:  # the first new clip
                break
        await results.aclose()
    assert not page.exists()


async def test_unreadable_clip_is_counted_and_the_others_are_scored(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"no video")
    run = await execute([ManifestEntry(path=tmp_path / "bad.mp4"), *clips[:2]], pipeline, tmp_path / "run")
    assert [Path(clip.uri).name for clip in run.unreadable] == ["bad.mp4"]
    assert list(run.summaries) == ["bar-0", "bar-1"]
    assert [clip.uri for clip in StoredRun(tmp_path / "run").unreadable] == ["../bad.mp4"]


def test_shard_without_a_run_folder_is_refused(clips: list[ManifestEntry], pipeline: Pipeline) -> None:
    with pytest.raises(OptionError, match="`shard` needs `out`"):
        open_run(clips, RunSetup("robot", pipeline), RunOptions(shard="1/2"))


async def test_batch_of_several_clips_stops_with_the_number_of_all_its_requests(
    tmp_path: Path, clips: list[ManifestEntry]
) -> None:
    setup = make_setup("robot", "vanilla", f"batch:tiny@{tmp_path / 'post'}")
    with open_run(clips[:3], setup, RunOptions(out=tmp_path / "run")) as run:
        results = [result async for result in run.execute()]
    assert results == []
    assert "3 requests are pending" in str(run.stopped)
