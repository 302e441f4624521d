"""The pictures from which a claim is judged.

around   the samples from one second before the claim to one second after it (at most MOST_FRAMES), also in neighbouring
         windows, on one sheet
start    the frames from the last sample before the claim to its first sample (at most MOST_FRAMES, evenly spaced), cut
         to the claim's place if it is known
end      the frames from the claim's last sample to the first sample after it, chosen and cut in the same way
middle   one frame at full size

Frames between the samples are shown here for the first time, so a judge can see more than the stage that made the
claim.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from robogaze.core.events import Box, Evidence, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import evenly
from robogaze.core.time import Span
from robogaze.media import DecodedClip
from robogaze.media.crop_sheet import SIDE_PX, as_picture, crop_sheet
from robogaze.media.decode import Image
from robogaze.stages.client import ModelClient
from robogaze.stages.glide.edges import MOST_FRAMES, edge_frames
from robogaze.stages.glide.windows import COLUMNS

MARGIN_S = 1.0
"""The time before and after a claim that is shown, and that its tools can see."""


@dataclass(frozen=True)
class ClaimPictures:
    """The pictures of a claim. `frames` are all the frames on them, in ascending order. `span` is the span of the
    claim, with a margin on both sides.
    """

    images: tuple[FrameImage, ...]
    frames: tuple[int, ...]
    span: Span


def claim_pictures(hypothesis: Hypothesis, samples: Sequence[int], client: ModelClient) -> ClaimPictures:
    """The pictures of a hypothesis; `samples` are the frames that earlier stages were shown, in order.

    Raises VideoError if the video has changed since it was decoded.
    """
    clip, decoded_clip = client.clip, client.decoded_clip
    span = clip.clamp(Span(hypothesis.onset_s - MARGIN_S, hypothesis.offset_s + MARGIN_S))
    near = tuple(frame for frame in samples if span.start <= clip.frame_times_s[frame] <= span.end)
    inside = [frame for frame in near if hypothesis.onset_s <= clip.frame_times_s[frame] < hypothesis.offset_s]
    start = edge_frames(hypothesis.onset_s, samples, clip)
    end = edge_frames(hypothesis.offset_s, samples, clip)
    middle = (inside or start or end or near or samples)[len(inside) // 2]
    place = _place(hypothesis)
    images = (
        _labelled("around the claim", decoded_clip.sheet(_around(near or (middle,), inside), COLUMNS, SIDE_PX)),
        *(_labelled("its start", _close(f"{hypothesis.id}_start", start, place, decoded_clip)) for _ in start[:1]),
        *(
            _labelled("its end", _close(f"{hypothesis.id}_end", end, place, decoded_clip))
            for _ in end[:1]
            if end != start
        ),
        _labelled("in the middle of it", decoded_clip.frame_image(middle)),
    )
    frames = {frame for image in images for frame in image.picture.frames}
    return ClaimPictures(images, tuple(sorted(frames)), span)


def _around(near: Sequence[int], inside: Sequence[int]) -> tuple[int, ...]:
    """At most `MOST_FRAMES` of the samples near a claim, including the first, the last and the samples at the edges of
    the claim.
    """
    if len(near) <= MOST_FRAMES:
        return tuple(near)
    edges = {near[0], near[-1], *inside[:1], *inside[-1:]}
    others = [frame for frame in near if frame not in edges]
    return tuple(sorted(edges | set(evenly(others, MOST_FRAMES - len(edges)))))


def _place(hypothesis: Hypothesis) -> Evidence | None:
    """The evidence with the claim's box; None if no evidence has a box, or if the boxes differ."""
    placed = [piece for piece in hypothesis.evidence if piece.box is not None]
    return placed[0] if placed and len({(piece.view, piece.box) for piece in placed}) == 1 else None


def _close(name: str, frames: Sequence[int], place: Evidence | None, clip: DecodedClip) -> FrameImage:
    """Frames on one sheet, from the pixels of the video: the place if there is one, otherwise all views."""
    originals = clip.originals(frames)
    views = clip.layout.active
    cells = [list(originals[number]) for number in frames]
    if place is not None and place.box is not None and place.view is not None:
        cells = [[_part(originals[number][views.index(place.view)], place.box)] for number in frames]
        views = (place.view,)
    labels = [clip.stamp(number) for number in frames]
    label = f"frames {frames[0]} to {frames[-1]}, {clip.times_s[frames[0]]:.2f} s to {clip.times_s[frames[-1]]:.2f} s"
    return as_picture(clip, f"G_{name}", frames, views, crop_sheet(cells, labels, views), label)


def _part(view: Image, box: Box) -> Image:
    height, width = view.shape[:2]
    rows = slice(int(box.top * height), math.ceil(box.bottom * height))
    return view[rows, int(box.left * width) : math.ceil(box.right * width)]


def _labelled(part: str, image: FrameImage) -> FrameImage:
    return replace(image, label=f"{part}: {image.label}")
