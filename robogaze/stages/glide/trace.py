"""trace: confirmed hypotheses become events with their whole extent (GLIDE, 4.2.4 and 4.2.5).

First, one query shows the model a picture of each confirmed hypothesis. The answer says which hypotheses are the same
event, and describes every event that consists of several hypotheses. The first hypothesis of an event represents the
event, and the other hypotheses are merged into it.

Then each event is followed backward and forward, window by window, as long as a model still sees it. An edge is not
followed if the judge has seen it. This is the case if the judge was shown frames before the start (or after the end) of
the event and did not say that the event is visible in them. If following has moved an edge, one more query refines the
edge. This query shows the frames from the last sampled frame without the event to the first sampled frame with the
event (at most `edges.MOST_FRAMES`, evenly spaced). An event that is visible several times has several spans.

All events are followed in parallel: each round queries the next window at every edge that may lie further out. A query
without an answer is a failure; what is already known is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypedDict

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.core.time import Span, runs, union
from robogaze.domains import EventType
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.media.crop_sheet import SIDE_PX
from robogaze.stages.answers import keyed_answer, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.claim_pictures import MARGIN_S
from robogaze.stages.glide.edges import edge_frames, span_of
from robogaze.stages.glide.scan import TypesShown
from robogaze.stages.glide.windows import COLUMNS, picture, samples_of

Direction = Literal["before", "after"]
_MAX_COMPARED = 36
"""Pictures of hypotheses on the sheet of `trace_same`."""


class SameVariables(TypedDict):
    """The variables of the prompt `trace_same`: the hypotheses to compare, in order of time."""

    hypotheses: tuple[Hypothesis, ...]


class VisibleVariables(TypedDict):
    """The variables of the prompt `trace_visible`: an event, its type, and the window in which the event may also be
    visible.

    `defined` says whether the definition of the type is shown.
    """

    hypothesis: Hypothesis
    type: EventType
    defined: bool
    window: Window


class EdgeVariables(TypedDict):
    """The variables of the prompt `trace_edge`: an event, its type, and which of its edges is shown."""

    hypothesis: Hypothesis
    type: EventType
    defined: bool
    edge: Literal["start", "end"]


class SameAnswer(Answer):
    """Which event a hypothesis belongs to. `same_as` is an earlier hypothesis of the same event, or the hypothesis
    itself if there is none; `description` describes the whole event.
    """

    reasoning: Text
    same_as: str
    description: Text | None


class VisibleAnswer(Answer):
    """The frames in which the event is visible."""

    reasoning: Text
    visible: list[int]


class EdgeAnswer(Answer):
    """The first or the last frame of the event's span."""

    reasoning: Text
    frame: int


@dataclass
class _Event:
    """An accepted hypothesis while it is followed through the windows.

    `open` are the edges that may lie further out, each with the windows there that were not queried yet; the nearest
    window is first. `queried` are the ids of the windows that were queried.
    """

    hypothesis: Hypothesis
    open: dict[tuple[float, Direction], list[Window]] = field(default_factory=dict)
    queried: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.known_s = _edges_of(self.hypothesis)

    @property
    def moved(self) -> list[tuple[float, Direction]]:
        """The edges that were found by following."""
        return [edge for edge in _edges_of(self.hypothesis) if edge not in self.known_s]

    def close_queried(self) -> None:
        """Close the edges that have no further window, and the edges whose next window was already queried from another
        edge.
        """
        self.open = {
            edge: windows for edge, windows in self.open.items() if windows and windows[0].id not in self.queried
        }


