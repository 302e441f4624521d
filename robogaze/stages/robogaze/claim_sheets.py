"""The pictures of each claim for the critic, and the division of the claims into requests."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robogaze.core.clip import Clip
from robogaze.core.context import ObjectTrack
from robogaze.core.events import Box, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.time import Span, frames_in
from robogaze.media import DecodedClip
from robogaze.media.claim_sheet import ShownClaim, claim_sheets
from robogaze.stages.robogaze.decisions import share_time

SAME_OBJECT_IOU = 0.3
"""How far the box of a claim and that of a tracked object overlap at least if the claim is about the object."""


@dataclass(frozen=True)
class ClaimPlace:
    """Where a claim is seen: boxes in a view, keyed by frame number. Without boxes, the place is the whole view. If the
    view is None, the place is all views.
    """

    view: str | None = None
    boxes: Mapping[int, Box] = field(default_factory=dict)


def place_of(claim: Hypothesis, tracks: Sequence[ObjectTrack], clip: Clip) -> ClaimPlace:
    """The boxes in the claim's evidence; if there are none, the boxes of the tracked object that the claim's
    description names.

    If a box belongs to a tracked object, the object is followed: a sheet also shows where it was before and after. If
    the description names several objects, the object with the longest name counts. For example, a claim about the "red
    cup lid" is shown at the lid and not at the cup.
    """
    views = clip.layout.active
    only = views[0] if len(views) == 1 else None
    boxed = [(evidence.view or only, evidence) for evidence in claim.evidence if evidence.box is not None]
    view = next((name for name, _ in boxed if name in views), None)
    boxes = {
        frame: evidence.box
        for name, evidence in boxed
        for frame in evidence.frames or (clip.frame_at(claim.onset_s),)
        if name == view and view is not None and evidence.box is not None
    }
    if boxes:
        return ClaimPlace(view, {**_followed(boxes, [track for track in tracks if track.view == view]), **boxes})
    named = [track for track in tracks if track.boxes and track.view in views and _names(track.name, claim.description)]
    if not named:
        return ClaimPlace(only)
    track = max(named, key=lambda track: len(track.name))
    return ClaimPlace(track.view, track.boxes)


def _followed(boxes: Mapping[int, Box], tracks: Sequence[ObjectTrack]) -> Mapping[int, Box]:
    """The boxes of the tracked object that a claim's boxes overlap most; empty if no overlap is large enough."""
    overlaps = [
        max((box.iou(track.boxes[frame]) for frame, box in boxes.items() if frame in track.boxes), default=0.0)
        for track in tracks
    ]
    best = max(overlaps, default=0.0)
    return tracks[overlaps.index(best)].boxes if best >= SAME_OBJECT_IOU else {}


def _names(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None


def sheets_of(
    claims: Sequence[Hypothesis], tracks: Sequence[ObjectTrack], clip: Clip, decoded: DecodedClip, count: int
) -> Mapping[str, FrameImage]:
    """The claim sheets, keyed by claim id. Each sheet covers the whole time from the claim's onset to its offset."""
    places = [place_of(claim, tracks, clip) for claim in claims]
    shown = [
        ShownClaim(claim.id, Span(claim.onset_s, claim.offset_s), place.view, place.boxes)
        for claim, place in zip(claims, places, strict=True)
    ]
    return dict(zip([claim.id for claim in claims], claim_sheets(decoded, shown, count), strict=True))


def edges_shown(claim: Hypothesis, shown: Sequence[int], clip: Clip) -> bool:
    """Whether the frames on both sides of the onset and of the offset are among the shown frames."""
    inside = frames_in(claim.spans, clip.frame_times_s) or {clip.frame_at(claim.onset_s)}
    first, last = min(inside), max(inside)
    return {max(first - 1, 0), first, last, min(last + 1, clip.frame_count - 1)} <= set(shown)


def grouped(claims: Sequence[Hypothesis], most: int) -> tuple[tuple[Hypothesis, ...], ...]:
    """The claims in groups, one for each request. A group has at most `most` claims; `most` is at least 1.

    Claims that may be the same are put into one group. These are all claims that overlap in time; if they are too many
    for one group, only those of the same dimension are kept together.
    """
    parts: list[list[Hypothesis]] = []
    for overlapping in _overlapping(claims):
        if len(overlapping) <= most:
            parts.append(overlapping)
            continue
        for dimension in dict.fromkeys(claim.dimension for claim in overlapping):
            for same in _overlapping([claim for claim in overlapping if claim.dimension == dimension]):
                parts += (same[start : start + most] for start in range(0, len(same), most))
    groups: list[list[Hypothesis]] = []
    for part in parts:
        group = next((group for group in groups if len(group) + len(part) <= most), None)
        if group is None:
            groups.append(part)
        else:
            group += part
    order = {claim.id: number for number, claim in enumerate(claims)}
    return tuple(tuple(sorted(group, key=lambda claim: order[claim.id])) for group in groups)


def _overlapping(claims: Sequence[Hypothesis]) -> list[list[Hypothesis]]:
    """The claims in groups that share no time with each other."""
    groups: list[list[Hypothesis]] = []
    for claim in claims:
        near = [group for group in groups if any(share_time(claim.spans, other.spans) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), claim])
    return groups
