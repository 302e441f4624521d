"""Makes a sheet for a claim. The sheet shows frames from the start of the clip, around the onset and the offset of the
claim, and from the end of the clip. If boxes are given, each frame is cropped to the place of the claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import claim_parts
from robogaze.core.time import Span
from robogaze.media.crop_sheet import CropSheet, as_picture, box_at, crop_size, crops
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip


@dataclass(frozen=True)
class ShownClaim:
    """What a claim sheet shows: a time, in one view or (if `view` is None) in all views.

    `boxes` are boxes in `view`, keyed by frame number. With boxes, each cell is a crop around the frame's box
    (`crop_sheet.box_at`), with a margin.
    """

    name: str
    span: Span
    view: str | None = None
    boxes: Mapping[int, Box] = field(default_factory=dict)


_TOGETHER = 8
"""The number of claims for which the video is read once; the cells of their sheets are in memory at the same time."""


def claim_sheets(clip: DecodedClip, claims: Sequence[ShownClaim], count: int = 16) -> tuple[FrameImage, ...]:
    """A picture for each claim: the frames of `claim_parts`, each stamped with its number, time and part of the claim.

    The pixels come from the video, which is read once for several claims; small pictures are enlarged. The pictures are
    also kept for readers, because evidence refers to them. Raises ValueError for an unknown view, and for boxes without
    a view in a clip of several views.
    """
    sheets = [_ClaimSheet(clip, claim, count) for claim in claims]
    pictures = []
    for start in range(0, len(sheets), _TOGETHER):
        together = sheets[start : start + _TOGETHER]
        for number, views in clip.each_original({number for made in together for number in made.parts}):
            for made in together:
                if number in made.parts:
                    made.add(number, views)
        pictures += [made.picture() for made in together]
    return tuple(pictures)


class _ClaimSheet:
    """A sheet that gets its frames one by one, in ascending order."""

    def __init__(self, clip: DecodedClip, claim: ShownClaim, count: int) -> None:
        names = clip.layout.active
        if claim.boxes and claim.view is None and len(names) > 1:
            raise ValueError(f"boxes need a view; name one of {', '.join(names)}")
        self.parts = claim_parts(claim.span, clip.times_s, count)
        self._clip, self._claim = clip, claim
        self._shown = names if claim.view is None else (claim.view,)
        self._indices = [names.index(view) for view in self._shown]
        self._boxes = {number: box_at(claim.boxes, number) for number in self.parts} if claim.boxes else {}
        self._cells: CropSheet | None = None
        self._size = 0, 0

    def add(self, number: int, views: Sequence[Image]) -> None:
        """Add a frame. `views` are all views of the frame; they are not kept."""
        shown = [views[index] for index in self._indices]
        if self._cells is None:
            self._size = shown[0].shape[1], shown[0].shape[0]
            if self._boxes:
                self._size = crop_size(self._boxes.values(), self._size)
            self._cells = CropSheet(len(self.parts), self._size, self._shown)
        self._cells.add(crops(shown, [self._boxes[number]], self._size) if self._boxes else shown)

    def picture(self) -> FrameImage:
        """Finish the sheet, after its last frame was added. The cells are not kept."""
        assert self._cells is not None, "a claim has frames"
        clip, name, parts = self._clip, self._claim.name, self.parts
        what = f"the place of {name} in view {self._shown[0]}" if self._boxes else f"the time of {name}"
        label = f"{what}, in {len(parts)} frames from {min(parts)} to {max(parts)}"
        image = self._cells.image([f"{clip.stamp(number)}, {part}" for number, part in parts.items()])
        self._cells = None
        made = as_picture(clip, f"K_{name}", tuple(parts), self._shown, image, label)
        clip.keep_evidence(made.picture.id, image)
        return made
