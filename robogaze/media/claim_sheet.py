"""The frames of a claim on one sheet: the place concerned, early, around the onset and the offset, and at the end."""

from collections.abc import Mapping

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import claim_parts
from robogaze.core.time import Span
from robogaze.media.crop_sheet import as_picture, box_at, crop_sheet, crops
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip


def claim_sheet(
    clip: DecodedClip,
    name: str,
    span: Span,
    view: str | None = None,
    boxes: Mapping[int, Box] | None = None,
    count: int = 16,
) -> FrameImage:
    """One picture of the frames of `claim_parts`, each stamped with its number, time and part of the claim.

    With `boxes` (by frame number, in `view`), each cell is a crop around the box (`crop_sheet.box_at`) with a margin;
    without, it is the whole view, or all views if `view` is None. The pixels are those of the video, enlarged if they
    are few. Raises ValueError for an unknown view, and for boxes without a view in a clip of several.
    """
    parts = claim_parts(span, clip.times_s, count)
    originals = clip.originals(tuple(parts))
    names = clip.layout.active
    if boxes and view is None and len(names) > 1:
        raise ValueError(f"boxes need a view, one of {', '.join(names)}")
    shown = names if view is None else (view,)
    cells: list[list[Image]]
    if boxes:
        index = names.index(shown[0])
        places = [box_at(boxes, number) for number in parts]
        cells = [[crop] for crop in crops([originals[number][index] for number in parts], places)]
        what = f"the place of {name} in view {shown[0]}"
    else:
        cells = [[originals[number][names.index(shown_view)] for shown_view in shown] for number in parts]
        what = f"the time of {name}"
    labels = [f"{clip.stamp(number)}, {part}" for number, part in parts.items()]
    label = f"{what}, in {len(parts)} frames from {min(parts)} to {max(parts)}"
    return as_picture(clip, f"K_{name}", tuple(parts), shown, crop_sheet(cells, labels, shown), label)
