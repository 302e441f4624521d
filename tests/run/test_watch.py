"""A watch, with real files, a real server of fixed answers, and real run folders."""

import asyncio
import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from math import inf, nan
from pathlib import Path
from threading import Event, Thread

import pytest
from stub_server import Stub, running
from synthetic import write_clip

from robogaze.comparison import Gate
from robogaze.errors import InputError, OptionError, Unreachable
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup, make_setup
from robogaze.run.watch import CheckpointResult, Watch, WatchOptions
from robogaze.store import StoredRun

QUICK = WatchOptions(settled_s=0.2, broken_s=0.6, quiet_s=0.5, poll_s=0.05)
NO_UNSCORED = Gate.model_validate({"rules": [{"unscored": {"at_most": 0.1}}]})


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("video") / "bar.mp4", frames=16, width=64, height=48)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("video") / "other.mp4", frames=16, width=64, height=48, seed=1)


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    return folder


@dataclass
class Watched:
    """A watch that runs in a thread. `results` are the checkpoints that it yielded."""

    watch: Watch
    ended: Event
    results: list[CheckpointResult] = field(default_factory=list)
    error: Exception | None = None

    def wait(self, reached: Callable[[], bool], longest_s: float = 60.0) -> None:
        until = time.monotonic() + longest_s
        while not reached():
            assert self.error is None, self.error
            assert time.monotonic() < until, [result.name for result in self.results]
            time.sleep(0.02)

    @property
    def names(self) -> list[str]:
        return [result.name for result in self.results]

    def waiting(self, checkpoint: str) -> int:
        """How many clips of a checkpoint have arrived and are not scored."""
        found = self.watch._checkpoints.get(checkpoint)
        return 0 if found is None else len(found.waiting)

    async def run(self) -> None:
        async with aclosing(self.watch.results()) as results:
            async for result in results:
                self.results.append(result)


@pytest.fixture
def setup(stub: Stub, tmp_path: Path) -> Iterator[RunSetup]:
    with running(stub) as url:
        models = tmp_path / "models.yaml"
        models.write_text(
            "models:\n  stub:\n    kind: openai\n    name: stub\n    frames: uniform 4\n"
            f"    url: {url}\n    retry: {{attempts: 1, first_wait_s: 0.01}}\nroles: {{vlm: stub}}\n"
        )
        yield make_setup(None, "vanilla", str(models))


@contextmanager
def watching(
    paths: Path | Sequence[Path],
    setup: RunSetup,
    watching: WatchOptions = QUICK,
    outage_s: float = 0.0,
) -> Iterator[Watched]:
    """Watch until the end of the block, and then to the end of the watch."""
    paths = [paths] if isinstance(paths, Path) else paths
    ended = Event()
    out = paths[0].parent / "out"
    options = replace(watching, until=watching.until or ended.is_set)
    watched = Watched(Watch(paths, setup, RunOptions(out=out, outage_s=outage_s), options, {}), ended)

    def run() -> None:
        try:
            asyncio.run(watched.run())
        except (InputError, Unreachable) as error:
            watched.error = error

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield watched
    finally:
        ended.set()
        thread.join(60)
    assert not thread.is_alive()


def put(video: Path, clips: Path, name: str, instruction: str = "Move the bar") -> Path:
    """Put a clip into a folder: its sidecar, then the video under its final name."""
    path = clips / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.with_suffix(".txt").write_text(instruction)
    part = path.with_name(f".{path.name}")
    shutil.copy(video, part)
    return part.rename(path)


def reports(clips: Path, checkpoint: str) -> list[str]:
    """The ids of the clips with a report."""
    stored = StoredRun(clips.parent / "out" / checkpoint)
    return [line.clip_id for line in stored.lines if stored.has_report(line.clip_id)]


def written(clips: Path) -> dict[Path, int]:
    """When each report was written."""
    return {path: path.stat().st_mtime_ns for path in (clips.parent / "out").glob("*/reports/*.json")}


def scored(clips: Path, checkpoint: str) -> Callable[[], bool]:
    return lambda: bool(reports(clips, checkpoint))


