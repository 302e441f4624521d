"""`robogaze score` over many clips, and `robogaze merge`: caps, shards, engines, failing servers, full disks."""

import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub_server import Body, Reply, Stub, running
from synthetic import write_clip

from cli.running import Shell
from robogaze.store import RunFolder, StoredRun

CLIPS = 6
NOBODY = "http://127.0.0.1:9/v1"
MODEL = """
models:
  stub:
    kind: openai
    name: stub
    url: {url}
    frames: uniform 4
    retry: {{attempts: 2, first_wait_s: 0.01, longest_wait_s: 0.01}}
{more}
roles: {{vlm: stub}}
"""
PRICE = "    price: {prompt_usd: 1, completion_usd: 1}"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Six short clips."""
    write_clip(tmp_path / "bar.mp4", frames=16, width=64, height=48)
    return listed(tmp_path, CLIPS)


def listed(folder: Path, clips: int) -> Path:
    path = folder / "clips.jsonl"
    rows = (
        {"path": "bar.mp4", "instruction": f"Move bar {number}", "clip_id": f"bar-{number}"} for number in range(clips)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def models(folder: Path, url: str, *more: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(MODEL.format(url=url, more="\n".join(more)))
    return path


Score = Callable[..., Any]


@pytest.fixture
def score(robogaze: Shell, manifest: Path, tmp_path: Path) -> Score:
    """Runs `robogaze score` under the cheapest pipeline into `run`."""

    def run(url: str, *arguments: Any, more: tuple[str, ...] = (), out: str = "run") -> Any:
        arguments_before = ("score", manifest, "--out", tmp_path / out, "--pipeline", "vanilla")
        return robogaze(*arguments_before, "--model", models(tmp_path, url, *more), *arguments)

    return run


def test_a_run_has_a_flat_folder_and_prints_a_summary(score: Score, tmp_path: Path) -> None:
    with running(Stub()) as url:
        ran = score(url)
    assert ran.code == 0
    assert {path.name for path in (tmp_path / "run" / "reports").iterdir()} == {f"bar-{n}.json" for n in range(CLIPS)}
    assert "6 clips: 6 faulty, 0 clean, 0 undecided" in ran.out
    assert "Task incompletion" in ran.out
    assert (tmp_path / "run" / "index.html").is_file()


def test_a_second_start_does_nothing(score: Score) -> None:
    stub = Stub()
    with running(stub) as url:
        score(url)
        asked = stub.requests
        ran = score(url, "--json")
    assert stub.requests == asked == CLIPS
    written = json.loads(ran.out)
    others = ("clean", "undecided", "partial", "unscored", "unreadable", "pending")
    assert written["clips"] == {"faulty": 6, "complete": 6, **dict.fromkeys(others, 0)}
    assert (written["usage"]["calls"], written["usage"]["cost_usd"], written["stopped"]) == (6, None, None)
    assert written["events"][0]["clips"] == 6


def test_an_estimate_needs_no_server_and_leaves_nothing(score: Score, tmp_path: Path) -> None:
    ran = score(NOBODY, "--estimate", more=(PRICE,))
    assert ran.code == 0
    assert ran.out.startswith("about 6 calls, ")
    assert " USD; estimated from 3 clips" in ran.out
    assert not (tmp_path / "run").exists()


def test_an_estimate_of_a_shard_is_about_its_clips_alone(score: Score, tmp_path: Path) -> None:
    calls = [score(NOBODY, "--estimate", "--shard", f"{number}/2").out.split(",")[0] for number in (1, 2)]
    assert sum(int(text.split()[1]) for text in calls) == CLIPS, calls
    assert not (tmp_path / "run.shards").exists()


def test_a_finished_run_needs_no_server(score: Score, tmp_path: Path) -> None:
    with running(Stub()) as url:
        score(url)
        before = (tmp_path / "models.yaml").read_text()
    ran = score(url)
    assert (tmp_path / "models.yaml").read_text() == before
    assert ran.code == 0
    assert "0 clips to score, 6 finished before" in ran.err


def test_an_unreachable_server_leaves_the_folder_unchanged(score: Score, tmp_path: Path) -> None:
    ran = score(NOBODY)
    assert ran.code == 5
    assert "127.0.0.1:9" in ran.err
    assert "is the server running?" in ran.err
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_cap_ends_the_run_with_a_random_sample_and_a_higher_cap_resumes_it(score: Score, tmp_path: Path) -> None:
    stub = Stub()
    with running(stub) as url:
        first = score(url, "--max-calls", 2, "--concurrency", 1)
        some = {path.stem for path in (tmp_path / "run" / "reports").iterdir()}
        assert score(url, "--max-calls", 4).code == 4
        assert score(url).code == 0
    assert first.code == 4
    assert (
        "the limit of 2 calls is reached (calls for retries and unfinished clips also count); raise --max-calls"
        in first.err
    )
    assert len(some) == 2
    assert some != {"bar-0", "bar-1"}, "the first of the manifest would be no sample"
    assert stub.requests == CLIPS


def test_a_cost_cap_needs_a_price(score: Score) -> None:
    with running(Stub()) as url:
        assert score(url, "--max-cost", 1).code == 2
        ran = score(url, "--max-cost", 0.000001, more=(PRICE,))
    assert ran.code == 4
    assert "raise --max-cost to resume" in ran.err


@pytest.mark.parametrize("text", ["7", "0/2", "3/2"])
def test_a_shard_is_a_part_of_a_number_of_parts(score: Score, text: str) -> None:
    ran = score(NOBODY, "--shard", text)
    assert ran.code == 2
    assert "a shard is NUMBER/COUNT" in ran.err


def test_shards_are_merged_into_the_run(score: Score, robogaze: Shell, tmp_path: Path) -> None:
    stub = Stub()
    with running(stub) as url:
        score(url, "--shard", "1/2")
        early = robogaze("merge", tmp_path / "run")
        score(url, "--shard", "2/2")
        ran = robogaze("merge", tmp_path / "run")
        again = score(url)
    assert (early.code, ran.code) == (4, 0)
    assert "missing: shard 2/2" in early.err
    assert ran.out.strip() == str(tmp_path / "run")
    assert "6 clips of 2 shards, 6 with a report" in ran.err
    assert "0 clips to score, 6 finished before" in again.err
    assert stub.requests == CLIPS


def test_what_has_no_shards_cannot_be_merged(robogaze: Shell, tmp_path: Path) -> None:
    ran = robogaze("merge", tmp_path / "run")
    assert ran.code == 1
    assert "run.shards has no shards; robogaze score --shard I/N" in ran.err


def test_runs_in_any_folders_are_merged_with_out(score: Score, robogaze: Shell, tmp_path: Path) -> None:
    with running(Stub()) as url:
        for number in (1, 2):
            score(url, "--shard", f"{number}/2", out=f"node{number}")
        parts = sorted(tmp_path.glob("node*.shards/*"))
        ran = robogaze("merge", *parts, "--out", tmp_path / "all")
    assert (ran.code, len(list((tmp_path / "all" / "reports").iterdir()))) == (0, CLIPS)
    assert f"{CLIPS} clips of 2 shards" in ran.err


def test_a_layout_that_can_be_imported_needs_no_manifest(robogaze: Shell, tmp_path: Path) -> None:
    (tmp_path / "gen").mkdir()
    for number in range(2):
        write_clip(tmp_path / "gen" / f"{number}_Move the bar.mp4", frames=16 + number, width=64, height=48)
    ran = robogaze("score", tmp_path / "gen", "--out", tmp_path / "run")
    assert ran.code in (0, 4)
    assert f"{tmp_path / 'gen'}: 2 clips, layout dreamgen" in ran.err
    assert {line.instruction for line in StoredRun(tmp_path / "run").lines} == {"Move the bar"}


@pytest.mark.parametrize("engine", ["ray", "datatrove"])
def test_another_engine_writes_the_same_reports(score: Score, tmp_path: Path, engine: str) -> None:
    pytest.importorskip(engine, reason=f"needs the extra {engine}")
    with running(Stub()) as url:
        assert score(url).code == 0
        # In a process of its own: an engine leaves threads and connections behind.
        command_line = [
            "score",
            str(tmp_path / "clips.jsonl"),
            "--out",
            str(tmp_path / "other"),
            "--pipeline",
            "vanilla",
        ]
        more = ["--model", str(tmp_path / "models.yaml"), "--engine", engine, "--workers", "2"]
        done = subprocess.run([sys.executable, "-m", "robogaze", *command_line, *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    here, there = (StoredRun(tmp_path / name) for name in ("run", "other"))
    assert {line.clip_id for line in there.lines} == {line.clip_id for line in here.lines}
    for line in here.lines:
        one, other = here.report(line.clip_id), there.report(line.clip_id)
        assert one is not None
        assert other is not None
        assert one.events == other.events


def test_an_engine_of_several_processes_keeps_no_cap(score: Score) -> None:
    ran = score(NOBODY, "--engine", "ray", "--max-calls", 3)
    assert ran.code == 2
    assert "a limit cannot hold for all processes together" in ran.err


# What may happen to a run.


def test_a_second_run_on_one_folder_is_refused(score: Score, tmp_path: Path) -> None:
    with running(Stub()) as url, RunFolder(tmp_path / "run", {}):
        ran = score(url)
    assert ran.code == 1
    assert f"is in use by process {os.getpid()}" in ran.err


def test_a_changed_manifest_is_reported_and_loses_nothing(score: Score, tmp_path: Path) -> None:
    with running(Stub()) as url:
        score(url)
        listed(tmp_path, CLIPS + 2)
        more = score(url)
        listed(tmp_path, CLIPS - 2)
        less = score(url)
    assert "2 new clips since the first start of" in more.err
    assert "4 clips of" in less.err
    assert "no longer given, with a report that is kept: " in less.err
    assert len(list((tmp_path / "run" / "reports").iterdir())) == CLIPS + 2


def test_a_server_that_goes_away_is_waited_for(score: Score, quick_outages: None) -> None:
    def leave(body: Body) -> None:
        if stub.requests == 2:
            stub.away = True
            threading.Timer(1.0, lambda: setattr(stub, "away", False)).start()

    stub = Stub(behave=leave)
    with running(stub) as url:
        ran = score(url, "--concurrency", 2)
    assert ran.code == 0
    assert "waiting up to 30 min for the server" in ran.err
    assert "6 clips: 6 faulty" in ran.out


def test_a_server_that_does_not_return_loses_nothing(score: Score) -> None:
    stub = Stub(behave=lambda body: Reply(status=502, raw=b"{}") if stub.requests > 3 else None)
    with running(stub) as url:
        ran = score(url, "--outage", 0, "--concurrency", 1)
        assert ran.code == 4
        assert "run the same command again to resume" in ran.err
        stub.behave = lambda body: None
        again = score(url)
    assert again.code == 0
    assert "6 clips: 6 faulty" in again.out


def test_another_model_behind_the_address_ends_the_run_and_loses_nothing(score: Score) -> None:
    def other(body: Body) -> Reply:
        completion = {
            "choices": [{"message": {"content": '{"events": []}'}, "finish_reason": "stop"}],
            "model": "another",
        }
        return Reply(raw=json.dumps(completion).encode())

    stub = Stub(behave=lambda body: other(body) if stub.requests > 3 else None)
    with running(stub) as url:
        ran = score(url, "--concurrency", 1)
        assert ran.code == 4
        assert "answers as another, but used the name stub when this run began" in ran.err
        stub.behave = lambda body: None
        again = score(url)
    assert "3 clips to score, 3 finished before" in again.err
    assert "6 clips: 6 faulty" in again.out


def test_a_run_resumes_with_the_same_named_model_on_another_server(score: Score) -> None:
    named = "    server: cluster"
    stub = Stub()
    with running(stub) as url:
        score(url, "--max-calls", 3, more=(named,))
    elsewhere = Stub()
    with running(elsewhere) as url:
        ran = score(url, more=(named,))
    assert ran.code == 0
    assert (stub.requests, elsewhere.requests) == (3, 3)


def test_several_servers_share_the_clips(score: Score) -> None:
    one, other = Stub(), Stub()
    with running(one) as first, running(other) as second:
        ran = score(f"{first},{second}")
    assert ran.code == 0
    assert one.requests + other.requests == CLIPS
    assert min(one.requests, other.requests) > 0


def test_a_full_disk_is_reported_and_the_run_resumes_when_there_is_room(score: Score, tmp_path: Path) -> None:
    with running(Stub()) as url:
        command_line = ["score", str(tmp_path / "clips.jsonl"), "--out", str(tmp_path / "run"), "--pipeline", "vanilla"]
        command = [sys.executable, "-m", "robogaze", *command_line, "--model", str(models(tmp_path, url))]

        def small_disk() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))

        full = subprocess.run(command, capture_output=True, text=True, preexec_fn=small_disk)
        assert full.returncode == 1, full.stderr
        last = full.stderr.strip().splitlines()[-1]
        assert last.startswith("error: ")
        assert "cannot be" in last
        assert "Traceback" not in full.stderr
        ran = score(url)
    assert ran.code == 0
    assert "6 clips: 6 faulty" in ran.out


def test_progress_in_a_log_is_an_occasional_line(monkeypatch: pytest.MonkeyPatch, score: Score) -> None:
    for name in ("_FIRST_S", "_LONGEST_S"):
        monkeypatch.setattr(f"robogaze.cli.shared.progress.{name}", 0.0)
    with running(Stub()) as url:
        ran = score(url, more=(PRICE,))
    lines = [line for line in ran.err.splitlines() if "/6 clips, " in line]
    assert {line[0] for line in lines} >= set("123456")
    assert any(" a minute, 1 s left, " in line for line in lines)
    assert lines[-1].startswith("6/6 clips, ")
    assert " left" not in lines[-1]
    assert lines[-1].endswith(" USD since the start")


# What a cold reader found.


def test_datatrove_keeps_no_cap_and_prints_no_json(score: Score) -> None:
    capped = score(NOBODY, "--engine", "datatrove", "--max-calls", 3)
    as_json = score(NOBODY, "--engine", "datatrove", "--json")
    assert (capped.code, as_json.code) == (2, 2)
    assert "a limit cannot hold for all processes together" in capped.err


def test_limits_of_a_models_file_are_refused_where_each_worker_would_have_its_own(score: Score) -> None:
    ran = score(NOBODY, "--engine", "ray", more=("    limits: {calls: 8}",))
    assert ran.code == 2
    assert "limits of calls and cost in the models file" in ran.err


def test_the_number_of_shards_of_a_run_cannot_change(score: Score) -> None:
    stub = Stub()
    with running(stub) as url:
        score(url, "--shard", "1/2")
        asked = stub.requests
        shard, engine = score(url, "--shard", "1/3"), score(url, "--engine", "datatrove", "--workers", 3)
    assert (shard.code, engine.code, stub.requests) == (1, 1, asked)
    assert "contains 2 shards; either use 2 shards again" in shard.err
    assert "contains 2 shards; either use 2 shards again" in engine.err


def test_a_merge_with_unscored_clips_is_unfinished(score: Score, robogaze: Shell, tmp_path: Path) -> None:
    with running(Stub(behave=lambda body: Reply(content="prose"))) as url:
        for number in (1, 2):
            score(url, "--shard", f"{number}/2")
    ran = robogaze("merge", tmp_path / "run")
    assert ran.code == 4
    assert "6 with a report, 6 incomplete" in ran.err


def test_a_repaired_clip_is_readable_after_another_merge(
    score: Score, robogaze: Shell, manifest: Path, tmp_path: Path
) -> None:
    for name in ("x", "y"):
        with manifest.open("a") as file:
            file.write(json.dumps({"path": "broken.mp4", "clip_id": name, "instruction": "Stir"}) + "\n")
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    with running(Stub()) as url:
        for number in (1, 2):
            score(url, "--shard", f"{number}/2")
        first = robogaze("merge", tmp_path / "run")
        assert first.code == 4
        assert "2 unreadable" in first.err, "one file, two clips"
        write_clip(tmp_path / "broken.mp4", frames=16, width=64, height=48)
        for number in (1, 2):
            score(url, "--shard", f"{number}/2")
        ran = robogaze("merge", tmp_path / "run")
    assert ran.code == 0
    assert "8 clips of 2 shards, 8 with a report" in ran.err
    assert "unreadable" not in ran.err


def test_a_mistyped_path_is_forgotten_once_it_is_corrected(score: Score, manifest: Path, tmp_path: Path) -> None:
    right = manifest.read_text()
    manifest.write_text(right.replace("bar.mp4", "baar.mp4", 1))
    with running(Stub()) as url:
        assert score(url).code == 4
        assert "baar.mp4" in (tmp_path / "run" / "index.html").read_text()
        manifest.write_text(right)
        assert score(url).code == 0
    assert StoredRun(tmp_path / "run").unreadable == ()
    assert "baar.mp4" not in (tmp_path / "run" / "index.html").read_text()


def test_a_shard_without_a_readable_clip_is_done(score: Score, manifest: Path) -> None:
    manifest.write_text('{"path": "gone.mp4", "clip_id": "a"}\n')
    assert score(NOBODY, "--shard", "1/1", "--pipeline", "pixels").code == 4


def test_a_run_is_not_merged_into_itself(score: Score, robogaze: Shell, tmp_path: Path) -> None:
    with running(Stub()) as url:
        score(url)
    ran = robogaze("merge", tmp_path / "run", "--out", tmp_path / "run")
    assert ran.code == 1
    assert "cannot be merged into itself" in ran.err
