"""Pipelines are checked as a whole, before anything is asked."""

from dataclasses import replace
from pathlib import Path

import pytest
from making import make_clip, models_of, reports_of, scripted

from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.report import Failure
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain, domain_folders, load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.errors import DomainError, InputError
from robogaze.rehearse import rehearse
from robogaze.stages import STAGES
from robogaze.stages.baselines.direct import Direct
from robogaze.stages.client import ModelClient, NoAnswer
from robogaze.stages.context import Context
from robogaze.stages.pipeline import Pipeline
from robogaze.stages.robogaze.verify import Verify

PAPER = {"full", "vanilla", "cot", "taxonomy", "vote3"}
ABLATIONS = {"no-task-memory", "no-scene-memory", "no-segmentation", "no-router", "b5"}


def test_every_condition_of_the_paper_is_a_pipeline(robot: Domain) -> None:
    assert set(robot.pipelines) >= PAPER | ABLATIONS | {"pixels", "full-evidence"}


def test_an_ablation_is_the_full_pipeline_less_one_thing(robot: Domain) -> None:
    full = dict(Pipeline.build(robot, "full").stages)
    for name in ABLATIONS:
        stages = dict(Pipeline.build(robot, name).stages)
        changed = [key for key in {*full, *stages} if full.get(key) != stages.get(key)]
        assert 1 <= len(changed) <= 2, f"{name} changes {changed}"


@pytest.mark.parametrize("name", sorted(PAPER | ABLATIONS | {"pixels", "full-evidence", "full-tools"}))
async def test_every_pipeline_can_be_rehearsed(robot: Domain, name: str) -> None:
    await rehearse(Pipeline.build(robot, name))


def test_every_stage_is_used_by_some_pipeline() -> None:
    pipelines = [pipeline for name in domain_folders() for pipeline in load_domain(name).pipelines.values()]
    assert {stage.name for pipeline in pipelines for stage in pipeline.stages} == set(STAGES.names())


def test_a_dimension_whose_needs_a_clip_lacks_is_not_examined(robot: Domain) -> None:
    pipeline = Pipeline.build(robot, "full")
    start = pipeline.start(make_clip(instruction=None))
    lacking = {"task_progress", "instruction_consistency"}
    assert set(robot.dimensions) - set(start.dimensions) == lacking
    assert {start.coverage[name].reason for name in lacking} == {"the clip has no instruction"}
    assert {each.state for each in start.coverage.values()} == {"not_examined"}


def test_a_dimension_that_no_stage_looks_for_says_so(robot: Domain) -> None:
    start = Pipeline.build(robot, "pixels").start(make_clip())
    reason = "no stage of the pipeline pixels looks for faults in this dimension; a model is needed"
    assert start.coverage["task_progress"].reason == reason


def test_an_unknown_pipeline_is_refused_with_the_known_ones(robot: Domain) -> None:
    with pytest.raises(InputError, match="no pipeline 'fulll'; it has: b1, b2"):
        Pipeline.build(robot, "fulll")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    scaffold(tmp_path / "kitchen")
    return tmp_path / "kitchen"


def built(folder: Path, stages: list[str]) -> Pipeline:
    """A domain's pipeline of some stages."""
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / "dark.md.j2").write_text("It is dark.")
    lines = ["description: odd", "stages:", *stages]
    (folder / "pipelines" / "odd.yaml").write_text("\n".join(lines) + "\n")
    return Pipeline.build(load_domain(folder), "odd")


def refused(folder: Path, stages: list[str], line: int, says: str) -> None:
    """Such a pipeline is refused at a line of its file, with some words."""
    with pytest.raises(DomainError) as error:
        built(folder, stages)
    assert says in str(error.value)
    assert (error.value.path, error.value.line) == (folder / "pipelines" / "odd.yaml", line)


LOOK = "  - direct: {prompt: vanilla}"
LOOKS = "  - direct: {prompt: vanilla, samples: 3, temperature: 0.7}"
RULE = "{signal: luma, below: 0.9, dimension: consistency, type: disappearance, describe: drak}"
RULES = """\
  - measure:
      rules:
        - {signal: luma, below: 0.9, dimension: consistency, type: disappearance, describe: dark}"""


