"""An estimate: a value with its confidence interval and n."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its confidence interval and n.

    `value` is NaN where it is undefined, and `why` then gives the reason. `low` and `high` are NaN where there is no
    interval. `n` counts the units (clips, pairs, events) from which the value is computed.
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
        """The estimate as JSON values: null for NaN; `why` only if it is not empty."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        written: dict[str, Any] = {name: None if math.isnan(number) else number for name, number in numbers.items()}
        written["n"] = self.n
        return {**written, "why": self.why} if self.why else written


def undefined(why: str, n: int = 0) -> Estimate:
    """An estimate without a value. `why` gives the reason, and `n` is the number of available units."""
    return Estimate(math.nan, n=n, why=why)
