"""The same statistics in plain Python, from their definitions: one sample at a time, no arrays, no sums."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations, permutations
from statistics import NormalDist
from typing import Any

from robogaze.stats.resample import Resamples
from robogaze.stats.unitizing import Timeline

NORMAL = NormalDist()


# Resamples.


def samples(resamples: Resamples, of: Sequence[int] | None = None) -> list[list[int]]:
    """Each resample as the list of the positions it drew; with `of`, of the things of the clusters it drew."""
    members = {cluster: [cluster] for cluster in range(resamples.size)}
    if of is not None:
        members = {cluster: [at for at, name in enumerate(of) if name == cluster] for cluster in range(resamples.size)}
    return [
        [thing for cluster, times in enumerate(row) for _ in range(int(times)) for thing in members[cluster]]
        for block in resamples.blocks()
        for row in block
    ]


def quantile(values: Sequence[float], share: float) -> float:
    """By linear interpolation between the sorted values."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def percentile(drawn: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    known = [value for value in drawn if not math.isnan(value)]
    return quantile(known, (1 - level) / 2), quantile(known, (1 + level) / 2)


def bca(value: float, drawn: Sequence[float], left_out: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Efron's, from the values without each clip in turn."""
    below = sum((sample < value) + (sample <= value) for sample in drawn) / 2 / len(drawn)
    bias = NORMAL.inv_cdf(below)
    centre = sum(left_out) / len(left_out)
    pulls = [centre - value for value in left_out]
    skew = sum(pull**3 for pull in pulls) / (6 * sum(pull**2 for pull in pulls) ** 1.5)
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + NORMAL.inv_cdf(tail)
        shares.append(NORMAL.cdf(bias + moved / (1 - skew * moved)))
    return quantile(drawn, shares[0]), quantile(drawn, shares[1])


def places(values: Sequence[float]) -> list[float]:
    """1 for the highest; the same values share the mean of their places."""
    return [
        1 + sum(other > value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


# Many comparisons.


def holm(p: Sequence[float]) -> list[float]:
    """The smallest level at which the step-down procedure rejects each."""
    ordered = sorted(p)
    return [max(min(1.0, (len(p) - at) * ordered[at]) for at in range(ordered.index(value) + 1)) for value in p]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    ordered = sorted(p)
    return [min(min(1.0, len(p) / (at + 1) * ordered[at]) for at in range(ordered.index(value), len(p))) for value in p]


# Correlations.


def pearson(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    xy = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    xx = math.fsum((a - mean_x) ** 2 for a in x)
    yy = math.fsum((b - mean_y) ** 2 for b in y)
    return xy / math.sqrt(xx * yy) if xx > 1e-9 and yy > 1e-9 else math.nan


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    return pearson(places(x), places(y))


# Agreement. Ratings are one sequence per unit; None is missing.


def cohen(units: Sequence[Sequence[Any]]) -> float:
    pairs = [unit for unit in units if None not in unit]
    if not pairs:
        return math.nan
    first, second = Counter(unit[0] for unit in pairs), Counter(unit[1] for unit in pairs)
    observed = sum(unit[0] == unit[1] for unit in pairs) / len(pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan


def fleiss(units: Sequence[Sequence[Any]]) -> float:
    given = [label for unit in units for label in unit]
    shares = [times / len(given) for times in Counter(given).values()]
    expected = sum(share**2 for share in shares)
    agreed = [sum(a == b for a, b in permutations(unit, 2)) / (len(unit) * (len(unit) - 1)) for unit in units]
    return (sum(agreed) / len(agreed) - expected) / (1 - expected) if expected < 1 else math.nan


def distance(scale: str, given: Sequence[Any]) -> Callable[[Any, Any], float]:
    """Krippendorff's squared distance of two labels, where `given` are all the pairable ones."""
    times = Counter(given)

    def ordinal(a: Any, b: Any) -> float:
        between = sum(count for label, count in times.items() if min(a, b) <= label <= max(a, b))
        return float((between - (times[a] + times[b]) / 2) ** 2)

    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: 0.0 if a == b else ordinal(a, b),
    }[scale]


def alpha(units: Sequence[Sequence[Any]], scale: str) -> float:
    """Over all pairs of ratings: within units for the observed, anywhere for the expected disagreement."""
    known = [[label for label in unit if label is not None] for unit in units]
    known = [unit for unit in known if len(unit) > 1]
    given = [label for unit in known for label in unit]
    apart = distance(scale, given)
    if len(given) < 2:
        return math.nan
    expected = sum(apart(a, b) for a, b in permutations(given, 2)) / (len(given) * (len(given) - 1))
    observed = sum(sum(apart(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in known) / len(given)
    return 1 - observed / expected if expected else math.nan


def alpha_by_class(units: Sequence[Sequence[Any]], label: Hashable) -> float:
    """With the expected disagreement of all units, and the observed one of those that mostly say `label`."""
    known = [[value for value in unit if value is not None] for unit in units]
    known = [unit for unit in known if len(unit) > 1]
    given = [value for unit in known for value in unit]
    if len(given) < 2:
        return math.nan
    expected = sum(a != b for a, b in permutations(given, 2)) / (len(given) * (len(given) - 1))
    observed = weight = 0.0
    for unit in known:
        times = Counter(unit)
        most = [time for time in times if times[time] == max(times.values())]
        part = (label in most) / len(most)
        observed += part * sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1)
        weight += part * len(unit)
    return 1 - observed / weight / expected if expected and weight else math.nan


def alpha_u(timelines: Sequence[Timeline], cells: int = 1) -> float:
    """Over all pairs of cells, `cells` to a length of 1: at one place of two observers, or anywhere but in one unit.

    Unit edges must lie on the grid.
    """
    apart = there = 0.0
    said: list[tuple[Any, bool]] = []  # of every observer's every cell, the unit it is in and whether it is marked
    for number, timeline in enumerate(timelines):
        if len(timeline.observers) < 2:
            continue
        rows = []
        for observer, units in enumerate(timeline.observers):
            row: list[tuple[Any, bool]] = [
                ((number, observer, "gap", cell), False) for cell in range(round(timeline.length * cells))
            ]
            for place, unit in enumerate(units):
                for cell in range(round(unit.start * cells), round(unit.end * cells)):
                    row[cell] = ((number, observer, place), True)
            rows.append(row)
            said += row
        for row, other in combinations(rows, 2):
            apart += sum(a[1] != b[1] for a, b in zip(row, other, strict=True)) * 2 / (len(rows) - 1)
        there += sum(map(len, rows))
    pairs = [(a, b) for a, b in permutations(said, 2) if a[0] != b[0]]
    expected = sum(a[1] != b[1] for a, b in pairs) / len(pairs)
    return 1 - apart / there / expected if expected else math.nan
