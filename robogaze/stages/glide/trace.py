"""trace: windows in which a hypothesis was accepted become events with their whole extent (GLIDE, 4.2.4 and 4.2.5).

First, one query over the descriptions of the accepted hypotheses decides which of them are the same event. The first of
them represents the event, the others are merged into it. Then each event is followed backward and forward, window by
window, as long as a model still sees it. An event that is visible several times has several spans.

All events are followed in parallel: a round queries the next window in every direction. The first round also asks for
one description of each event that joins several hypotheses.

A query without an answer is a failure; what is already known is kept.
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
from robogaze.stages.answers import keyed_answer, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.windows import picture, within


class SameVariables(TypedDict):
    """The variables of the prompt `trace_same`: the hypotheses to compare, in order of time."""

    hypotheses: tuple[Hypothesis, ...]


class VisibleVariables(TypedDict):
    """The variables of the prompt `trace_visible`: an event, and the window it may also be visible in."""

    hypothesis: Hypothesis
    window: Window


class SummaryVariables(TypedDict):
    """The variables of the prompt `trace_summary`: an event, its type, and its descriptions in order of time."""

    hypothesis: Hypothesis
    type: EventType
    descriptions: tuple[str, ...]


class SameAnswer(Answer):
    """The earlier hypothesis that is the same event; the hypothesis itself if there is none."""

    reasoning: Text
    same_as: str


class VisibleAnswer(Answer):
    """Whether the event is visible."""

    reasoning: Text
    visible: Literal["yes", "no"]


class SummariseAnswer(Answer):
    """The event in one description."""

    description: Text


class Trace(Stage):
    """Merges accepted hypotheses of the same event, extends the spans of events, and describes joined events."""

    prompts: ClassVar[Mapping[str, type]] = {
        "trace_same": SameVariables,
        "trace_visible": VisibleVariables,
        "trace_summary": SummaryVariables,
    }

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "verdicts", "scanned"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses"})

    def role(self) -> str:
        return "vlm"

    async def run(self, context: Context, client: ModelClient) -> Context:
        context = await self._merge(context, client)
        return await self._follow(context, client)

    async def _merge(self, context: Context, client: ModelClient) -> Context:
        ordered = sorted(_accepted(context), key=lambda hypothesis: hypothesis.onset_s)
        if len(ordered) < 2:
            return context
        try:
            answer = await client.ask(self._same(ordered), context)
        except NoAnswer as error:
            return replace(context, failures=(*context.failures, error.failure))
        same = dict(answer.same)
        merged = {ordered[0].id: ordered[0]}
        for hypothesis in ordered[1:]:
            root = _root(hypothesis.id, same)
            if root == hypothesis.id:
                merged[root] = hypothesis
                continue
            first = merged[root]
            merged[root] = first.with_(spans=union((*first.spans, *hypothesis.spans)))
            reason = same[hypothesis.id].reasoning
            merged[hypothesis.id] = hypothesis.with_(verdict="merged", merged_into=root, reason=reason)
        return replace(context, hypotheses=_replaced(context, merged))

    def _same(self, hypotheses: Sequence[Hypothesis]) -> Query:
        names = [hypothesis.id for hypothesis in hypotheses]
        return Query(
            stage="trace",
            subject="same",
            role=self.role(),
            prompt="trace_same",
            variables=SameVariables(hypotheses=tuple(hypotheses)),
            images=(),
            contract=keyed_answer("same", narrowed(SameAnswer, same_as=one_of(names)), names[1:]),
            check=lambda answer: _later_target(dict(answer.same), names),
        )

    async def _follow(self, context: Context, client: ModelClient) -> Context:
        windows = [observation.window for observation in context.scanned or ()]
        events = {hypothesis.id: hypothesis for hypothesis in _accepted(context)}
        visible = {name: {window.id for window in within(event.spans, windows)} for name, event in events.items()}
        not_visible: dict[str, set[int]] = {name: set() for name in events}
        failures: list[Failure] = []
        summaries = [(name, self._summary(parts, client)) for name, parts in _joined(context).items()]
        while True:
            steps = [
                (name, windows[index])
                for name in events
                for index in _neighbours(visible[name], not_visible[name], windows)
            ]
            if not steps and not summaries:
                break
            queries = [self._visible(events[name], window, client) for name, window in steps]
            answers = await client.ask_all([*queries, *(query for _, query in summaries)], context)
            failures += (answer.failure for answer in answers if isinstance(answer, NoAnswer))
            for (name, window), answer in zip(steps, answers, strict=False):
                if isinstance(answer, NoAnswer) or answer.visible == "no":
                    not_visible[name].add(window.id)
                    continue
                visible[name].add(window.id)
                events[name] = _extended(events[name], window, answer.reasoning)
            for (name, _), answer in zip(summaries, answers[len(steps) :], strict=True):
                if not isinstance(answer, NoAnswer):
                    events[name] = events[name].with_(description=answer.description)
            summaries = []
        return replace(context, hypotheses=_replaced(context, events), failures=(*context.failures, *failures))

    def _visible(self, event: Hypothesis, window: Window, client: ModelClient) -> Query:
        return Query(
            stage="trace",
            subject=f"{event.id} W{window.id}",
            role=self.role(),
            prompt="trace_visible",
            variables=VisibleVariables(hypothesis=event, window=window),
            images=(picture(window, client.decoded_clip),),
            contract=VisibleAnswer,
            dimension=event.dimension,
        )

    def _summary(self, parts: Sequence[Hypothesis], client: ModelClient) -> Query:
        event = parts[0]
        ordered = sorted(parts, key=lambda hypothesis: hypothesis.onset_s)
        return Query(
            stage="trace",
            subject=f"{event.id} summary",
            role=self.role(),
            prompt="trace_summary",
            variables=SummaryVariables(
                hypothesis=event,
                type=client.domain.types[event.type],
                descriptions=tuple(hypothesis.description for hypothesis in ordered),
            ),
            images=(),
            contract=SummariseAnswer,
            dimension=event.dimension,
        )


def _joined(context: Context) -> dict[str, list[Hypothesis]]:
    """The events that others were merged into: each with the hypotheses merged into it, itself first."""
    parts = {event.id: [event] for event in _accepted(context)}
    for hypothesis in context.hypotheses or ():
        if hypothesis.merged_into in parts:
            parts[hypothesis.merged_into].append(hypothesis)
    return {name: found for name, found in parts.items() if len(found) > 1}


def _accepted(context: Context) -> list[Hypothesis]:
    return [hypothesis for hypothesis in context.hypotheses or () if hypothesis.verdict == "accepted"]


def _replaced(context: Context, changed: Mapping[str, Hypothesis]) -> tuple[Hypothesis, ...]:
    return tuple(changed.get(hypothesis.id, hypothesis) for hypothesis in context.hypotheses or ())


def _later_target(same: Mapping[str, SameAnswer], names: Sequence[str]) -> str | None:
    """An error if the answer equates a hypothesis with a later one."""
    for name, answer in same.items():
        if names.index(answer.same_as) > names.index(name):
            return f"same.{name}: {answer.same_as} comes after {name}; name one that comes before it, or {name} itself"
    return None


def _root(name: str, same: Mapping[str, SameAnswer]) -> str:
    """The first hypothesis of an event; each answer names an earlier one or the hypothesis itself."""
    while name in same and same[name].same_as != name:
        name = same[name].same_as
    return name


def _neighbours(visible: set[int], not_visible: set[int], windows: Sequence[Window]) -> list[int]:
    """The windows next to those in which an event is visible that have not been queried yet."""
    neighbours = {index + step for index in visible for step in (-1, 1)}
    return sorted(neighbours & set(range(len(windows))) - visible - not_visible)


def _extended(event: Hypothesis, window: Window, reasoning: str) -> Hypothesis:
    evidence = Evidence(text=reasoning, frames=window.frames, source="trace")
    return event.with_(spans=union((*event.spans, window.span)), evidence=(*event.evidence, evidence))
