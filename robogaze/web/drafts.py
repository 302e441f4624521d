"""What an annotator has saved for a clip, and what is wrong with it.

A draft may be incomplete: an event may lack its dimension, type, spans or severity until the annotation is submitted.
Spans start and end at multiples of 0.1 s, which is the resolution of the benchmark (RoboGaze, A.2.3). Other
times are allowed if they are times of events that the annotation started with or of a model's events under review, or
if they are the end of the clip.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from robogaze.core.clip import Clip
from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.core.time import RESOLUTION
from robogaze.domains import Domain

GRID_S = 0.1

Origin = Literal["person", "model", "edited"]
"""Who made an event: the annotator; a model; a model, and the annotator changed it."""

ReviewVerdict = Literal["accepted", "edited", "rejected"]
Text = Annotated[str, Field(max_length=10_000)]
Seconds = Annotated[float, Field(ge=0, le=1e7)]


class DraftSpan(Data):
    """A span in seconds. This class does not check that `start_s` is before `end_s`; `problems` does."""

    start_s: Seconds
    end_s: Seconds


class DraftBox(Data):
    """A rectangle on the whole picture at a time, in fractions of its width and height from the top left corner."""

    x: Fraction
    y: Fraction
    width: Fraction
    height: Fraction
    time_s: Seconds


class DraftEvent(Data):
    """An event as the page edits it; `verdict` and `reason` are for a model's events under review."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    dimension: Name | None = None
    type: Name | None = None
    secondary: tuple[Name, ...] = Field(default=(), max_length=20)
    spans: tuple[DraftSpan, ...] = Field(default=(), max_length=100)
    severity: Severity | None = None
    description: Text = ""
    box: DraftBox | None = None
    origin: Origin = "person"
    verdict: ReviewVerdict | None = None
    reason: Text = ""


class Decision(Data):
    """How an adjudicator settles a disagreement. Without a `choice`, the disagreement is still open, and the decision
    has at most a comment.

    `disagreement` is the id of the disagreement. `choice` says which events result: the annotators' events whose ids
    are in `events`, without a change; the `merged` event; or no event. `by` is the name of the adjudicator.
    """

    disagreement: Annotated[str, Field(max_length=2000)]
    choice: Literal["events", "merged", "neither"] | None = None
    events: tuple[Annotated[str, Field(max_length=300)], ...] = Field(default=(), max_length=100)
    merged: DraftEvent | None = None
    comment: Text = ""
    by: str = ""


class ClipDraft(Data):
    """The annotation of a clip. `clean` states that the clip has no event; `seconds_spent` is the time on the clip so
    far.

    `decisions` are the decisions of an adjudicator; the resulting events are among the `events`.
    """

    clean: bool = False
    events: tuple[DraftEvent, ...] = ()
    seconds_spent: Seconds = 0.0
    decisions: tuple[Decision, ...] = Field(default=(), max_length=1000)


class DraftProblem(Data):
    """Something that is wrong: the event's id (None for the whole annotation), the field, and a sentence."""

    event: str | None
    field: str
    message: str


def problems(
    draft: ClipDraft,
    clip: Clip,
    domain: Domain,
    *,
    start: Sequence[DraftEvent] = (),
    offered: Mapping[str, DraftEvent] | None = None,
) -> Iterator[DraftProblem]:
    """What keeps a draft from being saved.

    `start` are the events that the annotation started with. `offered` are a model's events under review, by id; None
    outside a review.
    """
    known_times_s = {
        time_s
        for event in (*start, *(offered or {}).values())
        for span in event.spans
        for time_s in (span.start_s, span.end_s)
    }
    seen: set[str] = set()
    for event in draft.events:
        if event.id in seen:
            yield DraftProblem(event=event.id, field="id", message="two events have this id")
        seen.add(event.id)
        yield from _label_problems(event, domain)
        yield from _time_problems(event, clip, known_times_s)
        yield from _review_problems(event, offered)
    if draft.clean and any(event.verdict != "rejected" for event in draft.events):
        yield DraftProblem(event=None, field="clean", message="a clip with events cannot be marked as clean")


