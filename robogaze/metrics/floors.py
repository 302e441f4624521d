"""Floors: what can be had without a look at the clip, compared by the same judge as the systems.

`type_prior` says in every clip what is most frequent in the others. `shuffled` moves what a system says to other
clips: what it earns there, it earns by habit. A system that is not above its floor has seen nothing.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.metrics.controls import duration_s

TYPE_PRIOR = "type_prior"
PRIOR_RULE = (
    "reports one event in every clip: the most frequent type of the other clips, at the median start and end and with "
    "the median severity it has there; its description is the type's name, compared by the judge."
)
SHUFFLED_RULE = (
    "A system's floor is what it scores with its own events on other clips, drawn at random within each data set and "
    "from other prompts, compared by the judge."
)

Kind = tuple[str | None, str | None]
"""Dimension and type."""


def type_prior(references: Sequence[ClipAnnotation], units: Sequence[Hashable]) -> dict[str, ClipAnnotation]:
    """What the prior says of every clip, by clip id, from the clips of other units; no entry where these name no type.

    Times are shares of the clip; an event has none where the clip's length is not known.
    """
    together: dict[Hashable, list[ClipAnnotation]] = {}
    for unit, one in zip(units, references, strict=True):
        together.setdefault(unit, []).append(one)
    known = {kind: events for kind, events in _events(together.values()).items() if kind != (None, None)}
    said: dict[str, ClipAnnotation] = {}
    for unit, members in enumerate(together.values()):
        left = {kind: int((events[:, 0] != unit).sum()) for kind, events in known.items()}
        if not any(left.values()):
            continue
        kind = min(left, key=lambda one: (-left[one], one[0] or "", one[1] or ""))
        typical = _typical(kind, known[kind][known[kind][:, 0] != unit])
        for clip in members:
            event = replace(typical, spans=_scaled(typical.spans, duration_s(clip)))
            said[clip.clip_id] = replace(clip, author=TYPE_PRIOR, findings=(event,), candidates=())
    return said


def _events(units: Iterable[Sequence[ClipAnnotation]]) -> dict[Kind, NDArray[np.float64]]:
    """All events by kind: the number of the unit, start and end as shares of the clip, and severity; NaN if unknown."""
    found: dict[Kind, list[tuple[float, float, float, float]]] = {}
    for unit, members in enumerate(units):
        for clip in members:
            length_s = duration_s(clip)
            for one in clip.findings:
                start = end = nan
                if one.spans and length_s:
                    start, end = one.spans[0].start / length_s, one.spans[-1].end / length_s
                event = unit, start, end, nan if one.severity is None else one.severity
                found.setdefault((one.dimension, one.type), []).append(event)
    return {kind: np.array(events) for kind, events in found.items()}


def _typical(kind: Kind, events: NDArray[np.float64]) -> AnnotatedEvent:
    """An event as those of its kind are at the median; its span is in shares of a clip."""
    start, end, severity = (float(np.median(one[~np.isnan(one)])) if not np.isnan(one).all() else nan
                            for one in events[:, 1:].T)  # fmt: skip
    return AnnotatedEvent(
        TYPE_PRIOR,
        () if isnan(start) else (Span(start, end),),
        (kind[1] or kind[0] or "").replace("_", " "),
        *kind,
        severity=None if isnan(severity) else round(severity),
    )


def shuffled(
    references: Sequence[ClipAnnotation],
    accounts: Mapping[str, ClipAnnotation],
    strata: Sequence[Hashable],
    units: Sequence[Hashable],
    rng: np.random.Generator,
) -> dict[str, ClipAnnotation | None]:
    """What the system says of another clip of the same stratum and of another unit, by the clip it is moved to.

    None where it says nothing of that other clip; no entry where there is no other one. Spans keep their shares of the
    clip where both lengths are known.
    """
    moved: dict[str, ClipAnnotation | None] = {}
    for stratum in dict.fromkeys(strata):
        together: dict[Hashable, list[ClipAnnotation]] = {}
        for one, of, unit in zip(references, strata, units, strict=True):
            if of == stratum:
                together.setdefault(unit, []).append(one)
        groups = [list(together.values())[place] for place in rng.permutation(len(together))]
        order = [(number, one) for number, members in enumerate(groups) for one in members]
        # Units are side by side, so what is as far off as the largest is long belongs to another one.
        shift = max(map(len, groups))
        for place, (number, clip) in enumerate(order):
            other, home = order[place - shift]
            if other != number:
                said = accounts.get(home.clip_id)
                moved[clip.clip_id] = None if said is None else _moved(said, home, clip)
    return moved


def _moved(said: ClipAnnotation, home: ClipAnnotation, clip: ClipAnnotation) -> ClipAnnotation:
    lengths_s = duration_s(home), duration_s(clip)
    scale = lengths_s[1] / lengths_s[0] if lengths_s[0] and lengths_s[1] else 1.0
    findings = tuple(
        replace(one, id=f"{home.clip_id}/{one.id}", spans=_scaled(one.spans, scale)) for one in said.findings
    )
    return replace(said, clip_id=clip.clip_id, findings=findings, candidates=())


def _scaled(spans: Sequence[Span], factor: float | None) -> tuple[Span, ...]:
    return tuple(Span(one.start * factor, one.end * factor) for one in spans) if factor else ()
