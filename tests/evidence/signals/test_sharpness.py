import cv2
import numpy as np
import pytest

from robogaze.evidence.signals.sharpness import Sharpness
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..planted import blurred, fogged
from ..procedural import Take, encoded, film


def _edge(sigma_px: float, contrast: int) -> Image:
    image = np.full((400, 640, 3), 60, np.uint8)
    image[:, 320:] = 60 + contrast
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma_px), dtype=np.uint8)


def test_an_edge_twice_as_wide_is_half_as_sharp() -> None:
    narrow, wide = measured_by(Sharpness, [_edge(3, 120), _edge(6, 120)]).series["sharpness"]
    assert wide / narrow == pytest.approx(0.5, abs=0.06)


def test_contrast_does_not_change_sharpness() -> None:
    weak, strong = measured_by(Sharpness, [_edge(2, 40), _edge(2, 160)]).series["sharpness"]
    assert weak == pytest.approx(strong, rel=0.1)


def test_sharpness_drops_only_in_blurred_frames() -> None:
    images = encoded(blurred(film(3, Take(frames=24)), 10, 16, 4))
    drop = measured_by(Sharpness, images).series["sharpness_drop"]
    fault = np.arange(24)[10:16]
    assert drop[fault].min() > 0.5
    assert np.delete(drop, fault).max() < 0.15


def test_sharpness_is_undefined_without_edges() -> None:
    images = [np.full((200, 320, 3), 90, np.uint8)] * 3
    series = measured_by(Sharpness, images).series
    assert np.isnan(series["sharpness"]).all()
    assert np.isnan(series["sharpness_drop"]).all()


def test_sharpness_is_undefined_in_fog() -> None:
    images = encoded(fogged(film(4, Take(frames=12, noise=1)), 6, 12, 0.1))
    series = measured_by(Sharpness, images).series
    assert np.isnan(series["sharpness"][6:]).all()
    assert np.isfinite(series["sharpness"][:6]).all()


def test_the_drop_is_undefined_in_a_short_clip() -> None:
    series = measured_by(Sharpness, film(4, Take(frames=4))).series
    assert np.isfinite(series["sharpness"]).all()
    assert np.isnan(series["sharpness_drop"]).all()


def test_a_clip_that_is_blurred_throughout_has_little_sharpness_and_no_drop() -> None:
    series = measured_by(Sharpness, encoded(blurred(film(3, Take(frames=12)), 0, 12, 5))).series
    assert series["sharpness_drop"].max() < 0.25
    assert series["sharpness"].max() < 0.2


def test_the_drop_is_that_of_the_direction_in_which_edges_lose_most() -> None:
    kernel = np.zeros((15, 15), np.float32)
    kernel[7] = 1 / 15
    images = film(3, Take(frames=24))
    images[10:16] = [np.asarray(cv2.filter2D(image, -1, kernel), np.uint8) for image in images[10:16]]
    series = measured_by(Sharpness, images).series
    assert series["sharpness_drop"][10:16].min() > 0.6
    assert np.delete(series["sharpness_drop"], np.arange(10, 16)).max() < 0.3
