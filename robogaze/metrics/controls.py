"""Controls and floors: predictions made without looking at the clip, scored next to every system.

A control is made from the reference alone. Its rule says what it predicts and how similar this is to the reference; the
rule is printed next to the control's scores. Some controls count all their descriptions as right. Their scores are
upper bounds: no judge could give a higher score to a prediction with the same times. An honest system may score less.

A floor is the score that a system can get without looking at the clip. The judge of the systems also judges the floors.
`type_prior` predicts one event for every clip: the typical event of the most frequent type in the other clips.
`shuffled` moves a system's events to other clips. A system that does not score above its floor has not looked at the
clip. The control "always clean" is a floor, too.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span

Matrix = NDArray[np.float64]

SEVERITY = 4
"""The severity that the control `constant_severity` gives every event."""

LATE = 0.7
"""The share of a clip after which its last 30 percent begin."""

TYPE_PRIOR = "type_prior"
TYPE_PRIOR_RULE = (
    "reports one event in every clip: the most frequent type of the other clips, with the median start, end and "
    "severity of that type in the other clips. The judge compares the name of the type as the description."
)
SHUFFLED_RULE = (
    "A system's floor is its score when its events are moved to other clips. The clips are drawn at random "
    "within each data set and "
    "from other prompts, and the judge compares the descriptions."
)

EventLabel = tuple[str | None, str | None]
"""Dimension and type of an event."""


@dataclass(frozen=True)
class ControlPrediction:
    """What a control predicts for a clip. `similarity` has shape (reference events, predicted events)."""

    annotation: ClipAnnotation
    similarity: Matrix


@dataclass(frozen=True)
class Control:
    """A control. `rule` is a sentence that says what the control reports and how its descriptions count.

    If `oracle` is true, the rule counts all descriptions as right, so the control's scores are upper bounds. The scores
    of the other controls are floors. `predict` returns None for a clip of unknown duration if the control needs the
    duration.
    """

    name: str
    rule: str
    oracle: bool
    predict: Callable[[ClipAnnotation], ControlPrediction | None]


def duration_s(annotation: ClipAnnotation) -> float | None:
    """The duration of a clip. If it is not annotated, it is the end of the clip's last frame. None if this is not known
    either.

    The last frame is assumed to have the duration of the frame before it, so a single frame has no duration.
    """
    times_s = annotation.frame_times_s
    if annotation.duration_s is not None or times_s is None or len(times_s) < 2:
        return annotation.duration_s
    return 2 * times_s[-1] - times_s[-2]


def _prediction(
    reference: ClipAnnotation, name: str, events: tuple[AnnotatedEvent, ...], similarity: Matrix
) -> ControlPrediction:
    return ControlPrediction(replace(reference, author=f"control {name}", findings=events, candidates=()), similarity)


def _always_clean(reference: ClipAnnotation) -> ControlPrediction:
    return _prediction(reference, "always_clean", (), np.zeros((len(reference.findings), 0)))


def _from_share(share: float, name: str) -> Callable[[ClipAnnotation], ControlPrediction | None]:
    def predict(reference: ClipAnnotation) -> ControlPrediction | None:
        length_s = duration_s(reference)
        if length_s is None:
            return None
        event = AnnotatedEvent("1", (Span(share * length_s, length_s),), "Something is wrong here.")
        return _prediction(reference, name, (event,), np.ones((len(reference.findings), 1)))

    return predict


def _constant_severity(reference: ClipAnnotation) -> ControlPrediction:
    events = tuple(replace(event, severity=SEVERITY) for event in reference.findings)
    return _prediction(reference, "constant_severity", events, np.eye(len(events)))


_ALL = (
    Control("always_clean", "reports no event in any clip.", False, _always_clean),
    Control(
        "whole_clip",
        "reports one event over the whole of every clip, without dimension or severity; its description counts as "
        "right (S = 1) for any reference event that it is matched to.",
        True,
        _from_share(0.0, "whole_clip"),
    ),
    Control(
        "last_30_percent",
        "reports one event over the last 30 percent of every clip, without dimension or severity; its description "
        "counts as right (S = 1) for any reference event that it is matched to.",
        True,
        _from_share(LATE, "last_30_percent"),
    ),
    Control(
        "constant_severity",
        f"repeats the reference with severity {SEVERITY} for every event (S = 1 with the same event, 0 with all "
        f"other events), so "
        "only its severity columns are informative.",
        True,
        _constant_severity,
    ),
)

CONTROLS: Mapping[str, Control] = {control.name: control for control in _ALL}
"""Every control by name."""


def type_prior(references: Sequence[ClipAnnotation], units: Sequence[Hashable]) -> dict[str, ClipAnnotation]:
    """The prior's prediction for every clip, keyed by clip id. It is made from the clips of other units only.

    A clip has no entry if the other clips name no type. The typical times are shares of the duration, so the event has
    no time if the clip's duration is not known.
    """
    by_unit = _by_unit(references, units)
    known = {kind: events for kind, events in _events(by_unit.values()).items() if kind != (None, None)}
    predictions: dict[str, ClipAnnotation] = {}
    for unit, clips in enumerate(by_unit.values()):
        elsewhere = {kind: int((events[:, 0] != unit).sum()) for kind, events in known.items()}
        if not any(elsewhere.values()):
            continue
        kind = min(elsewhere, key=lambda kind: (-elsewhere[kind], kind[0] or "", kind[1] or ""))
        typical = _typical(kind, known[kind][known[kind][:, 0] != unit])
        for clip in clips:
            event = replace(typical, spans=_scaled(typical.spans, duration_s(clip)))
            predictions[clip.clip_id] = replace(clip, author=TYPE_PRIOR, findings=(event,), candidates=())
    return predictions


def _by_unit(clips: Iterable[ClipAnnotation], units: Iterable[Hashable]) -> dict[Hashable, list[ClipAnnotation]]:
    by_unit: dict[Hashable, list[ClipAnnotation]] = {}
    for unit, clip in zip(units, clips, strict=True):
        by_unit.setdefault(unit, []).append(clip)
    return by_unit


def _events(units: Iterable[Sequence[ClipAnnotation]]) -> dict[EventLabel, Matrix]:
    """All events by kind: the number of the unit, start and end as shares of the clip, and severity; NaN if unknown."""
    by_kind: dict[EventLabel, list[tuple[float, float, float, float]]] = {}
    for unit, clips in enumerate(units):
        for clip in clips:
            length_s = duration_s(clip)
            for event in clip.findings:
                start = end = nan
                if event.spans and length_s:
                    start, end = event.spans[0].start / length_s, event.spans[-1].end / length_s
                row = unit, start, end, nan if event.severity is None else event.severity
                by_kind.setdefault((event.dimension, event.type), []).append(row)
    return {kind: np.array(events) for kind, events in by_kind.items()}


def _typical(kind: EventLabel, events: Matrix) -> AnnotatedEvent:
    """An event with the medians of its kind; its span is in shares of a clip."""
    start, end, severity = (
        float(np.median(column[~np.isnan(column)])) if not np.isnan(column).all() else nan for column in events[:, 1:].T
    )
    return AnnotatedEvent(
        TYPE_PRIOR,
        () if isnan(start) else (Span(start, end),),
        (kind[1] or kind[0] or "").replace("_", " "),
        *kind,
        severity=None if isnan(severity) else round(severity),
    )


def shuffled(
    references: Sequence[ClipAnnotation],
    annotations: Mapping[str, ClipAnnotation],
    strata: Sequence[Hashable],
    units: Sequence[Hashable],
    rng: np.random.Generator,
) -> dict[str, ClipAnnotation | None]:
    """For each clip, the system's report on another clip. The other clip is from the same stratum, but from another
    unit.

    None if the system has no report on the other clip; a clip has no entry if there is no other clip for it. If the
    durations of both clips are known, the spans are scaled to the duration of the new clip.
    """
    moved: dict[str, ClipAnnotation | None] = {}
    for stratum in dict.fromkeys(strata):
        inside = [place for place, of in enumerate(strata) if of == stratum]
        by_unit = _by_unit((references[place] for place in inside), (units[place] for place in inside))
        groups = [list(by_unit.values())[place] for place in rng.permutation(len(by_unit))]
        order = [(number, clip) for number, clips in enumerate(groups) for clip in clips]
        # The clips of a unit are adjacent, so a clip as far away as the largest unit is long belongs to another unit.
        shift = max(map(len, groups))
        for place, (number, clip) in enumerate(order):
            other_number, source = order[place - shift]
            if other_number != number:
                annotation = annotations.get(source.clip_id)
                moved[clip.clip_id] = None if annotation is None else _moved(annotation, source, clip)
    return moved


def _moved(annotation: ClipAnnotation, source: ClipAnnotation, target: ClipAnnotation) -> ClipAnnotation:
    lengths_s = duration_s(source), duration_s(target)
    scale = lengths_s[1] / lengths_s[0] if lengths_s[0] and lengths_s[1] else 1.0
    events = tuple(
        replace(event, id=f"{source.clip_id}/{event.id}", spans=_scaled(event.spans, scale))
        for event in annotation.findings
    )
    return replace(annotation, clip_id=target.clip_id, findings=events, candidates=())


def _scaled(spans: Sequence[Span], factor: float | None) -> tuple[Span, ...]:
    return tuple(Span(span.start * factor, span.end * factor) for span in spans) if factor else ()
