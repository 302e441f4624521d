"""Claims that several answers make: the critic decides each claim once."""

from collections.abc import Sequence

from robogaze.core.events import Box, Hypothesis
from robogaze.core.time import frame_iou
from robogaze.stages.robogaze.claim_sheets import SAME_OBJECT_IOU


def merge_same_claims(
    hypotheses: Sequence[Hypothesis], frame_times_s: Sequence[float], least_iou: float
) -> tuple[Hypothesis, ...]:
    """The hypotheses, in their order. If an unverified hypothesis makes the same claim as a more confident one, it is
    merged into that one.

    Two claims are the same if they come from different answers, have the same type, have spans with an IoU of at least
    `least_iou`, and have boxes at the same place in the same view. A claim without a box is not merged, because it may
    be about something else.
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


def labelled_as_decided(before: Sequence[Hypothesis], after: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
    """The hypotheses after the critic's decisions; a hypothesis that was merged before takes the labels of its
    target.
    """
    merged = {hypothesis.id for hypothesis in before if hypothesis.verdict == "merged"}
    known = {hypothesis.id: hypothesis for hypothesis in after}
    return tuple(
        hypothesis.with_(dimension=known[target].dimension, type=known[target].type)
        if hypothesis.id in merged and (target := hypothesis.merged_into) is not None
        else hypothesis
        for hypothesis in after
    )


def _is_same_claim(a: Hypothesis, b: Hypothesis, frame_times_s: Sequence[float], least_iou: float) -> bool:
    return (
        a.type == b.type
        and a.proposed_by != b.proposed_by
        and frame_iou(a.spans, b.spans, frame_times_s) >= least_iou
        and _show_one_place(a, b)
    )


def _show_one_place(a: Hypothesis, b: Hypothesis) -> bool:
    mine, theirs = _boxes(a), _boxes(b)
    return any(
        box.iou(other) >= SAME_OBJECT_IOU
        for view in mine.keys() & theirs
        for box in mine[view]
        for other in theirs[view]
    )


def _boxes(claim: Hypothesis) -> dict[str | None, list[Box]]:
    """The boxes of a claim's evidence by view."""
    boxes: dict[str | None, list[Box]] = {}
    for evidence in claim.evidence:
        if evidence.box is not None:
            boxes.setdefault(evidence.view, []).append(evidence.box)
    return boxes
