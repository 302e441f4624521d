import numpy as np

from robogaze.evidence.signals.seams import Seams

from ..measuring import measured_by
from ..planted import garbled, torn
from ..procedural import Take, encoded, film

_SMALL = (320, 240)


def test_shifted_rows_have_a_seam_in_their_frame() -> None:
    images = encoded(torn(film(4, Take(frames=16, size=_SMALL, noise=1)), 8, 9, row=0.4, shift=0.2))
    seam = measured_by(Seams, images).series["seam"]
    assert np.isnan(seam[0])
    assert seam[8] > 0.3
    assert np.delete(seam, [0, 8]).max() < 0.1


def test_the_box_is_on_the_line() -> None:
    images = torn(film(4, Take(frames=6, size=_SMALL)), 3, 4, row=0.4, shift=0.2)
    box = measured_by(Seams, images).boxes["seam"][3]
    assert (box.left, box.right) == (0.0, 1.0)
    assert box.top < 0.4 < box.bottom


def test_misplaced_blocks_have_seams_while_they_last() -> None:
    images = garbled(film(5, Take(frames=20, size=_SMALL)), 8, 14, share=0.25)
    seam = measured_by(Seams, images).series["seam"]
    assert np.median(seam[8:14]) > 0.1
    assert np.delete(seam, [0, *range(8, 14)]).max() < 0.1


def test_an_arm_and_a_pan_over_a_table_have_no_seam() -> None:
    pan = Take(frames=24, size=_SMALL, speed=3, arm=2, camera=lambda f: (0.0, 0.01 * max(0, f - 12), 0.0, 1.0))
    for seed in range(2):
        assert np.nanmax(measured_by(Seams, film(seed, pan)).series["seam"]) < 0.1
