"""What both released evaluators take and return (see `released_robogaze` and `released_glide`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.estimate import Estimate

NOTHING = "nothing to average; the released evaluator prints 0"


@dataclass(frozen=True, slots=True)
class ReleasedClip:
    """A clip with both sides.

    `predictions` is None if the clip has no scored prediction. `similarity` is in [0, 1], shape (references,
    predictions). `frame_times_s` are the times of the clip's frames, in ascending order; empty if they are not known.
    """

    id: str
    references: Sequence[AnnotatedEvent]
    predictions: Sequence[AnnotatedEvent] | None
    similarity: NDArray[np.float64]
    frame_times_s: Sequence[float]


@dataclass(frozen=True, slots=True)
class ReleasedScores:
    """A system's scores. Undefined scores are 0. `dropped` are the clips that the evaluator leaves out of all means."""

    metrics: Mapping[str, Estimate]
    per_dimension: Mapping[str, Estimate]
    dropped: tuple[str, ...]