def test_checkpoints_are_yielded_in_order_and_written_as_runs(
    clips: Path, setup: RunSetup, video: Path, stub: Stub
) -> None:
    with watching(clips, setup) as watched:
        for step in (1000, 2000):
            for name in ("cup", "mug"):
                put(video, clips, f"step_{step}/{name}.mp4", f"Move the {name}")
        watched.wait(lambda: "step_1000" in watched.names)
    assert watched.names == ["step_1000", "step_2000"]
    assert [result.step for result in watched.results] == [1000, 2000]
    assert [len(result.summaries) for result in watched.results] == [2, 2]
    assert reports(clips, "step_1000") == reports(clips, "step_2000") == ["cup", "mug"]
    assert stub.requests == 4
    comparison = watched.results[1].comparison
    assert comparison is not None
    assert [pair.prompts for pair in comparison.pairs] == [2]
    out = clips.parent / "out"
    assert all(page.is_file() for page in (out / "index.html", out / "step_1000/index.html"))


def test_a_half_written_clip_is_a_counted_failure_and_the_others_are_scored(
    clips: Path, setup: RunSetup, video: Path
) -> None:
    with watching(clips, setup):
        (clips / "step_1").mkdir()
        (clips / "step_1" / "half.mp4").write_bytes(video.read_bytes()[:1500])
        put(video, clips, "step_1/cup.mp4")
    stored = StoredRun(clips.parent / "out" / "step_1")
    assert [clip.uri for clip in stored.unreadable] == ["../../clips/step_1/half.mp4"]
    assert reports(clips, "step_1") == ["cup"]


def test_a_clip_that_is_completed_late_is_scored(clips: Path, setup: RunSetup, video: Path) -> None:
    path = clips / "step_1" / "half.mp4"
    path.parent.mkdir()
    path.write_bytes(video.read_bytes()[:1500])
    stored = lambda: StoredRun(clips.parent / "out" / "step_1")  # noqa: E731
    with watching(clips, setup) as watched:
        watched.wait(lambda: bool(stored().unreadable))
        path.write_bytes(video.read_bytes())
        watched.wait(scored(clips, "step_1"))
    assert stored().unreadable == ()
    assert watched.results[-1].is_whole


def test_a_clip_that_disappears_before_it_is_scored_is_a_counted_failure(
    clips: Path, setup: RunSetup, video: Path, stub: Stub
) -> None:
    with watching(clips, setup, outage_s=30.0) as watched:
        stub.away = True
        path = put(video, clips, "step_1/cup.mp4")
        put(video, clips, "step_1/mug.mp4")
        watched.wait(lambda: watched.waiting("step_1") == 2)
        path.unlink()
        watched.wait(lambda: bool(watched.watch._arrivals._deleted))
        stub.away = False
        watched.wait(scored(clips, "step_1"))
    result = watched.results[-1]
    assert [clip.uri for clip in result.unreadable] == ["../../clips/step_1/cup.mp4"]
    assert (len(result.summaries), result.is_whole) == (1, False)


