"""What a model decides during a play: the next step, together with any suspected fault, and the ruling on a replay."""

from collections.abc import Iterable
from typing import Literal

from robogaze.domains.contract import Answer, Phrase, Text, list_of
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, narrowed, one_of

Tool = Literal["act", "restart", "read_document", "search_documents", "read_log", "finish"]

READINGS: tuple[Tool, ...] = ("read_document", "search_documents", "read_log")
"""The tools that read documents and change nothing in the environment."""

_WITH_COMMAND: tuple[Tool, ...] = ("act", "read_document", "search_documents")
_MOST_COMMANDS = 40


class ReflectionAnswer(Answer):
    """Whether the last reply was as expected, and what differs."""

    as_expected: bool
    difference: Text | None


class Excerpt(Answer):
    """A literal part of the reply or of the state at a step; if `text` is None, the picture of the step is cited."""

    step: int
    text: Phrase | None


class CandidateAnswer(Answer):
    """A suspected fault: its trigger, what was observed, what the rules demand, and the commands that show it."""

    title: Phrase
    type: str
    action: Phrase
    observed: Text
    expected: Text
    evidence: list_of(Excerpt, 3, 1)  # type: ignore[valid-type]
    reproduction: list_of(Phrase, _MOST_COMMANDS, 1)  # type: ignore[valid-type]
    severity: SeverityAnswer
    confidence: ShareAnswer


class StepAnswer(Answer):
    """The reflection on the last step, a suspected fault, and the next step. If `last_step` is None, there is no
    reflection.
    """

    last_step: ReflectionAnswer | None
    candidate: CandidateAnswer | None
    rationale: Text
    tool: Tool
    command: Phrase | None
    expected: Text | None

    def fault(self) -> str | None:
        """The key that the chosen tool needs and the answer lacks, with a reason; None if nothing is missing."""
        if self.tool in _WITH_COMMAND and not (self.command or "").strip():
            return f"command: the tool {self.tool} needs one"
        if self.tool == "act" and self.expected is None:
            return "expected: predict what the reply and the state should be"
        return None


class ReplayRuling(Answer):
    """The ruling on a suspected fault after its replay; `severity` is from 1 to 5."""

    reason: Text
    verdict: Literal["bug", "no_bug", "unclear"]
    severity: SeverityAnswer
    confidence: ShareAnswer


def step_contract(types: Iterable[str], tools: Iterable[Tool], *, reflects: bool) -> type[StepAnswer]:
    """The contract of a step. It allows the given types of faults and the given tools, and has a reflection if
    `reflects` is True.
    """
    candidate = narrowed(CandidateAnswer, type=one_of(types))
    last_step = ReflectionAnswer if reflects else type(None)
    return narrowed(StepAnswer, last_step=last_step, candidate=candidate | None, tool=one_of(tools))
