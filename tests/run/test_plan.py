"""Which clips a run has, which are finished, and what changed since it began."""

import os
from pathlib import Path

import pytest
from run_making import execute
from synthetic import write_clip

from robogaze.datasets import ManifestEntry
from robogaze.errors import RunError
from robogaze.run.plan import make_plan
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline
from robogaze.store import RunFolder


def opened(root: Path, pipeline: Pipeline) -> RunFolder:
    return RunFolder(root, RunSetup("robot", pipeline).configuration)


def test_unchanged_file_is_not_read_again(
    tmp_path: Path, clips: list[ManifestEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunFolder(tmp_path / "run", {}) as folder:
        plan = make_plan(clips[:1], folder)
        folder.add(*(clip.line.with_(path=folder.address(clip.entry.path)) for clip in plan.clips.values()))
        read = list[Path]()

        def content(entry: ManifestEntry) -> str:
            read.append(entry.path)
            return "f" * 64

        monkeypatch.setattr("robogaze.run.plan.content_sha256", content)
        assert make_plan(clips[:1], folder).clips == plan.clips
        assert read == []
        os.utime(clips[0].path, ns=(0, 0))
        assert make_plan(clips[:1], folder).clips["bar-0"].line.sha256 == "f" * 64


async def test_finished_clips_are_no_tasks(tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline) -> None:
    await execute(clips[:2], pipeline, tmp_path / "run")
    with opened(tmp_path / "run", pipeline) as folder:
        plan = make_plan(clips, folder)
    assert set(plan.finished) == {"bar-0", "bar-1"}
    assert {task.clip_id for task in plan.tasks} == {"bar-2", "bar-3", "bar-4", "bar-5"}


async def test_added_and_removed_clips_are_known(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips[:4], pipeline, tmp_path / "run")
    with opened(tmp_path / "run", pipeline) as folder:
        plan = make_plan(clips[1:], folder)
        assert (plan.added, plan.removed, plan.never_scored) == (["bar-4", "bar-5"], ["bar-0"], [])
        folder.stored.report_path("bar-0").unlink()
        plan = make_plan(clips[1:], folder)
        assert (plan.removed, plan.never_scored) == ([], []), "its file is still there"
        moved = clips[0].path.rename(tmp_path / "moved.mp4")
        plan = make_plan([clip.with_(path=moved) for clip in clips[1:]], folder)
        assert (plan.removed, plan.never_scored) == ([], ["bar-0"])
    with RunFolder(tmp_path / "other", {}) as folder:
        assert make_plan(clips, folder).added == (), "a run that begins has no added clips"


async def test_clip_with_another_instruction_is_scored_again(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    await execute(clips[:1], pipeline, tmp_path / "run")
    with opened(tmp_path / "run", pipeline) as folder:
        plan = make_plan([clips[0].with_(instruction="Stir")], folder)
    assert plan.replaced == {"bar-0": "instruction"}
    assert [task.clip_id for task in plan.tasks] == ["bar-0"]


async def test_file_that_was_replaced_under_another_id_is_refused(
    tmp_path: Path, clips: list[ManifestEntry], pipeline: Pipeline
) -> None:
    unnamed = clips[0].with_(clip_id=None)
    await execute([unnamed], pipeline, tmp_path / "run")
    write_clip(unnamed.path, frames=24, width=64, height=48)
    with (
        opened(tmp_path / "run", pipeline) as folder,
        pytest.raises(RunError, match=r"bar\.mp4 was replaced after .* stored a report"),
    ):
        make_plan([unnamed.with_(clip_id="other")], folder)