@pytest.mark.parametrize(
    ("stages", "line", "says"),
    [
        (["  - verify", "  - compose"], 3, "verify reads hypotheses, which no stage before it writes"),
        (["  - propose", "  - segment", "  - compose"], 4, "segment reads observations"),
        (["  - prpose", "  - compose"], 3, "there is no stage 'prpose'; the stages are: measure, ground"),
        (["  - propose: {least_confidense: 0.3}", "  - compose"], 3, "propose.least_confidense: unknown key"),
        (["  - propose:", "      min_confidence: 3", "  - compose"], 4, "propose.min_confidence: Input should be"),
        (["  - propose", "  - verify"], 4, "a pipeline ends with compose"),
        (["  - direct: {prompt: vanila}", "  - compose"], 3, "direct needs vanila.md.j2: this prompt is missing (look"),
        (["  - direct:", "      samples: 1", "      prompt: vanila", "  - compose"], 3, "direct needs vanila.md.j2"),
        (["  - direct: {prompt: vanilla, samples: 3}", "  - compose"], 3, "temperature above 0"),
        (["  - ground", "  - propose", "  - compose"], 3, "ground needs ground.md.j2: this prompt is missing"),
        (["  - measure: {rules: [{signal: x}]}", "  - compose"], 3, "measure.rules.0"),
        (["  - propose: {max_tool_calls: 0, atmost: 3}", "  - compose"], 3, "propose.atmost: unknown key"),
        (["  - measure:", "      rules:", f"        - {RULE}", "  - compose"], 3, "measure needs drak.md.j2"),
        ([RULES.replace("luma", "lumma"), "  - compose"], 5, "measure.rules.0: there is no signal 'lumma'; did you"),
        ([RULES.replace("consistency", "look"), "  - compose"], 5, "measure.rules.0: there is no dimension look; use"),
        ([RULES.replace("disappearance", "slip"), "  - compose"], 5, "measure.rules.0: slip is not a type of consis"),
        (["  - propose", "  - compose", "  - verify"], 5, "verify comes after compose, which must be the last stage"),
        (["  - propose", "  - verify", "  - compose", "  - compose"], 6, "compose comes after compose"),
        ([LOOK, "  - compose"], 4, "no stage decides what direct proposes"),
        (["  - propose", "  - compose"], 4, "no stage decides what propose proposes"),
        (["  - propose", "  - verify", LOOK, "  - compose"], 6, "no stage decides what direct proposes"),
        (["  - propose", LOOKS, "  - vote", "  - compose"], 6, "no stage decides what propose proposes"),
        (["  - measure", "  - verify", "  - compose"], 3, "no stage looks for faults"),
        (["  - measure", "  - compose: {accept_unverified: true}"], 3, "no stage looks for faults"),
        ([LOOK, "  - vote", "  - compose"], 4, "vote needs at least two samples, but the direct stages before"),
        (["  - propose", "  - vote", "  - compose"], 4, "vote needs at least two samples"),
        ([LOOKS, "  - vote", LOOKS, "  - vote", "  - compose"], 6, "only one vote is allowed"),
        ([LOOKS, "  - vote: {samples: 5}", "  - compose"], 4, "vote.samples: unknown key"),
    ],
)
def test_a_pipeline_that_cannot_work_is_refused_with_file_and_line(
    folder: Path, stages: list[str], line: int, says: str
) -> None:
    refused(folder, stages, line, says)


@pytest.mark.parametrize("decider", ["verify", "vote"])
def test_what_a_critic_or_a_vote_leaves_undecided_cannot_be_accepted(folder: Path, decider: str) -> None:
    stages = [LOOKS, f"  - {decider}", "  - compose:", "      merge_iou: 0.4", "      accept_unverified: true"]
    refused(folder, stages, 7, f"compose.accept_unverified: would accept hypotheses that {decider} left undecided")


@pytest.mark.parametrize(
    "stages",
    [
        [LOOKS, "  - vote", "  - compose"],
        [LOOK, "  - direct: {prompt: taxonomy}", "  - vote", "  - compose"],
        ["  - propose", LOOKS, "  - vote", "  - verify", "  - compose"],
        [RULES, LOOK, "  - compose: {accept_unverified: true}"],
        [RULES, LOOKS, "  - verify", "  - compose"],
        ["  - direct: {prompt: cot, reasoning: true, samples: 3, temperature: 0.7}", "  - vote", "  - compose"],
    ],
)
async def test_stages_that_propose_can_be_combined(folder: Path, stages: list[str]) -> None:
    await rehearse(built(folder, stages))


def test_a_prompt_with_a_variable_no_stage_provides_is_refused_with_file_and_line(folder: Path) -> None:
    prompt = folder / "prompts" / "propose.md.j2"
    prompt.parent.mkdir()
    prompt.write_text("Look at\n{{ dimention.name }}\n")
    with pytest.raises(DomainError, match="uses 'dimention', which its stage does not provide") as error:
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


# A rehearsal shows what checking files cannot.


