"""`robogaze.score` and `robogaze.score_async`: what the command does, from Python."""

import asyncio
import inspect
import shutil
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from numpy import int64
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


@pytest.mark.parametrize("paths", [[], "missing.mp4", "", [""]])
def test_paths_without_a_file_are_refused(paths: str | list[str]) -> None:
    refused = r"no path of a clip is given|missing\.mp4 does not exist|the path of a clip is empty"
    with pytest.raises(InputError, match=refused):
        robogaze.score(paths)


def test_a_stopped_run_is_compared_with_all_its_clips(folder: Path, tmp_path: Path) -> None:
    with running(Stub()) as url:
        options = robogaze.RunOptions(max_calls=1, clips_at_once=1)
        run = robogaze.score(
            folder, model=f"openai:stub@{url}", pipeline="vanilla", out=tmp_path / "run", options=options
        )
    assert run.stopped is not None
    loaded = (run, run.reports, robogaze.load_reports(tmp_path / "run"), tmp_path / "run")
    rows = [robogaze.compare({"run": source}).leaderboard[0] for source in loaded]
    assert [row.clips["missing"] for row in rows] == [1, 1, 1, 1]
    assert len(set(map(repr, rows))) == 1


def test_reports_are_found_by_place_slice_and_id(folder: Path) -> None:
    run = robogaze.score(folder)
    assert run["a"] == run[0] == run[int64(0)] == run[-2] == run[:1][0]  # type: ignore[index]
    with pytest.raises(KeyError):
        run["c"]


def test_models_may_be_a_path(folder: Path, tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    with running(Stub()) as url:
        models.write_text(f"models: {{m: {{kind: openai, name: stub, url: {url}}}}}\nroles: {{vlm: m}}\n")
        assert len(robogaze.score(folder / "a.mp4", model=models, pipeline="vanilla")) == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"pipeline": "full"}, "the pipeline full needs a model; give `model`"),
        ({"initial_frame": "missing.png"}, r"the initial frame missing\.png cannot be read"),
        ({"layout": "3"}, "a layout is 'single' or"),
        ({"layout": "2x2:left"}, "a 2x2 layout has 4 panels, not 1"),
        ({"instruction": 3}, "instruction: Input should be a valid string"),
        ({"instruction": "lift \udcff"}, "instruction: the text is not UTF-8"),
        ({"out": ""}, "`out` is empty"),
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"options": robogaze.RunOptions(limit=0)}, "limit must be at least 1, not 0"),
        ({"options": robogaze.RunOptions(clips_at_once=0)}, "clips_at_once must be at least 1, not 0"),
        ({"options": robogaze.RunOptions(workers=0)}, "workers must be at least 1, not 0"),
        ({"options": robogaze.RunOptions(max_calls=-1)}, "max_calls must be at least 1, not -1"),
        ({"options": robogaze.RunOptions(max_cost_usd=0.0)}, r"max_cost_usd must be above 0 and finite, not 0\.0"),
        ({"options": robogaze.RunOptions(max_cost_usd=nan)}, "max_cost_usd must be above 0 and finite, not nan"),
        ({"options": robogaze.RunOptions(max_cost_usd=inf)}, "max_cost_usd must be above 0 and finite, not inf"),
        ({"options": robogaze.RunOptions(outage_s=nan)}, "outage_s must be at least 0 and finite, not nan"),
    ],
)
def test_invalid_arguments_are_refused(folder: Path, arguments: dict[str, Any], why: str) -> None:
    with pytest.raises((InputError, OptionError), match=why):
        robogaze.score(folder, **arguments)


def test_run_folder_and_shard_may_be_texts(folder: Path, tmp_path: Path) -> None:
    runs = [
        robogaze.score(folder, options=robogaze.RunOptions(out=f"{tmp_path / 'run'}", shard=shard))
        for shard in ("1/2", "2/2")
    ]
    assert sorted(report.clip.id for run in runs for report in run) == ["a", "b"]
    assert runs[0].folder == tmp_path / "run.shards" / "1-of-2"
    with pytest.raises(OptionError, match="a shard is NUMBER/COUNT"):
        robogaze.score(folder, options=robogaze.RunOptions(out=f"{tmp_path / 'run'}", shard="3"))


def test_sync_and_async_have_one_signature_and_one_docstring() -> None:
    assert inspect.signature(robogaze.score) == inspect.signature(robogaze.score_async)
    assert robogaze.score.__name__ == "score"
    assert not inspect.iscoroutinefunction(robogaze.score)


def test_notebook_says_how_many_clips_have_no_report(folder: Path) -> None:
    (folder / "c.mp4").write_bytes(b"no video")
    run = robogaze.score(folder)
    assert [Path(clip.uri).name for clip in run.unreadable] == ["c.mp4"]
    assert run._repr_html_().startswith("<p>2 reports; 1 clip unreadable</p>")
