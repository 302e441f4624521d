"""`robogaze score`: what is printed, what is written, and with which code it ends."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from stub_server import Stub, running
from synthetic import write_clip

from cli.running import Shell
from robogaze.core.report import Report


@pytest.fixture
def clip(video: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(video, tmp_path / "bar.mp4"))


def test_without_a_model_the_terminal_says_what_was_examined_and_no_clip_is_clean(robogaze: Shell, clip: Path) -> None:
    ran = robogaze("score", clip)
    assert ran.code == 0
    assert "bar " in ran.out
    assert "undecided" in ran.out
    assert "no visual-quality fault found" in ran.out
    assert "1 of 6" in ran.out
    assert "1 clip: 0 faulty, 0 clean, 1 undecided" in ran.out
    assert "clean" not in ran.out.replace("0 clean", "")
    assert "Not examined: Task Progress, Instruction Consistency and Robot-Body Consistency" in ran.out


def test_json_is_one_object_on_stdout_and_every_report_loads(robogaze: Shell, clip: Path) -> None:
    ran = robogaze("score", clip, "-i", "move the bar", "--json")
    written = json.loads(ran.out)
    assert (written["schema_version"], written["unreadable"]) == (2, [])
    (report,) = (Report.model_validate(report) for report in written["reports"])
    assert report.pipeline == "pixels"
    assert report.clip.instruction == "move the bar"
    assert report.usage.calls == 0


def test_a_run_leaves_a_report_and_a_page(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    ran = robogaze("score", clip, "--out", tmp_path / "out")
    (path,) = (tmp_path / "out").glob("reports/*.json")
    assert path.stem == "bar"
    assert ran.err.splitlines()[-1] == f"report: {tmp_path / 'out' / 'index.html'}"
    page = (tmp_path / "out" / "index.html").read_text()
    assert "data:video/mp4;base64," in page
    assert (tmp_path / "out" / "run.json").exists()


def test_the_default_pipeline_with_a_model_is_that_of_the_paper(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    with running(Stub()) as url:
        ran = robogaze("score", clip, "-i", "move the bar", "--model", f"openai:stub@{url}", "--json")
    report = Report.model_validate(json.loads(ran.out)["reports"][0])
    assert (ran.code, report.pipeline, report.status) == (0, "full", "complete")
    assert {call.stage for call in report.provenance.calls} == {
        "direct", "ground", "observe", "segment", "propose", "verify"
    }  # fmt: skip


def test_answers_are_kept_without_a_run_folder_too(robogaze: Shell, clip: Path) -> None:
    with running(stub := Stub()) as url:
        for _ in range(2):
            robogaze("score", clip, "-i", "x", "--pipeline", "vanilla", "--model", f"openai:stub@{url}")
    assert stub.requests == 1


def test_a_pipeline_that_asks_needs_a_model(robogaze: Shell, clip: Path) -> None:
    ran = robogaze("score", clip, "--pipeline", "full")
    assert ran.code == 2
    assert "give --model" in ran.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--pipeline", "fulll"], "no pipeline 'fulll'"),
        (["--domain", "nowhere"], "neither a built-in domain"),
        (["--model", "gpt"], "KIND:NAME"),
        (["--layout", "2x"], "a layout is 'single'"),
        (
            ["--layout", "0x0:a"],
            "a layout is 'single' or 'ROWSxCOLUMNS:name,name,...' with at least one row and column",
        ),
        (["--decoder", "vlc"], "'vlc' is not one of pyav, decord"),
        (["--engine", "spark"], "'spark' is not one of local, ray, datatrove"),
    ],
)
def test_a_wrong_option_is_one_sentence(robogaze: Shell, clip: Path, arguments: list[str], says: str) -> None:
    ran = robogaze("score", clip, *arguments)
    assert ran.code in (1, 2)
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_a_file_that_is_no_video_is_one_sentence_and_code_1(robogaze: Shell, tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("not a video")
    ran = robogaze("score", tmp_path / "text.mp4")
    assert ran.code == 1
    (line,) = ran.err.strip().splitlines()
    assert line.startswith(f"error: {tmp_path / 'text.mp4'} is not an MP4")


def test_a_run_has_one_decoder_which_is_recorded(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    pytest.importorskip("decord", reason="decord is not installed (pip install 'robogaze[decord]')")
    command = ["score", clip, "--no-page", "--out", tmp_path / "out"]
    assert robogaze(*command, "--decoder", "decord").code == 0
    report = Report.model_validate_json((tmp_path / "out" / "reports" / "bar.json").read_text())
    assert report.provenance.media["decoder"] == "decord"
    ran = robogaze(*command)
    assert ran.code == 1
    assert "holds a run with other settings: decoder" in ran.err


def test_engines_and_decoders_of_other_packages_have_their_names(
    robogaze: Shell, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "again-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: again\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[robogaze.decoders]\nagain = robogaze.media.decode_pyav:read\n"
        "[robogaze.engines]\nagain = robogaze.run.engines.local:Local\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    ran = robogaze("score", clip, "--decoder", "again", "--engine", "again", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["reports"][0]["provenance"]["media"]["decoder"] == "again"


def test_a_folder_with_another_run_is_refused(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    assert robogaze("score", clip, "--out", tmp_path / "out").code == 0
    with running(Stub()) as url:
        ran = robogaze("score", clip, "-i", "x", "--model", f"openai:stub@{url}", "--out", tmp_path / "out")
    assert ran.code == 1
    assert "holds a run with other settings: " in ran.err
    assert "{" not in ran.err


def test_sidecars_and_manifests_bring_instructions(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    clip.with_suffix(".txt").write_text("move the bar\n")
    by_sidecar = json.loads(robogaze("score", clip, "--json").out)["reports"][0]
    assert by_sidecar["clip"]["instruction"] == "move the bar"
    row = {"clip_id": "bar/1", "path": "bar.mp4", "instruction": "push it", "split": "test"}
    (tmp_path / "clips.jsonl").write_text(json.dumps(row))
    by_manifest = json.loads(robogaze("score", tmp_path / "clips.jsonl", "--json").out)["reports"][0]
    assert (by_manifest["clip"]["id"], by_manifest["clip"]["instruction"]) == ("bar/1", "push it")


def test_a_clip_without_an_instruction_says_what_was_not_examined(robogaze: Shell, clip: Path) -> None:
    with running(Stub()) as url:
        ran = robogaze("score", clip, "--model", f"openai:stub@{url}", "--json")
    report = Report.model_validate(json.loads(ran.out)["reports"][0])
    left = report.coverage["task_progress"]
    assert (left.state, left.reason) == ("not_examined", "the clip has no instruction")
    assert (report.status, report.clean) == ("complete", False)


def test_the_same_clip_twice_is_scored_once(robogaze: Shell, clip: Path) -> None:
    ran = robogaze("score", clip, clip, "--json")
    assert len(json.loads(ran.out)["reports"]) == 1
    assert "it was not scored again" in ran.err


def test_a_batch_is_written_answered_and_resumed(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    from stub_server import answer

    post = tmp_path / "post"
    command = ["score", clip, "-i", "x", "--model", f"batch:m@{post}", "--out", tmp_path / "out"]
    for round_ in range(1, 9):
        ran = robogaze(*command)
        if ran.code == 0:
            break
        assert ran.code == 4
        assert " pending in " in ran.err
        lines = [json.loads(line) for line in (post / f"requests-{round_:03d}.jsonl").read_text().splitlines()]
        done = [
            {
                "custom_id": line["custom_id"],
                "response": {
                    "status_code": 200,
                    "body": {"choices": [{"message": {"content": json.dumps(answer(line["body"]))}}]},
                },
            }
            for line in lines
        ]
        (post / f"answers-{round_}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in done))
    assert round_ == 7, "direct, ground, observe, segment, propose, verify, and a start that finds everything answered"
    assert list((tmp_path / "out").glob("reports/*.json"))


def test_a_start_that_only_writes_requests_keeps_the_other_clips_on_the_page(
    robogaze: Shell, clip: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.mp4").write_bytes(b"")
    for path in (tmp_path / "bad.mp4", clip):
        robogaze("score", path, "-i", "x", "--model", f"batch:m@{tmp_path / 'post'}", "--out", tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "1 of 2 clips is not scored yet" in page
    assert "1 file could not be read" in page


def test_a_run_without_a_result_prints_no_table(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    ran = robogaze("score", clip, "-i", "x", "--model", f"batch:m@{tmp_path / 'post'}")
    assert ran.code == 4
    assert ran.out == "1 of 1 clip is not scored yet\n"


# Which clips.


def test_a_folder_is_all_its_videos_at_any_depth(robogaze: Shell, tmp_path: Path, video: Path) -> None:
    (tmp_path / "gen" / "more").mkdir(parents=True)
    for name in ("a.mp4", "more/b.mp4"):
        shutil.copy(video, tmp_path / "gen" / name)
    (tmp_path / "gen" / "a.txt").write_text("Move the bar")
    ran = robogaze("score", tmp_path / "gen", "--out", tmp_path / "out", "--json")
    assert [Path(report["clip"]["uri"]).name for report in json.loads(ran.out)["reports"]] == ["a.mp4", "b.mp4"]
    assert json.loads(ran.out)["reports"][0]["clip"]["instruction"] == "Move the bar"
    assert f"{tmp_path / 'gen'}: 2 clips, layout plain" in ran.err


def test_limit_takes_a_random_sample(robogaze: Shell, tmp_path: Path, video: Path) -> None:
    for name in ("a.mp4", "b.mp4", "c.mp4"):
        shutil.copy(video, tmp_path / name)
    samples = {
        tuple(
            Path(report["clip"]["uri"]).name
            for report in json.loads(robogaze("score", tmp_path, "--limit", 2, "--seed", seed, "--json").out)["reports"]
        )
        for seed in (0, 0, 1, 2, 3)
    }
    assert all(len(sample) == 2 for sample in samples)
    assert 1 < len(samples) < 5


def test_an_empty_folder_is_one_short_sentence(robogaze: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for command in (("score", tmp_path / "empty"), ("bench", tmp_path / "empty", "--out", tmp_path / "out")):
        ran = robogaze(*command)
        assert ran.code == 1
        assert ran.err.splitlines()[-1] == f"error: {tmp_path / 'empty'} has no video (.mp4, .m4v, .mov, .mkv, .webm)"
    assert not (tmp_path / "out").exists()


def test_a_mistyped_path_is_answered_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "cup.mp4").touch()
    out = tmp_path / "out"
    code = "import sys; from robogaze.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules)"
    for command in ("score", "bench"):
        arguments = [command, str(tmp_path / "cub.mp4"), "--out", str(out)]
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1
        said = f"error: {tmp_path / 'cub.mp4'} does not exist; did you mean {tmp_path / 'cup.mp4'}?"
        assert done.stderr.strip() == said
        assert not {"numpy", "pydantic", "av", "cv2"} & set(done.stdout.split())
    assert not out.exists()


@pytest.mark.parametrize("command", [("score",), ("forge", "plant", "--out", "x")])
def test_a_layout_that_does_not_fit_is_one_sentence(robogaze: Shell, clip: Path, command: tuple[str, ...]) -> None:
    ran = robogaze(*command, clip, "--layout", "2x2:a,b")
    assert ran.code == 2
    assert "a 2x2 layout has 4 panels, not 2" in ran.err
    assert "pydantic" not in ran.err
    assert "validation error" not in ran.err


def test_another_instruction_or_file_replaces_the_clip(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    robogaze("score", clip, "-i", "Lift the cub", "--out", out)
    ran = robogaze("score", clip, "-i", "Lift the cup", "--out", out, "--json")
    (report,) = json.loads(ran.out)["reports"]
    assert (report["clip"]["id"], report["clip"]["instruction"]) == ("bar", "Lift the cup")
    assert "bar changed since it was scored (instruction); its report is replaced" in ran.err
    write_clip(clip, frames=20, width=64, height=48)
    again = robogaze("score", clip, "-i", "Lift the cup", "--out", out, "--json")
    assert json.loads(again.out)["reports"][0]["clip"]["frame_count"] == 20
    assert "bar changed since it was scored (file)" in again.err
    assert [path.stem for path in out.glob("reports/*.json")] == ["bar"]
    assert (out / "manifest.jsonl").read_text().count("\n") == 1