@pytest.mark.parametrize("looks", [[LOOK, LOOK], [RULES, LOOK], ["  - propose", LOOK]])
async def test_what_several_stages_propose_becomes_one_report(folder: Path, video: Path, looks: list[str]) -> None:
    pipeline = built(folder, [*looks, "  - compose: {accept_unverified: true}"])
    await rehearse(pipeline)
    (report,) = await reports_of([ManifestEntry(path=video)], pipeline, models_of(RehearsalBackend()))
    names = [hypothesis.id for hypothesis in report.hypotheses]
    assert len(names) >= 2
    assert names == [f"H{number}" for number in range(1, len(names) + 1)]


class Twice(Direct):
    """A look whose hypotheses all have one name."""

    async def run(self, context: Context, client: ModelClient) -> Context:
        context = await super().run(context, client)
        return replace(context, hypotheses=(*(context.hypotheses or ()), *(context.hypotheses or ())))


async def test_what_cannot_become_a_report_fails_in_a_rehearsal(folder: Path) -> None:
    pipeline = built(folder, [LOOK, "  - compose: {accept_unverified: true}"])
    stages = (("direct", Twice(prompt="vanilla")), *pipeline.stages[1:])
    with pytest.raises(
        DomainError, match=r"odd\.yaml: .*do not make a valid report.*ids must be unique; found: H1, H1"
    ):
        await rehearse(replace(pipeline, stages=stages))


class Deaf(Verify):
    """A critic that understands no answer."""

    async def run(self, context: Context, client: ModelClient) -> Context:
        raise NoAnswer(Failure(stage="verify", kind="invalid_answer", message="no valid answer"))


async def test_a_stage_that_fails_in_a_rehearsal_is_named_with_its_line(folder: Path) -> None:
    pipeline = built(folder, ["  - propose", "  - verify", "  - compose"])
    propose, _, compose = pipeline.stages
    with pytest.raises(DomainError, match="verify fails in a rehearsal: no valid answer") as error:
        await rehearse(replace(pipeline, stages=(propose, ("verify", Deaf()), compose)))
    assert (error.value.path, error.value.line) == (folder / "pipelines" / "odd.yaml", 4)


async def test_a_clip_without_an_instruction_is_rehearsed_too(folder: Path) -> None:
    prompt = folder / "prompts" / "context.md.j2"
    prompt.parent.mkdir()
    prompt.write_text("A clip.\n{{ instruction[0] }}\n")
    with pytest.raises(DomainError, match="has no element 0") as error:
        await rehearse(Pipeline.build(load_domain(folder), "vanilla"))
    assert (error.value.path, error.value.line) == (prompt, 2)


# A clip that lacks what every dimension needs.


@pytest.fixture
def needy(folder: Path) -> Path:
    """A domain that examines nothing without an instruction."""
    path = folder / "taxonomy.yaml"
    path.write_text(path.read_text().replace("# needs: [instruction] ", "needs: [instruction] #"))
    return folder


NEEDY = {
    "vanilla": [LOOK, "  - compose: {accept_unverified: true}"],
    "specialists": ["  - propose", "  - verify", "  - compose"],
    "measured": [RULES, "  - compose: {accept_unverified: true}"],
}


@pytest.mark.parametrize("name", NEEDY)
async def test_a_clip_with_nothing_to_examine_is_unscored_and_says_why(needy: Path, video: Path, name: str) -> None:
    pipeline = built(needy, NEEDY[name])
    await rehearse(pipeline)
    models, backend = scripted()
    (report,) = await reports_of([ManifestEntry(path=video)], pipeline, models)
    assert (report.status, report.verdict, report.events) == ("unscored", "undecided", ())
    assert backend.asked == []
    assert [(failure.kind, failure.message) for failure in report.failures] == [
        ("nothing_to_examine", "every dimension that odd can examine needs an instruction, but this clip has none"),
    ]


async def test_a_critic_without_decisions_gives_a_report_that_says_so(folder: Path, video: Path) -> None:
    claim = {
        "description": "the cup is gone", "evidence": "the table is bare", "frames": [0], "dimension": "consistency",
        "type": "disappearance", "span_s": [1.0, 2.0], "severity_proposal": 4, "confidence": 0.9,
        "box": None, "box_frame": None, "box_view": None,
    }  # fmt: skip
    models, _ = scripted(
        {"when": {"stage": "propose"}, "reply": {"hypotheses": [claim]}},
        {"when": {"stage": "verify"}, "reply": {"decisions": {}}, "repeat": True},
    )
    pipeline = Pipeline.build(load_domain(folder), "specialists")
    (report,) = await reports_of([ManifestEntry(path=video)], pipeline, models)
    assert (report.status, report.verdict) == ("partial", "undecided")
    assert report.undecided_dimensions == ("consistency",)
    assert [(failure.stage, failure.dimension, failure.message) for failure in report.failures] == [
        ("verify", "consistency", "H1 (disappearance) is undecided: the critic gave no decision on this hypothesis")
    ]
