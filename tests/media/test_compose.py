"""Pictures of pictures: every pixel of a view is where it belongs, and nothing is drawn over it."""

from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.clip import Layout
from robogaze.errors import VideoError
from robogaze.media.compose import FrameCanvas, arranged, decode_image, encode_jpeg, fit, one_thread_each, sheet, split
from robogaze.media.decode import Image

BAND, GAP = 24, 4


def noise(height: int = 40, width: int = 60, seed: int = 0) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_layout_of_one_view_returns_the_picture() -> None:
    image = noise()
    (view,) = split(image, Layout())
    assert np.array_equal(view, image)


def test_grid_is_split_in_reading_order_without_unnamed_panels() -> None:
    image = noise(40, 60)
    views = split(image, Layout.parse("2x3:a,b,-,d,-,f"))
    places = [(0, 0), (0, 20), (20, 0), (20, 40)]
    assert len(views) == 4
    for view, (top, left) in zip(views, places, strict=True):
        assert np.array_equal(view, image[top : top + 20, left : left + 20])


def test_uneven_division_is_refused() -> None:
    with pytest.raises(ValueError, match="a picture of 61x40 cannot be divided into 2x2 views"):
        split(noise(40, 61), Layout.parse("2x2:a,b,c,d"))


@pytest.mark.parametrize(
    ("size", "limit", "fitted"),
    [
        ((1280, 800), 1024, (1024, 640)),
        ((800, 1280), 1024, (640, 1024)),
        ((4096, 1000), 1024, (1024, 250)),
        ((60, 40), 1024, (60, 40)),
        ((1024, 1), 32, (32, 1)),
    ],
)
def test_fit_scales_down_and_never_up(size: tuple[int, int], limit: int, fitted: tuple[int, int]) -> None:
    assert fit(noise(size[1], size[0]), limit).shape == (fitted[1], fitted[0], 3)


def test_strong_scaling_averages_every_pixel() -> None:
    stripes = np.zeros((100, 860, 3), dtype=np.uint8)
    stripes[:, ::2] = 255
    assert np.abs(fit(stripes, 200).astype(int) - 127).max() < 40


