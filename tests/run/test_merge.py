"""Merging shards and runs."""

import json
import shutil
from pathlib import Path

import pytest
from making import coverage
from run_making import execute

from robogaze.backends import AnswerStore
from robogaze.core.report import Unreadable
from robogaze.datasets import ManifestEntry
from robogaze.errors import RunError
from robogaze.run.merge import merge
from robogaze.run.shards import shards_of
from robogaze.stages.pipeline import Pipeline
from robogaze.store import RunFolder, StoredRun, configuration_of


async def test_merged_shards_equal_the_whole_run(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips, pipeline, tmp_path / "whole")
    for number in (1, 2):
        await execute(clips, pipeline, tmp_path / "cut", f"{number}/2")
    found = merge(sorted(shards_of(tmp_path / "cut").iterdir()), tmp_path / "cut")
    assert (found.runs, found.clips, found.reports, found.repeated, found.missing) == (2, 6, 6, 0, ())
    whole, cut = StoredRun(tmp_path / "whole"), StoredRun(tmp_path / "cut")
    for clip in clips:
        written = [run.report_path(clip.clip_id or "").read_bytes() for run in (whole, cut)]
        assert written[0] == written[1]
    assert {line.model_dump_json() for line in whole.lines} == {line.model_dump_json() for line in cut.lines}
    assert "shard" not in json.loads((tmp_path / "cut" / "run.json").read_text())


async def test_a_merge_removes_the_page_of_an_earlier_merge(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    for number in (1, 2):
        await execute(clips[:number], pipeline, tmp_path / "source")
        merge([tmp_path / "source"], tmp_path / "run")
        assert not (tmp_path / "run" / "index.html").exists()
        (tmp_path / "run" / "index.html").write_text("1 clip")


async def test_missing_shard_is_named_and_merged_later(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    out = tmp_path / "run"
    for number in (1, 3):
        await execute(clips, pipeline, out, f"{number}/3")
    first = merge(sorted(shards_of(out).iterdir()), out)
    assert first.missing == ("2/3",)
    await execute(clips, pipeline, out, "2/3")
    again = merge(sorted(shards_of(out).iterdir()), out)
    assert (again.missing, again.reports, again.repeated) == ((), 6, first.reports)


async def test_the_more_complete_report_wins(tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline) -> None:
    for name in ("a", "b"):
        await execute(clips[:1], pipeline, tmp_path / name)
    stored = StoredRun(tmp_path / "a")
    report = stored.report("bar-0")
    assert report is not None
    worse = report.with_(coverage=coverage(not_examined=list(report.coverage)), events=(), hypotheses=())
    stored.report_path("bar-0").write_text(worse.model_dump_json())
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert StoredRun(tmp_path / "both").report("bar-0") == report


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ({"pipeline": "vanilla"}, {"pipeline": "full"}, "different configurations"),
        ({"pipeline": "vanilla", "shard": "1/2"}, {"pipeline": "vanilla", "shard": "2/3"}, "different counts"),
        ({"pipeline": "vanilla", "shard": "1/2"}, {"pipeline": "vanilla"}, "shards together with whole runs"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(
    tmp_path: Path, first: dict[str, str], second: dict[str, str], why: str
) -> None:
    for name, configuration in (("a", first), ("b", second)):
        with RunFolder(tmp_path / name, configuration) as folder:
            folder.claim()
    with pytest.raises(RunError, match=why):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def test_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"is not a run folder: it has no run\.json"):
        merge([tmp_path], tmp_path / "out")


async def test_answers_and_usage_are_merged(tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline) -> None:
    await execute(clips[:1], pipeline, tmp_path / "a")
    store = AnswerStore(tmp_path / "a" / "calls.sqlite")
    store.usage("eyes").add_call()
    store.close()
    merge([tmp_path / "a"], tmp_path / "out")
    store = AnswerStore(tmp_path / "out" / "calls.sqlite")
    assert store.usage("eyes").calls == 1
    store.close()


async def test_a_report_whose_file_became_unreadable_does_not_count_in_a_merge(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    other = clips[1].with_(path=Path(shutil.copy(clips[1].path, tmp_path / "other.mp4")))
    await execute([clips[0], other], pipeline, tmp_path / "run")
    line = StoredRun(tmp_path / "run").lines[0]
    with RunFolder(tmp_path / "run", configuration_of(tmp_path / "run")) as folder:
        folder.write_unreadable([Unreadable(uri=line.path, reason="empty")])
    found = merge([tmp_path / "run"], tmp_path / "merged")
    assert (found.clips, found.reports, found.unreadable) == (2, 1, 1)


async def test_a_clip_that_no_shard_lists_any_more_leaves_the_merged_run_if_it_was_never_scored(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    for number in (1, 2):
        await execute(clips, pipeline, tmp_path / "run", f"{number}/2")
    shards = sorted(shards_of(tmp_path / "run").iterdir())
    never = StoredRun(shards[0]).lines[0].clip_id
    StoredRun(shards[0]).report_path(never).unlink()
    merge(shards, tmp_path / "run")
    assert [line.clip_id for line in StoredRun(tmp_path / "run").pending] == [never]
    with RunFolder(shards[0], configuration_of(shards[0])) as folder:
        folder.drop([never])
    assert merge(shards[1:], tmp_path / "run").clips == 6, "the first shard may list it"
    assert merge(shards, tmp_path / "run").clips == 5
    assert StoredRun(tmp_path / "run").pending == ()


async def test_the_clips_of_an_earlier_merge_stay_when_another_run_is_merged(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips[:2], pipeline, tmp_path / "first")
    await execute(clips[2:], pipeline, tmp_path / "second")
    never = StoredRun(tmp_path / "first").lines[0].clip_id
    StoredRun(tmp_path / "first").report_path(never).unlink()
    merge([tmp_path / "first"], tmp_path / "out")
    assert merge([tmp_path / "second"], tmp_path / "out").clips == 6
    assert [line.clip_id for line in StoredRun(tmp_path / "out").pending] == [never]
