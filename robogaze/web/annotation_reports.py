"""Converts submitted annotations to reports, which `evaluate` and `agree` read without changes.

The `source` in an event's evidence says who made the event: "person", "model", or "edited" (a model's event that the
annotator changed). If the annotator rejected an event of a model, it becomes a hypothesis with the verdict "rejected"
and the annotator's reason.
"""

from collections.abc import Iterable, Iterator

from robogaze.core.clip import Clip
from robogaze.core.coverage import all_examined
from robogaze.core.events import Box, Event, Evidence, Hypothesis
from robogaze.core.report import Provenance, Report
from robogaze.core.time import Span, union
from robogaze.core.view_boxes import panel_boxes
from robogaze.domains import Domain
from robogaze.web.annotation_store import Revision
from robogaze.web.drafts import DraftBox, DraftEvent

ANNOTATED, REVIEWED = "annotated", "reviewed"
"""The names of the pipelines of these reports."""


def annotation_report(revision: Revision, clip: Clip, domain: Domain, *, without_model: bool = False) -> Report:
    """The report of a submitted annotation; `without_model` leaves out events that a model made and nobody changed."""
    author = revision.author
    kept = [event for event in revision.draft.events if not (without_model and event.origin == "model")]
    known = {
        "revision": revision.number,
        "saved_at": revision.saved_at,
        "seconds_spent": revision.draft.seconds_spent,
        "calibration": revision.calibration,
        "review": author.review or None,
    }
    return Report(
        clip=clip,
        domain=domain.ref,
        pipeline=REVIEWED if author.review else ANNOTATED,
        author=author.annotator,
        coverage=all_examined(domain.dimensions, f"watched by {author.annotator}"),
        events=tuple(_events(kept, clip, author.annotator)),
        hypotheses=tuple(_rejected(kept, author.review)),
        provenance=Provenance(media={"annotation": known}),
    )


def _events(events: Iterable[DraftEvent], clip: Clip, annotator: str) -> Iterator[Event]:
    for event in events:
        if event.verdict == "rejected":
            continue
        assert event.dimension is not None, "a submitted event has a dimension"
        assert event.type is not None, "a submitted event has a type"
        text = f"{event.verdict} by {annotator}" if event.verdict else f"marked by {annotator}"
        yield Event(
            id=event.id,
            dimension=event.dimension,
            type=event.type,
            secondary=event.secondary,
            spans=_spans(event),
            severity=event.severity,
            confidence=None,
            description=event.description,
            evidence=(_evidence(event, clip, text),),
        )


def _rejected(events: Iterable[DraftEvent], review: str) -> Iterator[Hypothesis]:
    for event in events:
        if event.verdict == "rejected" and event.dimension is not None and event.type is not None and event.spans:
            yield Hypothesis(
                id=event.id,
                dimension=event.dimension,
                type=event.type,
                spans=_spans(event),
                severity=event.severity,
                confidence=None,
                description=event.description,
                evidence=(),
                verdict="rejected",
                reason=event.reason,
                proposed_by=review,
            )


def _spans(event: DraftEvent) -> tuple[Span, ...]:
    return union(Span(span.start_s, span.end_s) for span in event.spans)


def _evidence(event: DraftEvent, clip: Clip, text: str) -> Evidence:
    """Who made the event, and where in the picture it is, if the annotator drew a box."""
    if event.box is None:
        return Evidence(text=text, source=event.origin)
    view, box = _in_view(event.box, clip)
    return Evidence(text=text, frames=(clip.frame_at(event.box.time_s),), view=view, box=box, source=event.origin)


def _in_view(drawn: DraftBox, clip: Clip) -> tuple[str | None, Box | None]:
    """The view that contains most of a box, and the box in fractions of that view."""
    best: tuple[float, str, Box] | None = None
    for name, panel in panel_boxes(clip.layout).items():
        width, height = panel.right - panel.left, panel.bottom - panel.top
        left, right = (min(1.0, max(0.0, (x - panel.left) / width)) for x in (drawn.x, drawn.x + drawn.width))
        top, bottom = (min(1.0, max(0.0, (y - panel.top) / height)) for y in (drawn.y, drawn.y + drawn.height))
        area = (right - left) * (bottom - top)
        if left < right and top < bottom and (best is None or area > best[0]):
            best = area, name, Box(left=left, top=top, right=right, bottom=bottom)
    return (None, None) if best is None else best[1:]
