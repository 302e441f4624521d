"""What planner, advocate, skeptic and judge are told, and what they must answer (GLIDE, 4.2.3 and B.3).

They see no picture and go by what the tools found, so that a claim cannot prove itself. What the two sides answer is
for the judge alone, and declared in the front matter of their prompts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

from pydantic import create_model

from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Window
from robogaze.core.events import Hypothesis
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Text
from robogaze.stages.answers import ShareAnswer, narrowed, one_of
from robogaze.stages.tools.base import Arguments, Card, Tool, ToolFinding, choice

SIDES = ("advocate", "skeptic")
"""Those who argue, by the name of their prompt."""

NEEDS_MORE = "needs_more_evidence"


class PlanAnswer(Answer):
    """What to look at next, None for nothing more."""

    reasoning: Text
    use: Any


class RulingAnswer(Answer):
    """What the judge decides; `confidence` is that in the ruling, whichever it is."""

    stands_alone: ClassVar[bool] = True
    directly_seen: Text
    reasoning: Text
    ruling: Literal["fault", "normal", "needs_more_evidence"]
    type: str
    description: Text
    confidence: ShareAnswer
    next_question: Text | None


@dataclass(frozen=True)
class DebateStep:
    """A step that was taken: what was looked at, what was found, what each side made of it, and the ruling."""

    use: Arguments
    finding: ToolFinding
    sides: tuple[Memory, ...]
    ruling: RulingAnswer


class PlanVariables(TypedDict):
    """The case, the tools to choose from, and whether the planner may say that nothing is left to ask."""

    claim: Hypothesis
    window: Window
    steps: tuple[DebateStep, ...]
    tools: tuple[Card, ...]
    may_end: bool


class SideVariables(TypedDict):
    """The case, and what the last look found."""

    claim: Hypothesis
    window: Window
    steps: tuple[DebateStep, ...]
    finding: ToolFinding


class JudgeVariables(TypedDict):
    """The case, what the last look found, what each side makes of it, if there are any, and the types there are."""

    claim: Hypothesis
    window: Window
    steps: tuple[DebateStep, ...]
    finding: ToolFinding
    sides: tuple[Memory, ...]
    dimensions: tuple[Dimension, ...]


def plan_contract(tools: Sequence[Tool], window: Window, clip: Clip, may_end: bool) -> type[Answer]:
    """The contract of a plan: the use of one of the tools, or none where the planner may end."""
    use = choice(tools, window, clip)
    declared: Any = {"use": (use | None if may_end else use, ...)}
    made: type[Answer] = create_model("Plan", __base__=PlanAnswer, **declared)
    return made


def repeated(use: Arguments | None, steps: Sequence[DebateStep]) -> str | None:
    """What is wrong with a use that was made before, None for a new one; letter case and signs make no difference."""
    for number, step in enumerate(steps, start=1):
        if use is not None and _words(use) == _words(step.use):
            return f"use: step {number} did the same; ask what has not been asked"
    return None


def _words(use: Arguments) -> list[str]:
    return re.findall(r"\w+", use.model_dump_json().casefold())


def ruling_contract(dimensions: Sequence[Dimension]) -> type[RulingAnswer]:
    """The contract of a ruling: the types are those of some dimensions."""
    return narrowed(RulingAnswer, type=one_of(kind.id for dimension in dimensions for kind in dimension.types))


def unasked(said: RulingAnswer) -> str | None:
    """What is wrong with a ruling that wants more and does not say what, None for any other."""
    if said.ruling == NEEDS_MORE and said.next_question is None:
        return f"next_question: {NEEDS_MORE} needs a question that would settle it"
    return None
