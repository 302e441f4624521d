import numpy as np
import pytest

from robogaze.evidence.signals.tears import Tears

from ..measuring import measured_by
from ..planted import torn
from ..procedural import Take, encoded, film

_SMALL = (320, 200)


def test_a_torn_frame_has_its_shift_in_its_first_frame_and_in_the_next() -> None:
    images = encoded(torn(film(4, Take(frames=16, size=_SMALL, noise=1)), 8, 9, row=0.4, shift=0.05))
    tear = measured_by(Tears, images).series["tear"]
    assert np.isnan(tear[0])
    assert np.flatnonzero(tear > 0).tolist() == [8, 9]
    assert tear[8:10] == pytest.approx([0.05, 0.05], abs=0.004)


def test_the_box_is_on_the_line() -> None:
    images = torn(film(4, Take(frames=6, size=_SMALL)), 3, 4, row=0.4, shift=0.06)
    box = measured_by(Tears, images).boxes["tear"][3]
    assert (box.left, box.right) == (0.0, 1.0)
    assert box.top < 0.4 < box.bottom


def test_an_arm_and_a_pan_have_no_tear() -> None:
    pan = Take(frames=24, size=_SMALL, speed=3, arm=2, camera=lambda f: (0.03 * max(0, f - 12), 0.0, 0.2 * f, 1.0))
    for seed in range(2):
        assert np.nanmax(measured_by(Tears, film(seed, pan)).series["tear"]) == 0.0


def test_an_arm_across_the_whole_width_continues_to_move_and_a_tear_does_not() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(60, 190, (25, 40, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)
    arm = rng.integers(60, 190, (8, 80, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)

    def reached(places: list[int]) -> list[float]:
        images = []
        for place in places:
            image = table.copy()
            image[80:144] = arm[:, place : place + 320]
            images.append(image)
        return measured_by(Tears, images).series["tear"][1:].tolist()

    assert reached([0, 2, 7, 16, 27, 40, 49, 54, 56]) == [0.0] * 8
    assert reached([0, 0, 0, 16, 16, 16]) == pytest.approx([0, 0, 16 / 320, 0, 0])


def test_an_object_that_moves_in_one_band_is_no_tear() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(60, 190, (25, 40, 3), dtype=np.uint8).repeat(8, axis=0).repeat(8, axis=1)
    images = []
    for frame in range(5):
        image = table.copy()
        image[80:120, 60:200] = np.roll(table, 9 * frame, axis=1)[80:120, 60:200]
        images.append(image)
    assert np.nanmax(measured_by(Tears, images).series["tear"]) == 0.0
