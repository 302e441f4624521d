"""Still objects are found where they are, and nothing else is taken for one."""

import cv2
import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.forge.plant.object_planters import find_objects, ringed, sample_object, still
from robogaze.forge.plant.planting_scene import DrawRefused, FrameArray, PlantingScene
from robogaze.media.decode import Image

GROUND = 110


def table() -> Image:
    return np.full((200, 320, 3), GROUND, np.uint8)


def scene(images: list[Image]) -> PlantingScene:
    times_s = tuple(number / 10 for number in range(len(images)))
    return PlantingScene(FrameArray(np.stack(images), times_s, len(images) / 10, Layout()))


def test_an_object_is_found_with_its_outline() -> None:
    image = table()
    cv2.rectangle(image, (100, 80), (129, 104), (200, 40, 40), -1)
    (found,) = find_objects(image)
    rows, columns = np.nonzero(found)
    assert (columns.min(), columns.max(), rows.min(), rows.max()) == (100, 129, 80, 104)


def test_an_object_includes_what_it_encloses() -> None:
    image = table()
    cv2.circle(image, (150, 100), 16, (230, 230, 60), 5)
    (found,) = find_objects(image)
    assert found[100, 150]


@pytest.mark.parametrize(
    ("corner", "other"),
    [((0, 80), (25, 104)), ((100, 80), (104, 84)), ((60, 90), (160, 98)), ((60, 20), (260, 180))],
    ids=["reaches the edge", "too small", "long and thin", "too large"],
)
def test_a_region_that_is_no_object(corner: tuple[int, int], other: tuple[int, int]) -> None:
    image = table()
    cv2.rectangle(image, corner, other, (200, 40, 40), -1)
    assert find_objects(image) == []


def test_a_region_that_is_only_darker_may_be_a_shadow() -> None:
    for colour, count in (((60, 60, 60), 0), ((60, 60, 110), 1), ((170, 170, 170), 1)):
        image = table()
        cv2.rectangle(image, (100, 80), (129, 104), colour, -1)
        assert len(find_objects(image)) == count


def test_an_object_is_still_before_and_after_something_passes() -> None:
    images = []
    for number in range(20):
        image = table()
        cv2.rectangle(image, (100, 80), (129, 104), (200, 40, 40), -1)
        cv2.circle(image, (20 * number, 92), 14, (30, 30, 30), -1)
        images.append(image)
    made = scene(images)
    (mask,) = [mask for mask in find_objects(images[0]) if mask[90, 110]]
    # The disc is 14 px wide to each side, the ring reaches 6 px beyond the obj, which spans 100 to 129.
    assert still(made, 0, ringed(mask), 0) == range(5)
    assert still(made, 0, ringed(mask), 15) == range(8, 20)


def test_a_draw_without_an_object_is_refused() -> None:
    with pytest.raises(DrawRefused, match="no compact object differs from its surroundings"):
        sample_object(scene([table()] * 4), np.random.default_rng(0))
