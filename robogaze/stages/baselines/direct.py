"""direct: one question about the whole clip, without memories, specialists or critic: the baselines of the paper
(vanilla, chain of thought, taxonomy in the prompt; RoboGaze A.3.2, A.3.3, A.4.13), and with `samples` the input of a
vote (A.4.12). The looks at a clip are numbered through, over all stages that look; so are their hypotheses.

Reasoning a model writes inside <think> tags is set aside before the answer is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core.coverage import Coverage
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span, union
from robogaze.domains import Dimension, Domain
from robogaze.domains.model import SeverityLevel
from robogaze.stages.answers import ClaimAnswer, RecurringAnswer, SeverityAnswer, claim, wrapped
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context

_AT_MOST = 12


class DirectVariables(TypedDict):
    """The taxonomy, as much of it as the prompt cares to show."""

    dimensions: tuple[Dimension, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str


class EventAnswer(ClaimAnswer):
    """A fault as a single look reports it."""

    severity: SeverityAnswer

    @property
    def spans(self) -> tuple[Span, ...]:
        """When it can be seen."""
        return (Span(*self.span_s),)


class RecurringEventAnswer(RecurringAnswer):
    """The same of a fault that may come and go."""

    severity: SeverityAnswer

    @property
    def spans(self) -> tuple[Span, ...]:
        """When it can be seen."""
        return tuple(Span(*one) for one in self.spans_s)


AnyEvent = EventAnswer | RecurringEventAnswer


class Direct(Examiner):
    """Writes hypotheses from one look, or from `samples` independent looks at a temperature above 0."""

    prompts: ClassVar[Mapping[str, type]] = {}

    prompt: str
    """The prompt to ask with; it may use what DirectVariables names."""
    reasoning: bool = False
    """Let the model reason before it answers; the answer is then not held to a grammar."""
    recurring: bool = False
    """An event is asked for all its appearances (`spans_s`) and not for one (`span_s`)."""
    samples: int = Field(default=1, ge=1)
    temperature: float | None = Field(default=None, ge=0)

    def templates(self) -> Mapping[str, type]:
        """The prompt it is told to use."""
        return {self.prompt: DirectVariables}

    def check(self, domain: Domain) -> None:
        """Raise ValueError when several samples would be the same one."""
        if self.samples > 1 and not self.temperature:
            raise ValueError("several samples need a temperature above 0, or they are one and the same")

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask once for each sample, side by side."""
        taken = len(looks(desk))
        questions = [self._question(sample, context, desk) for sample in range(taken, taken + self.samples)]
        answers = await desk.ask_each(questions, context)
        failures = tuple(answer.failure for answer in answers if isinstance(answer, NoAnswer))
        said = [
            (question.subject, one)
            for question, answer in zip(questions, answers, strict=True)
            if not isinstance(answer, NoAnswer)
            for one in answer.events
        ]
        first = len(context.hypotheses or ()) + 1
        found = tuple(
            _hypothesis(f"H{number}", look, one, context) for number, (look, one) in enumerate(said, start=first)
        )
        if len(failures) < self.samples:
            frames = f"{len(desk.frames(self.role()))} of {context.clip.frame_count} frames"
            context = context.covering_all(
                Coverage(state="examined", reason=f"one call about all dimensions, {frames}")
            )
        return replace(
            context,
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *failures),
        )

    def _question(self, sample: int, context: Context, desk: ModelClient) -> Query:
        frames = desk.frames(self.role())
        dimensions = tuple(desk.domain.dimensions[name] for name in context.dimensions)
        event = RecurringEventAnswer if self.recurring else EventAnswer
        return Query(
            stage="direct",
            subject=f"sample {sample + 1}",
            role=self.role(),
            prompt=self.prompt,
            variables=DirectVariables(
                dimensions=dimensions,
                severity=desk.domain.taxonomy.severity,
                cascade=desk.domain.taxonomy.cascade,
            ),
            shots=desk.show(self.role(), frames),
            contract=wrapped("events", claim(event, context.clip.duration_s, dimensions, frames), _AT_MOST),
            sample=sample,
            temperature=self.temperature,
            constrained=not self.reasoning,
            check=lambda answer: _mislabelled(answer.events, desk.domain),
        )


def looks(desk: ModelClient) -> Mapping[str, bool]:
    """The looks taken at the clip so far, and whether each gave an answer.

    Each goes by the name that its hypotheses give in `proposed_by`. Empty before the first.
    """
    taken: dict[str, bool] = {}
    for call in desk.calls:
        if call.stage == "direct":
            taken[call.subject] = taken.get(call.subject, False) or call.outcome == "answered"
    return taken


def _mislabelled(events: Sequence[AnyEvent], domain: Domain) -> str | None:
    for event in events:
        if domain.dimension_of[event.type] != event.dimension:
            return f"events: {event.type} is a type of {domain.dimension_of[event.type]}, not of {event.dimension}"
    return None


def _hypothesis(name: str, look: str, said: AnyEvent, context: Context) -> Hypothesis:
    return Hypothesis(
        id=name,
        dimension=said.dimension,
        type=said.type,
        spans=union(context.clip.clamp(span) for span in said.spans),
        severity=said.severity,
        confidence=None,
        description=said.description,
        evidence=(Evidence(text=said.evidence, frames=tuple(sorted(set(said.frames))), source="direct"),),
        proposed_by=look,
    )