class Trace(Stage):
    """Merges accepted hypotheses of the same event and extends the spans of events."""

    prompts: ClassVar[Mapping[str, type]] = {
        "trace_same": SameVariables,
        "trace_visible": VisibleVariables,
        "trace_edge": EdgeVariables,
    }

    types: TypesShown = "defined"

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
            answer = await client.ask(self._same(ordered, client), context)
        except NoAnswer as error:
            return replace(context, failures=(*context.failures, error.failure))
        same = dict(answer.same)
        merged = {ordered[0].id: ordered[0]}
        for hypothesis in ordered[1:]:
            root = _root(hypothesis.id, same)
            if root == hypothesis.id:
                merged[root] = hypothesis
                continue
            first, said = merged[root], same[hypothesis.id]
            spans = union((*first.spans, *hypothesis.spans))
            merged[root] = first.with_(spans=spans, description=said.description or first.description)
            merged[hypothesis.id] = hypothesis.with_(verdict="merged", merged_into=root, reason=said.reasoning)
        return replace(context, hypotheses=_replaced(context, merged))

    def _same(self, hypotheses: Sequence[Hypothesis], client: ModelClient) -> Query:
        names = [hypothesis.id for hypothesis in hypotheses]
        middles = dict.fromkeys(_middle(hypothesis, client.clip) for hypothesis in hypotheses[:_MAX_COMPARED])
        return Query(
            stage="trace",
            subject="same",
            role=self.role(),
            prompt="trace_same",
            variables=SameVariables(hypotheses=tuple(hypotheses)),
            images=(client.decoded_clip.sheet(tuple(middles), COLUMNS, SIDE_PX),),
            contract=keyed_answer("same", narrowed(SameAnswer, same_as=one_of(names)), names[1:]),
            check=lambda answer: _later_target(dict(answer.same), names),
        )

    async def _follow(self, context: Context, client: ModelClient) -> Context:
        windows = [observation.window for observation in context.scanned or ()]
        samples = samples_of(windows)
        events = [
            _Event(hypothesis, _open_edges(hypothesis, _judged(hypothesis, context, client), windows, client.clip))
            for hypothesis in _accepted(context)
        ]
        failures: list[Failure] = []
        while any(event.open for event in events):
            failures += await self._next_windows(events, samples, context, client)
        failures += await self._refine(events, samples, context, client)
        followed = {event.hypothesis.id: event.hypothesis for event in events}
        return replace(context, hypotheses=_replaced(context, followed), failures=(*context.failures, *failures))

    async def _next_windows(
        self, events: Sequence[_Event], samples: Sequence[int], context: Context, client: ModelClient
    ) -> list[Failure]:
        """Query the next window at every open edge; return the failures of queries without an answer."""
        steps = {
            (number, windows[0].id): (event, windows[0])
            for number, event in enumerate(events)
            for windows in event.open.values()
        }
        queries = [self._visible(event, window, client) for event, window in steps.values()]
        answers = dict(zip(steps, await client.ask_all(queries, context), strict=True))
        for number, event in enumerate(events):
            for edge, windows in tuple(event.open.items()):
                window = windows.pop(0)
                answer = answers[number, window.id]
                seen = None if isinstance(answer, NoAnswer) else answer
                event.queried.add(window.id)
                if not _extend(event, edge, window, seen, samples, client.clip):
                    del event.open[edge]
            event.close_queried()
        return [answer.failure for answer in answers.values() if isinstance(answer, NoAnswer)]

    async def _refine(
        self, events: Sequence[_Event], samples: Sequence[int], context: Context, client: ModelClient
    ) -> list[Failure]:
        """Set the edges that were found by following to the exact frame; return the failures of queries without an
        answer.
        """
        waiting = [
            (event, edge, frames)
            for event in events
            for edge in event.moved
            if len(frames := edge_frames(edge[0], samples, client.clip)) > 2
        ]
        queries = [self._edge(event, edge, frames, client) for event, edge, frames in waiting]
        answers = await client.ask_all(queries, context)
        for (event, edge, frames), answer in zip(waiting, answers, strict=True):
            if not isinstance(answer, NoAnswer):
                event.hypothesis = _refined(event.hypothesis, edge, answer.frame, frames, client.clip)
        return [answer.failure for answer in answers if isinstance(answer, NoAnswer)]

    def _visible(self, event: _Event, window: Window, client: ModelClient) -> Query:
        hypothesis = event.hypothesis
        return Query(
            stage="trace",
            subject=f"{hypothesis.id} W{window.id}",
            role=self.role(),
            prompt="trace_visible",
            variables=VisibleVariables(
                hypothesis=hypothesis,
                type=client.domain.types[hypothesis.type],
                defined=self.types == "defined",
                window=window,
            ),
            images=(picture(window, client.decoded_clip),),
            contract=narrowed(VisibleAnswer, visible=list_of(one_of(window.frames), len(window.frames))),
            dimension=hypothesis.dimension,
        )

    def _edge(self, event: _Event, edge: tuple[float, Direction], frames: Sequence[int], client: ModelClient) -> Query:
        hypothesis, (time_s, direction) = event.hypothesis, edge
        which: Literal["start", "end"] = "start" if direction == "before" else "end"
        return Query(
            stage="trace",
            subject=f"{hypothesis.id} {which} {time_s:.2f} s",
            role=self.role(),
            prompt="trace_edge",
            variables=EdgeVariables(
                hypothesis=hypothesis,
                type=client.domain.types[hypothesis.type],
                defined=self.types == "defined",
                edge=which,
            ),
            images=(client.decoded_clip.sheet(frames, COLUMNS, SIDE_PX),),
            contract=narrowed(EdgeAnswer, frame=one_of(frames)),
            dimension=hypothesis.dimension,
        )


def _edges_of(hypothesis: Hypothesis) -> list[tuple[float, Direction]]:
    edges: list[tuple[float, Direction]] = []
    for span in hypothesis.spans:
        edges += [(span.start, "before"), (span.end, "after")]
    return edges


def _middle(hypothesis: Hypothesis, clip: Clip) -> int:
    """The frame in the middle of the first span of a hypothesis."""
    middle_s = (hypothesis.spans[0].start + hypothesis.spans[0].end) / 2
    return max((frame for frame, time_s in enumerate(clip.frame_times_s) if time_s <= middle_s), default=0)


