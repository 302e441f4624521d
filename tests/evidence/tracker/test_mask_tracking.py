"""Following an object by masks."""

from collections.abc import Callable
from functools import partial

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.tracker.mask_tracking import ByMask, Masks
from robogaze.evidence.tracker.movement import movement
from robogaze.evidence.tracker.tracking import TooSmall, TrackedObject, follow

from .moving import HEIGHT, WIDTH, Scene

LINE = Scene(lambda t: (100 + 150 * t, 180))
JUMP = Scene(lambda t: (120, 180) if t < 1 else (480, 90))
LEFT_OUT = Scene(lambda t: (100 + 100 * t, 180) if not 0.6 <= t < 1.0 else None)

Drawn = Callable[[int], NDArray[np.bool_] | None]
"""The mask of a frame by its number."""


def disc(scene: Scene, number: int) -> NDArray[np.bool_] | None:
    """The mask of a scene's ball from a perfect segmenter."""
    at = scene.truth(number)
    if at is None:
        return None
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.circle(mask, (round(at[0]), round(at[1])), scene.size_px // 2, 1, thickness=-1)
    return mask.astype(np.bool_)


def with_specks(scene: Scene, number: int) -> NDArray[np.bool_] | None:
    mask = disc(scene, number)
    if mask is not None:
        mask[5:9, 5:9] = True
    return mask


def tracked(scene: Scene, draw: Drawn, start: int = 0) -> TrackedObject:
    """A scene followed by its masks; a frame is recognised by its pixels."""
    frames = scene.frames()
    numbers = {frame.tobytes(): number for number, frame in enumerate(frames)}

    def begin(box: Box) -> Masks:
        assert list(box.model_dump().values()) == pytest.approx(list(scene.box(start).model_dump().values()))
        return lambda image: draw(numbers[image.tobytes()])

    return follow(lambda place: frames[place], len(frames), start, scene.box(start), partial(ByMask, begin))


@pytest.mark.parametrize("start", [0, 16])
@pytest.mark.parametrize("draw", [disc, with_specks])
def test_the_largest_part_of_a_mask_is_the_object(
    draw: Callable[[Scene, int], NDArray[np.bool_] | None], start: int
) -> None:
    track = tracked(LINE, partial(draw, LINE), start)
    for number, place in enumerate(track.places):
        truth = LINE.truth(number)
        assert place is not None
        assert truth is not None
        assert place.middle[0] * WIDTH == pytest.approx(truth[0], abs=1.1)
        assert place.middle[1] * HEIGHT == pytest.approx(truth[1], abs=1.1)
        assert (place.box.right - place.box.left) * WIDTH == pytest.approx(LINE.size_px, abs=2)
        assert np.isnan(place.difference)


def test_a_frame_without_a_mask_is_lost() -> None:
    track = tracked(LEFT_OUT, partial(disc, LEFT_OUT))
    there = [LEFT_OUT.truth(number) is not None for number in range(len(LEFT_OUT.times_s))]
    assert [place is not None for place in track.places] == there


def test_an_empty_mask_is_no_place() -> None:
    nothing = np.zeros((HEIGHT, WIDTH), np.bool_)
    track = tracked(LINE, lambda number: disc(LINE, number) if number < 4 else nothing)
    assert [place is not None for place in track.places] == [number < 4 for number in range(len(track.places))]


def test_without_a_mask_in_the_first_frame_the_place_is_the_box() -> None:
    track = tracked(LINE, lambda number: None, start=3)
    (place,) = (place for place in track.places if place is not None)
    assert track.places[3] is place
    assert list(place.box.model_dump().values()) == pytest.approx(list(LINE.box(3).model_dump().values()))


def test_a_track_from_masks_is_flagged_like_any_other() -> None:
    moves = movement(tracked(JUMP, partial(disc, JUMP)), np.array(JUMP.times_s))
    assert [flag.kind for flag in moves.flags] == ["jump"]
    moves = movement(tracked(LINE, partial(disc, LINE)), np.array(LINE.times_s))
    assert moves.flags == ()


def test_a_very_small_box_is_refused() -> None:
    frames = LINE.frames()
    speck = Box(left=0.5, top=0.5, right=0.505, bottom=0.505)
    with pytest.raises(TooSmall):
        follow(lambda place: frames[place], 2, 0, speck, partial(ByMask, lambda box: lambda image: None))
