"""Student's intervals for functions of sums, from leaving out each unit in turn (the jackknife).

Units are independent: a clip, or a prompt with all its clips (see `resample.draw_resamples`). Leaving out a unit
changes the value a little; the sum of the squared changes is the variance, and the t distribution gives the width of
the interval. The degrees of freedom are the number of units that change the value, minus one for each stratum.

If nothing varies, all changes are zero. Values in [0, 1] then get Wilson's interval of a share of n, where n is the
number of units with a value. This interval has a width: for example, 20 hits of 20 do not show that the next unit is
also a hit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from robogaze.stats.interval import LEVEL, NOISE, Intervals, Statistic
from robogaze.stats.resample import Floats, Sums

UNDEFINED = "there is nothing to compute the value from"
WITHOUT = "the value is undefined if one of the units is left out"
SAME = "nothing varies from unit to unit"


@dataclass(frozen=True)
class JackknifeError:
    """Standard errors of values, arrays of the same shape.

    `error` is the standard error. It is 0 if nothing varies, and NaN if the value becomes undefined when one of the
    units is left out. `freedom` is the degrees of freedom, at least 1.
    """

    error: Floats
    freedom: Floats

    @classmethod
    def of(cls, moved: Floats, strata: Floats) -> "JackknifeError":
        """The standard errors, computed from the influences of the units. `moved` (..., units) holds the influences
        (see `influences`), and `strata` gives the number of each unit's stratum.
        """
        error = np.sqrt((moved**2).sum(axis=-1))
        matters = np.abs(moved) > NOISE * np.maximum(error, NOISE)[..., None]
        groups = np.stack([matters[..., strata == number].any(axis=-1) for number in np.unique(strata)], axis=-1)
        freedom = np.maximum(1.0, matters.sum(axis=-1) - groups.sum(axis=-1))
        return cls(np.where(error > NOISE, error, np.where(np.isnan(error), np.nan, 0.0)), freedom)

    def reach(self, level: float) -> Floats:
        """Half the width of the two-sided interval at a confidence level."""
        reach: Floats = self.error * stdtrit(self.freedom, (1 + level) / 2)
        return reach

    def p(self, value: Floats) -> Floats:
        """The two-sided p-value against a difference of 0; NaN if nothing varies."""
        t = np.divide(np.abs(value), self.error, out=np.full(np.shape(value), np.nan), where=self.error > 0)
        p: Floats = 2 * stdtr(self.freedom, -t)
        return p


def influences(sums: Sums, statistic: Statistic) -> Floats:
    """How much the values change when each unit is left out. The changes are scaled so that their squares add up to the
    variance.

    Units are on the last axis. When a unit is left out, the rest of its stratum is scaled up to the full size, so that
    the strata keep their weights. The change of a stratum's only unit is 0.
    """
    axis = sums.total.ndim - 1
    shape = np.shape(statistic(sums.total))
    moved = np.zeros((*shape, sums.rows.shape[-2]))
    for members in sums.strata:
        size = len(members)
        if size < 2:
            continue
        inside = sums.rows[..., members, :]
        without = sums.total[..., None, :] + (inside.mean(axis=-2, keepdims=True) - inside) * (size / (size - 1))
        left = np.moveaxis(statistic(without), axis, -1)
        moved[..., members] = (left - left.mean(axis=-1, keepdims=True)) * np.sqrt((size - 1) / size)
    return moved


def has_value(sums: Sums, statistic: Statistic) -> NDArray[np.bool_]:
    """Whether each unit has a value of its own and therefore contributes to the overall value; units are on the last
    axis.
    """
    return np.moveaxis(~np.isnan(statistic(sums.rows)), sums.total.ndim - 1, -1)


def stratum_numbers(sums: Sums) -> Floats:
    """The number of each unit's stratum."""
    numbers = np.zeros(sums.rows.shape[-2])
    for number, members in enumerate(sums.strata):
        numbers[members] = number
    return numbers


def student_intervals(sums: Sums, statistic: Statistic, *, level: float = LEVEL, share: bool = False) -> Intervals:
    """A statistic with its t interval.

    With `share` the values are in [0, 1]: the interval is clipped to this range, and it has a width even if nothing
    varies. If the statistic gives several values for each system, the axes of the values come after the axes of the
    systems.
    """
    value = np.asarray(statistic(sums.total))
    spread = JackknifeError.of(influences(sums, statistic), stratum_numbers(sums))
    low, high = value - spread.reach(level), value + spread.reach(level)
    why = np.full(value.shape, "", dtype=object)
    why[np.isnan(spread.error)] = WITHOUT
    flat = (spread.error == 0) & ~np.isnan(value)
    if share:
        units = has_value(sums, statistic).sum(axis=-1).astype(np.float64)
        # A single unit with the value 1 or 0 is a share of 1 of 1 or 0 of 1.
        single = np.isnan(spread.error) & (units == 1) & (np.minimum(np.abs(value), np.abs(1 - value)) < NOISE)
        flat, why = flat | single, np.where(single, "", why)
        spread = JackknifeError(np.where(single, 0.0, spread.error), spread.freedom)
        low, high = np.maximum(0.0, low), np.minimum(1.0, high)
        ends = wilson_bounds(value, units, level=level)
        low, high = np.where(flat, ends[0], low), np.where(flat, ends[1], high)
    else:
        why[flat] = SAME
        low, high = (np.where(flat, np.nan, bound) for bound in (low, high))
    why[np.isnan(value)] = UNDEFINED
    none = np.isnan(value) | np.isnan(spread.error)
    return Intervals(value, np.where(none, np.nan, low), np.where(none, np.nan, high), why)


def wilson_bounds(
    value: Floats, n: Floats, *, level: float = LEVEL, reach: Floats | None = None
) -> tuple[Floats, Floats]:
    """Wilson's intervals of shares of `n`, which can be any number above 0. `reach` is the quantile that sets the
    width; by default, it is the quantile of the normal distribution.
    """
    z = np.full(np.shape(value), float(ndtri((1 + level) / 2))) if reach is None else reach
    whole = np.maximum(n, 1.0)
    centre = (value + z**2 / (2 * whole)) / (1 + z**2 / whole)
    half = z * np.sqrt(np.maximum(0.0, value * (1 - value)) / whole + z**2 / (4 * whole**2)) / (1 + z**2 / whole)
    low, high = np.where(value <= 0, 0.0, np.maximum(0.0, centre - half)), np.where(value >= 1, 1.0, centre + half)
    return low, np.minimum(1.0, high)


def clustered_wilson(
    value: float, n: int, spread: tuple[float, float], units: int, *, level: float
) -> tuple[float, float]:
    """Wilson's interval of a share of `n` items that are not independent, because they come in `units`.

    `n` is replaced by the number of independent items whose share has the same standard error. `spread` is a pair: the
    standard error of the share, computed over the units, and the degrees of freedom of this error.
    """
    error, freedom = spread
    independent = float(min(n, units))
    if error > 0 and 0 < value < 1:
        independent = min(float(n), value * (1 - value) / error**2)
    reach = np.array(stdtrit(freedom, (1 + level) / 2)) if error > 0 else None
    low, high = wilson_bounds(np.array(value), np.array(independent), level=level, reach=reach)
    return float(low), float(high)
