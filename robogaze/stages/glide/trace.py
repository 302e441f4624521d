"""trace: windows in which something was accepted become events with their whole extent (GLIDE, 4.2.4 and 4.2.5).

First the accepted hypotheses that mean the same thing are made one, by one question over their descriptions. The first
of them stands for all, the others are merged into it. Then each is followed, window by window, backward and forward
from all the time it is known in, while a model that looks still sees it. An event that comes and goes has several
spans.

All events are followed side by side: a round asks about the next window in every direction. The first round also asks
for one description of each event that others were merged into; that does not depend on how far it is followed.

Where no answer comes, a failure says what is not known. What is known stands, an event's first description with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, TypedDict

from robogaze.core.context import Window
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.core.time import union
from robogaze.domains import EventType
from robogaze.domains.contract import Answer, Text
from robogaze.stages.answers import keyed, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.windows import picture, within


class SameVariables(TypedDict):
    """The hypotheses to compare, in order of time."""

    claims: tuple[Hypothesis, ...]


class VisibleVariables(TypedDict):
    """The event, and the window it may still be seen in."""

    claim: Hypothesis
    window: Window


class SummariseVariables(TypedDict):
    """The event with its type, and what was said of it, in order of time."""

    claim: Hypothesis
    type: EventType
    descriptions: tuple[str, ...]


class SameAnswer(Answer):
    """Which hypothesis, of those before it, is of the same event; itself when none is."""

    reasoning: Text
    same_as: str


class VisibleAnswer(Answer):
    """Whether the event can be seen."""

    reasoning: Text
    visible: Literal["yes", "no"]


class SummariseAnswer(Answer):
    """The event in one description."""

    description: Text


class Trace(Stage):
    """Merges the accepted hypotheses of one event, extends the spans of those that stand, and describes them."""

    prompts: ClassVar[Mapping[str, type]] = {
        "same": SameVariables,
        "visible": VisibleVariables,
        "summarise": SummariseVariables,
    }

    def reads(self) -> frozenset[Slot]:
        """The hypotheses, decided, and the windows."""
        return frozenset({"hypotheses", "verdicts", "scanned"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def role(self) -> str:
        """The model that looks."""
        return "vlm"

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Merge, then follow."""
        context = await self._merge(context, desk)
        return await self._follow(context, desk)

    async def _merge(self, context: Context, desk: ModelClient) -> Context:
        claims = sorted(_accepted(context), key=lambda one: one.onset_s)
        if len(claims) < 2:
            return context
        try:
            answer = await desk.ask(self._same(claims), context)
        except NoAnswer as error:
            return replace(context, failures=(*context.failures, error.failure))
        said = dict(answer.same)
        stands = {claims[0].id: claims[0]}
        for claim in claims[1:]:
            root = _root(claim.id, said)
            if root == claim.id:
                stands[root] = claim
                continue
            first = stands[root]
            stands[root] = first.with_(spans=union((*first.spans, *claim.spans)))
            reason = said[claim.id].reasoning
            stands[claim.id] = claim.with_(verdict="merged", merged_into=root, reason=reason)
        return replace(context, hypotheses=tuple(stands.get(one.id, one) for one in context.hypotheses or ()))

    def _same(self, claims: Sequence[Hypothesis]) -> Query:
        names = [claim.id for claim in claims]
        return Query(
            stage="trace",
            subject="same",
            role=self.role(),
            prompt="same",
            variables=SameVariables(claims=tuple(claims)),
            shots=(),
            contract=keyed("same", narrowed(SameAnswer, same_as=one_of(names)), names[1:]),
            check=lambda answer: _forward(dict(answer.same), names),
        )

    async def _follow(self, context: Context, desk: ModelClient) -> Context:
        windows = [one.window for one in context.scanned or ()]
        events = {one.id: one for one in _accepted(context)}
        held = {name: {window.id for window in within(one.spans, windows)} for name, one in events.items()}
        ended: dict[str, set[int]] = {name: set() for name in events}
        failures: list[Failure] = []
        joined = [(name, self._summary(parts, desk)) for name, parts in _joined(context).items()]
        while True:
            asked = [(name, windows[place]) for name in events for place in _next(held[name], ended[name], windows)]
            if not asked and not joined:
                break
            questions = [self._visible(events[name], window, desk) for name, window in asked]
            answers = await desk.ask_each([*questions, *(question for _, question in joined)], context)
            failures += (said.failure for said in answers if isinstance(said, NoAnswer))
            for (name, window), said in zip(asked, answers, strict=False):
                if isinstance(said, NoAnswer) or said.visible == "no":
                    ended[name].add(window.id)
                    continue
                held[name].add(window.id)
                events[name] = _longer(events[name], window, said.reasoning)
            for (name, _), said in zip(joined, answers[len(asked) :], strict=True):
                if not isinstance(said, NoAnswer):
                    events[name] = events[name].with_(description=said.description)
            joined = []
        return replace(
            context,
            hypotheses=tuple(events.get(one.id, one) for one in context.hypotheses or ()),
            failures=(*context.failures, *failures),
        )

    def _visible(self, event: Hypothesis, window: Window, desk: ModelClient) -> Query:
        return Query(
            stage="trace",
            subject=f"{event.id} W{window.id}",
            role=self.role(),
            prompt="visible",
            variables=VisibleVariables(claim=event, window=window),
            shots=(picture(window, desk.footage),),
            contract=VisibleAnswer,
            dimension=event.dimension,
        )

    def _summary(self, parts: Sequence[Hypothesis], desk: ModelClient) -> Query:
        event = parts[0]
        ordered = sorted(parts, key=lambda one: one.onset_s)
        return Query(
            stage="trace",
            subject=f"{event.id} summary",
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


def _joined(context: Context) -> dict[str, list[Hypothesis]]:
    """The events that others were merged into, each with these after it."""
    parts = {one.id: [one] for one in _accepted(context)}
    for one in context.hypotheses or ():
        if one.merged_into in parts:
            parts[one.merged_into].append(one)
    return {name: found for name, found in parts.items() if len(found) > 1}


def _accepted(context: Context) -> list[Hypothesis]:
    return [one for one in context.hypotheses or () if one.verdict == "accepted"]


def _forward(said: Mapping[str, SameAnswer], names: Sequence[str]) -> str | None:
    for name, answer in said.items():
        if names.index(answer.same_as) > names.index(name):
            return f"same.{name}: {answer.same_as} comes after {name}; name one that comes before it, or {name} itself"
    return None


def _root(name: str, said: Mapping[str, SameAnswer]) -> str:
    """The first hypothesis of an event; each answer leads to one before it, or ends here."""
    while name in said and said[name].same_as != name:
        name = said[name].same_as
    return name


def _next(held: set[int], ended: set[int], windows: Sequence[Window]) -> list[int]:
    """The windows beside those an event is seen in, less those it was looked for in and not seen."""
    beside = {place + step for place in held for step in (-1, 1)}
    return sorted(beside & set(range(len(windows))) - held - ended)


def _longer(event: Hypothesis, window: Window, reasoning: str) -> Hypothesis:
    seen = Evidence(text=reasoning, frames=window.frames, source="trace")
    return event.with_(spans=union((*event.spans, window.span)), evidence=(*event.evidence, seen))
