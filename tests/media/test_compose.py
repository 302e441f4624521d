"""Pictures of pictures: every pixel of a view is where it belongs, and nothing is drawn over it."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.clip import Layout
from robogaze.errors import VideoError
from robogaze.media.compose import decode_image, encode_jpeg, fit, sheet, split, strip
from robogaze.media.decode import Image

BAND, GAP = 24, 4


def noise(height: int = 40, width: int = 60, seed: int = 0) -> Image:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_a_single_view_is_the_picture_itself() -> None:
    image = noise()
    (view,) = split(image, Layout())
    assert np.array_equal(view, image)


def test_a_grid_is_cut_in_reading_order_and_panels_without_a_name_are_dropped() -> None:
    image = noise(40, 60)
    views = split(image, Layout.parse("2x3:a,b,-,d,-,f"))
    places = [(0, 0), (0, 20), (20, 0), (20, 40)]
    assert len(views) == 4
    for view, (top, left) in zip(views, places, strict=True):
        assert np.array_equal(view, image[top : top + 20, left : left + 20])


def test_a_picture_that_cannot_be_divided_evenly_is_refused() -> None:
    with pytest.raises(ValueError, match="a picture of 61x40 cannot be cut into 2x2 views"):
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
def test_a_picture_is_made_smaller_to_fit_and_never_larger(
    size: tuple[int, int], limit: int, fitted: tuple[int, int]
) -> None:
    assert fit(noise(size[1], size[0]), limit).shape == (fitted[1], fitted[0], 3)


@pytest.mark.parametrize("limit", [32, 100, 199])
def test_a_picture_made_smaller_stays_what_it_is(limit: int) -> None:
    ramp = np.broadcast_to(np.linspace(0, 255, 200)[None, :, None], (100, 200, 3)).astype(np.uint8)
    small = fit(ramp, limit)
    expected = np.linspace(0, 255, small.shape[1])
    assert np.abs(small.mean(axis=(0, 2)) - expected).max() < 255 / limit


def test_a_picture_made_much_smaller_leaves_no_pixel_out() -> None:
    stripes = np.zeros((100, 860, 3), dtype=np.uint8)
    stripes[:, ::2] = 255
    assert np.abs(fit(stripes, 200).astype(int) - 127).max() < 40


@given(st.integers(1, 10), st.integers(1, 5), st.integers(1, 50), st.integers(1, 50))
def test_every_picture_of_a_sheet_stands_whole_under_its_label(count: int, columns: int, high: int, wide: int) -> None:
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
def test_a_label_fits_its_band_whole(width: int) -> None:
    label = "frame 1234 at 1234.56 s"
    band = sheet([np.zeros((8, width, 3), dtype=np.uint8)], [label], 1)[:BAND]
    inked = np.argwhere((band < 255).any(axis=2))
    (top, left), (bottom, right) = inked.min(axis=0), inked.max(axis=0)
    assert top > 0
    assert bottom < BAND - 1
    assert left > 0
    assert right < width - 1


def test_different_labels_look_different() -> None:
    image = noise(40, 200)
    bands = [sheet([image], [f"frame {number} at 0.50 s"], 1)[:BAND] for number in (7, 8)]
    assert not np.array_equal(*bands)


def test_a_sheet_needs_a_picture() -> None:
    with pytest.raises(ValueError, match="at least one picture"):
        sheet([], [], 3)


def test_views_stand_side_by_side_each_under_its_name() -> None:
    views = [noise(seed=1), noise(seed=2), noise(seed=3)]
    whole = strip(views, ["wrist", "left", "right"])
    assert whole.shape == (BAND + 40, 3 * 60 + 2 * GAP, 3)
    for index, view in enumerate(views):
        left = index * (60 + GAP)
        assert np.array_equal(whole[BAND:, left : left + 60], view)
        assert (whole[:BAND, left : left + 60] < 255).any()


def test_a_strip_of_one_view_is_that_view() -> None:
    image = noise()
    assert strip([image], ["main"]) is image


def test_a_picture_comes_back_from_jpeg_with_its_colours_in_order() -> None:
    image = np.zeros((48, 48, 3), dtype=np.uint8)
    image[:16, :, 0], image[16:32, :, 1], image[32:, :, 2] = 255, 255, 255
    back = decode_image(encode_jpeg(image, 95), "a picture")
    for top, channel in ((4, 0), (20, 1), (36, 2)):
        assert back[top + 4, 24].argmax() == channel
        assert back[top + 4, 24, channel] > 240


def test_quality_is_what_it_costs() -> None:
    sizes = [len(encode_jpeg(noise(), quality)) for quality in (30, 60, 95)]
    assert sizes == sorted(sizes)


def test_a_png_is_read_as_well() -> None:
    image = noise()
    png = cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR))[1].tobytes()
    assert np.array_equal(decode_image(png, "a picture"), image)


@pytest.mark.parametrize("data", [b"", b"no picture"])
def test_what_is_no_picture_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(VideoError, match=r"the initial frame x\.png is not a picture that can be read"):
        decode_image(data, "the initial frame x.png")
