"""The pictures that a claim is judged by.

around   samples from a second before the claim to a second after it, on one sheet, so in neighbouring windows as well
start    every frame between the last sample before the claim and its first, magnified where the claim has a place
end      the same at its end
middle   one frame at full size

Frames between the samples are shown here for the first time, so a judge can see more than the stage that made the
claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import evenly
from robogaze.core.time import Span
from robogaze.media import DecodedClip
from robogaze.media.crop import magnified
from robogaze.stages.client import ModelClient
from robogaze.stages.glide.edges import MOST_FRAMES, edge_frames
from robogaze.stages.glide.windows import COLUMNS

MARGIN_S = 1.0
"""The time before and after a claim that is shown, and that its tools can see."""


@dataclass(frozen=True)
class ClaimPictures:
    """The pictures of a claim; `frames` are all the frames on them, ascending; `span` is the claim with its margin."""

    images: tuple[FrameImage, ...]
    frames: tuple[int, ...]
    span: Span


def claim_pictures(hypothesis: Hypothesis, samples: Sequence[int], client: ModelClient) -> ClaimPictures:
    """The pictures of a hypothesis; `samples` are the frames that earlier stages were shown, ascending."""
    clip, decoded_clip = client.clip, client.decoded_clip
    span = clip.clamp(Span(hypothesis.onset_s - MARGIN_S, hypothesis.offset_s + MARGIN_S))
    near = tuple(frame for frame in samples if span.start <= clip.frame_times_s[frame] <= span.end)
    inside = [frame for frame in near if hypothesis.onset_s <= clip.frame_times_s[frame] < hypothesis.offset_s]
    start = edge_frames(hypothesis.onset_s, samples, clip)
    end = edge_frames(hypothesis.offset_s, samples, clip)
    middle = (inside or start or end or near or samples)[len(inside) // 2]
    place = _place(hypothesis)
    images = (
        _labelled("around the claim", decoded_clip.sheet(_around(near or (middle,), inside), COLUMNS)),
        *(_labelled("its start", _close(start, place, decoded_clip)) for _ in start[:1]),
        *(_labelled("its end", _close(end, place, decoded_clip)) for _ in end[:1] if end != start),
        _labelled("in the middle of it", decoded_clip.frame_image(middle)),
    )
    frames = {frame for image in images for frame in image.picture.frames}
    return ClaimPictures(images, tuple(sorted(frames)), span)


def _around(near: Sequence[int], inside: Sequence[int]) -> tuple[int, ...]:
    """At most `MOST_FRAMES` of the samples near a claim, the first, the last and those at its edges among them."""
    if len(near) <= MOST_FRAMES:
        return tuple(near)
    edges = {near[0], near[-1], *inside[:1], *inside[-1:]}
    others = [frame for frame in near if frame not in edges]
    return tuple(sorted(edges | set(evenly(others, MOST_FRAMES - len(edges)))))


def _place(hypothesis: Hypothesis) -> Evidence | None:
    """The evidence that says where in the picture the claim is; None without one, and where its places differ."""
    placed = [piece for piece in hypothesis.evidence if piece.box is not None]
    return placed[0] if placed and len({(piece.view, piece.box) for piece in placed}) == 1 else None


def _close(frames: Sequence[int], place: Evidence | None, decoded_clip: DecodedClip) -> FrameImage:
    if place is None or place.box is None or place.view is None:
        return decoded_clip.sheet(frames, COLUMNS)
    return magnified(decoded_clip, frames, place.view, place.box)


def _labelled(part: str, image: FrameImage) -> FrameImage:
    return replace(image, label=f"{part}: {image.label}")
