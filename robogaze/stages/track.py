"""track: follows the located objects through the clip, without a model call.

Each object has a box in the first frame. From this frame on, the object is followed by its colours
(`robogaze.evidence.tracker.tracking`), or by the tracker that the models file names. The frames are read once for all
objects, and no frame is kept. A track keeps the frames in which its object was found; the notes of the report say what
could not be followed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from robogaze.backends import Models
from robogaze.core.context import ObjectTrack
from robogaze.core.events import Box
from robogaze.core.sampling import Regime
from robogaze.evidence.tracker.mask_tracking import ByMask
from robogaze.evidence.tracker.tracking import FollowedObjects, StartFollower, can_follow
from robogaze.media import DecodedClip
from robogaze.media.decode import Image
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot
from robogaze.threads import check, on_core

RATE_FPS, MOST_OBJECTS = 16.0, 8

SIDE_PX = 320
"""The longer side of the working picture: a crop needs no more than the place of its object."""

LARGE_PX, THIN_PX = 96, 12
"""A box that is longer is followed in a picture of half the size, or a quarter, as long as it stays this thick.

The time that a picture takes grows with the square of the box's area, because the search reaches as far as it is large.
"""


class Track(Stage):
    """Follows the first MOST_OBJECTS objects through the clip and extends their tracks. At most RATE_FPS frames per
    second are used.

    An object is followed in every view in which it has a box.
    """

    def reads(self) -> frozenset[Slot]:
        return frozenset({"tracks"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"tracks"})

    async def run(self, context: Context, client: ModelClient) -> Context:
        tracks = context.tracks or ()
        if not tracks:
            return replace(context, tracks=())
        times_s = client.clip.frame_times_s
        numbers = Regime(rate_fps=RATE_FPS).frames(times_s, client.clip.duration_s)
        reasons = _reasons(tracks, client.decoded_clip)
        able = [track for place, track in enumerate(tracks) if place not in reasons]
        boxes = await on_core(_follow, client.decoded_clip, able, numbers, learned_follower(client.models))
        extended = iter([track.with_(boxes=found) for track, found in zip(able, boxes, strict=True)])
        tracks = tuple(track if place in reasons else next(extended) for place, track in enumerate(tracks))
        notes = tuple(_notes(tracks, reasons, len(numbers), times_s))
        return replace(context, tracks=tracks, notes=(*context.notes, *notes))


def learned_follower(models: Models | None) -> StartFollower | None:
    """Starts to follow objects by the masks of the tracker that the models file names; None if there is no tracker."""
    if models is None or models.tracker is None:
        return None
    return partial(ByMask, models.tracker.masks)


def _reasons(tracks: Sequence[ObjectTrack], clip: DecodedClip) -> Mapping[int, str]:
    """Why tracks are not followed, by their position."""
    first = clip.views(0)[0]
    followed: set[str] = set()
    reasons = {}
    for place, track in enumerate(tracks):
        if 0 not in track.boxes:
            reasons[place] = "no box in the first frame"
        elif not can_follow(track.boxes[0], first, SIDE_PX):
            reasons[place] = "too small"
        elif track.name not in followed and len(followed) == MOST_OBJECTS:
            reasons[place] = f"at most {MOST_OBJECTS} objects are followed"
        else:
            followed.add(track.name)
    return reasons


def _follow(
    clip: DecodedClip, tracks: Sequence[ObjectTrack], numbers: Sequence[int], start_follower: StartFollower | None
) -> list[dict[int, Box]]:
    """The boxes of each track in the frames in which its object is found."""
    boxes: list[dict[int, Box]] = [{} for _ in tracks]
    first = clip.views(0)[0]
    groups: dict[tuple[int, int], list[int]] = {}
    for place, track in enumerate(tracks):
        key = clip.layout.active.index(track.view), working_side_px(track.boxes[0], first)
        groups.setdefault(key, []).append(place)
    followed = [
        (index, inside, FollowedObjects([tracks[place].boxes[0] for place in inside], start_follower, side_px))
        for (index, side_px), inside in groups.items()
    ]
    for number in numbers if followed else ():
        check()
        pictures = clip.views(number, None if start_follower else SIDE_PX)
        for index, inside, objects in followed:
            for place, found in zip(inside, objects.next(pictures[index]), strict=True):
                if found is not None:
                    boxes[place][number] = found.box
    return boxes


def working_side_px(box: Box, view: Image) -> int:
    """The longer side of the picture in which a box is followed: SIDE_PX, or less for a large box."""
    height, width = view.shape[:2]
    sides = [share / max(width, height) for share in ((box.right - box.left) * width, (box.bottom - box.top) * height)]
    side_px = SIDE_PX
    while side_px > SIDE_PX // 4 and max(sides) * side_px > LARGE_PX and min(sides) * side_px / 2 >= THIN_PX:
        side_px //= 2
    return side_px


def _notes(
    tracks: Sequence[ObjectTrack], reasons: Mapping[int, str], count: int, times_s: Sequence[float]
) -> Iterator[str]:
    """A sentence on the objects that are not followed through the whole clip, if there are any."""
    parts = []
    for place, track in enumerate(tracks):
        if place in reasons:
            parts.append(f"{track.name} in {track.view} ({reasons[place]})")
        elif len(track.boxes) < count:
            last_s = times_s[max(track.boxes)]
            parts.append(
                f"{track.name} in {track.view} (found in {len(track.boxes)} of {count} frames, last at {last_s:.2f} s)"
            )
    if parts:
        yield f"Not followed through the whole clip: {'; '.join(parts)}."
