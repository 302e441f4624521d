"""`robogaze domain render`: what a model gets, without a model."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from cli.running import Shell
from robogaze.backends.rehearsal import plainest
from robogaze.domains import Domain
from robogaze.render import render_noise
from robogaze.run.score import score
from robogaze.stages.pipeline import Pipeline


def test_a_clip_is_rendered_as_text_and_as_a_page(robogaze: Shell, video: Path, tmp_path: Path) -> None:
    page = tmp_path / "verify.html"
    ran = robogaze("domain", "render", "full", "verify", video, "-i", "Lift the <bar>", "--out", page)
    assert (ran.code, ran.err) == (0, f"page: {page}\n")
    assert 'Task instruction: "Lift the <bar>"' in ran.out
    assert "frame 0 at 0.00 s [image, 160 x 136 px]" in ran.out
    written = page.read_text(encoding="utf-8")
    assert "Lift the &lt;bar&gt;" in written
    assert written.count("data:image/jpeg;base64,") == 3, "two frames, and the sheet that three claims share"


def test_one_request_of_each_prompt_is_rendered_unless_all_are_asked_for(robogaze: Shell) -> None:
    ran = robogaze("domain", "render", "full", "propose", "--json")
    assert len(json.loads(ran.out)["requests"]) == 1
    assert ran.err == "4 more requests use the same prompts; add --all to render them\n"
    every = robogaze("domain", "render", "full", "propose", "--json", "--all")
    assert (len(json.loads(every.out)["requests"]), every.err) == (5, "")


def test_a_stage_without_a_model_says_so(robogaze: Shell) -> None:
    ran = robogaze("domain", "render", "full", "compose")
    assert (ran.code, ran.out, ran.err) == (0, "", "compose queries no model\n")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("ful", "verify"), 1, "the domain robot has no pipeline 'ful'; it has: b1, b2"),
        (
            ("full", "scan"),
            1,
            "the pipeline full has no stage 'scan'; it has: direct, ground, track, observe, segment, propose, verify",
        ),
        (("full", "verify", "nope.mp4"), 1, "nope.mp4 does not exist"),
        (("full", "verify", "--run", "run"), 2, "--run needs a CLIP"),
        (("full", "verify", "cup", "--run", "nowhere"), 1, "nowhere is not a run folder: it has no run.json"),
    ],
)
def test_unknown_names_list_the_known_ones(robogaze: Shell, arguments: tuple[str, ...], code: int, says: str) -> None:
    ran = robogaze("domain", "render", *arguments)
    assert ran.code == code
    assert says in ran.err


# With the answers of a run.


@pytest.fixture(scope="module")
def run(robot: Domain, video: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one clip whose model answered in its own words, with other frames than by default."""
    folder = tmp_path_factory.mktemp("answered")
    pipeline = Pipeline.build(robot, "full")
    answers = []
    for stage in ("direct", "ground", "observe", "segment", "propose", "verify"):
        for request in asyncio.run(render_noise(pipeline, stage)).requests:
            answer = json.dumps(plainest(request.request.schema or {})).replace("rehearsed", f"seen in {stage}")
            answers.append({"when": {"stage": stage, "subject": request.request.subject}, "text": answer})
    script = folder / "script.yaml"
    script.write_text(yaml.safe_dump(answers))
    models = folder / "models.yaml"
    models.write_text(
        yaml.safe_dump(
            {
                "models": {"eyes": {"kind": "scripted", "name": str(script), "frames": "2 fps, at most 32"}},
                "roles": {"vlm": "eyes"},
            }
        )
    )
    score(video, instruction="Lift the bar", pipeline="full", model=str(models), out=folder / "run")
    return folder / "run"


def test_earlier_answers_and_frames_are_those_of_the_run(robogaze: Shell, run: Path) -> None:
    ran = robogaze("domain", "render", "full", "verify", "bar", "--run", run)
    assert ran.code == 0, ran.err
    assert 'Task instruction: "Lift the bar"' in ran.out
    assert "seen in direct" in ran.out
    assert "seen in ground" in ran.out
    assert "seen in propose" in ran.out
    assert "rehearsed" not in ran.out
    observed = robogaze("domain", "render", "full", "observe", "bar", "--run", run)
    assert "frames 0 to 56, 0.00 s to 3.50 s [image" in observed.out, "2 fps on one sheet; 4 fps would take two"


def test_a_clip_that_is_not_in_the_run_is_answered_with_its_clips(robogaze: Shell, run: Path) -> None:
    ran = robogaze("domain", "render", "full", "verify", "cup", "--run", run)
    assert (ran.code, ran.err) == (1, f"error: {run} has no clip 'cup'; it has: bar\n")
