"""investigate: every hypothesis is investigated step by step until a judge can rule on it (GLIDE, 4.2.3 and B.3).

A step has up to five queries, each of which knows the answers before it:

planner     which tool to call and what for; in the first step the first tool, and never the same call twice
tool        the closer view
advocate    why what was found is a fault     } in parallel; omitted without `debate`
skeptic     why it is not                     }
judge       fault, normal, or needs more evidence, and then which: the planner of the next step is given the question

An investigation ends if the judge's confidence reaches `stop_confidence`, if the planner requests nothing more, or
after `max_steps`. The judge's last ruling then counts if its confidence reaches `min_confidence`. All investigations
take their steps in parallel, so a clip takes no more rounds than its longest investigation.

Planner, advocate, skeptic and judge see no image and rely on what the tools found, so that a hypothesis cannot confirm
itself. The judge is given what both sides answer; the front matter of their prompts declares it.

Undecided hypotheses are not accepted: if the judge never has enough evidence, or a query has no answer, the hypothesis
stays unverified and is a failure with its reason.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypedDict

from pydantic import Field, create_model

from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Window
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer, Text, record
from robogaze.errors import FailureKind
from robogaze.stages.answers import ShareAnswer, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.windows import joined, within
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import (
    Arguments,
    Tool,
    ToolDescription,
    ToolFinding,
    templates,
    tool_choice,
    tool_descriptions,
)

_SIDES = ("advocate", "skeptic")
_NEEDS_MORE = "needs_more_evidence"


class PlanAnswer(Answer):
    """The next tool call; None for no further call."""

    reasoning: Text
    use: Any


class RulingAnswer(Answer):
    """The ruling of the judge; `confidence` is the confidence in the ruling, whichever it is."""

    stands_alone: ClassVar[bool] = True
    directly_seen: Text
    reasoning: Text
    ruling: Literal["fault", "normal", "needs_more_evidence"]
    type: str
    description: Text
    confidence: ShareAnswer
    next_question: Text | None


@dataclass(frozen=True)
class InvestigationStep:
    """A finished step: the tool call, its finding, the arguments of both sides, and the ruling."""

    use: Arguments
    finding: ToolFinding
    sides: tuple[Memory, ...]
    ruling: RulingAnswer


class PlanVariables(TypedDict):
    """The variables of the prompt `investigate_plan`; `can_stop` says whether the planner may request no call."""

    hypothesis: Hypothesis
    window: Window
    steps: tuple[InvestigationStep, ...]
    tools: tuple[ToolDescription, ...]
    can_stop: bool


class SideVariables(TypedDict):
    """The variables of the prompts `investigate_advocate` and `investigate_skeptic`; `finding` is the last one."""

    hypothesis: Hypothesis
    window: Window
    steps: tuple[InvestigationStep, ...]
    finding: ToolFinding


class JudgeVariables(SideVariables):
    """The variables of the prompt `investigate_judge`; `sides` is empty without a debate."""

    sides: tuple[Memory, ...]
    dimensions: tuple[Dimension, ...]


@dataclass
class _Investigation:
    """A hypothesis under investigation: the finished steps, and the parts of the current one."""

    hypothesis: Hypothesis
    window: Window
    steps: list[InvestigationStep] = field(default_factory=list)
    use: Any = None
    finding: Any = None
    sides: tuple[Memory, ...] = ()
    done: bool = False
    failure: Failure | None = None

    @property
    def needs_more(self) -> bool:
        """Whether the last ruling was that more evidence is needed."""
        return bool(self.steps) and self.steps[-1].ruling.ruling == _NEEDS_MORE

    @property
    def tool(self) -> Tool:
        return TOOLS.load(self.use.tool)()

    @property
    def subject(self) -> str:
        return f"{self.hypothesis.id} step {len(self.steps) + 1}"


_QueriesOf = Callable[[_Investigation, Context, ModelClient], list[Query]]


class Investigate(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"investigate_plan": PlanVariables, "investigate_judge": JudgeVariables}

    tools: tuple[ToolName, ...] = Field(default=("vqa",), min_length=1)
    """The tools to choose from; the first step uses the first of them."""
    max_steps: int = Field(default=5, ge=1)
    stop_confidence: float = Field(default=0.80, ge=0, le=1)
    """The judge's confidence from which an investigation ends."""
    min_confidence: float = Field(default=0.50, ge=0, le=1)
    """The judge's confidence below which a hypothesis is undecided."""
    debate: bool = True

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "scanned"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "verdicts"})

    def role(self) -> str:
        """The role of planner, advocate, skeptic and judge; tools query the role `vlm`."""
        return "critic"

    def templates(self) -> Mapping[str, type]:
        sides: dict[str, type] = {f"investigate_{side}": SideVariables for side in _SIDES} if self.debate else {}
        return {**self.prompts, **sides, **templates(self._tools())}

    def check(self, domain: Domain) -> None:
        """Raise ValueError if an investigation could end early, undecided; DomainError if a side declares no answer."""
        if self.stop_confidence < self.min_confidence:
            raise ValueError("stop_confidence is below min_confidence, so an investigation could end early, undecided")
        for side in _SIDES if self.debate else ():
            domain.prompts.contract(f"investigate_{side}")

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Investigate all unverified hypotheses in parallel."""
        before = context.hypotheses or ()
        windows = [observation.window for observation in context.scanned or ()]
        investigations = {
            hypothesis.id: _Investigation(hypothesis, joined(within(hypothesis.spans, windows)))
            for hypothesis in before
            if hypothesis.verdict == "unverified"
        }
        for _ in range(self.max_steps):
            await self._step(tuple(investigations.values()), context, client)
        after = {name: self._decided(investigation, client.domain) for name, investigation in investigations.items()}
        undecided = (_undecided(hypothesis) for hypothesis in after.values() if hypothesis.verdict == "unverified")
        unanswered = (found.failure for found in investigations.values() if found.failure is not None)
        return replace(
            context,
            hypotheses=tuple(after.get(hypothesis.id, hypothesis) for hypothesis in before),
            failures=(*context.failures, *undecided, *unanswered),
        )

    async def _step(self, investigations: Sequence[_Investigation], context: Context, client: ModelClient) -> None:
        """Take one step in every investigation that is not done."""
        for investigation, (plan,) in await _ask(investigations, self._plan, context, client):
            investigation.use, investigation.done = plan.use, plan.use is None
        for investigation, (answer,) in await _ask(investigations, self._call_tool, context, client):
            tool, use, window = investigation.tool, investigation.use, investigation.window
            investigation.finding = await tool.finding(use, answer, window, client)
        if self.debate:
            for investigation, sides in await _ask(investigations, self._argue, context, client):
                investigation.sides = tuple(side.model_dump() for side in sides)
        for investigation, (ruling,) in await _ask(investigations, self._rule, context, client):
            step = InvestigationStep(investigation.use, investigation.finding, investigation.sides, ruling)
            investigation.steps.append(step)
            investigation.done = ruling.confidence >= self.stop_confidence and not investigation.needs_more

    def _plan(self, investigation: _Investigation, context: Context, client: ModelClient) -> list[Query]:
        tools = self._tools() if investigation.steps else self._tools()[:1]
        can_stop = bool(investigation.steps) and not investigation.needs_more
        variables = {"tools": tool_descriptions(tools), "can_stop": can_stop}
        contract = _plan_contract(tools, investigation.window, context.clip, can_stop)
        steps = investigation.steps
        return [self._query(investigation, "plan", variables, contract, lambda plan: _repetition(plan.use, steps))]

    def _call_tool(self, investigation: _Investigation, context: Context, client: ModelClient) -> list[Query]:
        tool, window = investigation.tool, investigation.window
        query = tool.query(investigation.use, window, context, client, "investigate", investigation.subject)
        return [replace(query, dimension=investigation.hypothesis.dimension)]

    def _argue(self, investigation: _Investigation, context: Context, client: ModelClient) -> list[Query]:
        variables = {"finding": investigation.finding}
        prompts = client.domain.prompts
        contracts = {side: record(side.title(), prompts.contract(f"investigate_{side}")) for side in _SIDES}
        return [self._query(investigation, side, variables, contract) for side, contract in contracts.items()]

    def _rule(self, investigation: _Investigation, context: Context, client: ModelClient) -> list[Query]:
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        types = one_of(kind.id for dimension in dimensions for kind in dimension.types)
        variables = {"finding": investigation.finding, "sides": investigation.sides, "dimensions": dimensions}
        return [self._query(investigation, "judge", variables, narrowed(RulingAnswer, type=types), _missing_question)]

    def _query(
        self,
        investigation: _Investigation,
        name: str,
        variables: Mapping[str, Any],
        contract: type[Answer],
        check: Callable[[Any], str | None] = lambda answer: None,
    ) -> Query:
        """A query without images; `variables` are those of its prompt beyond what all prompts are given."""
        hypothesis = investigation.hypothesis
        shared = {"hypothesis": hypothesis, "window": investigation.window, "steps": tuple(investigation.steps)}
        return Query(
            stage="investigate",
            subject=f"{investigation.subject} {name}",
            role=self.role(),
            prompt=f"investigate_{name}",
            variables={**shared, **variables},
            images=(),
            contract=contract,
            dimension=hypothesis.dimension,
            check=check,
        )

    def _tools(self) -> tuple[Tool, ...]:
        return tuple(TOOLS.load(name)() for name in self.tools)

    def _decided(self, investigation: _Investigation, domain: Domain) -> Hypothesis:
        """The hypothesis after its investigation."""
        steps = investigation.steps
        findings = (
            Evidence(text=step.finding.text, frames=step.finding.frames, source=step.use.tool) for step in steps
        )
        hypothesis = investigation.hypothesis
        hypothesis = hypothesis.with_(evidence=(*hypothesis.evidence, *findings))
        if investigation.failure is not None:
            return hypothesis.with_(reason=f"a request was not answered: {investigation.failure.message}")
        ruling = steps[-1].ruling
        if investigation.needs_more:
            return hypothesis.with_(reason=f"the judge still asks after step {len(steps)}: {ruling.next_question}")
        if ruling.confidence < self.min_confidence:
            weak = f"{ruling.confidence:.2f}, under {self.min_confidence:.2f}"
            return hypothesis.with_(reason=f"the judge's confidence in '{ruling.ruling}' is {weak}: {ruling.reasoning}")
        if ruling.ruling == "normal":
            confidence = round(1 - ruling.confidence, 6)
            return hypothesis.with_(verdict="rejected", reason=ruling.reasoning, confidence=confidence)
        return hypothesis.with_(
            verdict="accepted",
            reason=ruling.reasoning,
            confidence=ruling.confidence,
            dimension=domain.dimension_of[ruling.type],
            type=ruling.type,
            description=ruling.description,
        )


async def _ask(
    investigations: Iterable[_Investigation], queries_of: _QueriesOf, context: Context, client: ModelClient
) -> list[tuple[_Investigation, tuple[Any, ...]]]:
    """Send the queries of all investigations that are not done, in parallel.

    An investigation that does not get all its answers is done, with a failure, and is not in the result.
    """
    waiting = [(each, queries_of(each, context, client)) for each in investigations if not each.done]
    results = iter(await client.ask_all([query for _, queries in waiting for query in queries], context))
    answered = []
    for investigation, queries in waiting:
        answers = tuple(next(results) for _ in queries)
        missing = [answer for answer in answers if isinstance(answer, NoAnswer)]
        if missing:
            investigation.failure, investigation.done = missing[0].failure, True
        else:
            answered.append((investigation, answers))
    return answered


def _plan_contract(tools: Sequence[Tool], window: Window, clip: Clip, can_stop: bool) -> type[Answer]:
    """The contract of a plan: a call of one of the tools, or none if the planner can stop."""
    use = tool_choice(tools, window, clip)
    fields: Any = {"use": (use | None if can_stop else use, ...)}
    contract: type[Answer] = create_model("Plan", __base__=PlanAnswer, **fields)
    return contract


def _repetition(use: Arguments | None, steps: Sequence[InvestigationStep]) -> str | None:
    """An error if an earlier step made the same call; letter case and punctuation are ignored."""
    for number, step in enumerate(steps, start=1):
        if use is not None and _words(use) == _words(step.use):
            return f"use: step {number} did the same; ask what has not been asked"
    return None


def _words(use: Arguments) -> list[str]:
    return re.findall(r"\w+", use.model_dump_json().casefold())


def _missing_question(answer: RulingAnswer) -> str | None:
    """An error if the ruling needs more evidence but does not ask for any."""
    if answer.ruling == _NEEDS_MORE and answer.next_question is None:
        return f"next_question: {_NEEDS_MORE} needs a question that would settle it"
    return None


def _undecided(hypothesis: Hypothesis) -> Failure:
    message = f"{hypothesis.id} ({hypothesis.type}) is undecided: {hypothesis.reason}"
    return Failure(stage="investigate", dimension=hypothesis.dimension, kind=FailureKind.UNDECIDED, message=message)
