import numpy as np
import pytest

from robogaze.evidence.signals.dark_patch import DarkPatch
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..procedural import Take, film

_SMALL = (320, 240)


def _covered(images: list[Image], start: int, end: int, *, within: int) -> list[Image]:
    """A dark bar slides in from the left within a number of frames, stays, and is gone in the frame `end`."""
    covered = []
    for frame, image in enumerate(images):
        image = image.copy()
        if start <= frame < end:
            image[40:200, : round(160 * min(1.0, (frame - start + 1) / within))] = 20
        covered.append(image)
    return covered


def test_a_dark_object_in_front_of_the_camera_is_measured_with_its_place() -> None:
    found = measured_by(DarkPatch, _covered(film(3, Take(frames=40, size=_SMALL)), 12, 30, within=4))
    patch = found.series["dark_patch"]
    assert patch[15:30] == pytest.approx([1 / 3] * 15, abs=0.05)
    assert np.delete(patch, np.arange(12, 30)).max() < 0.05
    box = found.boxes["dark_patch"][20]
    assert (box.left, box.right) == (0.0, pytest.approx(0.5, abs=0.03))


def test_growth_is_larger_for_a_sudden_cover_than_for_a_slow_one() -> None:
    clean = film(3, Take(frames=60, size=_SMALL))
    fast, slow = (
        measured_by(DarkPatch, _covered(clean, 8, 32, within=within)).series["dark_patch_growth"] for within in (4, 24)
    )
    assert fast.max() > 0.25
    assert slow.max() < 0.15


def test_a_thick_and_fast_arm_is_no_cover() -> None:
    for seed in range(3):
        found = measured_by(DarkPatch, film(seed, Take(frames=40, size=_SMALL, arm=3, speed=3)))
        assert found.series["dark_patch_growth"].max() < 0.15
