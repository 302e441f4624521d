import math

import cv2
import numpy as np
import pytest

from robogaze.evidence.signals.camera_motion import CameraMotion

from ..measuring import measured_by
from ..planted import shaking
from ..procedural import Take, encoded, film

_SMALL = (320, 200)
_DIAGONAL = math.hypot(*_SMALL) / _SMALL[1]
"""In picture heights, the unit of a take's camera motion."""


def test_a_camera_at_rest_has_no_motion_however_fast_the_arm_moves() -> None:
    images = encoded(film(1, Take(frames=30, size=_SMALL, speed=3, arm=1.8, noise=1)))
    series = measured_by(CameraMotion, images).series
    assert np.nanmax(series["camera_shift"]) < 0.001
    assert np.nanmax(series["camera_jitter"]) < 0.001


def test_a_pan_is_measured_in_shares_of_the_diagonal() -> None:
    images = film(2, Take(frames=12, size=_SMALL, camera=lambda f: (0.02 * f, 0.01 * f, 0.0, 1.0)))
    shift = measured_by(CameraMotion, images).series["camera_shift"]
    assert np.isnan(shift[0])
    assert shift[1:] == pytest.approx(math.hypot(0.02, 0.01) / _DIAGONAL, rel=0.05)


def test_the_moving_share_counts_frames_with_motion_and_with_unknown_motion() -> None:
    pans_late = film(2, Take(frames=21, size=_SMALL, camera=lambda f: (0.02 * max(0, f - 10), 0.0, 0.0, 1.0)))
    share = measured_by(CameraMotion, pans_late).series["camera_moving_share"]
    assert np.isnan(share[0])
    assert share[1:] == pytest.approx(0.5)
    blank = [np.zeros((200, 320, 3), np.uint8)] * 3
    assert measured_by(CameraMotion, blank).series["camera_moving_share"][1:].tolist() == [1.0, 1.0]
    assert np.isnan(measured_by(CameraMotion, blank[:1]).series["camera_moving_share"]).all()


def test_a_pan_that_starts_and_stops_suddenly_is_no_jitter() -> None:
    def pan(frame: float) -> tuple[float, float, float, float]:
        return (0.015 * min(max(frame - 8, 0), 10), 0.0, 0.0, 1.0)

    series = measured_by(CameraMotion, film(4, Take(frames=30, size=_SMALL, camera=pan))).series
    assert np.nanmax(series["camera_shift"]) > 0.007
    assert np.nanmax(series["camera_jitter"]) < 0.001


def test_shake_is_measured_only_in_its_frames() -> None:
    images = film(6, Take(frames=36, size=_SMALL, camera=shaking(6, 12, 26, 0.01)))
    shake = measured_by(CameraMotion, images).series["camera_shake"]
    assert shake[14:24].min() > 0.003
    assert np.nanmax(np.delete(shake, np.arange(9, 30))) < 0.0005


