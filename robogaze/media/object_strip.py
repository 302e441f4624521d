"""An object over time: crops of it in several frames, on one sheet."""

from collections.abc import Sequence

from robogaze.core.context import ObjectTrack
from robogaze.core.pictures import FrameImage
from robogaze.media.crop_sheet import as_picture, box_at, crop_sheet, crops
from robogaze.media.decoded_clip import DecodedClip


def object_strip(clip: DecodedClip, track: ObjectTrack, frames: Sequence[int]) -> FrameImage:
    """Crops of one size around an object in some frames (at least one), ascending, each stamped.

    In a frame in which the object was not found, the crop is where it is expected, and its label says so. Raises
    ValueError for a track without a box or in an unknown view.
    """
    numbers = sorted(set(frames))
    originals = clip.originals(numbers)
    index = clip.layout.active.index(track.view)
    images = crops([originals[number][index] for number in numbers], [box_at(track.boxes, n) for n in numbers])
    labels = [f"{clip.stamp(number)}{'' if number in track.boxes else ', not followed'}" for number in numbers]
    label = f"{track.name} in view {track.view}, in {len(numbers)} frames from {numbers[0]} to {numbers[-1]}"
    return as_picture(
        clip, f"O_{track.name}", numbers, (track.view,), crop_sheet([[crop] for crop in images], labels), label
    )
