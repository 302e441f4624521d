"""Claims that several answers make: the critic decides each once."""

from collections.abc import Sequence

from robogaze.core.events import Box, Hypothesis
from robogaze.core.time import frame_iou


def merge_same_claims(
    hypotheses: Sequence[Hypothesis], frame_times_s: Sequence[float], least_iou: float
) -> tuple[Hypothesis, ...]:
    """The hypotheses, in order, with each unverified one merged into a more confident one that claims the same.

    Two claims are the same if they are of one type and from different answers, their spans reach `least_iou`, and no
    view has boxes of both that are all apart.
    """
    unverified = [hypothesis for hypothesis in hypotheses if hypothesis.verdict == "unverified"]
    kept: list[Hypothesis] = []
    target_of: dict[str, str] = {}
    for claim in sorted(unverified, key=lambda claim: claim.confidence or 0.0, reverse=True):
        same = (other for other in kept if _is_same_claim(claim, other, frame_times_s, least_iou))
        if (first := next(same, None)) is None:
            kept.append(claim)
        else:
            target_of[claim.id] = first.id
    return tuple(
        hypothesis.with_(verdict="merged", merged_into=target, reason=f"the same claim as {target}")
        if (target := target_of.get(hypothesis.id)) is not None
        else hypothesis
        for hypothesis in hypotheses
    )


def _is_same_claim(a: Hypothesis, b: Hypothesis, frame_times_s: Sequence[float], least_iou: float) -> bool:
    return (
        a.type == b.type
        and a.proposed_by != b.proposed_by
        and frame_iou(a.spans, b.spans, frame_times_s) >= least_iou
        and not _are_apart(a, b)
    )


def _are_apart(a: Hypothesis, b: Hypothesis) -> bool:
    """Whether some view has boxes of both claims, and no box of one overlaps a box of the other there."""
    mine, theirs = _boxes(a), _boxes(b)
    return any(
        not any(box.iou(other) > 0 for box in mine[view] for other in theirs[view]) for view in mine.keys() & theirs
    )


def _boxes(claim: Hypothesis) -> dict[str | None, list[Box]]:
    """The boxes of a claim's evidence by view."""
    boxes: dict[str | None, list[Box]] = {}
    for evidence in claim.evidence:
        if evidence.box is not None:
            boxes.setdefault(evidence.view, []).append(evidence.box)
    return boxes
