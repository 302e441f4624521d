"""Checks which claims that the critic accepted are confirmed by the look at the whole clip.

A specialist proposes whatever may be a fault of its dimension, so some of its claims are not faults. The look, which is
a request about the whole clip and all dimensions, is a second opinion. If the look was shown frames of a claim but did
not report it, the claim needs a higher confidence than one that both the specialist and the look report.
"""

from collections.abc import Collection, Mapping, Sequence

from robogaze.core.clip import Clip
from robogaze.core.events import Hypothesis
from robogaze.core.time import frames_in
from robogaze.stages.robogaze.decisions import share_time

WHOLE_CLIP = "direct"
"""The source of evidence that comes from a request about the whole clip."""

_LEAST_FRAMES = 2
"""A look that was shown fewer frames of a fault than this does not count as having missed it."""


def reject_unconfirmed(
    hypotheses: Sequence[Hypothesis],
    decided: Collection[str],
    clip: Clip,
    shown: frozenset[int] | None,
    min_confidence: float,
) -> tuple[Hypothesis, ...]:
    """The hypotheses; a hypothesis accepted below `min_confidence` is rejected unless the look at the whole clip
    confirms it.

    `decided` are the ids of the hypotheses that the critic decided. `shown` are the frames that the look was shown; if
    None, there was no look, and nothing changes. A hypothesis is confirmed if the look proposed it or a hypothesis that
    was merged into it. It is also confirmed if the look reports the same type at an overlapping time. A hypothesis with
    fewer than two shown frames in its spans needs no confirmation.
    """
    if shown is None:
        return tuple(hypotheses)
    merged_into = {hypothesis.id: hypothesis.merged_into for hypothesis in hypotheses}
    seen = [
        hypothesis
        for hypothesis in hypotheses
        if any(evidence.source == WHOLE_CLIP for evidence in hypothesis.evidence)
    ]
    confirmed = {_root(hypothesis.id, merged_into) for hypothesis in seen}
    return tuple(
        _rejected(hypothesis, min_confidence)
        if hypothesis.verdict == "accepted"
        and hypothesis.id in decided
        and hypothesis.id not in confirmed
        and not any(look.type == hypothesis.type and share_time(look.spans, hypothesis.spans) for look in seen)
        and hypothesis.confidence is not None
        and hypothesis.confidence < min_confidence
        and len(frames_in(hypothesis.spans, clip.frame_times_s) & shown) >= _LEAST_FRAMES
        else hypothesis
        for hypothesis in hypotheses
    )


def unconfirmed_notes(
    before: Sequence[Hypothesis], after: Sequence[Hypothesis], min_confidence: float
) -> tuple[str, ...]:
    """A sentence for the report that names the claims that were rejected because the look did not report them.

    Empty if no claim was rejected for this reason.
    """
    kept = {hypothesis.id for hypothesis in after if hypothesis.verdict == "accepted"}
    dropped = [claim for claim in before if claim.verdict == "accepted" and claim.id not in kept]
    if not dropped:
        return ()
    names = ", ".join(f"{claim.id} ({claim.type}, {claim.confidence:.2f})" for claim in dropped)
    return (
        f"Rejected: {names}. The critic accepted these claims with a confidence under {min_confidence:.2f}, but "
        "the look at the whole clip did not report them. Check these claims if a missed fault would cost you more than "
        "a false alarm.",
    )


def _root(name: str, merged_into: Mapping[str, str | None]) -> str:
    """The hypothesis at the end of a chain of merges."""
    while (target := merged_into[name]) is not None:
        name = target
    return name


def _rejected(hypothesis: Hypothesis, min_confidence: float) -> Hypothesis:
    reason = (
        f"accepted with confidence {hypothesis.confidence:.2f}, but confidence {min_confidence:.2f} is needed if "
        f"the look at the whole clip was shown frames of this fault but did not report it: {hypothesis.reason}"
    )
    return hypothesis.with_(verdict="rejected", reason=reason)
