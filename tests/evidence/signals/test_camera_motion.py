import math

import cv2
import numpy as np
import pytest

from robogaze.evidence.signals.camera_motion import Motion

from ..measuring import measured_by
from ..planted import shaking
from ..procedural import Take, encoded, film

_SMALL = (320, 200)
_DIAGONAL = math.hypot(*_SMALL) / _SMALL[1]
"""In heights, the unit in which a take's camera moves."""


def test_a_still_camera_stands_still_however_fast_the_arm_moves() -> None:
    images = encoded(film(1, Take(frames=30, size=_SMALL, speed=3, arm=1.8, noise=1)))
    series = measured_by(Motion, images).series
    assert np.nanmax(series["camera_shift"]) < 0.001
    assert np.nanmax(series["camera_turn"]) < 0.1
    assert np.nanmax(series["camera_jolt"]) < 0.001


def test_a_pan_is_measured_in_shares_of_the_diagonal() -> None:
    images = film(2, Take(frames=12, size=_SMALL, camera=lambda f: (0.02 * f, 0.01 * f, 0.0, 1.0)))
    shift = measured_by(Motion, images).series["camera_shift"]
    assert np.isnan(shift[0])
    assert shift[1:] == pytest.approx(math.hypot(0.02, 0.01) / _DIAGONAL, rel=0.05)


def test_unrest_is_the_share_of_frames_in_which_the_picture_moves_or_cannot_be_told_to_rest() -> None:
    pans_late = film(2, Take(frames=21, size=_SMALL, camera=lambda f: (0.02 * max(0, f - 10), 0.0, 0.0, 1.0)))
    unrest = measured_by(Motion, pans_late).series["camera_unrest"]
    assert np.isnan(unrest[0])
    assert unrest[1:] == pytest.approx(0.5)
    blank = [np.zeros((200, 320, 3), np.uint8)] * 3
    assert measured_by(Motion, blank).series["camera_unrest"][1:].tolist() == [1.0, 1.0]
    assert np.isnan(measured_by(Motion, blank[:1]).series["camera_unrest"]).all()


def test_turn_and_zoom_are_measured() -> None:
    images = film(2, Take(frames=8, size=_SMALL, camera=lambda f: (0.0, 0.0, 0.5 * f, 1.02**f)))
    series = measured_by(Motion, images).series
    assert series["camera_turn"][1:] == pytest.approx(0.5, abs=0.05)
    assert series["camera_zoom"][1:] == pytest.approx(0.02, abs=0.003)


def test_a_pan_that_starts_and_stops_at_once_is_no_jolt() -> None:
    def pan(frame: float) -> tuple[float, float, float, float]:
        return (0.015 * min(max(frame - 8, 0), 10), 0.0, 0.0, 1.0)

    series = measured_by(Motion, film(4, Take(frames=30, size=_SMALL, camera=pan))).series
    assert np.nanmax(series["camera_shift"]) > 0.007
    assert np.nanmax(series["camera_jolt"]) < 0.001


def test_shake_is_measured_in_its_frames_only() -> None:
    images = film(6, Take(frames=36, size=_SMALL, camera=shaking(6, 12, 26, 0.01)))
    shake = measured_by(Motion, images).series["camera_shake"]
    assert shake[14:24].min() > 0.003
    assert np.nanmax(np.delete(shake, np.arange(9, 30))) < 0.0005


def _in_depth(shake: np.ndarray) -> list[np.ndarray]:
    """Stripes of texture at three distances, of which nearer ones move farther; the camera's offset by frame."""
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


def test_a_shake_that_near_and_far_things_follow_differently_is_measured_but_no_single_jolt() -> None:
    offsets = np.random.default_rng(4).normal(0, 4, (30, 2))
    offsets[:12] = offsets[24:] = 0
    series = measured_by(Motion, _in_depth(offsets)).series
    assert np.isnan(series["camera_jolt"][13:23]).mean() > 0.5
    assert series["camera_shake"][14:22].min() > 0.006
    assert series["camera_shake"][2:9].max() < 0.0005


