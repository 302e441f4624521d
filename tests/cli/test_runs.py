"""A run folder over several starts: what is resumed, asked again and refused, and what it may cost."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from making import coverage
from stub_server import Body, Reply, Stub, pictures_of, running, stage_of
from synthetic import write_clip

from cli.running import Ran, Shell
from robogaze.cli.shared.runs import exit_code
from robogaze.core.report import Report
from robogaze.core.report_summary import ReportSummary
from robogaze.reports import load_reports
from robogaze.run.execute import ScoringRun
from robogaze.run.options import RunOptions
from robogaze.run.plan import make_plan
from robogaze.run.setup import make_setup
from robogaze.store import StoredRun

MODEL = """
models:
  stub:
    kind: openai
    name: stub
    url: {url}
    retry: {{attempts: 2, first_wait_s: 0.01, longest_wait_s: 0.01}}
{more}
roles: {{vlm: stub}}
"""


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """A clip that is soon asked about."""
    return write_clip(tmp_path / "bar.mp4", frames=24, width=64, height=48)


@pytest.fixture
def measured(video: Path, tmp_path: Path) -> Path:
    """A clip that is long enough to be measured."""
    return Path(shutil.copy(video, tmp_path / "bar.mp4"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def models(folder: Path, url: str, *more: str) -> Path:
    """A models file with further lines for its one model."""
    path = folder / "models.yaml"
    path.write_text(MODEL.format(url=url, more="\n".join(f"    {line}" for line in more)))
    return path


def manifest(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "clips.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def reports(out: Path) -> list[Report]:
    return list(StoredRun(out).reports)


# What a clip is.


def test_changed_fields_of_a_clip_with_a_report_are_refused(robogaze: Shell, measured: Path, out: Path) -> None:
    assert robogaze("score", measured, "--out", out).code == 0
    assert robogaze("score", measured, "--out", out).code == 0
    ran = robogaze("score", measured, "--layout", "1x2:left,right", "--out", out)
    assert ran.code == 1
    assert f"the layout of {measured} changed" in ran.err
    assert "another --out" in ran.err


def test_a_checkpoint_that_changed_under_a_clip_id_is_refused(
    robogaze: Shell, measured: Path, out: Path, tmp_path: Path
) -> None:
    row = {"clip_id": "bar", "path": measured.name, "checkpoint": "step_1"}
    assert robogaze("score", manifest(tmp_path, row), "--out", out).code == 0
    ran = robogaze("score", manifest(tmp_path, {**row, "checkpoint": "step_2"}), "--out", out)
    assert ran.code == 1
    assert "the checkpoint of" in ran.err
    assert [report.clip.checkpoint for report in reports(out)] == ["step_1"]


def test_a_changed_initial_frame_is_refused_wherever_it_is(
    robogaze: Shell, measured: Path, out: Path, tmp_path: Path
) -> None:
    import cv2
    import numpy as np

    for name, value in (("first", 10), ("moved", 10), ("other", 90)):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.full((48, 64, 3), value, dtype=np.uint8))
    codes = [
        robogaze("score", measured, "--initial-frame", tmp_path / f"{name}.png", "--out", out).code
        for name in ("first", "moved", "other")
    ]
    assert codes == [0, 0, 1]


def test_one_video_under_two_checkpoints_is_two_clips(
    robogaze: Shell, measured: Path, out: Path, tmp_path: Path
) -> None:
    rows = [{"path": measured.name, "checkpoint": f"step_{number}"} for number in (1, 2)]
    assert robogaze("score", manifest(tmp_path, *rows), "--out", out).code == 0
    assert [report.clip.checkpoint for report in reports(out)] == ["step_1", "step_2"]


def test_identical_entries_need_ids(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    rows = [{"path": clip.name, "task_family": family} for family in ("pushing", "stacking")]
    ran = robogaze("score", manifest(tmp_path, *rows))
    assert ran.code == 1
    assert "differ in task_family only; give each a clip_id" in ran.err


# Clips that cannot be read.


def test_a_clip_that_could_not_be_read_stays_in_the_counts_of_the_folder(
    robogaze: Shell, measured: Path, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"")
    other = write_clip(tmp_path / "other.mp4", frames=72, width=160, height=112)
    assert robogaze("score", measured, tmp_path / "bad.mp4", "--out", out).code == 4
    assert robogaze("score", other, "--out", out).code == 0
    assert [clip.uri for clip in StoredRun(out).unreadable] == ["../bad.mp4"]
    assert "Every file could be read" not in (out / "index.html").read_text()


def test_a_repaired_file_is_scored_and_leaves_the_list(
    robogaze: Shell, measured: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measured.read_bytes()
    row = {"clip_id": "bar", "path": measured.name}
    measured.write_bytes(_damaged_inside(whole))
    first = robogaze("score", manifest(tmp_path, row), "--out", out)
    assert (first.code, len(StoredRun(out).unreadable)) == (1, 1)
    measured.write_bytes(whole)
    monkeypatch.chdir(tmp_path)
    assert robogaze("score", "clips.jsonl", "--out", "out").code == 0
    assert [report.clip.id for report in reports(out)] == ["bar"]
    assert StoredRun(out).unreadable == ()


def _damaged_inside(video: bytes) -> bytes:
    """The same boxes, and noise for pictures: what shows only when it is decoded."""
    start = video.index(b"mdat") + 4
    length = int.from_bytes(video[start - 8 : start - 4])
    return video[:start] + bytes(7 * number % 251 for number in range(length - 8)) + video[start + length - 8 :]


def test_a_run_without_a_clip_that_could_be_read_has_its_table_and_page_all_the_same(
    robogaze: Shell, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"")
    ran = robogaze("score", tmp_path / "bad.mp4", "--out", out)
    assert ran.code == 1
    assert "1 unreadable" in ran.out
    assert "bad.mp4" in (out / "index.html").read_text()
    (out / "index.html").unlink()
    assert robogaze("report", out).code == 0
    assert "bad.mp4" in (out / "index.html").read_text()


# Starts that failed.


def test_a_start_without_a_server_does_not_claim_the_folder(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path
) -> None:
    command = ["score", clip, "-i", "x", "--pipeline", "vanilla", "--out", out, "--model"]
    assert robogaze(*command, "openai:stub@http://127.0.0.1:9/v1").code == 5
    assert robogaze(*command, f"scripted:{tmp_path / 'missing.yaml'}").code == 1
    with running(Stub()) as url:
        assert robogaze(*command, f"openai:stub@{url}").code == 0


def cut(stage: str) -> Callable[[Body], Reply | None]:
    """Cuts the connection for every question of a stage."""
    return lambda body: Reply() if stage_of(body) == stage else None


def says(stage: str, text: str) -> Callable[[Body], Reply | None]:
    """One answer for every question of a stage."""
    return lambda body: Reply(content=text) if stage_of(body) == stage else None


def test_clips_without_an_answer_are_retried_by_the_same_command(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path, quick_outages: None
) -> None:
    stub = Stub(behave=cut("segment"))
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url), "--out", out]
        first = robogaze(*command)
        assert first.code == 5
        assert "run the same command again" in first.err
        assert "--retry-failed" not in first.err
        stub.behave, before = lambda body: None, stub.requests
        assert robogaze(*command).code == 0
    assert stage_of(stub.asked[before]) == "segment", "what was answered is not asked again"
    assert [report.status for report in reports(out)] == ["complete"]


@pytest.mark.parametrize("status", [500, 429])
def test_clips_are_retried_whatever_the_failure_of_the_server(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path, status: int
) -> None:
    stub = Stub(behave=lambda body: Reply(status=status, raw=b"{}"))
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--pipeline", "vanilla", "--model", models(tmp_path, url), "--out", out]
        assert robogaze(*command).code == 4, "a server that answers, if only with errors, can be reached"
        stub.behave = lambda body: None
        assert robogaze(*command).code == 0


def test_clips_with_invalid_answers_are_retried_only_with_a_flag(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path
) -> None:
    stub = Stub(behave=says("segment", "?"))
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url), "--out", out]
        first = robogaze(*command)
        assert first.code == 4
        assert "--retry-failed" in first.err
        assert "unscored" in first.out
        stub.behave, before = lambda body: None, stub.requests
        assert robogaze(*command).code == 4, "a finished clip is not done again by itself"
        assert stub.requests == before
        assert robogaze(*command, "--retry-failed").code == 0
    assert stage_of(stub.asked[before]) == "segment", "what was answered well is kept"


def test_a_critic_that_decided_nothing_can_be_asked_again(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path
) -> None:
    stub = Stub(behave=says("verify", '{"decisions": {}}'))
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url), "--out", out]
        first = robogaze(*command)
        assert (first.code, "--retry-failed" in first.err, "Traceback" in first.err) == (4, True, False)
        assert "undecided, partial" in first.out
        assert "clean" not in first.out.replace("0 clean", "")
        stub.behave, before = lambda body: None, stub.requests
        assert robogaze(*command, "--retry-failed").code == 0
    assert {stage_of(body) for body in stub.asked[before:]} == {"verify"}


def test_an_answer_that_is_not_as_it_was_stored_is_asked_again(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path
) -> None:
    with running(stub := Stub()) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url), "--out", out]
        assert robogaze(*command).code == 0
        with closing(sqlite3.connect(out / "calls.sqlite")) as database, database:
            database.execute("UPDATE answers SET completion = substr(completion, 1, 60) WHERE stage = 'observe'")
            database.execute("UPDATE answers SET completion = replace(completion, '0.5', '0.9') WHERE stage = 'verify'")
        (out / "reports" / "bar.json").unlink()
        before = stub.requests
        assert robogaze(*command).code == 0
    assert [stage_of(body) for body in stub.asked[before:]] == ["observe", "verify"]


@pytest.mark.parametrize("at", [0, 100, 4096, 8192])
def test_a_damaged_file_of_answers_is_named_with_the_way_out(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path, at: int
) -> None:
    path = out / "calls.sqlite"
    with running(Stub()) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url), "--out", out]
        assert robogaze(*command).code == 0
        whole = path.read_bytes()
        path.write_bytes(whole[:at] + b"\xff" * 2000 + whole[at + 2000 :])
        (out / "reports" / "bar.json").unlink()
        ran = robogaze(*command)
        assert "Traceback" not in ran.err
        if ran.code != 0:
            assert ran.code == 1
            assert re.search(r"calls\.sqlite cannot be (read|opened) \(.*\); delete (the file|it)", ran.err)
            path.unlink()
            assert robogaze(*command).code == 0
    assert [report.status in ("partial", "unscored") for report in reports(out)] == [False]


def test_without_a_folder_a_broken_answer_is_not_replayed(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    stub = Stub(behave=says("segment", "?"))
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url)]
        assert robogaze(*command).code == 4
        stub.behave, before = lambda body: None, stub.requests
        assert robogaze(*command).code == 0
    assert stage_of(stub.asked[before]) == "segment", "what was answered well is kept"


# How it ends.


def test_an_unscored_clip_without_a_reason_is_unfinished(robogaze: Shell, measured: Path) -> None:
    report = Report.model_validate(json.loads(robogaze("score", measured, "--json").out)["reports"][0])
    unscored = report.with_(
        coverage=coverage(not_examined=list(report.coverage)), events=(), hypotheses=(), failures=()
    )
    setup, plan = make_setup("robot"), make_plan([])
    run = ScoringRun([], setup, RunOptions(), plan, None, summaries={"bar": ReportSummary.of(unscored)}, scored={"bar"})
    assert exit_code(run) == 4


def test_a_server_is_unreachable_only_if_no_clip_of_this_start_was_answered(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path, quick_outages: None
) -> None:
    other = write_clip(tmp_path / "other.mp4", frames=16, width=64, height=48)
    stub = Stub()
    with running(stub) as url:
        command = ["--pipeline", "vanilla", "-i", "x", "--model", models(tmp_path, url), "--out", out]
        assert robogaze("score", clip, *command).code == 0
        stub.behave = lambda body: Reply()
        assert robogaze("score", clip, other, *command).code == 5, "the first was not asked about in this start"
        assert robogaze("score", clip, *command).code == 0, "nothing had to be asked"
        stub.behave = lambda body: None
        assert robogaze("score", clip, other, *command).code == 0


# What a run may show, and what it may cost.


def test_no_request_holds_more_pictures_than_the_model_takes(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path
) -> None:
    stub = Stub()
    with running(stub) as url:
        file = models(tmp_path, url, "frames: every frame", "max_pictures: 16")
        ran = robogaze("score", clip, "-i", "x", "--pipeline", "full-2026-06", "--model", file, "--out", out)
        assert ran.code == 0, ran.err
    assert max(len(pictures_of(body)) for body in stub.asked) == 16
    (report,) = reports(out)
    assert report.provenance.models["vlm"]["frames"] == "uniform 16"
    assert sum(end - start for start, end in report.unseen) == report.clip.frame_count - 16


def test_a_budget_is_spent_once_and_can_be_raised(robogaze: Shell, clip: Path, out: Path, tmp_path: Path) -> None:
    stub = Stub()

    def start(limit: str) -> Ran:
        return robogaze("score", clip, "-i", "x", "--model", models(tmp_path, url, limit), "--out", out)

    with running(stub) as url:
        first = start("limits: {calls: 3}")
        assert first.code == 4
        assert "limit of 3 calls" in first.err
        assert stub.requests == 3
        assert start("limits: {calls: 3}").code == 4
        assert stub.requests == 3, "a second start has no budget of its own"
        assert start("limits: {calls: 300}").code == 0


def test_a_budget_in_dollars_is_spent_once(robogaze: Shell, clip: Path, out: Path, tmp_path: Path) -> None:
    stub = Stub()
    more = ["limits: {cost_usd: 0.001, concurrency: 1}", "price: {prompt_usd: 1, completion_usd: 1}"]
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url, *more), "--out", out]
        assert robogaze(*command).code == 4
        before = stub.requests
        assert 0 < before < 5
        ran = robogaze(*command)
        assert (ran.code, stub.requests) == (4, before)
        assert "limit of 0.001 USD" in ran.err


def test_a_budget_without_a_folder_is_for_one_command(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    stub, codes, sent = Stub(), [4], [0]
    with running(stub) as url:
        command = ["score", clip, "-i", "x", "--model", models(tmp_path, url, "limits: {calls: 2}")]
        while codes[-1] == 4 and len(codes) < 9:
            codes.append(robogaze(*command).code)
            sent.append(stub.requests)
    assert codes[-1] == 0, "answers are kept, so each start comes further"
    assert [after - before for before, after in pairwise(sent)][:-1] == [2] * (len(codes) - 2)


@pytest.mark.parametrize(
    "changed",
    [
        "limits: {concurrency: 2, calls: 900}",
        "timeout_s: 60",
        "price: {prompt_usd: 1, completion_usd: 1}",
        "api_key_env: SOME_KEY",
    ],
)
def test_settings_that_change_no_answer_keep_the_run(
    robogaze: Shell, clip: Path, out: Path, tmp_path: Path, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "secret")
    with running(Stub()) as url:
        command = ["score", clip, "-i", "x", "--pipeline", "vanilla", "--out", out, "--model"]
        assert robogaze(*command, models(tmp_path, url)).code == 0
        assert robogaze(*command, models(tmp_path, url, changed)).code == 0
        assert robogaze(*command, models(tmp_path, url), "--concurrency", 4).code == 0
        ran = robogaze(*command, models(tmp_path, url, "frames: uniform 4"))
    assert ran.code == 1
    assert "models.models.stub.frames was" in ran.err


# The page.


def test_a_page_is_written_again_from_anywhere_with_its_videos(
    robogaze: Shell, measured: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(measured.parent)
    assert robogaze("score", measured.name, "--out", "out").code == 0
    (out / "elsewhere").mkdir()
    monkeypatch.chdir(out / "elsewhere")
    ran = robogaze("report", out)
    assert ran.code == 0
    assert "video" not in ran.err
    assert "data:video/mp4;base64," in (out / "index.html").read_text()


def test_missing_videos_and_those_too_large_to_embed_are_reported(
    robogaze: Shell, measured: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert robogaze("score", measured, "--out", out).err == f"report: {out / 'index.html'}\n"
    monkeypatch.setattr("robogaze.reporting.pages.videos.EMBED_LIMIT_BYTES", 10)
    linked = robogaze("report", out)
    assert "links to 1 video instead of embedding them" in linked.err
    assert '"video":"../bar.mp4"' in (out / "index.html").read_text().replace(" ", "")
    measured.unlink()
    gone = robogaze("report", out)
    assert f"has no video of 1 clip ({measured.name}" in gone.err
    assert gone.code == 0


# A file that became unreadable, and a run that was stopped.


@pytest.fixture
def two(video: Path, tmp_path: Path) -> Path:
    """A folder with two clips."""
    folder = tmp_path / "clips"
    folder.mkdir()
    shutil.copy(video, folder / "a.mp4")
    write_clip(folder / "b.mp4", frames=72, width=160, height=112)
    return folder


def test_a_clip_counts_beside_an_unreadable_clip_of_the_same_file(
    robogaze: Shell, two: Path, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.png").write_bytes(b"no picture")
    rows = [
        {"clip_id": "a", "path": "clips/a.mp4"},
        {"clip_id": "b", "path": "clips/a.mp4", "initial_frame": "bad.png"},
    ]
    ran = robogaze("score", manifest(tmp_path, *rows), "--out", out)
    assert "1 unreadable" in ran.out
    run = StoredRun(out)
    assert ([line.clip_id for line in run.scored], run.pending) == (["a"], ())
    assert [clip.clip_id for clip in run.unreadable] == ["b"]
    assert len(load_reports(out)) == 1


def test_a_file_that_became_unreadable_counts_once_and_its_report_returns_with_it(
    robogaze: Shell, two: Path, out: Path, tmp_path: Path
) -> None:
    assert robogaze("score", two, "--out", out).code == 0
    whole, path = (two / "a.mp4").read_bytes(), two / "a.mp4"
    path.write_bytes(b"")
    ran = robogaze("score", two, "--out", out)
    assert "2 clips: " in ran.out
    assert "no longer given" not in ran.err
    assert [line.clip_id for line in StoredRun(out).scored] == ["b"]
    assert [report.clip.id for report in load_reports(out)] == ["b"]
    assert "1 unreadable" in _title(out)
    assert "of 2 clips" in _title(out)
    compared = json.loads(robogaze("compare", out, "--json").out)
    clips = compared["runs"][0]["clips"]
    assert (clips["complete"] + clips["partial"], clips["unreadable"]) == (1, 1)
    robogaze("dataset", "export", out, "--keep", "clean", "--dimension", "visual_quality", "--out", tmp_path / "kept")
    kept = tmp_path / "kept" / "clean.jsonl"
    assert not kept.exists() or "a.mp4" not in kept.read_text()
    path.write_bytes(whole)
    assert robogaze("score", two, "--out", out).code == 0
    assert [line.clip_id for line in StoredRun(out).scored] == ["a", "b"]
    assert "unreadable" not in _title(out)


def test_the_page_of_a_stopped_run_names_the_clips_that_are_not_scored_yet(
    robogaze: Shell, two: Path, out: Path
) -> None:
    assert robogaze("score", two, "--out", out).code == 0
    StoredRun(out).report_path("a").unlink()
    assert robogaze("report", out).code == 0
    assert "of 1 clip so far" in _title(out)
    assert "1 of 2 clips is not scored yet" in _title(out)


def test_the_summary_of_a_stopped_run_names_the_clips_that_are_not_scored_yet(
    robogaze: Shell, two: Path, out: Path, tmp_path: Path
) -> None:
    with running(Stub()) as url:
        ran = robogaze("score", two, "--model", models(tmp_path, url), "--out", out, "--max-calls", "1")
    assert ran.code == 4
    assert "not scored yet" in ran.out


def test_a_clip_that_was_never_scored_and_is_deleted_or_renamed_is_named_once_and_leaves_the_run(
    robogaze: Shell, two: Path, out: Path
) -> None:
    assert robogaze("score", two, "--out", out).code == 0
    StoredRun(out).report_path("b").unlink()  # the run was stopped before it scored b
    (two / "b.mp4").rename(two / "c.mp4")
    ran = robogaze("score", two, "--out", out)
    assert f"deleted or renamed and never scored, so not counted any more: 1 clip of {out} (b)" in ran.err
    assert "2 clips: " in ran.out
    assert [line.clip_id for line in StoredRun(out).lines] == ["a", "c"]
    assert ("of 2 clips" in _title(out), "not scored yet" in _title(out)) == (True, False)
    assert "never scored" not in robogaze("score", two, "--out", out).err


def test_a_clip_that_was_never_scored_stays_when_another_folder_is_scored_into_the_run(
    robogaze: Shell, two: Path, out: Path
) -> None:
    assert robogaze("score", two, "--out", out).code == 0
    StoredRun(out).report_path("b").unlink()
    (two.parent / "more").mkdir()
    (two / "a.mp4").rename(two.parent / "more" / "c.mp4")
    ran = robogaze("score", two.parent / "more", "--out", out)
    assert "never scored" not in ran.err
    assert [line.clip_id for line in StoredRun(out).pending] == ["b"]
    assert "1 of 3 clips is not scored yet" in _title(out)


def test_a_clip_that_was_scored_and_is_no_longer_given_stays_in_the_counts(
    robogaze: Shell, two: Path, out: Path
) -> None:
    assert robogaze("score", two, "--out", out).code == 0
    (two / "b.mp4").unlink()
    ran = robogaze("score", two, "--out", out)
    assert f"no longer given, with a report that is kept: 1 clip of {out} (b)" in ran.err
    assert "of 2 clips" in _title(out)


@pytest.mark.parametrize("given", [("clips/a.mp4",), ("clips", "--limit", "1", "--seed", "1")])
def test_a_command_for_a_part_of_the_clips_leaves_the_others_to_be_scored(
    robogaze: Shell, two: Path, out: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    monkeypatch.chdir(two.parent)
    assert robogaze("score", two, "--out", out).code == 0
    StoredRun(out).report_path("b").unlink()
    ran = robogaze("score", *given, "--out", out)
    assert "no longer given" not in ran.err
    assert [line.clip_id for line in StoredRun(out).pending] == ["b"]


def _title(out: Path) -> str:
    found = re.search(r"<h1>(.*?)</h1>", (out / "index.html").read_text(), re.S)
    assert found is not None
    return found[1]
