import numpy as np
import pytest

from robogaze.evidence.signals.exposure import Exposure

from ..measuring import measured_by


def test_luma_and_contrast_of_a_half_black_half_white_picture() -> None:
    image = np.zeros((40, 60, 3), np.uint8)
    image[:, 30:] = 255
    series = measured_by(Exposure, [image]).series
    assert series["luma"] == pytest.approx([0.5])
    assert series["contrast"] == pytest.approx([1.0])


def test_contrast_ignores_specks_and_includes_a_small_object_on_a_plain_table() -> None:
    image = np.full((100, 100, 3), 100, np.uint8)
    image[0, :40], image[-1, :40] = 0, 255
    assert measured_by(Exposure, [image]).series["contrast"] == pytest.approx([0.0])
    image[:10, :10] = 0
    assert measured_by(Exposure, [image]).series["contrast"] == pytest.approx([100 / 255])


def test_a_switched_lamp_is_one_change_of_luma() -> None:
    light, dark = np.full((40, 60, 3), 153, np.uint8), np.full((40, 60, 3), 51, np.uint8)
    change = measured_by(Exposure, [light, light, dark, dark]).series["luma_change"]
    assert np.isnan(change[0])
    assert change[1:] == pytest.approx([0.0, 0.4, 0.0])


def test_contrast_drop_is_relative_to_the_better_frames_of_the_clip() -> None:
    clear = np.full((40, 60, 3), 50, np.uint8)
    clear[:, 30:] = 200
    hazy = np.full((40, 60, 3), 110, np.uint8)
    hazy[:, 30:] = 140
    drop = measured_by(Exposure, [clear] * 10 + [hazy] * 4).series["contrast_drop"]
    assert drop == pytest.approx([0.0] * 10 + [0.8] * 4)
    assert np.isnan(measured_by(Exposure, [clear, hazy]).series["contrast_drop"]).all(), "a short clip"


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_a_clip_without_any_contrast_has_no_drop(grey: int) -> None:
    drop = measured_by(Exposure, [np.full((40, 60, 3), grey, np.uint8)] * 14).series["contrast_drop"]
    assert drop == pytest.approx([0.0] * 14)
