import cv2
import numpy as np
import pytest

from robogaze.evidence.signals.sharpness import Sharpness
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..planted import blurred, dimmed, fogged
from ..procedural import Take, encoded, film


def _edge(sigma_px: float, contrast: int) -> Image:
    image = np.full((400, 640, 3), 60, np.uint8)
    image[:, 320:] = 60 + contrast
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma_px), dtype=np.uint8)


def test_an_edge_twice_as_wide_is_half_as_sharp() -> None:
    narrow, wide = measured_by(Sharpness, [_edge(3, 120), _edge(6, 120)]).series["sharpness"]
    assert wide / narrow == pytest.approx(0.5, abs=0.06)


def test_contrast_does_not_count_as_sharpness() -> None:
    weak, strong = measured_by(Sharpness, [_edge(2, 40), _edge(2, 160)]).series["sharpness"]
    assert weak == pytest.approx(strong, rel=0.1)


def test_planted_blur_drops_in_its_frames_only() -> None:
    images = encoded(blurred(film(3, Take(frames=24)), 10, 16, 4))
    drop = measured_by(Sharpness, images).series["sharpness_drop"]
    fault = np.arange(24)[10:16]
    assert drop[fault].min() > 0.5
    assert np.delete(drop, fault).max() < 0.15


def test_half_the_light_is_no_blur() -> None:
    images = dimmed(film(4, Take(frames=12)), 6, 12, 0.5)
    assert np.abs(measured_by(Sharpness, images).series["sharpness_drop"]).max() < 0.15


def test_a_picture_without_edges_is_neither_sharp_nor_blurred() -> None:
    images = [np.full((200, 320, 3), 90, np.uint8)] * 3
    series = measured_by(Sharpness, images).series
    assert np.isnan(series["sharpness"]).all()
    assert np.isnan(series["sharpness_drop"]).all()


def test_in_fog_noise_takes_the_place_of_edges_and_nothing_is_said() -> None:
    images = encoded(fogged(film(4, Take(frames=12, noise=1)), 6, 12, 0.1))
    series = measured_by(Sharpness, images).series
    assert np.isnan(series["sharpness"][6:]).all()
    assert np.isfinite(series["sharpness"][:6]).all()


def test_a_clip_too_short_to_have_sharper_frames_has_no_drop() -> None:
    series = measured_by(Sharpness, film(4, Take(frames=4))).series
    assert np.isfinite(series["sharpness"]).all()
    assert np.isnan(series["sharpness_drop"]).all()


def test_a_clip_blurred_throughout_has_no_drop_but_little_sharpness() -> None:
    series = measured_by(Sharpness, encoded(blurred(film(3, Take(frames=12)), 0, 12, 5))).series
    assert series["sharpness_drop"].max() < 0.1
    assert series["sharpness"].max() < 0.2


def test_a_picture_smeared_along_one_direction_loses_its_edges_across_it_only() -> None:
    kernel = np.zeros((15, 15), np.float32)
    kernel[7] = 1 / 15
    images = film(3, Take(frames=24))
    images[10:16] = [np.asarray(cv2.filter2D(image, -1, kernel), np.uint8) for image in images[10:16]]
    series = measured_by(Sharpness, images).series
    assert series["smear"][10:16].min() > 0.6
    assert series["sharpness_drop"][10:16].max() < 0.5
    assert np.delete(series["smear"], np.arange(10, 16)).max() < 0.3


def test_what_moves_is_measured_by_itself() -> None:
    """A sharp pattern at rest on the left, a soft one that moves on the right."""
    table = np.random.default_rng(0).integers(0, 255, (40, 28, 3), dtype=np.uint8).repeat(10, axis=0).repeat(10, axis=1)
    images = []
    for frame in range(6):
        moving = np.full((400, 360, 3), 128, np.uint8)
        moving[:, 40:320] = np.roll(table, 12 * frame, axis=0)
        images.append(np.hstack([table, cv2.GaussianBlur(moving, (0, 0), 6)]))
    series = measured_by(Sharpness, images).series
    assert np.isnan(series["moving_sharpness"][0])
    assert (series["moving_sharpness"][1:] < series["sharpness"][1:]).all()
    still = measured_by(Sharpness, [images[0]] * 3).series["moving_sharpness"]
    assert np.isnan(still).all(), "nothing moves"
