"""Pipelines are checked as a whole, before anything is asked."""

from pathlib import Path

import pytest
from making import make_clip

from robogaze.domains import Domain, load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.errors import DomainError, InputError
from robogaze.rehearse import rehearse
from robogaze.stages import STAGES, Pipeline

PAPER = {"full", "vanilla", "cot", "taxonomy", "vote3"}
ABLATIONS = {"no-task-memory", "no-scene-memory", "no-segmentation", "no-router", "no-verifier"}


def test_every_condition_of_the_paper_is_a_pipeline(robot: Domain) -> None:
    assert set(robot.pipelines) >= PAPER | ABLATIONS | {"pixels", "full-evidence"}


def test_an_ablation_is_the_full_pipeline_less_one_thing(robot: Domain) -> None:
    full = dict(Pipeline.build(robot, "full").stages)
    for name in ABLATIONS:
        stages = dict(Pipeline.build(robot, name).stages)
        changed = [key for key in {*full, *stages} if full.get(key) != stages.get(key)]
        assert 1 <= len(changed) <= 2, f"{name} changes {changed}"


@pytest.mark.parametrize("name", sorted(PAPER | ABLATIONS | {"pixels", "full-evidence"}))
async def test_every_pipeline_can_be_rehearsed(robot: Domain, name: str) -> None:
    await rehearse(Pipeline.build(robot, name))


def test_every_stage_is_used_by_some_pipeline(robot: Domain) -> None:
    used = {stage.name for pipeline in robot.pipelines.values() for stage in pipeline.stages}
    assert used == set(STAGES)


def test_what_a_clip_lacks_is_not_assessed(robot: Domain) -> None:
    pipeline = Pipeline.build(robot, "full")
    without = pipeline.assessed(make_clip(instruction=None))
    assert set(robot.dimensions) - set(without) == {"task_progress", "instruction_consistency"}


def test_an_unknown_pipeline_is_refused_with_the_known_ones(robot: Domain) -> None:
    with pytest.raises(InputError, match="no pipeline 'fulll'; it has: cot, full"):
        Pipeline.build(robot, "fulll")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scaffold(tmp_path / "kitchen")
    return tmp_path / "kitchen"


@pytest.mark.parametrize(
    ("stages", "line", "says"),
    [
        (["  - verify", "  - compose"], 3, "verify reads hypotheses, which no stage before it writes"),
        (["  - propose", "  - segment", "  - compose"], 4, "segment reads observations"),
        (["  - prpose", "  - compose"], 3, "there is no stage 'prpose'; there is: measure, ground"),
        (["  - propose: {least_confidense: 0.3}", "  - compose"], 3, "propose.least_confidense: unknown key"),
        (["  - propose:", "      least_confidence: 3", "  - compose"], 4, "propose.least_confidence: Input should be"),
        (["  - propose", "  - verify"], None, "a pipeline ends with compose"),
        (["  - direct: {prompt: vanila}", "  - compose"], None, "vanila.md.j2: this prompt is missing"),
        (["  - direct: {prompt: vanilla, samples: 3}", "  - compose"], 3, "temperature above 0"),
        (["  - ground", "  - propose", "  - compose"], None, "ground.md.j2: this prompt is missing"),
        (["  - measure: {rules: [{signal: x}]}", "  - compose"], 3, "measure.rules.0"),
    ],
)
def test_a_pipeline_that_cannot_work_is_refused_with_file_and_line(
    folder: Path, stages: list[str], line: int | None, says: str
) -> None:
    path = folder / "pipelines" / "odd.yaml"
    path.write_text("\n".join(["description: odd", "stages:", *stages]) + "\n")
    with pytest.raises(DomainError) as error:
        Pipeline.build(load_domain(folder), "odd")
    assert says in str(error.value)
    if line is not None:
        assert (error.value.path, error.value.line) == (path, line)


def test_a_prompt_with_a_variable_no_stage_provides_is_refused_with_file_and_line(folder: Path) -> None:
    prompt = folder / "prompts" / "propose.md.j2"
    prompt.parent.mkdir()
    prompt.write_text("Look at\n{{ dimention.name }}\n")
    with pytest.raises(DomainError, match="uses 'dimention', which no stage provides") as error:
        Pipeline.build(load_domain(folder), "specialists")
    assert (error.value.path, error.value.line) == (prompt, 2)


async def test_an_attribute_that_does_not_exist_is_found_in_a_rehearsal(folder: Path) -> None:
    prompt = folder / "prompts" / "propose.md.j2"
    prompt.parent.mkdir()
    prompt.write_text("Look at\n\n{{ dimension.nme }}\n")
    with pytest.raises(DomainError, match="has no attribute 'nme'") as error:
        await rehearse(Pipeline.build(load_domain(folder), "specialists"))
    assert (error.value.path, error.value.line) == (prompt, 3)


async def test_a_contract_a_stage_cannot_use_is_refused(folder: Path) -> None:
    (folder / "pipelines" / "memory.yaml").write_text("description: x\nstages: [ground, propose, compose]\n")
    prompt = folder / "prompts" / "ground.md.j2"
    prompt.parent.mkdir()
    prompt.write_text("---\nanswer:\n  scene_memory: {things: [text]}\n---\nWhat is there?\n")
    with pytest.raises(DomainError, match="declares no record 'task_memory'"):
        Pipeline.build(load_domain(folder), "memory")
