"""summarise: one description for an event that was seen in several windows (GLIDE, 4.2.5).

An event with one description keeps it. Where no answer comes an event keeps its first one, and a failure says so.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core.events import Hypothesis
from robogaze.domains import EventType
from robogaze.domains.contract import Answer, Text
from robogaze.stages.base import Stage
from robogaze.stages.context import Context, Slot
from robogaze.stages.desk import Desk, NoAnswer, Question


class SummariseVariables(TypedDict):
    """The event with its type, and what was said of it, in order of time."""

    claim: Hypothesis
    type: EventType
    descriptions: tuple[str, ...]


class SummariseAnswer(Answer):
    """The event in one description."""

    description: Text


class Summarise(Stage):
    """Writes the descriptions of accepted hypotheses into which others were merged."""

    prompts: ClassVar[Mapping[str, type]] = {"summarise": SummariseVariables}

    def reads(self) -> frozenset[Slot]:
        """The hypotheses, decided."""
        return frozenset({"hypotheses", "verdicts"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def role(self) -> str:
        """A model that reads."""
        return "llm"

    async def run(self, context: Context, desk: Desk) -> Context:
        """Ask about all such events, side by side."""
        hypotheses = context.hypotheses or ()
        parts: dict[str, list[Hypothesis]] = {one.id: [one] for one in hypotheses if one.verdict == "accepted"}
        for one in hypotheses:
            if one.merged_into in parts:
                parts[one.merged_into].append(one)
        several = {name: found for name, found in parts.items() if len(found) > 1}
        answers = await desk.ask_each([self._question(found, desk) for found in several.values()], context)
        failures = (one.failure for one in answers if isinstance(one, NoAnswer))
        told = {
            name: found[0].with_(description=said.description)
            for (name, found), said in zip(several.items(), answers, strict=True)
            if not isinstance(said, NoAnswer)
        }
        return replace(
            context,
            hypotheses=tuple(told.get(one.id, one) for one in hypotheses),
            failures=(*context.failures, *failures),
        )

    def _question(self, found: list[Hypothesis], desk: Desk) -> Question:
        event = found[0]
        ordered = sorted(found, key=lambda one: one.onset_s)
        return Question(
            stage="summarise",
            subject=event.id,
            role=self.role(),
            prompt="summarise",
            variables=SummariseVariables(
                claim=event,
                type=desk.domain.types[event.type],
                descriptions=tuple(one.description for one in ordered),
            ),
            shots=(),
            contract=SummariseAnswer,
            dimension=event.dimension,
        )
