"""Agreement of raters beyond chance: Cohen's kappa, Fleiss' kappa, Krippendorff's alpha.

A rating is a label; None or NaN is a missing rating. All three coefficients are 1 for perfect agreement, 0 for chance
agreement and below 0 for less agreement than by chance. If nothing was rated twice, or if all ratings are the same, the
coefficients are undefined, and the result gives the reason.

The values are computed by scikit-learn and krippendorff. These libraries take one sample at a time. For the resamples,
this module therefore computes the values itself: it uses sums, and handles all resamples at once. `by` maps each unit
(event) to its cluster (clip).
"""

import numbers
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import numpy as np

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.interval import LEVEL, Statistic, estimate
from robogaze.stats.resample import Clusters, Floats, ratio

Rating = Hashable | None
Ratings = Sequence[Sequence[Rating]]
"""The ratings of each unit; for `cohen` and `fleiss`, by the same raters in the same order."""

Scale = Literal["nominal", "ordinal"]

ALL_THE_SAME = "all ratings are the same, so agreement cannot be distinguished from chance"
NOT_TWICE = "nothing was rated twice"


def cohen(ratings: Ratings, *, by: Clusters | None = None, level: float = LEVEL) -> Estimate:
    """Cohen's kappa of two raters over the units that both rated; `n` counts these units.

    Undefined if both always give the same single label. Raises ValueError for a unit without exactly two places.
    """
    if any(len(unit) != 2 for unit in ratings):
        raise ValueError("Cohen's kappa compares two raters: each unit needs two ratings (None for a missing rating)")
    labels = _labels(ratings, "nominal")
    pairs = [[labels[rating] for rating in unit] if not any(map(_missing, unit)) else None for unit in ratings]
    both = np.array([pair for pair in pairs if pair is not None], dtype=np.intp).reshape(-1, 2)
    if not len(both):
        return undefined("no unit was rated by both")
    if np.ptp(both) == 0:
        return undefined(ALL_THE_SAME, n=len(both))
    from sklearn.metrics import cohen_kappa_score

    value = float(cohen_kappa_score(both[:, 0], both[:, 1]))
    table = np.zeros((len(ratings), len(labels), len(labels)))
    table[[place for place, pair in enumerate(pairs) if pair is not None], both[:, 0], both[:, 1]] = 1
    return estimate(value, table.reshape(len(ratings), -1), cohens, n=len(both), by=by, level=level)


def fleiss(ratings: Ratings, *, by: Clusters | None = None, level: float = LEVEL) -> Estimate:
    """Fleiss' kappa of two or more raters; `n` counts the units with ratings.

    Undefined if units have different numbers of ratings; in this case, use `alpha`. (A version with
    weighted units would not be Fleiss' kappa any more, and units are never dropped silently.)
    """
    counts = _counts(ratings, _labels(ratings, "nominal"))
    per_unit = counts.sum(axis=1)
    rated = per_unit[per_unit > 0]
    if not len(rated) or rated.max() < 2:
        return undefined(NOT_TWICE, n=len(rated))
    if rated.min() != rated.max():
        return undefined(
            f"units have {rated.min():.0f} to {rated.max():.0f} ratings, but Fleiss' kappa needs the same number "
            f"of ratings for all units; "
            "use Krippendorff's alpha",
            n=len(rated),
        )
    if counts.shape[1] < 2:
        return undefined(ALL_THE_SAME, n=len(rated))
    agreed = (counts * (counts - 1)).sum(axis=1) / (rated.max() - 1)
    rows = np.column_stack([counts, agreed])
    value = float(_fleiss(rows.sum(axis=0)))
    return estimate(value, rows, _fleiss, n=len(rated), by=by, level=level)


def alpha(ratings: Ratings, scale: Scale = "nominal", *, by: Clusters | None = None, level: float = LEVEL) -> Estimate:
    """Krippendorff's alpha for any number of raters with missing ratings; `n` counts the units rated twice or more.

    On the ordinal scale labels are numbers.
    """
    known = _pairable(ratings, scale)
    if isinstance(known, Estimate):
        return known
    counts, values = known
    import krippendorff

    used = counts[counts.sum(axis=1) > 0]
    value = float(krippendorff.alpha(value_counts=used, value_domain=values, level_of_measurement=scale))
    rows = _coincidences(counts).reshape(len(counts), -1)
    return estimate(value, rows, _alpha(len(values), scale), n=len(used), by=by, level=level)


def alpha_by_class(
    ratings: Ratings, *, by: Clusters | None = None, level: float = LEVEL
) -> Mapping[Hashable, Estimate]:
    """Krippendorff's nominal alpha, computed for each class over the units of this class.

    The value of a class is 1 - (observed disagreement in its units) / (disagreement expected over all units). The mean
    over the classes, weighted by the number of ratings in the units of each class, is the alpha of all units. A unit
    belongs to the class that most of its ratings name; in a tie, it belongs to each of those classes in equal parts.
    `n` counts the units that belong to the class, wholly or partly. (With only two classes, the alpha of the labels
    "this class" and "not this class" would be the same number for both.)
    """
    labels = _labels(ratings, "nominal")
    known = _pairable(ratings, "nominal")
    if isinstance(known, Estimate):
        return dict.fromkeys(labels, known)
    counts, _ = known
    rated = counts.sum(axis=1)
    apart = rated - np.trace(_coincidences(counts), axis1=1, axis2=2)
    most = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    parts = most / np.maximum(most.sum(axis=1, keepdims=True), 1)
    found = {}
    for label, place in labels.items():
        if not most[:, place].any():
            found[label] = undefined("no unit is of this class")
            continue
        part = parts[:, place]
        rows = np.column_stack([part * apart, part * rated, counts])
        value = float(_alpha_of_class(rows.sum(axis=0)))
        found[label] = estimate(value, rows, _alpha_of_class, n=int(most[:, place].sum()), by=by, level=level)
    return found