def _in_depth(shake: np.ndarray) -> list[np.ndarray]:
    """Stripes of texture at three distances, given the camera's offset per frame; nearer stripes move further."""
    grain = np.random.default_rng(8).integers(0, 255, (60, 90, 3), dtype=np.uint8)
    texture = np.asarray(cv2.resize(grain, (480, 320), interpolation=cv2.INTER_CUBIC))
    images = []
    for right, down in shake:
        layers = [_moved(texture, near * right, near * down) for near in (1.0, 1.5, 2.0)]
        images.append(np.vstack([layers[top // 20 % 3][top : top + 20] for top in range(0, 200, 20)]))
    return images


def _moved(picture: np.ndarray, right: float, down: float) -> np.ndarray:
    place = np.array([[1, 0, right - 80], [0, 1, down - 60]], np.float32)
    return np.asarray(cv2.warpAffine(picture, place, _SMALL))


def test_shake_with_parallax_is_measured_but_its_jitter_is_mostly_undefined() -> None:
    offsets = np.random.default_rng(4).normal(0, 4, (30, 2))
    offsets[:12] = offsets[24:] = 0
    series = measured_by(CameraMotion, _in_depth(offsets)).series
    assert np.isnan(series["camera_jitter"][13:23]).mean() > 0.5
    assert series["camera_shake"][14:22].min() > 0.006
    assert series["camera_shake"][2:9].max() < 0.0005


@pytest.mark.parametrize("seed", [12, 24, 35])
def test_an_arm_on_a_plain_table_is_not_camera_motion(seed: int) -> None:
    """Most of the points are on the arm, so the motion is undefined rather than wrong."""
    images = film(seed, Take(size=_SMALL, ground=120, arm=2.2, speed=1.6))
    series = measured_by(CameraMotion, images).series
    assert np.nanmax(series["camera_shift"]) < 0.002
    assert np.isnan(series["camera_shift"][1:]).any()


def test_a_single_jump_is_jitter_but_no_shake() -> None:
    images = film(0, Take(frames=24, size=_SMALL, camera=lambda f: (0.08 * (f >= 12), 0.0, 0.0, 1.0)))
    series = measured_by(CameraMotion, images).series
    assert int(np.nanargmax(series["camera_jitter"])) == 12
    assert series["camera_jitter"][12] == pytest.approx(0.08 / _DIAGONAL, rel=0.05)
    assert np.nanmax(series["camera_shake"]) < 0.001


def test_motion_in_one_corner_is_not_camera_motion() -> None:
    rng = np.random.default_rng(0)
    patch = rng.integers(0, 255, (90, 140, 3), dtype=np.uint8)
    images = []
    for frame in range(6):
        image = np.full((200, 320, 3), 120, np.uint8)
        image[5 + frame : 95 + frame, 5 + 2 * frame : 145 + 2 * frame] = patch
        images.append(image)
    series = measured_by(CameraMotion, images).series
    assert np.isnan(series["camera_shift"]).all()


def test_a_hand_that_is_fixed_in_the_picture_does_not_hide_camera_motion() -> None:
    """As seen from a wrist: the gripper is still, everything else moves."""
    images = film(2, Take(frames=8, size=_SMALL, camera=lambda f: (0.02 * f, 0.01 * f, 0.0, 1.0)))
    hand = np.random.default_rng(3).integers(0, 255, (15, 22, 3), dtype=np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    for image in images:
        image[140:, 116:204] = hand
    shift = measured_by(CameraMotion, images).series["camera_shift"]
    assert shift[1:] == pytest.approx(math.hypot(0.02, 0.01) / _DIAGONAL, rel=0.05)


def test_a_pan_is_straight_and_shake_is_not() -> None:
    def pan(frame: float) -> tuple[float, float, float, float]:
        return (0.04 * min(max(frame - 12, 0), 6), 0.0, 0.0, 1.0)

    straightness = measured_by(CameraMotion, film(6, Take(frames=30, size=_SMALL, camera=pan))).series[
        "camera_straightness"
    ]
    assert straightness[13:18].min() > 0.9
    assert np.isnan(straightness[25]), "it is at rest for half of the window"
    shaken = film(6, Take(frames=36, size=_SMALL, camera=shaking(6, 12, 26, 0.01)))
    assert np.nanmax(measured_by(CameraMotion, shaken).series["camera_straightness"][16:22]) < 0.7


def test_noise_costs_no_more_than_video(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point that is not in the next frame takes longest, so in noise only a sample is followed."""
    followed: list[int] = []
    search = cv2.calcOpticalFlowPyrLK

    def counting(before: object, now: object, points: np.ndarray, *rest: object) -> object:
        followed.append(len(points))
        return search(before, now, points, *rest)

    monkeypatch.setattr(cv2, "calcOpticalFlowPyrLK", counting)
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (240, 320, 3), dtype=np.uint8) for _ in range(6)]
    assert np.isnan(measured_by(CameraMotion, noise).series["camera_shift"]).all()
    assert sum(followed) <= 5 * 2 * 48
    followed.clear()
    measured_by(CameraMotion, film(2, Take(frames=6, size=_SMALL)))
    assert max(followed) > 48