@pytest.mark.parametrize("seed", [12, 24, 35])
def test_an_arm_on_a_plain_table_is_not_taken_for_the_camera(seed: int) -> None:
    """Most of what can be followed is on the arm: better to say nothing than that the camera moves."""
    images = film(seed, Take(size=_SMALL, ground=120, arm=2.2, speed=1.6))
    series = measured_by(Motion, images).series
    assert np.nanmax(series["camera_shift"]) < 0.002
    assert np.isnan(series["camera_shift"][1:]).any()


def test_a_single_jump_is_a_jolt_but_no_shake() -> None:
    images = film(0, Take(frames=24, size=_SMALL, camera=lambda f: (0.08 * (f >= 12), 0.0, 0.0, 1.0)))
    series = measured_by(Motion, images).series
    assert int(np.nanargmax(series["camera_jolt"])) == 12
    assert series["camera_jolt"][12] == pytest.approx(0.08 / _DIAGONAL, rel=0.05)
    assert np.nanmax(series["camera_shake"]) < 0.001


def test_motion_seen_in_one_corner_only_is_nobodys() -> None:
    rng = np.random.default_rng(0)
    patch = rng.integers(0, 255, (90, 140, 3), dtype=np.uint8)
    images = []
    for frame in range(6):
        image = np.full((200, 320, 3), 120, np.uint8)
        image[5 + frame : 95 + frame, 5 + 2 * frame : 145 + 2 * frame] = patch
        images.append(image)
    series = measured_by(Motion, images).series
    assert np.isnan(series["camera_shift"]).all()
    assert np.nanmax(series["camera_spread"]) < 5 / 9


def test_a_hand_that_stays_in_the_picture_does_not_hold_the_camera() -> None:
    """As seen from a wrist: the gripper is still, everything else moves."""
    images = film(2, Take(frames=8, size=_SMALL, camera=lambda f: (0.02 * f, 0.01 * f, 0.0, 1.0)))
    hand = np.random.default_rng(3).integers(0, 255, (15, 22, 3), dtype=np.uint8).repeat(4, axis=0).repeat(4, axis=1)
    for image in images:
        image[140:, 116:204] = hand
    shift = measured_by(Motion, images).series["camera_shift"]
    assert shift[1:] == pytest.approx(math.hypot(0.02, 0.01) / _DIAGONAL, rel=0.05)


def test_a_camera_that_shakes_goes_to_and_fro_and_one_that_swings_goes_straight() -> None:
    def swing(frame: float) -> tuple[float, float, float, float]:
        return (0.04 * min(max(frame - 12, 0), 6), 0.0, 0.0, 1.0)

    way = measured_by(Motion, film(6, Take(frames=30, size=_SMALL, camera=swing))).series["camera_straightness"]
    assert way[13:18].min() > 0.9
    assert np.isnan(way[25]), "it has stood still for half of the time looked at"
    shaken = film(6, Take(frames=36, size=_SMALL, camera=shaking(6, 12, 26, 0.01)))
    assert np.nanmax(measured_by(Motion, shaken).series["camera_straightness"][16:22]) < 0.7


def test_a_texture_that_cannot_be_followed_costs_no_more_than_a_film(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes time is a point that is nowhere: in noise only a sample of them is looked for."""
    followed: list[int] = []
    search = cv2.calcOpticalFlowPyrLK

    def counting(before: object, now: object, points: np.ndarray, *rest: object) -> object:
        followed.append(len(points))
        return search(before, now, points, *rest)

    monkeypatch.setattr(cv2, "calcOpticalFlowPyrLK", counting)
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (240, 320, 3), dtype=np.uint8) for _ in range(6)]
    assert np.isnan(measured_by(Motion, noise).series["camera_shift"]).all()
    assert sum(followed) <= 5 * 2 * 48
    followed.clear()
    measured_by(Motion, film(2, Take(frames=6, size=_SMALL)))
    assert max(followed) > 48
