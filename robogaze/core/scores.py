"""An estimate: a number that never stands alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval and the number of things it rests on.

    `value` is NaN where it is undefined, and then `why` says why; `low` and `high` are NaN where no interval can be
    given. `n` counts the units (clips, pairs, events) the value is computed from.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    why: str = ""

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    def as_json(self) -> Mapping[str, Any]:
        """The estimate as JSON: null for what is undefined, and `why` only where there is something to say."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        said: dict[str, Any] = {name: None if math.isnan(number) else number for name, number in numbers.items()}
        said["n"] = self.n
        return {**said, "why": self.why} if self.why else said


def undefined(why: str, n: int = 0) -> Estimate:
    """An estimate of what cannot be computed."""
    return Estimate(math.nan, n=n, why=why)
