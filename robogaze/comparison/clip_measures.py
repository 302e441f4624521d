"""The measures of clips. Each clip is a row of numbers, and each measure is the ratio of two column sums.

clean_rate        clean clips, or clips without an event (see `scope`), as a share of all clips with a report
events_per_clip   events per scored clip
load_per_clip     the sum of the events' severities per scored clip
load_per_minute   the sum of the events' severities per minute, for the scored clips with a known duration

An unscored clip is never clean and has no events: it counts only in the first measure. An event without a severity adds
nothing to the total severity (the load); the number of these events is reported (`ungraded`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.comparison.scope import Scope
from robogaze.core.annotation import ClipAnnotation
from robogaze.metrics.tally import scored
from robogaze.stats.resample import Floats, ratio

CLEAN = "clean_rate"


@dataclass(frozen=True)
class ClipMeasure:
    """A ratio of two columns."""

    part: int
    whole: int

    def __call__(self, sums: Floats) -> Floats:
        """The value from sums (..., columns); NaN if the denominator is 0."""
        return ratio(sums[..., self.part], sums[..., self.whole])


MEASURES: Mapping[str, ClipMeasure] = {
    CLEAN: ClipMeasure(0, 1),
    "events_per_clip": ClipMeasure(2, 3),
    "load_per_clip": ClipMeasure(4, 3),
    "load_per_minute": ClipMeasure(5, 6),
}
"""The measures by name."""

_COLUMNS = 7


def row(annotation: ClipAnnotation, scope: Scope) -> Floats:
    """The row of a clip."""
    load, minutes = load_of(annotation), (annotation.duration_s or 0.0) / 60
    known = scored(annotation)
    timed = known and annotation.duration_s is not None
    return np.array(
        [
            scope.counts(annotation),
            1,
            len(annotation.findings) * known,
            known,
            load * known,
            load * timed,
            minutes * timed,
        ],
        dtype=np.float64,
    )


def rows(annotations: Sequence[ClipAnnotation], scope: Scope) -> Floats:
    """The rows of clips, shape (clips, columns)."""
    return np.stack([row(annotation, scope) for annotation in annotations]) if annotations else np.empty((0, _COLUMNS))


def load_of(annotation: ClipAnnotation) -> int:
    """The total severity of the events; an event without a severity adds nothing."""
    return sum(found.severity or 0 for found in annotation.findings)


def could_be_clean(annotation: ClipAnnotation) -> bool:
    """Whether the clip has no event. Such a clip may turn out to be clean once all its parts are examined."""
    return not annotation.findings


def dimensions_of(annotation: ClipAnnotation) -> frozenset[str]:
    """The dimensions of a clip's events, including their secondary dimensions."""
    return frozenset(name for found in annotation.findings for name in (found.dimension, *found.secondary) if name)


def types_of(annotation: ClipAnnotation) -> frozenset[str]:
    """The types of a clip's events."""
    return frozenset(found.type for found in annotation.findings if found.type)
