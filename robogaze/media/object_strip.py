"""An object over time: crops of it in several frames, on one sheet."""

from collections.abc import Sequence

from robogaze.core.context import ObjectTrack
from robogaze.core.pictures import FrameImage
from robogaze.media.crop_sheet import as_picture, box_at, crop_sheet, crop_size, crops
from robogaze.media.decoded_clip import DecodedClip


def object_strip(clip: DecodedClip, tracks: Sequence[ObjectTrack], frames: Sequence[int]) -> FrameImage:
    """Crops of one size around an object in some frames (at least one), ascending, each stamped.

    The tracks are those of the object, at least one, each in another view; a frame shows all their views. In a frame in
    which the object was not found in any view, the crops are where it is expected, and the label says so. Raises
    ValueError for a track without a box or in an unknown view.
    """
    numbers = sorted(set(frames))
    originals = clip.originals(numbers)
    indices = [clip.layout.active.index(track.view) for track in tracks]
    boxes = [[box_at(track.boxes, number) for number in numbers] for track in tracks]
    height, width = originals[numbers[0]][0].shape[:2]
    size = crop_size([box for of_track in boxes for box in of_track], (width, height))
    by_view = [
        crops([originals[number][index] for number in numbers], of_track, size)
        for index, of_track in zip(indices, boxes, strict=True)
    ]
    cells = list(zip(*by_view, strict=True))
    found = {number for track in tracks for number in track.boxes}
    labels = [f"{clip.stamp(number)}{'' if number in found else ', not followed'}" for number in numbers]
    views = tuple(track.view for track in tracks)
    where = f"view {views[0]}" if len(views) == 1 else f"views {', '.join(views)}"
    label = f"{tracks[0].name} in {where}, in {len(numbers)} frames from {numbers[0]} to {numbers[-1]}"
    return as_picture(clip, f"O_{tracks[0].name}", numbers, views, crop_sheet(cells, labels, views), label)
