"""investigate: a judge who sees the pictures rules on every hypothesis (GLIDE, 4.2.3 and B.3).

A step is up to four queries; each query is given the answers to the earlier queries:

tool        the closer look that the judge asked for; not in the first step
advocate    why what was found is a fault     } in parallel; once, in the first step in which the judge is in doubt;
skeptic     why it is not                     } omitted without `debate`
judge       fault, normal, or needs more evidence; when the fault is visible; and the next closer look, if it needs one

The judge is shown the claim's pictures (`claim_pictures`) and the pictures of the last closer look. The judge is in
doubt if its confidence is below `stop_confidence` or if it needs more evidence. An investigation ends when the judge is
not in doubt, when it asks for nothing more after the debate, or after `max_steps`. The judge's last ruling then counts
if its confidence reaches `min_confidence`. All investigations take their steps in parallel, so a clip takes no more
rounds than its longest investigation.

If the judge sees what the claim describes, the ruling "normal" needs an ordinary explanation that frames of this clip
support. If nothing of it is visible, the ruling needs no explanation. The judge is not given the confidence of the
claim. The prompts of both sides declare their answers in front matter.

Undecided hypotheses are not accepted. If the judge never has enough evidence, or if a query has no answer, the
hypothesis stays unverified, and the report lists a failure with the reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypedDict

from pydantic import Field

from robogaze.core.context import Memory, Window
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.report import Failure
from robogaze.core.sampling import evenly
from robogaze.core.time import frames_in
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer, record
from robogaze.domains.model import SeverityLevel
from robogaze.errors import FailureKind
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.claim_pictures import ClaimPictures, claim_pictures
from robogaze.stages.glide.edges import spans_of
from robogaze.stages.glide.ruling import CITED_FRAMES, NEEDS_MORE, RulingAnswer, fault_in, reason_of, ruling_contract
from robogaze.stages.glide.scan import TypesShown
from robogaze.stages.glide.windows import samples_of
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import (
    Arguments,
    Tool,
    ToolDescription,
    ToolFinding,
    templates,
    tool_descriptions,
)
from robogaze.threads import on_core

_SIDES = ("advocate", "skeptic")
_TOOL_FRAMES = 32


@dataclass(frozen=True)
class InvestigationStep:
    """A finished step: the tool call and its finding (both None in the first step), the answers of the advocate and the
    skeptic, and the ruling.
    """

    use: Arguments | None
    finding: ToolFinding | None
    sides: tuple[Memory, ...]
    ruling: RulingAnswer


class SideVariables(TypedDict):
    """The variables of the prompts `investigate_advocate` and `investigate_skeptic`; `finding` is the last finding of a
    tool.
    """

    hypothesis: Hypothesis
    steps: tuple[InvestigationStep, ...]
    finding: ToolFinding | None


class JudgeVariables(SideVariables):
    """The variables of the prompt `investigate_judge`.

    `sides` is empty without a debate. `defined` says whether the types are listed with definitions and spans.
    """

    sides: tuple[Memory, ...]
    dimensions: tuple[Dimension, ...]
    defined: bool
    severity: tuple[SeverityLevel, ...]
    cascade: str
    not_annotated: tuple[str, ...]
    tools: tuple[ToolDescription, ...]


@dataclass
class _Investigation:
    """A hypothesis under investigation: its pictures, the finished steps, and the parts of the current step."""

    hypothesis: Hypothesis
    pictures: ClaimPictures
    window: Window
    max_pictures: int
    steps: list[InvestigationStep] = field(default_factory=list)
    finding: ToolFinding | None = None
    sides: tuple[Memory, ...] = ()
    done: bool = False
    failure: Failure | None = None

    @property
    def needs_more(self) -> bool:
        """Whether the last ruling was that more evidence is needed."""
        return bool(self.steps) and self.steps[-1].ruling.ruling == NEEDS_MORE

    @property
    def use(self) -> Any:
        """The closer look that the last ruling asks for; None if it asks for none."""
        return self.steps[-1].ruling.next_look if self.steps else None

    @property
    def was_debated(self) -> bool:
        return any(step.sides for step in self.steps)

    @property
    def tool(self) -> Tool:
        return TOOLS.load(self.use.tool)()

    @property
    def subject(self) -> str:
        return f"{self.hypothesis.id} step {len(self.steps) + 1}"

    @property
    def images(self) -> tuple[FrameImage, ...]:
        """The pictures of the claim and of the last closer look, without duplicates, and at most as many as the model
        accepts.
        """
        found = () if self.finding is None else self.finding.images
        images = {image.picture.id: image for image in (*found, *self.pictures.images)}
        known = tuple(image.picture.id for image in self.pictures.images)
        ordered = sorted(images.values(), key=lambda image: image.picture.id not in known)
        return tuple(ordered[: self.max_pictures])

    @property
    def frames(self) -> tuple[int, ...]:
        """The frames on these pictures, ascending."""
        return tuple(sorted({frame for image in self.images for frame in image.picture.frames}))


_QueriesOf = Callable[[_Investigation, Context, ModelClient], list[Query]]


class Investigate(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"investigate_judge": JudgeVariables}

    tools: tuple[ToolName, ...] = Field(default=("vqa",), min_length=1)
    """The closer looks that the judge can ask for."""
    max_steps: int = Field(default=3, ge=1)
    stop_confidence: float = Field(default=0.80, ge=0, le=1)
    """The judge's confidence below which it is in doubt."""
    min_confidence: float = Field(default=0.50, ge=0, le=1)
    """The judge's confidence below which a hypothesis is undecided."""
    debate: bool = True
    types: TypesShown = "defined"

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "scanned"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "verdicts"})

    def role(self) -> str:
        """The role of advocate, skeptic and judge; tools query the role `vlm`."""
        return "critic"

    def templates(self) -> Mapping[str, type]:
        sides: dict[str, type] = {f"investigate_{side}": SideVariables for side in _SIDES} if self.debate else {}
        return {**self.prompts, **sides, **templates(self._tools())}

    def check(self, domain: Domain) -> None:
        """Raise ValueError if an investigation could end early without a decision, and DomainError if the prompt of a
        side declares no answer.
        """
        if self.stop_confidence < self.min_confidence:
            raise ValueError(
                "stop_confidence is below min_confidence, so an investigation could end early without a decision"
            )
        for side in _SIDES if self.debate else ():
            domain.prompts.contract(f"investigate_{side}")

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Investigate all unverified hypotheses in parallel."""
        before = context.hypotheses or ()
        samples = samples_of([observation.window for observation in context.scanned or ()])
        investigations = {
            hypothesis.id: await self._investigation(number, hypothesis, samples, client)
            for number, hypothesis in enumerate(before)
            if hypothesis.verdict == "unverified"
        }
        for _ in range(self.max_steps):
            await self._step(tuple(investigations.values()), context, client)
        after = {name: self._decided(investigation, client) for name, investigation in investigations.items()}
        undecided = (_undecided(hypothesis) for hypothesis in after.values() if hypothesis.verdict == "unverified")
        unanswered = (found.failure for found in investigations.values() if found.failure is not None)
        return replace(
            context,
            hypotheses=tuple(after.get(hypothesis.id, hypothesis) for hypothesis in before),
            failures=(*context.failures, *undecided, *unanswered),
        )

    async def _investigation(
        self, number: int, hypothesis: Hypothesis, samples: Sequence[int], client: ModelClient
    ) -> _Investigation:
        """The start of an investigation. The tools of the investigation see the claim with its margin, and frames
        between the samples.
        """
        pictures = await on_core(claim_pictures, hypothesis, samples, client)
        inside = sorted(frames_in((pictures.span,), client.clip.frame_times_s))
        frames = tuple(sorted({*evenly(inside, _TOOL_FRAMES), *pictures.frames}))
        window = Window(id=number, span=pictures.span, frames=frames)
        return _Investigation(hypothesis, pictures, window, client.model(self.role()).config.max_pictures)

    async def _step(self, investigations: Sequence[_Investigation], context: Context, client: ModelClient) -> None:
        """Take one step in every investigation that is not done."""
        investigations = [investigation for investigation in investigations if not investigation.done]
        for investigation in investigations:
            investigation.finding, investigation.sides = None, ()
        looks = [investigation for investigation in investigations if investigation.use is not None]
        for investigation, (answer,) in await _ask(looks, self._call_tool, context, client):
            tool, use, window = investigation.tool, investigation.use, investigation.window
            investigation.finding = await tool.finding(use, answer, window, client)
        doubtful = [investigation for investigation in investigations if investigation.steps]
        undebated = [investigation for investigation in doubtful if self.debate and not investigation.was_debated]
        for investigation, sides in await _ask(undebated, self._argue, context, client):
            investigation.sides = tuple(side.model_dump() for side in sides)
        for investigation, (ruling,) in await _ask(investigations, self._rule, context, client):
            step = InvestigationStep(investigation.use, investigation.finding, investigation.sides, ruling)
            investigation.steps.append(step)
            investigation.done = self._is_done(investigation)

    def _is_done(self, investigation: _Investigation) -> bool:
        """Whether the judge is sure, or could not be given anything new."""
        if investigation.needs_more:
            return False
        is_sure = investigation.steps[-1].ruling.confidence >= self.stop_confidence
        return is_sure or (investigation.use is None and (not self.debate or investigation.was_debated))

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
        taxonomy = client.domain.taxonomy
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        variables = {
            "finding": investigation.finding,
            "sides": investigation.sides,
            "dimensions": dimensions,
            "defined": self.types == "defined",
            "severity": taxonomy.severity,
            "cascade": taxonomy.cascade,
            "not_annotated": taxonomy.not_annotated,
            "tools": tool_descriptions(self._tools()),
        }
        window, shown = investigation.window, investigation.frames
        contract = ruling_contract(self._tools(), window, shown, dimensions, client.clip)
        earlier = [step.ruling for step in investigation.steps]
        return [self._query(investigation, "judge", variables, contract, lambda ruling: fault_in(ruling, earlier))]

    def _query(
        self,
        investigation: _Investigation,
        name: str,
        variables: Mapping[str, Any],
        contract: type[Answer],
        check: Callable[[Any], str | None] = lambda answer: None,
    ) -> Query:
        """A query with the pictures of the claim; `variables` are the variables of its prompt in addition to the shared
        variables.
        """
        hypothesis = investigation.hypothesis
        shared = {"hypothesis": hypothesis, "steps": tuple(investigation.steps)}
        return Query(
            stage="investigate",
            subject=f"{investigation.subject} {name}",
            role=self.role(),
            prompt=f"investigate_{name}",
            variables={**shared, **variables},
            images=investigation.images,
            contract=contract,
            dimension=hypothesis.dimension,
            check=check,
        )

    def _tools(self) -> tuple[Tool, ...]:
        return tuple(TOOLS.load(name)() for name in self.tools)

    def _decided(self, investigation: _Investigation, client: ModelClient) -> Hypothesis:
        """The hypothesis after its investigation."""
        steps = investigation.steps
        findings = (
            Evidence(text=step.finding.text, frames=step.finding.frames, source=step.use.tool)
            for step in steps
            if step.finding is not None and step.use is not None
        )
        hypothesis = investigation.hypothesis
        hypothesis = hypothesis.with_(evidence=(*hypothesis.evidence, *findings))
        if investigation.failure is not None:
            return hypothesis.with_(reason=f"a request was not answered: {investigation.failure.message}")
        ruling = steps[-1].ruling
        if investigation.needs_more:
            return hypothesis.with_(
                reason=f"the judge still needs more evidence after step {len(steps)}: {ruling.reasoning}"
            )
        if ruling.confidence < self.min_confidence:
            too_low = (
                f"confidence in '{ruling.ruling}' is {ruling.confidence:.2f}, below the minimum of "
                f"{self.min_confidence:.2f}"
            )
            return hypothesis.with_(reason=f"the judge's {too_low}: {ruling.reasoning}")
        if ruling.ruling == "normal":
            confidence = round(1 - ruling.confidence, 6)
            return hypothesis.with_(verdict="rejected", reason=reason_of(ruling), confidence=confidence)
        cited = evenly(sorted({frame for pair in ruling.visible for frame in pair}), CITED_FRAMES)
        seen = Evidence(text=ruling.directly_seen, frames=cited, source="judge")
        return hypothesis.with_(
            verdict="accepted",
            reason=ruling.reasoning,
            confidence=ruling.confidence,
            dimension=client.domain.dimension_of[ruling.type],
            type=ruling.type,
            severity=ruling.severity,
            spans=spans_of(ruling.visible, investigation.frames, client.clip),
            description=ruling.description,
            evidence=(*hypothesis.evidence, seen),
        )


def _undecided(hypothesis: Hypothesis) -> Failure:
    message = f"{hypothesis.id} ({hypothesis.type}) is undecided: {hypothesis.reason}"
    return Failure(stage="investigate", dimension=hypothesis.dimension, kind=FailureKind.UNDECIDED, message=message)


async def _ask(
    investigations: Iterable[_Investigation], queries_of: _QueriesOf, context: Context, client: ModelClient
) -> list[tuple[_Investigation, tuple[Any, ...]]]:
    """Send the queries of all investigations that are not done, in parallel.

    An investigation that does not get all its answers ends with a failure and is not in the result.
    """
    waiting = [
        (investigation, queries_of(investigation, context, client))
        for investigation in investigations
        if not investigation.done
    ]
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
