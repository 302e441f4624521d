import numpy as np
import pytest

from robogaze.evidence.signals.repeated_frames import RepeatedFrames

from ..measuring import measured_by
from ..planted import stalled
from ..procedural import FPS, Take, encoded, film

_SMALL = (320, 200)


def test_frame_difference_is_in_levels_and_zero_for_an_exact_repeat() -> None:
    dark, light = np.full((20, 30, 3), 50, np.uint8), np.full((20, 30, 3), 57, np.uint8)
    series = measured_by(RepeatedFrames, [dark, dark, light]).series
    assert np.isnan(series["frame_difference"][0])
    assert series["frame_difference"][1:].tolist() == [0.0, 7.0]


def test_a_run_of_repeats_is_measured_in_seconds() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 255, (3, 40, 60, 3), dtype=np.uint8)
    frozen = measured_by(RepeatedFrames, [a, b, b, b, b, c]).series["frozen_s"]
    assert frozen.tolist() == pytest.approx([0, 0, 1 / FPS, 2 / FPS, 3 / FPS, 0])


@pytest.mark.parametrize("start", [12, 16], ids=["after slowing down", "in full motion"])
def test_an_arm_that_waits_continues_without_a_jump(start: int) -> None:
    for seed in range(2):
        images = film(seed, Take(size=_SMALL, speed=2, pause=(start, start + 10)))
        series = measured_by(RepeatedFrames, images).series
        assert series["frozen_s"].max() >= 8 / FPS
        assert np.nanmax(series["resume_jump"]) < 1.3


def test_a_stall_ends_with_a_jump_at_its_first_new_frame() -> None:
    images = encoded(stalled(film(0, Take(size=_SMALL, frames=36)), 26, 32))
    jump = measured_by(RepeatedFrames, images).series["resume_jump"]
    assert int(np.nanargmax(jump)) == 32
    assert jump[32] > 1.5


def test_a_clip_that_shows_every_frame_twice_has_no_freeze() -> None:
    table = np.random.default_rng(0).integers(0, 255, (50, 80, 3), dtype=np.uint8)
    images = [np.roll(table, frame // 2, axis=1) for frame in range(20)]
    assert np.isnan(measured_by(RepeatedFrames, images).series["resume_jump"]).all()


def test_judder_is_the_share_of_frames_within_half_a_second_that_are_held() -> None:
    images = film(0, Take(size=_SMALL, frames=40, speed=2, moment=lambda frame: frame - (frame % 4 == 3)))
    judder = measured_by(RepeatedFrames, images).series["judder"]
    assert 0.15 < judder.max() < 0.3


def test_a_clip_that_moves_or_pauses_once_has_no_judder() -> None:
    for take in (Take(size=_SMALL, speed=2), Take(size=_SMALL, speed=2, pause=(12, 13)), Take(size=_SMALL, speed=0.0)):
        assert measured_by(RepeatedFrames, film(0, take)).series["judder"].max() < 0.15


def test_a_clip_of_three_frames_has_no_judder() -> None:
    still = np.full((40, 60, 3), 90, np.uint8)
    assert measured_by(RepeatedFrames, [still] * 3).series["judder"].tolist() == [0, 0, 0]
