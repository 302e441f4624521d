"""`robogaze.score` and `robogaze.score_async`: what the command does, from Python."""

import asyncio
import inspect
import shutil
from pathlib import Path

import pytest
from stub_server import Stub, running

import robogaze
from robogaze.errors import InputError, OptionError
from robogaze.store import StoredRun


@pytest.fixture
def folder(tmp_path: Path, video: Path) -> Path:
    """Two clips with their instructions."""
    (tmp_path / "clips").mkdir()
    for name in ("a", "b"):
        shutil.copy(video, tmp_path / "clips" / f"{name}.mp4")
        (tmp_path / "clips" / f"{name}.txt").write_text(f"Move bar {name}")
    return tmp_path / "clips"


def test_score_returns_a_report_for_each_clip(folder: Path) -> None:
    with running(Stub()) as url:
        run = robogaze.score(folder, model=f"openai:stub@{url}", pipeline="vanilla")
    assert [report.clip.id for report in run] == ["a", "b"]
    assert run["b"].clip.instruction == "Move bar b"
    assert run[0].verdict == "faulty"
    assert (run.unreadable, run.stopped, run.folder) == ((), None, None)


def test_score_with_a_run_folder_resumes(folder: Path, tmp_path: Path) -> None:
    stub = Stub()
    with running(stub) as url:
        options = robogaze.RunOptions(limit=1)
        first = robogaze.score(
            folder, model=f"openai:stub@{url}", pipeline="vanilla", out=tmp_path / "run", options=options
        )
        second = robogaze.score(folder, model=f"openai:stub@{url}", pipeline="vanilla", out=tmp_path / "run")
    assert (len(first), len(second), stub.requests) == (1, 2, 2)
    assert second.folder == tmp_path / "run"
    assert StoredRun(tmp_path / "run").report("a") == second["a"]


def test_score_works_where_an_event_loop_runs_as_in_a_notebook(folder: Path) -> None:
    async def cell() -> int:
        return len(robogaze.score(folder / "a.mp4"))

    assert asyncio.run(cell()) == 1


async def test_score_async_takes_several_paths(folder: Path) -> None:
    run = await robogaze.score_async([folder / "b.mp4", folder / "a.mp4"], instruction="Stir")
    assert [(report.clip.id, report.clip.instruction) for report in run] == [("b", "Stir"), ("a", "Stir")]


def test_unreadable_clip_is_counted(folder: Path) -> None:
    (folder / "c.mp4").write_bytes(b"no video")
    run = robogaze.score(folder)
    assert len(run) == 2
    assert [Path(clip.uri).name for clip in run.unreadable] == ["c.mp4"]


def test_missing_path_and_missing_model_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.mp4 does not exist"):
        robogaze.score(tmp_path / "missing.mp4")
    with pytest.raises(OptionError, match="the pipeline full needs a model; give --model"):
        robogaze.score(folder, pipeline="full")


def test_both_twins_have_one_signature_and_one_text() -> None:
    assert inspect.signature(robogaze.score) == inspect.signature(robogaze.score_async)
    assert robogaze.score.__name__ == "score"
    assert not inspect.iscoroutinefunction(robogaze.score)
