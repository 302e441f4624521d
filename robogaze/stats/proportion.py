"""A share of things: how many of n."""

from math import sqrt

from scipy.special import ndtri

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEVEL


def wilson(hits: int, n: int, *, level: float = LEVEL) -> Estimate:
    """`hits` of `n` with Wilson's interval, which has a width for 0 of n and n of n, too; undefined for n = 0.

    In closed form, since scipy's `binomtest` computes an exact p-value besides, for milliseconds each; the tests
    compare the two. Raises ValueError unless 0 <= hits <= n.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if n == 0:
        return undefined("there is nothing to take a share of")
    share, z = hits / n, float(ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return Estimate(share, max(0.0, centre - reach), min(1.0, centre + reach), n)
