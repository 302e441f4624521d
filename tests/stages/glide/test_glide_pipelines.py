"""Stages that go window by window, in a domain of a user's own: no prompt, word or code but the shared ones."""

from pathlib import Path

import pytest
from making import make_clip

from robogaze.domains import load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.errors import DomainError
from robogaze.rehearse import rehearse
from robogaze.stages.pipeline import Pipeline


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scaffold(tmp_path / "kitchen")
    return tmp_path / "kitchen"


def built(folder: Path, *stages: str) -> Pipeline:
    lines = ["description: odd", "stages:", *(f"  - {stage}" for stage in stages)]
    (folder / "pipelines" / "odd.yaml").write_text("\n".join(lines) + "\n")
    return Pipeline.build(load_domain(folder), "odd")


WHOLE = ("scan", "remember", "investigate: {tools: [vqa, zoom_in]}", "trace", "compose")


@pytest.mark.parametrize(
    "stages",
    [
        WHOLE,
        ("scan: {fps: 2, frames_per_window: 4}", "investigate: {debate: false}", "compose"),
        ("scan: {types: named, first_frame: true}", "investigate: {types: named}", "trace: {types: named}", "compose"),
        ("scan", "remember", "verify", "trace", "compose"),
    ],
)
async def test_the_stages_can_be_combined(folder: Path, stages: tuple[str, ...]) -> None:
    await rehearse(built(folder, *stages))


@pytest.mark.parametrize(
    ("stages", "line", "says"),
    [
        (("scan", "compose"), 4, "no stage decides what scan proposes"),
        (("remember", "compose"), 3, "remember reads scanned, which no stage before it writes"),
        (("direct: {prompt: vanilla}", "investigate", "compose"), 4, "investigate reads scanned"),
        (("scan", "trace", "compose: {accept_unverified: true}"), 4, "trace reads verdicts"),
        (("scan", "investigate", "scan", "compose"), 6, "no stage decides what scan proposes"),
        (
            ("scan", "investigate", "compose: {accept_unverified: true}"),
            5,
            "would accept hypotheses that investigate left",
        ),
        (("scan", "investigate: {tools: [xray]}", "compose"), 4, "there is no tool 'xray'; the tools are: vqa"),
        (("scan", "investigate: {stop_confidence: 0.4}", "compose"), 4, "stop_confidence is below min_confidence"),
    ],
)
def test_an_invalid_pipeline_is_refused_with_file_and_line(
    folder: Path, stages: tuple[str, ...], line: int, says: str
) -> None:
    with pytest.raises(DomainError) as error:
        built(folder, *stages)
    assert says in str(error.value)
    assert (error.value.path, error.value.line) == (folder / "pipelines" / "odd.yaml", line)


@pytest.mark.parametrize("prompt", ["investigate_advocate", "investigate_skeptic", "remember"])
def test_a_prompt_without_the_declaration_of_its_answer_is_refused(folder: Path, prompt: str) -> None:
    (folder / "prompts").mkdir()
    (folder / "prompts" / f"{prompt}.md.j2").write_text("Say something.")
    with pytest.raises(DomainError, match="needs front matter that declares its answer"):
        built(folder, *WHOLE)
    built(folder, "scan", "investigate: {debate: false}", "compose")


def test_a_domain_names_the_instruction_of_its_clips(folder: Path) -> None:
    plain = load_domain(folder).file.clip_text
    described = folder / "domain.yaml"
    described.write_text(described.read_text() + "clip_text: name of the dish\n")
    assert (plain, load_domain(folder).file.clip_text) == ("task instruction", "name of the dish")


@pytest.mark.parametrize(("instruction", "says"), [("Soup", 'Name of the dish: "Soup"'), (None, "of the dish is not")])
def test_every_request_uses_that_name(folder: Path, instruction: str | None, says: str) -> None:
    described = folder / "domain.yaml"
    described.write_text(described.read_text() + "clip_text: name of the dish\n")
    domain = load_domain(folder)
    clip = make_clip(instruction=instruction)
    nothing = dict.fromkeys(("task", "scene", "memory", "observations", "segments", "measurements"))
    facts = {
        "duration_s": clip.duration_s,
        "frame_count": clip.frame_count,
        "views": clip.layout.active,
        "suspicions": (),
    }
    named = {**nothing, "clip_text": domain.file.clip_text, "instruction": instruction}
    assert says in domain.prompts.render("context", {"has_pictures": True, **facts, **named})
