"""The ruling of a judge in `investigate`: its contract, and the errors that the contract cannot express."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, narrowed, one_of
from robogaze.stages.tools.base import Arguments, Tool, tool_choice

NEEDS_MORE = "needs_more_evidence"
CITED_FRAMES = 8
_MAX_SPANS = 8


class OrdinaryAnswer(Answer):
    """An ordinary explanation, and the frames of this clip that support it."""

    explanation: Text
    frames: list[int]


class RulingAnswer(Answer):
    """The ruling of the judge. `confidence` says how sure the judge is of this ruling, whichever ruling it is.

    `visible` lists the first and the last shown frame of each time in which the fault is visible.
    """

    stands_alone: ClassVar[bool] = True
    directly_seen: Text
    visible: list[list[int]]
    ordinary: OrdinaryAnswer | None
    reasoning: Text
    ruling: Literal["fault", "normal", "needs_more_evidence"]
    type: str
    severity: SeverityAnswer
    description: Text
    confidence: ShareAnswer
    next_look: Any


def ruling_contract(
    tools: Sequence[Tool], window: Window, shown: Iterable[int], dimensions: Sequence[Dimension], clip: Clip
) -> type[RulingAnswer]:
    """The contract of a ruling: the types, the frames `shown`, and the closer looks that are possible in a window."""
    frame = one_of(shown)
    ordinary = narrowed(OrdinaryAnswer, frames=list_of(frame, CITED_FRAMES, least=1))
    return narrowed(
        RulingAnswer,
        visible=list_of(list_of(frame, 2, least=2), _MAX_SPANS),
        ordinary=ordinary | None,
        type=one_of(kind.id for dimension in dimensions for kind in dimension.types),
        next_look=tool_choice(tools, window, clip) | None,
    )


def fault_in(ruling: RulingAnswer, earlier: Sequence[RulingAnswer]) -> str | None:
    """An error that the contract of a ruling cannot express; None if there is no error. Some errors depend on the
    `earlier` rulings.
    """
    for pair in ruling.visible:
        if len(pair) != 2 or pair[0] > pair[1]:
            return f"visible: {pair} is not the first and the last frame of a time in which it can be seen"
    if ruling.ruling == NEEDS_MORE and ruling.next_look is None:
        return f"next_look: {NEEDS_MORE} needs a closer look that would decide it"
    if ruling.ruling == "fault" and not ruling.visible:
        return "visible: name the frames in which the fault can be seen; without any, the ruling is not fault"
    if ruling.ruling == "normal" and ruling.visible and ruling.ordinary is None:
        return (
            "ordinary: the claim can be seen, so normal needs an ordinary explanation and the frames of this clip that "
            "support it; without one, the ruling is fault or needs_more_evidence"
        )
    return _repetition(ruling.next_look, earlier)


def _repetition(use: Arguments | None, earlier: Sequence[RulingAnswer]) -> str | None:
    """An error if an earlier ruling asked for the same closer look; letter case and punctuation are ignored."""
    for number, ruling in enumerate(earlier, start=1):
        if use is not None and ruling.next_look is not None and _words(use) == _words(ruling.next_look):
            return f"next_look: it was asked after step {number} and answered; ask what has not been asked"
    return None


def _words(use: Arguments) -> list[str]:
    return re.findall(r"\w+", use.model_dump_json().casefold())


def reason_of(ruling: RulingAnswer) -> str:
    """The reasoning of a ruling, with the ordinary explanation if it gives one."""
    if ruling.ordinary is None:
        return ruling.reasoning
    return f"{ruling.reasoning} Ordinary explanation: {ruling.ordinary.explanation}"
