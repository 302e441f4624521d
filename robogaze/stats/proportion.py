"""A share of things: how many of n."""

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEVEL


def wilson(hits: int, n: int, *, level: float = LEVEL) -> Estimate:
    """`hits` of `n` with Wilson's interval, which has a width for 0 of n and n of n, too; undefined for n = 0.

    Raises ValueError unless 0 <= hits <= n.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if n == 0:
        return undefined("there is nothing to take a share of")
    from scipy.stats import binomtest

    bounds = binomtest(hits, n).proportion_ci(level, method="wilson")
    return Estimate(hits / n, float(bounds.low), float(bounds.high), n)
