"""The base class of data types."""

import math

import pytest
from pydantic import ValidationError

from robogaze.core.data import Data, Fraction


class Cup(Data):
    colour: str
    fill: Fraction = 0.0


def test_data_is_frozen() -> None:
    cup = Cup(colour="red")
    with pytest.raises(ValidationError, match="frozen"):
        cup.colour = "blue"  # type: ignore[misc]


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="colr"):
        Cup.model_validate({"colour": "red", "colr": "red"})


@pytest.mark.parametrize("fill", [math.nan, math.inf, -math.inf, -0.1, 1.1])
def test_number_that_is_not_finite_or_out_of_range_is_refused(fill: float) -> None:
    with pytest.raises(ValidationError, match="fill"):
        Cup(colour="red", fill=fill)


def test_copy_with_changes_is_validated() -> None:
    cup = Cup(colour="red", fill=0.5)
    assert cup.with_(colour="blue") == Cup(colour="blue", fill=0.5)
    assert cup == Cup(colour="red", fill=0.5)
    with pytest.raises(ValidationError, match="fill"):
        cup.with_(fill=2)
    with pytest.raises(ValidationError, match="size"):
        cup.with_(size=2)
