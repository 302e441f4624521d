"""What each query of a specialist covers. The segments of one dimension are divided into parts, so that one query can
show its part at a high frame rate.

The frame rate is that of the model's regime, or the stage's own rate if that is higher. Where something happens, the
frame rate is up to twice as high. The number of queries grows with the length of the segments.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from robogaze.core.context import Segment
from robogaze.core.sampling import evenly
from robogaze.core.time import Span, union
from robogaze.domains import Dimension
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context

PART_S = 20.0
"""How much of its segments one query covers at most, in seconds."""

MARGIN_S = 0.5
"""How much is shown before and after the segments, in seconds, so that a change at an edge is seen."""

END_S = 2.0
"""How much of the end of the clip is shown at twice the rate for a dimension that is always examined, in seconds."""


@dataclass(frozen=True)
class Part:
    """What one query of a specialist covers: part `number` of `count` parts, counted from 1. `frames` are the frames
    that show `spans`.
    """

    dimension: Dimension
    segments: tuple[Segment, ...]
    spans: tuple[Span, ...]
    frames: tuple[int, ...]
    number: int = 1
    count: int = 1

    @property
    def subject(self) -> str:
        """The subject of the query."""
        name = self.dimension.id
        return name if self.count == 1 else f"{name}, part {self.number} of {self.count}"


@dataclass(frozen=True)
class Density:
    """How densely segments are shown to a role: at `rate_fps` or more, with at most `max_frames` frames in a query."""

    role: str
    rate_fps: float
    max_frames: int

    def parts(
        self, dimension: Dimension, segments: Sequence[Segment], context: Context, client: ModelClient
    ) -> tuple[Part, ...]:
        """Divide the segments of a dimension, of which there is at least one, into as few parts as possible."""
        spans = union(segment.span for segment in segments)
        count = math.ceil(sum(span.length for span in spans) / PART_S - 1e-6)
        while True:
            divided = divide(spans, max(count, 1))
            frames = [self._frames(part, context, client) for part in divided]
            if max(map(len, frames)) <= self.max_frames or count > context.clip.frame_count:
                break
            count += 1
        return tuple(
            Part(
                dimension=dimension,
                segments=tuple(s for s in segments if any(s.span.overlap(span) > 0 for span in part)),
                spans=part,
                frames=self._dense(part, base, dimension, context, client),
                number=number,
                count=len(divided),
            )
            for number, (part, base) in enumerate(zip(divided, frames, strict=True), start=1)
        )

    def _frames(self, spans: Sequence[Span], context: Context, client: ModelClient) -> tuple[int, ...]:
        return client.frames_within(self.role, self._shown(spans, context), self.rate_fps)

    def _shown(self, spans: Sequence[Span], context: Context) -> tuple[Span, ...]:
        return union(context.clip.clamp(Span(span.start - MARGIN_S, span.end + MARGIN_S)) for span in spans)

    def _dense(
        self,
        spans: Sequence[Span],
        frames: Sequence[int],
        dimension: Dimension,
        context: Context,
        client: ModelClient,
    ) -> tuple[int, ...]:
        """The frames of a part, with more frames where something happens: twice the rate, up to `max_frames` in all."""
        rate_fps = client.rate_fps(self.role, self.rate_fps)
        busy = [span for observation in context.observations or () for span in observation.busy]
        if dimension.always:
            end_s = context.clip.duration_s
            busy.append(Span(max(0.0, end_s - END_S), end_s))
        wanted = intersection(busy, self._shown(spans, context))
        if rate_fps is None or not wanted:
            return tuple(frames)
        more = sorted(set(client.frames_within(self.role, wanted, 2 * rate_fps)) - set(frames))
        return tuple(sorted({*frames, *evenly(more, max(0, min(self.max_frames - len(frames), len(frames))))}))


def divide(spans: Sequence[Span], count: int) -> tuple[tuple[Span, ...], ...]:
    """Disjoint spans, divided in order into `count` parts of equal total length. The times at which parts are divided
    are rounded to two decimals.
    """
    length = sum(span.length for span in spans)
    parts: list[tuple[Span, ...]] = []
    for start, end in pairwise(length * number / count for number in range(count + 1)):
        part, before = [], 0.0
        for span in spans:
            first = max(span.start, _edge(span, start - before))
            last = min(span.end, _edge(span, end - before))
            if last > first:
                part.append(Span(first, last))
            before += span.length
        parts.append(tuple(part))
    return tuple(part for part in parts if part)


def _edge(span: Span, offset_s: float) -> float:
    """The time that lies `offset_s` after the start of a span, with two decimals; an end of the span is not rounded."""
    if offset_s <= 0:
        return span.start
    return span.end if offset_s >= span.length - 1e-6 else round(span.start + offset_s, 2)


def intersection(left: Sequence[Span], right: Sequence[Span]) -> tuple[Span, ...]:
    """The times that two unions of spans have in common, as disjoint spans in order; empty if they have none."""
    shared = [
        Span(max(a.start, b.start), min(a.end, b.end)) for a in union(left) for b in union(right) if a.overlap(b) > 0
    ]
    return union(shared)