def _accepted(context: Context) -> list[Hypothesis]:
    return [hypothesis for hypothesis in context.hypotheses or () if hypothesis.verdict == "accepted"]


def _replaced(context: Context, changed: Mapping[str, Hypothesis]) -> tuple[Hypothesis, ...]:
    return tuple(changed.get(hypothesis.id, hypothesis) for hypothesis in context.hypotheses or ())


def _later_target(same: Mapping[str, SameAnswer], names: Sequence[str]) -> str | None:
    """An error if the answer equates a hypothesis with a later hypothesis."""
    for name, answer in same.items():
        if names.index(answer.same_as) > names.index(name):
            return f"same.{name}: {answer.same_as} comes after {name}; name one that comes before it, or {name} itself"
    return None


def _root(name: str, same: Mapping[str, SameAnswer]) -> str:
    """The first hypothesis of an event; each answer names an earlier hypothesis or the hypothesis itself."""
    while name in same and same[name].same_as != name:
        name = same[name].same_as
    return name


def _judged(event: Hypothesis, context: Context, client: ModelClient) -> frozenset[int]:
    """The frames that were shown to the judges of an event and of the hypotheses merged into it."""
    parts = {event.id, *(other.id for other in context.hypotheses or () if other.merged_into == event.id)}
    shown = (
        frame
        for call in client.calls
        if call.stage == "investigate" and call.subject.split()[0] in parts and call.outcome == "answered"
        for name in call.pictures
        for frame in client.pictures[name].frames
    )
    return frozenset(shown)


def _open_edges(
    event: Hypothesis, judged: frozenset[int], windows: Sequence[Window], clip: Clip
) -> dict[tuple[float, Direction], list[Window]]:
    """The edges of an event for which no judge was shown a frame beyond the edge, each with the windows there, the
    nearest first.

    The windows reach to the next span of the event.
    """
    times_s = [clip.frame_times_s[frame] for frame in judged]
    found: dict[tuple[float, Direction], list[Window]] = {}
    bounds = [0.0, *(edge for span in event.spans for edge in (span.start, span.end)), clip.duration_s]
    for number, span in enumerate(event.spans):
        earliest, latest = bounds[2 * number], bounds[2 * number + 3]
        before = [window for window in reversed(windows) if _has_frame(window, earliest, span.start, clip)]
        after = [window for window in windows if _has_frame(window, span.end, latest, clip)]
        if before and not any(span.start - MARGIN_S <= time_s < span.start for time_s in times_s):
            found[span.start, "before"] = before
        if after and not any(span.end <= time_s <= span.end + MARGIN_S for time_s in times_s):
            found[span.end, "after"] = after
    return found


def _has_frame(window: Window, start_s: float, end_s: float, clip: Clip) -> bool:
    """Whether a window, without the frame that it shares with the next window, has a frame in a stretch of the clip."""
    has_frame = any(start_s <= clip.frame_times_s[frame] < end_s for frame in window.frames)
    return has_frame and window.span.end > start_s


def _extend(
    event: _Event,
    edge: tuple[float, Direction],
    window: Window,
    answer: VisibleAnswer | None,
    samples: Sequence[int],
    clip: Clip,
) -> bool:
    """Extend an event by the frames of a window in which it is visible.

    Returns whether the event may continue in the next window.
    """
    time_s, direction = edge
    beyond = [frame for frame in window.frames if (clip.frame_times_s[frame] < time_s) == (direction == "before")]
    seen = set(() if answer is None else answer.visible) & set(beyond)
    if answer is None or not seen:
        return False
    pairs = [(beyond[first], beyond[end - 1]) for first, end in runs(beyond.index(frame) for frame in seen)]
    spans = [span_of(first, last, samples, clip) for first, last in pairs]
    nearest, farthest = (beyond[-1], beyond[0]) if direction == "before" else (beyond[0], beyond[-1])
    if nearest in seen:
        # Nothing lies between it and the edge that was followed.
        spans.append(Span(spans[-1].start, time_s) if direction == "before" else Span(time_s, spans[0].end))
    evidence = Evidence(text=answer.reasoning, frames=tuple(sorted(seen)), source="trace")
    hypothesis = event.hypothesis
    event.hypothesis = hypothesis.with_(
        spans=union((*hypothesis.spans, *spans)), evidence=(*hypothesis.evidence, evidence)
    )
    return farthest in seen


def _refined(
    hypothesis: Hypothesis, edge: tuple[float, Direction], frame: int, shown: Sequence[int], clip: Clip
) -> Hypothesis:
    """The hypothesis with one edge moved to a shown frame; a span that would become empty is not changed."""
    time_s, direction = edge
    exact = span_of(frame, frame, shown, clip)
    spans = []
    for span in hypothesis.spans:
        start = exact.start if direction == "before" and span.start == time_s else span.start
        end = exact.end if direction == "after" and span.end == time_s else span.end
        spans.append(Span(start, end) if start < end else span)
    return hypothesis.with_(spans=union(spans))
