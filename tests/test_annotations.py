"""How annotations are read: the options of `evaluate`, `compare` and `agree`."""

from typing import Any

import pytest

from robogaze.annotations import ReadOptions
from robogaze.errors import OptionError


@pytest.mark.parametrize("fps", [0.0, -16.0, float("inf"), float("nan")])
def test_a_frame_rate_is_above_0_and_finite(fps: float) -> None:
    with pytest.raises(OptionError, match=f"fps must be above 0 and finite, not {fps}"):
        ReadOptions(fps=fps)


@pytest.mark.parametrize("first_frame", [-1, 2, float("nan")])
def test_the_first_frame_has_the_number_0_or_1(first_frame: Any) -> None:
    with pytest.raises(OptionError, match=f"first_frame must be 0 or 1, not {first_frame}"):
        ReadOptions(first_frame=first_frame)