def missing(
    draft: ClipDraft, domain: Domain, offered: Mapping[str, DraftEvent] | None = None
) -> Iterator[DraftProblem]:
    """What a draft still lacks to be submitted; `offered` is the same as for `problems`."""
    verdicts = {event.id: event.verdict for event in draft.events}
    for event_id in offered or ():
        if verdicts.get(event_id) is None:
            yield DraftProblem(event=event_id, field="verdict", message="accept, edit or reject this event")
    if not draft.clean and all(event.verdict == "rejected" for event in draft.events):
        yield DraftProblem(event=None, field="clean", message="mark an event, or mark the clip as clean")
    for event in draft.events:
        if event.verdict == "rejected":
            if not event.reason.strip():
                yield DraftProblem(event=event.id, field="reason", message="give the reason for rejecting this event")
            continue
        for field in ("dimension", "type", "severity", "spans"):
            if not getattr(event, field):
                yield DraftProblem(event=event.id, field=field, message=f"{field} is missing")
        if event.type is not None and domain.dimension_of.get(event.type) not in (event.dimension, None):
            owner = domain.dimension_of[event.type]
            yield DraftProblem(event=event.id, field="type", message=f"{event.type} is a type of the dimension {owner}")


def frames_of(span: DraftSpan, clip: Clip) -> tuple[int, int]:
    """The frames that are shown during a span, as two numbers: the first frame, and the frame after the last frame."""
    first = clip.frame_at(span.start_s)
    return first, max(first + 1, clip.frame_at(span.end_s - 2 * RESOLUTION) + 1)


def _label_problems(event: DraftEvent, domain: Domain) -> Iterator[DraftProblem]:
    for name in (event.dimension, *event.secondary):
        if name is not None and name not in domain.dimensions:
            yield DraftProblem(event=event.id, field="dimension", message=f"{domain.id} has no dimension {name}")
    if event.type is not None and event.type not in domain.types:
        yield DraftProblem(event=event.id, field="type", message=f"{domain.id} has no type {event.type}")


def _review_problems(event: DraftEvent, offered: Mapping[str, DraftEvent] | None) -> Iterator[DraftProblem]:
    """Only an event of the model has a verdict, and an accepted event must be equal to the model's event."""
    model_event = None if offered is None else offered.get(event.id)
    if model_event is None:
        if event.origin != "person" or event.verdict is not None:
            yield DraftProblem(
                event=event.id,
                field="origin",
                message="no model reports this event, so it must be a person's event without a verdict",
            )
    elif event.origin == "person":
        yield DraftProblem(
            event=event.id, field="origin", message="a model reports this event, so it cannot be a person's event"
        )
    elif event.verdict == "accepted" and _content(event) != _content(model_event):
        yield DraftProblem(
            event=event.id,
            field="verdict",
            message="the event was changed, so its verdict must be edited, not accepted",
        )


def _content(event: DraftEvent) -> tuple[Any, ...]:
    return event.dimension, event.type, event.secondary, event.spans, event.severity, event.description


def _time_problems(event: DraftEvent, clip: Clip, known_times_s: Collection[float]) -> Iterator[DraftProblem]:
    known = {round(time_s, 6) for time_s in (*known_times_s, clip.duration_s)}
    for span in event.spans:
        if not span.start_s < span.end_s <= clip.duration_s + RESOLUTION:
            where = f"[{span.start_s:g}, {span.end_s:g}] is not inside the {clip.duration_s:g} s of the clip"
            yield DraftProblem(event=event.id, field="spans", message=where)
        for time_s in (span.start_s, span.end_s):
            if abs(time_s - round(time_s / GRID_S) * GRID_S) > RESOLUTION and round(time_s, 6) not in known:
                yield DraftProblem(
                    event=event.id, field="spans", message=f"{time_s:g} s is not a multiple of {GRID_S:g} s"
                )
    if event.box is not None:
        box = event.box
        if not (0 < box.width <= 1 - box.x + RESOLUTION and 0 < box.height <= 1 - box.y + RESOLUTION):
            yield DraftProblem(event=event.id, field="box", message="the box is empty or extends beyond the picture")
        if box.time_s > clip.duration_s + RESOLUTION:
            yield DraftProblem(event=event.id, field="box", message=f"{box.time_s:g} s is after the end of the clip")
