"""investigate: every hypothesis is looked into step by step until a judge can rule on it (GLIDE, 4.2.3).

A step has four questions, each of which knows the answers before it:

planner     which tool to use, and what for: in the first step the first tool, and never the same thing twice
tool        the closer look
advocate    why what was found is a fault     } side by side, and left out without `debate`
skeptic     why it is not                     }
judge       fault, normal, or needs more evidence and then which: the planner of the next step is told

A case ends when the judge is sure enough, when the planner has nothing more to ask, or after the last step. The judge's
last ruling then holds if its confidence reaches `least_confidence`. All cases take their steps together, so that a clip
takes no more rounds than its hardest case.

It fails closed: a judge who never had enough to go by, and any question that is not answered, leave the hypothesis
unverified, and a failure says why.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pydantic import Field

from robogaze.core.context import Memory, Window
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, record
from robogaze.errors import FailureKind
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.debate import (
    NEEDS_MORE,
    SIDES,
    DebateStep,
    JudgeVariables,
    PlanVariables,
    SideVariables,
    plan_contract,
    repeated,
    ruling_contract,
    unasked,
)
from robogaze.stages.tools import TOOLS, Tool, ToolName, cards, templates
from robogaze.stages.windows import joined, within


@dataclass
class _Case:
    """A hypothesis under investigation: the steps taken, then the one under way. `done` when none is to follow."""

    claim: Hypothesis
    window: Window
    steps: list[DebateStep] = field(default_factory=list)
    use: Any = None
    finding: Any = None
    sides: tuple[Memory, ...] = ()
    done: bool = False
    failure: Failure | None = None

    @property
    def needs_more(self) -> bool:
        """Whether the judge was last left without enough to go by."""
        return bool(self.steps) and self.steps[-1].ruling.ruling == NEEDS_MORE


Asking = Callable[[_Case, Context, ModelClient], list[Query]]
"""What is asked in a case."""


class Investigate(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"plan": PlanVariables, "judge": JudgeVariables}

    tools: tuple[ToolName, ...] = Field(default=("vqa",), min_length=1)
    """The tools to choose from, the one of the first step first."""
    steps: int = Field(default=5, ge=1)
    settled: float = Field(default=0.80, ge=0, le=1)
    """The judge's confidence from which no further step is taken."""
    least_confidence: float = Field(default=0.50, ge=0, le=1)
    """The judge's confidence below which a case that ends is undecided."""
    debate: bool = True

    def reads(self) -> frozenset[Slot]:
        """The hypotheses, and the windows they lie in."""
        return frozenset({"hypotheses", "scanned"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses, decided."""
        return frozenset({"hypotheses", "verdicts"})

    def role(self) -> str:
        """The critic, who is planner, advocate, skeptic and judge."""
        return "critic"

    def templates(self) -> Mapping[str, type]:
        """Its own prompts, those of the debate, and those of the tools."""
        sides: dict[str, type] = dict.fromkeys(SIDES, SideVariables) if self.debate else {}
        return {**self.prompts, **sides, **templates(self._tools())}

    def check(self, domain: Domain) -> None:
        """Raise ValueError where a case could end early and undecided, DomainError where a side declares no answer."""
        if self.settled < self.least_confidence:
            raise ValueError("settled is below least_confidence, so that a case could end early and undecided")
        for side in SIDES if self.debate else ():
            domain.prompts.contract(side)

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Take the cases through their steps, side by side."""
        hypotheses = context.hypotheses or ()
        windows = [one.window for one in context.scanned or ()]
        cases = {
            one.id: _Case(one, joined(within(one.spans, windows))) for one in hypotheses if one.verdict == "unverified"
        }
        for _ in range(self.steps):
            await self._step(tuple(cases.values()), context, desk)
        decided = {name: self._decided(case, desk.domain) for name, case in cases.items()}
        undecided = (_undecided(one) for one in decided.values() if one.verdict == "unverified")
        unanswered = (case.failure for case in cases.values() if case.failure is not None)
        return replace(
            context,
            hypotheses=tuple(decided.get(one.id, one) for one in hypotheses),
            failures=(*context.failures, *undecided, *unanswered),
        )

    async def _step(self, cases: Sequence[_Case], context: Context, desk: ModelClient) -> None:
        """Take one step in every case that is not done."""
        for case, (plan,) in await _ask(cases, self._plan, context, desk):
            case.use, case.done = plan.use, plan.use is None
        for case, (answer,) in await _ask(cases, self._look, context, desk):
            case.finding = await _tool(case).finding(case.use, answer, case.window, desk)
        if self.debate:
            for case, sides in await _ask(cases, self._argue, context, desk):
                case.sides = tuple(side.model_dump() for side in sides)
        for case, (ruling,) in await _ask(cases, self._rule, context, desk):
            case.steps.append(DebateStep(case.use, case.finding, case.sides, ruling))
            case.done = ruling.confidence >= self.settled and not case.needs_more

    def _plan(self, case: _Case, context: Context, desk: ModelClient) -> list[Query]:
        tools = self._tools() if case.steps else self._tools()[:1]
        may_end = bool(case.steps) and not case.needs_more
        told = {"tools": cards(tools), "may_end": may_end}
        contract = plan_contract(tools, case.window, context.clip, may_end)
        return [self._question(case, "plan", told, contract, lambda said: repeated(said.use, case.steps))]

    def _look(self, case: _Case, context: Context, desk: ModelClient) -> list[Query]:
        question = _tool(case).question(case.use, case.window, context, desk, "investigate", _subject(case))
        return [replace(question, dimension=case.claim.dimension)]

    def _argue(self, case: _Case, context: Context, desk: ModelClient) -> list[Query]:
        answers = {side: record(side.title(), desk.domain.prompts.contract(side)) for side in SIDES}
        return [self._question(case, side, {"finding": case.finding}, answer) for side, answer in answers.items()]

    def _rule(self, case: _Case, context: Context, desk: ModelClient) -> list[Query]:
        dimensions = tuple(desk.domain.dimensions[name] for name in context.dimensions)
        told = {"finding": case.finding, "sides": case.sides, "dimensions": dimensions}
        return [self._question(case, "judge", told, ruling_contract(dimensions), unasked)]

    def _question(
        self,
        case: _Case,
        prompt: str,
        told: Mapping[str, Any],
        contract: type[Answer],
        check: Callable[[Any], str | None] = lambda answer: None,
    ) -> Query:
        """A question without pictures, with what everyone is told of the case and something more."""
        known = {"claim": case.claim, "window": case.window, "steps": tuple(case.steps)}
        return Query(
            stage="investigate",
            subject=f"{_subject(case)} {prompt}",
            role=self.role(),
            prompt=prompt,
            variables={**known, **told},
            shots=(),
            contract=contract,
            dimension=case.claim.dimension,
            check=check,
        )

    def _tools(self) -> tuple[Tool, ...]:
        return tuple(TOOLS[name]() for name in self.tools)

    def _decided(self, case: _Case, domain: Domain) -> Hypothesis:
        """The hypothesis as the case leaves it."""
        claim = case.claim
        looks = (Evidence(text=one.finding.text, frames=one.finding.frames, source=one.use.tool) for one in case.steps)
        claim = claim.with_(evidence=(*claim.evidence, *looks))
        if case.failure is not None:
            return claim.with_(reason=f"a question was not answered: {case.failure.message}")
        ruling = case.steps[-1].ruling
        if case.needs_more:
            return claim.with_(reason=f"the judge still asks after step {len(case.steps)}: {ruling.next_question}")
        if ruling.confidence < self.least_confidence:
            weak = f"{ruling.confidence:.2f}, under {self.least_confidence:.2f}"
            return claim.with_(reason=f"the judge's confidence in '{ruling.ruling}' is {weak}: {ruling.reasoning}")
        if ruling.ruling == "normal":
            sure = round(1 - ruling.confidence, 6)
            return claim.with_(verdict="rejected", reason=ruling.reasoning, confidence=sure)
        return claim.with_(
            verdict="accepted",
            reason=ruling.reasoning,
            confidence=ruling.confidence,
            dimension=domain.dimension_of[ruling.type],
            type=ruling.type,
            description=ruling.description,
        )


async def _ask(
    cases: Iterable[_Case], asking: Asking, context: Context, desk: ModelClient
) -> list[tuple[_Case, tuple[Any, ...]]]:
    """Ask in every case that is not done, all side by side; a case without all its answers is done, with a failure."""
    waiting = [(case, asking(case, context, desk)) for case in cases if not case.done]
    said = iter(await desk.ask_each([question for _, questions in waiting for question in questions], context))
    answered = []
    for case, questions in waiting:
        answers = tuple(next(said) for _ in questions)
        missed = [one for one in answers if isinstance(one, NoAnswer)]
        if missed:
            case.failure, case.done = missed[0].failure, True
        else:
            answered.append((case, answers))
    return answered


def _tool(case: _Case) -> Tool:
    return TOOLS[case.use.tool]()


def _subject(case: _Case) -> str:
    return f"{case.claim.id} step {len(case.steps) + 1}"


def _undecided(claim: Hypothesis) -> Failure:
    message = f"{claim.id} ({claim.type}) is undecided: {claim.reason}"
    return Failure(stage="investigate", dimension=claim.dimension, kind=FailureKind.UNDECIDED, message=message)
