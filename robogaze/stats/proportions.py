"""Two shares of the same things, one against the other: how many are so here and how many there.

The interval is Newcombe's (1998, method 10): Wilson's intervals of the two shares, joined with their correlation. It
has a width where no thing differs, too, which resampling cannot give: that 20 of 20 agree does not show that the next
one would. The p-value is McNemar's in its mid-p form: whether the things that differ do so one way more than the other.
"""

from math import sqrt

from scipy.special import bdtr

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEVEL
from robogaze.stats.proportion import wilson


def paired_shares(both: int, first: int, second: int, neither: int, *, level: float = LEVEL) -> tuple[Estimate, float]:
    """The first share minus the second, and its two-sided p, from how many things are so in both, one or neither.

    Without a thing both are undefined. Raises ValueError for a negative number.
    """
    if min(both, first, second, neither) < 0:
        raise ValueError(f"{both}, {first}, {second} and {neither} are no numbers of things")
    n = both + first + second + neither
    if n == 0:
        return undefined("there is no pair"), float("nan")
    share_a, share_b = wilson(both + first, n, level=level), wilson(both + second, n, level=level)
    difference, alike = share_a.value - share_b.value, _correlation(both, first, second, neither)
    low = difference - _reach(share_a.value - share_a.low, share_b.high - share_b.value, alike)
    high = difference + _reach(share_a.high - share_a.value, share_b.value - share_b.low, alike)
    return Estimate(difference, max(-1.0, low), min(1.0, high), n), _mid_p(first, second)


def _reach(first: float, share_b: float, alike: float) -> float:
    return sqrt(max(0.0, first**2 - 2 * alike * first * share_b + share_b**2))


def _correlation(both: int, first: int, second: int, neither: int) -> float:
    """Phi, drawn towards 0 where it is above it, as Newcombe does; 0 where one side does not vary."""
    n = both + first + second + neither
    whole = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess = float(both * neither - first * second)
    if excess > 0:
        excess = max(0.0, excess - n / 2)
    return excess / sqrt(whole) if whole else 0.0


def _mid_p(first: int, second: int) -> float:
    """Twice the chance of a split as uneven as this one or more, counting this one half."""
    n, fewer = first + second, min(first, second)
    if first == second:
        return 1.0
    as_few = float(bdtr(fewer, n, 0.5))
    fewer_still = float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return as_few + fewer_still