def test_a_clip_that_is_deleted_after_it_was_scored_keeps_its_report(
    clips: Path, setup: RunSetup, video: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with watching(clips, setup) as watched:
        path = put(video, clips, "step_1/cup.mp4")
        watched.wait(scored(clips, "step_1"))
        watched.wait(lambda: len(watched.results) == 1)
        path.unlink()
        watched.wait(lambda: "was deleted after it was scored; its report is kept" in caplog.text)
    assert reports(clips, "step_1") == ["cup"]
    assert watched.watch.complete[0].is_whole


def test_a_clip_that_is_renamed_is_not_scored_again(clips: Path, setup: RunSetup, video: Path) -> None:
    with watching(clips, setup) as watched:
        path = put(video, clips, "step_1/cup.mp4")
        watched.wait(scored(clips, "step_1"))
        before = written(clips)
        path.with_suffix(".txt").rename(path.with_name("mug.txt"))
        path.rename(path.with_name("mug.mp4"))
    assert written(clips) == before
    (line,) = StoredRun(clips.parent / "out" / "step_1").lines
    assert line.path == "../../clips/step_1/mug.mp4"


def test_a_clip_that_changes_after_it_was_scored_is_reported_and_scored_again(
    clips: Path, setup: RunSetup, video: Path, other: Path, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    with watching(clips, setup) as watched:
        put(video, clips, "step_1/cup.mp4")
        watched.wait(lambda: len(watched.results) == 1)
        put(other, clips, "step_1/cup.mp4")
        watched.wait(lambda: len(watched.results) == 2)
    assert "step_1: cup changed after it was scored (file); the clip is scored again" in caplog.text
    assert (reports(clips, "step_1"), stub.requests) == (["cup"], 2)
    assert [result.again for result in watched.results] == [False, True]


def test_a_field_that_changes_after_the_clip_was_scored_is_reported_and_kept(
    clips: Path, setup: RunSetup, video: Path, other: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with watching(clips, setup) as watched:
        path = put(video, clips, "step_1/cup.mp4")
        watched.wait(scored(clips, "step_1"))
        before = written(clips)
        sidecar = {"prompt_id": "p1", "instruction": "Move the bar"}
        path.with_suffix(".json").write_text(json.dumps(sidecar))
        watched.wait(lambda: "cup: the prompt_id changed after the clip was scored; the report is kept" in caplog.text)
        put(other, clips, "step_1/mug.mp4")
        watched.wait(lambda: len(reports(clips, "step_1")) == 2)
    assert before.items() <= written(clips).items()


def test_clips_whose_ids_collide_are_both_scored_and_keep_their_ids(
    clips: Path, setup: RunSetup, video: Path, other: Path, stub: Stub
) -> None:
    with watching(clips, setup) as watched:
        put(video, clips, "step_1/cup 1.mp4")
        watched.wait(scored(clips, "step_1"))
        put(other, clips, "step_1/cup_1.mp4")
        watched.wait(lambda: len(reports(clips, "step_1")) == 2)
    before = reports(clips, "step_1")
    with watching(clips, setup) as watched:
        watched.wait(lambda: len(watched.results) == 1)
    assert (reports(clips, "step_1"), stub.requests) == (before, 2)


def test_a_server_that_goes_away_is_waited_for(
    clips: Path, setup: RunSetup, video: Path, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "robogaze")
    with watching(clips, setup, outage_s=60.0) as watched:
        put(video, clips, "step_1/cup.mp4")
        watched.wait(scored(clips, "step_1"))
        stub.away = True
        put(video, clips, "step_2/cup.mp4", "Move it back")
        watched.wait(lambda: "waiting up to 1 min for the server" in caplog.text)
        time.sleep(0.5)
        assert stub.requests == 1
        stub.away = False
        watched.wait(scored(clips, "step_2"))
    assert [(result.name, result.is_whole) for result in watched.watch.complete] == [("step_1", True), ("step_2", True)]


def test_a_server_that_does_not_return_ends_the_watch_and_the_clip_is_scored_at_the_next_start(
    clips: Path, setup: RunSetup, video: Path, stub: Stub
) -> None:
    stub.away = True
    put(video, clips, "step_1/cup.mp4")
    with watching(clips, setup, outage_s=0.5) as watched:
        watched.ended.wait(3.0)
    assert isinstance(watched.error, Unreachable)
    stub.away = False
    with watching(clips, setup) as watched:
        watched.wait(scored(clips, "step_1"))


def test_a_checkpoint_is_complete_with_its_number_of_clips(clips: Path, setup: RunSetup, video: Path) -> None:
    with watching(clips, setup, replace(QUICK, per_checkpoint=2, quiet_s=0.1)) as watched:
        put(video, clips, "step_1/a.mp4", "Move a")
        watched.wait(scored(clips, "step_1"))
        put(video, clips, "step_2/a.mp4", "Move a")
        watched.wait(scored(clips, "step_2"))
        time.sleep(0.5)
        assert watched.names == []
        put(video, clips, "step_1/b.mp4", "Move b")
        watched.wait(lambda: watched.names == ["step_1"])
    assert watched.names == ["step_1", "step_2"], "at the end every checkpoint is complete"


def test_a_checkpoint_to_which_clips_are_added_is_yielded_again(clips: Path, setup: RunSetup, video: Path) -> None:
    with watching(clips, setup) as watched:
        put(video, clips, "step_1/a.mp4", "Move a")
        watched.wait(lambda: len(watched.results) == 1)
        put(video, clips, "step_1/b.mp4", "Move b")
    assert [(len(result.summaries), result.again) for result in watched.results] == [(1, False), (2, True)]


def test_a_watch_ends_when_nothing_arrives_for_some_time(clips: Path, setup: RunSetup, video: Path) -> None:
    put(video, clips, "step_1/a.mp4")
    options = replace(QUICK, until_idle_s=1.0, until=lambda: False)
    with watching(clips, setup, options) as watched:
        pass
    assert watched.names == ["step_1"]


def test_a_second_start_scores_nothing_twice_and_yields_every_checkpoint(
    clips: Path, setup: RunSetup, video: Path, stub: Stub
) -> None:
    put(video, clips, "step_1/a.mp4", "Move a")
    put(video, clips, "step_2/a.mp4", "Move a")
    with watching(clips, setup):
        pass
    before = written(clips)
    shutil.rmtree(clips / "step_1")  # its samples are not kept
    put(video, clips, "step_3/a.mp4", "Move a")
    with watching(clips, setup) as watched:
        pass
    assert watched.names == ["step_1", "step_2", "step_3"]
    assert stub.requests == 3
    assert before.items() <= written(clips).items()
    comparison = watched.results[-1].comparison
    assert comparison is not None
    assert comparison.names == ("step_1", "step_2", "step_3")


def test_a_checkpoint_that_fails_the_gate_ends_the_watch(clips: Path, setup: RunSetup, video: Path) -> None:
    options = replace(QUICK, gate=NO_UNSCORED)
    with watching(clips, setup, options) as watched:
        put(video, clips, "step_1/a.mp4", "Move a")
        watched.wait(lambda: watched.names == ["step_1"])
        put(video, clips, "step_2/a.mp4", "Move a")
        watched.wait(lambda: watched.names == ["step_1", "step_2"])
        (clips / "step_3").mkdir()
        (clips / "step_3" / "a.mp4").write_bytes(b"")
        put(video, clips, "step_3/b.mp4", "Move b")
        watched.wait(lambda: "step_3" in watched.names)
        put(video, clips, "step_4/a.mp4", "Move a")
    assert [[check.passed for check in result.checks] for result in watched.results] == [[], [True], [False]]
    assert not reports(clips, "step_4")


def test_the_baseline_of_the_gate_is_a_checkpoint_or_another_run(clips: Path, setup: RunSetup, video: Path) -> None:
    put(video, clips, "step_1/a.mp4", "Move a")
    with watching(clips, setup) as watched:
        pass
    released = (clips.parent / "out").rename(clips.parent / "released") / "step_1"
    with watching(clips, setup, replace(QUICK, gate=NO_UNSCORED, baseline=released)) as watched:
        pass
    (result,) = watched.results
    assert [check.passed for check in result.checks] == [True]
    assert result.comparison is not None
    assert result.comparison.names == ("step_1", "baseline step_1")
    with watching(clips, setup, replace(QUICK, gate=NO_UNSCORED, baseline="step_9")) as watched:
        pass
    assert [result.checks for result in watched.results] == [()], "the baseline is not there yet"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (RunOptions(), "`watch` needs `out`"),
        (RunOptions(out="out", shard="1/2"), "cannot have `shard` or `limit`"),
        (RunOptions(out="out", limit=2), "cannot have `shard` or `limit`"),
    ],
)
def test_options_that_do_not_go_with_a_watch_are_refused(
    clips: Path, setup: RunSetup, options: RunOptions, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        Watch([clips], setup, options, QUICK, {})


@pytest.mark.parametrize("idle", [nan, inf, 0.0])
def test_idle_time_that_never_ends_is_refused(clips: Path, setup: RunSetup, idle: float) -> None:
    with pytest.raises(OptionError, match="until_idle_s must be above 0 and finite"):
        Watch([clips], setup, RunOptions(out="out"), replace(QUICK, until_idle_s=idle), {})
