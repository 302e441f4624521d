"""Recognising a grid of views: a missed grid can be named by the user, a halved view is a wrong result."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.media.compose import decode_image, encode_jpeg
from robogaze.media.decode import Image
from robogaze.media.grid import detect_layout, fillers_are_black

CORNERS = ("top left", "top right", "bottom left", "bottom right")
HIGH, WIDE = 108, 192


def scene(seed: int, height: int = HIGH, width: int = WIDE) -> Image:
    """A picture as a camera makes one: smooth shapes of some brightness, and grain."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(40, 220, (5, 7, 3)).astype(np.float32)
    smooth = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.clip(smooth + rng.normal(0, 4, smooth.shape), 0, 255).astype(np.uint8)


def grid(black: int | None = 3, seed: int = 0) -> Image:
    """Four views of different scenes, one of them black."""
    views = [scene(seed * 4 + index) for index in range(4)]
    if black is not None:
        views[black] = np.zeros_like(views[black])
    return np.vstack([np.hstack(views[:2]), np.hstack(views[2:])])


def single(seed: int = 0) -> Image:
    """One view, as large as a grid."""
    return scene(100 + seed, 2 * HIGH, 2 * WIDE)


def quarter(image: Image, index: int) -> Image:
    """A window on one quarter of a picture."""
    row, column = divmod(index, 2)
    return image[row * HIGH : (row + 1) * HIGH, column * WIDE : (column + 1) * WIDE]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("black", range(4))
def test_grid_with_one_black_panel_is_detected(black: int, seed: int) -> None:
    views = tuple(None if index == black else name for index, name in enumerate(CORNERS))
    assert detect_layout(grid(black, seed)) == Layout(rows=2, columns=2, views=views)


def test_grid_is_detected_despite_compression_and_noise() -> None:
    image = grid(3)
    quarter(image, 3)[:] = np.random.default_rng(0).integers(0, 8, (HIGH, WIDE, 3))
    assert detect_layout(decode_image(encode_jpeg(image, 60), "a grid")) is not None


def blackened(image: Image, index: int) -> Image:
    """The picture with one quarter of it dark, as a shadow or a screen that is off would make it."""
    quarter(image, index)[:] = 0
    return image


def split_table(image: Image) -> Image:
    """The picture with the edge of a bright table running along its middle line."""
    image[HIGH:] = np.clip(image[HIGH:].astype(int) + 60, 0, 255)
    return image


def flat(grey: int) -> Image:
    return blackened(np.full((2 * HIGH, 2 * WIDE, 3), grey, dtype=np.uint8), 3)


NO_GRID = {
    "one view": single(),
    "one view, all black": np.zeros_like(single()),
    "one view, very dark": single() // 12,
    **{f"one view, dark {corner}": blackened(single(index), index) for index, corner in enumerate(CORNERS)},
    "one view, dark corner, an edge along one middle line": blackened(split_table(single()), 3),
    "four views": grid(None),
    "two views": blackened(grid(3), 2),
    "no seam to be seen": flat(128),
    "odd size": np.pad(grid(3), ((0, 1), (0, 0), (0, 0))),
    "tiny": np.ascontiguousarray(grid(3)[HIGH - 8 : HIGH + 8, WIDE - 8 : WIDE + 8]),
}


@pytest.mark.parametrize("name", NO_GRID)
def test_other_pictures_are_not_grids(name: str) -> None:
    assert detect_layout(NO_GRID[name]) is None


@pytest.mark.parametrize("seed", range(12))
def test_dark_corner_of_a_single_view_is_not_a_panel(seed: int) -> None:
    assert detect_layout(blackened(single(seed), seed % 4)) is None


LAYOUT = Layout.parse("2x2:a,b,c,-")


def test_filler_may_be_noisy_and_smeared_at_its_border() -> None:
    image = grid(3)
    panel = quarter(image, 3)
    panel[:] = np.random.default_rng(0).integers(0, 8, panel.shape)
    panel[:4], panel[:, :8] = 90, 90
    assert fillers_are_black(image, LAYOUT)


@pytest.mark.parametrize("content", ["a view", "a dim view", "a blue light"])
def test_filler_with_content_is_noticed(content: str) -> None:
    image = grid(3)
    shown: NDArray[np.uint8] = {
        "a view": scene(7),
        "a dim view": scene(7) // 6,
        "a blue light": cv2.circle(np.zeros((HIGH, WIDE, 3), dtype=np.uint8), (96, 54), 16, (0, 0, 120), -1),
    }[content].astype(np.uint8)
    quarter(image, 3)[:] = shown
    assert not fillers_are_black(image, LAYOUT)


def test_layout_without_fillers_always_passes() -> None:
    assert fillers_are_black(single(), Layout())