@given(st.integers(1, 10), st.integers(1, 5), st.integers(1, 50), st.integers(1, 50))
def test_sheet_shows_each_picture_unchanged_under_its_label(count: int, columns: int, high: int, wide: int) -> None:
    images = [noise(high, wide, seed) for seed in range(count)]
    whole = sheet(images, [f"frame {number}" for number in range(count)], columns)
    used = min(columns, count)
    rows = -(-count // columns)
    assert whole.shape == (rows * (BAND + high + GAP) - GAP, used * (wide + GAP) - GAP, 3)
    rest = np.ones(whole.shape[:2], dtype=bool)
    for index, image in enumerate(images):
        top, left = index // columns * (BAND + high + GAP), index % columns * (wide + GAP)
        assert np.array_equal(whole[top + BAND : top + BAND + high, left : left + wide], image)
        rest[top : top + BAND + high, left : left + wide] = False
    assert (whole[rest] == 255).all()


@pytest.mark.parametrize("width", [24, 60, 200, 1024])
def test_label_fits_its_band(width: int) -> None:
    label = "frame 1234 at 1234.56 s"
    band = sheet([np.zeros((8, width, 3), dtype=np.uint8)], [label], 1)[:BAND]
    inked = np.argwhere((band < 255).any(axis=2))
    (top, left), (bottom, right) = inked.min(axis=0), inked.max(axis=0)
    assert top > 0
    assert bottom < BAND - 1
    assert left > 0
    assert right < width - 1


def test_sheet_without_pictures_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one picture"):
        sheet([], [], 3)


NAMES = ("wrist", "left", "right")
ROW, COLUMN = (30, 100), (100, 30)
"""The width and the height of views of which three are arranged in a row and in a column."""


@pytest.mark.parametrize("size", [ROW, COLUMN], ids=["high", "wide"])
def test_picture_of_a_frame_shows_each_view_unchanged_under_its_name_and_a_stamp(size: tuple[int, int]) -> None:
    width, height = size
    views = [noise(height, width, seed) for seed in range(3)]
    picture = FrameCanvas(NAMES, (width, height)).draw(views, "frame 12, 0.75 s")
    across, down = (3, 1) if size == ROW else (1, 3)
    assert picture.shape == (BAND + down * (BAND + height + GAP) - GAP, across * (width + GAP) - GAP, 3)
    assert (picture[:BAND] < 255).any(), "a stamp"
    for index, view in enumerate(views):
        left = index * (width + GAP) if size == ROW else 0
        top = BAND + (0 if size == ROW else index * (BAND + height + GAP))
        assert (picture[top : top + BAND, left : left + width] < 255).any(), "a name"
        assert np.array_equal(picture[top + BAND : top + BAND + height, left : left + width], view)


def test_picture_of_a_single_view_is_the_view_under_a_stamp() -> None:
    image = noise()
    picture = FrameCanvas(("main",), (60, 40)).draw([image], "frame 12, 0.75 s")
    assert np.array_equal(picture[BAND:], image)
    assert (picture[:BAND] < 255).any()


def test_canvas_shows_nothing_of_the_frame_before() -> None:
    canvas = FrameCanvas(NAMES, (60, 40))
    canvas.draw([noise(seed=seed) for seed in range(3)], "frame 1234, 123.45 s")
    views = [noise(seed=seed) for seed in range(3, 6)]
    again = canvas.draw(views, "frame 1, 0.1 s")
    assert np.array_equal(again, FrameCanvas(NAMES, (60, 40)).draw(views, "frame 1, 0.1 s"))
    for view, found in zip(views, canvas.views(again), strict=True):
        assert np.array_equal(view, found)


@given(st.integers(1, 9), st.integers(8, 60), st.integers(8, 60))
def test_views_of_a_picture_are_found_again(count: int, high: int, wide: int) -> None:
    views = [noise(high, wide, seed) for seed in range(count)]
    canvas = FrameCanvas([f"view {number}" for number in range(count)], (wide, high))
    picture = canvas.draw(views, "frame 0, 0.00 s")
    assert canvas.size == (picture.shape[1], picture.shape[0])
    assert all(np.array_equal(view, found) for view, found in zip(views, canvas.views(picture), strict=True))


@pytest.mark.parametrize(
    ("view_size", "least_side_px", "divisor"),
    [
        ((640, 480), 320, 2),
        ((640, 480), 321, 1),
        ((1280, 800), 320, 4),
        ((640, 481), 320, 1),  # half of its rows are no whole number
        ((1280, 802), 320, 2),
        ((96, 72), 320, 1),
    ],
)
def test_a_divided_picture_has_whole_pixels(view_size: tuple[int, int], least_side_px: int, divisor: int) -> None:
    assert FrameCanvas(NAMES, view_size).divisor(least_side_px) == divisor


def test_arranged_single_view_is_that_view() -> None:
    image = noise()
    assert arranged([image], ["main"]) is image


def test_jpeg_round_trip_keeps_the_colours() -> None:
    image = np.zeros((48, 48, 3), dtype=np.uint8)
    image[:16, :, 0], image[16:32, :, 1], image[32:, :, 2] = 255, 255, 255
    back = decode_image(encode_jpeg(image, 95), "a picture")
    for top, channel in ((4, 0), (20, 1), (36, 2)):
        assert back[top + 4, 24].argmax() == channel
        assert back[top + 4, 24, channel] > 240


@pytest.mark.parametrize("data", [b"", b"no picture"])
def test_invalid_picture_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(VideoError, match=r"the initial frame x\.png is not a picture that can be read"):
        decode_image(data, "the initial frame x.png")


@pytest.fixture
def two_threads() -> Iterator[None]:
    """OpenCV uses two threads."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(2)
    yield
    cv2.setNumThreads(before)


@pytest.mark.usefixtures("two_threads")
def test_opencv_has_one_thread_for_as_long_as_asked() -> None:
    with one_thread_each():
        assert cv2.getNumThreads() == 1
    assert cv2.getNumThreads() == 2


@pytest.mark.usefixtures("two_threads")
def test_opencv_has_one_thread_until_the_last_of_several_runs_ends() -> None:
    """Runs in one process may overlap, and the first to start may be the first to end."""
    first, second = one_thread_each(), one_thread_each()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert cv2.getNumThreads() == 1
    second.__exit__(None, None, None)
    assert cv2.getNumThreads() == 2
