"""The search of a pattern: the differences are those that OpenCV computes."""

import cv2
import numpy as np
import pytest

from robogaze.evidence.tracker.pattern import Pattern, PixelRegion, Surroundings, anywhere, ellipse, spectra
from robogaze.media.decode import Image


def noise(height: int, width: int, seed: int = 0) -> Image:
    coarse = np.random.default_rng(seed).integers(0, 256, (height // 4 + 1, width // 4 + 1, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


@pytest.mark.parametrize("size", [(6, 6), (7, 30), (41, 20), (60, 44)])
def test_differences_are_those_of_template_matching(size: tuple[int, int]) -> None:
    wide, high = size
    image, content = noise(high + 23, wide + 10), noise(high, wide, seed=1)
    mask = ellipse((high, wide), PixelRegion(wide / 2, high / 2, wide, high))
    soft = [cv2.GaussianBlur(picture, (3, 3), 0) for picture in (image, content)]
    squares = cv2.matchTemplate(soft[0], soft[1], cv2.TM_SQDIFF, mask=mask)
    expected = np.sqrt(np.maximum(squares, 0) / (3 * np.count_nonzero(mask)))
    assert Pattern(content).differences(size, spectra(image)) == pytest.approx(expected, abs=0.02)


def test_a_pattern_is_found_at_any_of_more_sizes_than_it_keeps() -> None:
    image, pattern = noise(120, 160), Pattern(noise(120, 160)[30:60, 40:80])
    for _ in range(2):
        for factor in (1.0, 0.9, 1.1, 1.2, 0.8, 1.3):
            region, difference = Surroundings(image, PixelRegion(62, 44, 40 * factor, 30 * factor)).best(pattern)
            if factor == 1:
                assert (region.x, region.y) == pytest.approx((60, 45), abs=0.1)
                assert difference < 5


def test_the_second_best_match_is_elsewhere() -> None:
    image = noise(100, 150)
    image[60:80, 100:130] = image[10:30, 20:50]
    region, difference, second = anywhere(spectra(image), PixelRegion(0, 0, 30, 20), Pattern(image[10:30, 20:50]))
    assert (region.x, region.y) in ((35, 20), (115, 70))
    assert max(difference, second) < 10


def test_a_pattern_larger_than_the_picture_is_nowhere_in_it() -> None:
    _, difference, second = anywhere(spectra(noise(20, 60)), PixelRegion(5, 5, 30, 21), Pattern(noise(21, 30)))
    assert difference == second == np.inf
