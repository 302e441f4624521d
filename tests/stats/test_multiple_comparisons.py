"""P-values adjusted for their number."""

import math

import numpy as np
import pytest

from robogaze.stats.multiple_comparisons import benjamini_hochberg, holm

from . import plain

BOTH = [(holm, plain.holm), (benjamini_hochberg, plain.benjamini_hochberg)]


def test_holm_by_hand() -> None:
    """Smallest first: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, and none below the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_benjamini_hochberg_by_hand() -> None:
    """Largest first: 0.04 x 4/4, 0.03 x 4/3, 0.01 x 4/2, 0.005 x 4/1, and none above the one before."""
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
@pytest.mark.parametrize("seed", range(10))
def test_adjusted_values_are_those_of_the_definition(ours, theirs, seed: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    p = rng.choice([rng.random(), 0.01, 0.5, 1.0, 0.0], size=rng.integers(1, 12)) * rng.random()
    assert ours(p) == pytest.approx(theirs(p.tolist()), abs=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
def test_what_is_undefined_is_no_comparison(ours, theirs) -> None:  # type: ignore[no-untyped-def]
    found = ours([0.01, math.nan, 0.04])
    assert math.isnan(found[1])
    assert found[[0, 2]] == pytest.approx(theirs([0.01, 0.04]))


@pytest.mark.parametrize("ours", [holm, benjamini_hochberg])
def test_few_or_none(ours) -> None:  # type: ignore[no-untyped-def]
    assert ours([]).shape == (0,)
    assert np.isnan(ours([math.nan])).all()
    assert ours([0.2]) == pytest.approx([0.2])
    assert ours([0.3, 0.3, 0.3]) == pytest.approx([0.9] * 3 if ours is holm else [0.3] * 3)


@pytest.mark.parametrize("ours", [holm, benjamini_hochberg])
@pytest.mark.parametrize("wrong", [-0.1, 1.1])
def test_what_is_no_probability_is_refused(ours, wrong: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="lies in"):
        ours([0.5, wrong])
