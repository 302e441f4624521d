"""How far a dimension was examined, judging by its routes and by what its specialist was shown and answered."""

from collections.abc import Iterable, Mapping, Sequence

from robogaze.core.context import Segment
from robogaze.core.coverage import Coverage
from robogaze.core.sampling import unseen_spans
from robogaze.core.time import Span, union
from robogaze.stages.context import Context
from robogaze.stages.robogaze.parts import Part

UNSEEN_S = 1.0
"""A dimension is examined only in part if a longer stretch of its segments was not shown, in seconds."""


def coverage_of(
    dimension: str,
    segments: Sequence[Segment],
    parts: Sequence[tuple[Part, frozenset[int] | str]],
    context: Context,
) -> Coverage:
    """The coverage of a dimension: which spans were examined, which were ruled out, and why.

    Each of `parts` is paired with the frames that its query showed, or with the reason why it has no answer.
    """
    ruled_out = _ruled_out(dimension, context)
    if not segments:
        return Coverage(
            state="ruled_out", reason=f"the router ruled it out: {ruled_out}" if ruled_out else "no segment"
        )
    missed = [f"no answer about {_listed(part.spans)}: {why}" for part, why in parts if isinstance(why, str)]
    if len(missed) == len(parts):
        reasons = dict.fromkeys(why for _, why in parts if isinstance(why, str))
        return Coverage(state="not_examined", reason=f"the specialist gave no answer: {'; '.join(reasons)}")
    clip = context.clip
    answered = [(part, frames) for part, frames in parts if not isinstance(frames, str)]
    shown = frozenset(frame for _, frames in answered for frame in frames)
    spans = union(segment.span for segment in segments)
    unseen = unseen_spans(spans, shown, clip.frame_times_s, clip.duration_s, UNSEEN_S)
    where = "" if spans == (clip.span,) else f" of {_listed(spans)}"
    said = [f"a specialist was shown {len(shown)} of {clip.frame_count} frames{where}", *missed]
    if unseen:
        said.append(f"gaps of more than {UNSEEN_S:g} s without a shown frame: {_listed(unseen)}")
    if ruled_out:
        said.append(f"ruled out: {ruled_out}")
    return Coverage(state="partial" if unseen or missed else "examined", reason="; ".join(said))


def _ruled_out(dimension: str, context: Context) -> str:
    """The spans in which the router ruled a dimension out, by reason; empty for none."""
    spans: Mapping[str, Span] = {segment.id: segment.span for segment in context.segments or ()}
    by_reason: dict[str, list[Span]] = {}
    for route in context.routes or ():
        if dimension not in route.dimensions and route.segment in spans:
            by_reason.setdefault(route.reasons.get(dimension, "no reason given"), []).append(spans[route.segment])
    return "; ".join(f"{_listed(union(found))} ({reason})" for reason, found in by_reason.items())


def _listed(spans: Iterable[Span]) -> str:
    return ", ".join(f"{span.start:.2f} to {span.end:.2f} s" for span in spans)
