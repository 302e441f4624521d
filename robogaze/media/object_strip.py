"""Shows objects over time: one sheet for each object, with its crops in several frames."""

from collections.abc import Sequence

from robogaze.core.context import ObjectTrack
from robogaze.core.pictures import FrameImage
from robogaze.media.crop_sheet import as_picture, box_at, crop_sheet, crop_size, crops
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip


def object_strips(
    clip: DecodedClip, objects: Sequence[Sequence[ObjectTrack]], frames: Sequence[int]
) -> tuple[FrameImage, ...]:
    """Make a sheet for each object. It has a stamped crop around the object for each of `frames` (at least one), in
    ascending order. All its crops have the same size.

    Each object has one or more tracks, each in a different view. For every frame, the sheet shows the object in all
    these views. In a frame in which the object was not found in any view, the crops are where it is expected, and the
    label says so. Raises ValueError if a track has no box or is in an unknown view.
    """
    if not objects:
        return ()
    numbers = sorted(set(frames))
    originals = clip.originals(numbers)  # once for all objects: reading them costs more than the sheets
    return tuple(_strip(clip, tracks, numbers, [originals[number] for number in numbers]) for tracks in objects)


def _strip(
    clip: DecodedClip, tracks: Sequence[ObjectTrack], numbers: Sequence[int], originals: Sequence[Sequence[Image]]
) -> FrameImage:
    boxes = [[box_at(track.boxes, number) for number in numbers] for track in tracks]
    height, width = originals[0][0].shape[:2]
    size = crop_size([box for of_track in boxes for box in of_track], (width, height))
    by_view = []
    for track, of_track in zip(tracks, boxes, strict=True):
        index = clip.layout.active.index(track.view)
        by_view.append(crops([views[index] for views in originals], of_track, size))
    cells = list(zip(*by_view, strict=True))
    found = {number for track in tracks for number in track.boxes}
    labels = [f"{clip.stamp(number)}{'' if number in found else ', not followed'}" for number in numbers]
    views = tuple(track.view for track in tracks)
    where = f"view {views[0]}" if len(views) == 1 else f"views {', '.join(views)}"
    label = f"{tracks[0].name} in {where}, in {len(numbers)} frames from {numbers[0]} to {numbers[-1]}"
    return as_picture(clip, f"O_{tracks[0].name}", numbers, views, crop_sheet(cells, labels, views), label)
