"""A share of items, and the difference of two shares of the same items.

The interval of a share is Wilson's, which also has a width for 0 of n and n of n. The interval of a difference is
Newcombe's (1998, method 10), from Wilson's intervals of both shares and their correlation. This interval has a width
even if no item differs, because 20 items of 20 that agree do not show that the next item will agree. Resampling would
give an interval without width. The p-value is McNemar's, in its mid-p form.
"""

from math import sqrt

from scipy.special import bdtr, ndtri

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.interval import LEVEL


def wilson(hits: int, n: int, *, level: float = LEVEL) -> Estimate:
    """`hits` of `n` with Wilson's interval; undefined for n = 0. Raises ValueError unless 0 <= hits <= n.

    scipy's `binomtest` takes milliseconds, because it also computes an exact p-value; the tests compare the two.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is not a share")
    if n == 0:
        return undefined("there are no cases to compute a share from")
    share, z = hits / n, float(ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low, high = centre - reach if hits else 0.0, centre + reach if hits < n else 1.0  # without rounding errors
    return Estimate(share, low, high, n)


def paired_shares(both: int, first: int, second: int, neither: int, *, level: float = LEVEL) -> tuple[Estimate, float]:
    """The first share minus the second share, and the two-sided p-value of this difference. The arguments count the
    items that are hits in both, only in the first, only in the second, and in neither.

    Both values are undefined if all counts are 0. Raises ValueError for a negative count.
    """
    if min(both, first, second, neither) < 0:
        raise ValueError(f"counts must not be negative: {both}, {first}, {second}, {neither}")
    n = both + first + second + neither
    if n == 0:
        return undefined("there is no pair"), float("nan")
    share_a, share_b = wilson(both + first, n, level=level), wilson(both + second, n, level=level)
    difference, phi = share_a.value - share_b.value, _phi(both, first, second, neither)
    low = difference - _reach(share_a.value - share_a.low, share_b.high - share_b.value, phi)
    high = difference + _reach(share_a.high - share_a.value, share_b.value - share_b.low, phi)
    return Estimate(difference, max(-1.0, low), min(1.0, high), n), _mid_p(first, second)


def _reach(first: float, second: float, phi: float) -> float:
    return sqrt(max(0.0, first**2 - 2 * phi * first * second + second**2))


def _phi(both: int, first: int, second: int, neither: int) -> float:
    """The correlation, shrunk towards 0 if positive, as in Newcombe's method; 0 if one side does not vary."""
    n = both + first + second + neither
    whole = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess = float(both * neither - first * second)
    if excess > 0:
        excess = max(0.0, excess - n / 2)
    return excess / sqrt(whole) if whole else 0.0


def _mid_p(first: int, second: int) -> float:
    """Twice the probability of a split that is at least as uneven as the given split; the given split is counted
    half.
    """
    n, fewer = first + second, min(first, second)
    if first == second:
        return 1.0
    at_most = float(bdtr(fewer, n, 0.5))
    less_than = float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return at_most + less_than