# Ratings.


def _missing(rating: Rating) -> bool:
    return rating is None or rating != rating  # NaN is no label


def _labels(ratings: Ratings, scale: Scale) -> dict[Hashable, int]:
    """The labels in the ratings, in order, with their positions."""
    given = {rating for unit in ratings for rating in unit if not _missing(rating)}
    ordered = sorted(given, key=repr) if scale == "nominal" else sorted(given, key=_number)
    return {label: place for place, label in enumerate(ordered)}


def _number(label: Hashable) -> float:
    if isinstance(label, numbers.Real):
        return float(label)
    raise ValueError(f"a label on an ordinal scale must be a number, not {label!r}")


def _counts(ratings: Ratings, labels: Mapping[Hashable, int]) -> Floats:
    """The number of ratings with each label, shape (units, labels)."""
    counts = np.zeros((len(ratings), len(labels)))
    for place, unit in enumerate(ratings):
        for rating in unit:
            if not _missing(rating):
                counts[place, labels[rating]] += 1
    return counts


def _pairable(ratings: Ratings, scale: Scale) -> tuple[Floats, Floats] | Estimate:
    """The counts of units rated twice or more (0 for the other units) and the labels' values; or an undefined
    estimate.
    """
    labels = _labels(ratings, scale)
    counts = _counts(ratings, labels)
    counts[counts.sum(axis=1) < 2] = 0
    n = int((counts.sum(axis=1) > 0).sum())
    if not n:
        return undefined(NOT_TWICE)
    if (counts.sum(axis=0) > 0).sum() < 2:
        return undefined(ALL_THE_SAME, n=n)
    values = range(len(labels)) if scale == "nominal" else map(_number, labels)
    return counts, np.array(list(values), dtype=np.float64)


# The coefficients, from sums.


def cohens(sums: Floats) -> Floats:
    """Cohen's kappas from the sums of confusion tables (..., labels x labels)."""
    size = round(sums.shape[-1] ** 0.5)
    table = sums.reshape(*sums.shape[:-1], size, size)
    n = sums.sum(axis=-1)
    observed = ratio(np.trace(table, axis1=-2, axis2=-1), n)
    expected = ratio((table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1), n * n)
    return _beyond_chance(1 - observed, 1 - expected)


def _fleiss(sums: Floats) -> Floats:
    """Fleiss' kappa from the sums of (..., ratings of each label, agreeing ratings)."""
    counts, agreed = sums[..., :-1], sums[..., -1]
    n = counts.sum(axis=-1)
    return _beyond_chance(1 - ratio(agreed, n), 1 - ratio((counts * counts).sum(axis=-1), n * n))


def _alpha(labels: int, scale: Scale) -> Statistic:
    """Krippendorff's alpha from the sums of coincidences (..., labels x labels)."""

    def statistic(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], labels, labels)
        counts = table.sum(axis=-1)
        n = counts.sum(axis=-1)
        apart = _distances(scale, counts)
        observed = ratio((table * apart).sum(axis=(-2, -1)), n)
        chance = ((counts[..., :, None] * counts[..., None, :]) * apart).sum(axis=(-2, -1))
        return _beyond_chance(observed, ratio(chance, n * (n - 1)))

    return statistic


def _alpha_of_class(sums: Floats) -> Floats:
    """The alpha of a class from the sums of (..., disagreeing and all ratings in units of the class, ratings of each
    label over all).
    """
    counts = sums[..., 2:]
    n = counts.sum(axis=-1)
    expected = ratio(n * n - (counts * counts).sum(axis=-1), n * (n - 1))
    return _beyond_chance(ratio(sums[..., 0], sums[..., 1]), expected)


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """1 - observed / expected disagreement, NaN where the expected disagreement is 0."""
    return 1 - ratio(observed, expected)


def _coincidences(counts: Floats) -> Floats:
    """Each unit's pairs of ratings by their labels, (units, labels, labels), weighted by its number of ratings."""
    n = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    weighed: Floats = pairs / np.maximum(n - 1, 1)[:, None, None]
    return weighed


def _distances(scale: Scale, counts: Floats) -> Floats:
    """Krippendorff's squared distances of labels, (..., labels, labels).

    Ordinal distances are differences of the labels' mean ranks in the data.
    """
    if scale == "nominal":
        return 1 - np.eye(counts.shape[-1])
    mean_ranks = np.cumsum(counts, axis=-1) - counts / 2
    squared: Floats = (mean_ranks[..., :, None] - mean_ranks[..., None, :]) ** 2
    return squared
