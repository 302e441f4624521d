"""Which kappa to use, and the mean of Cohen's kappa over all pairs of annotators.

For two annotators, the kappa is Cohen's. For more annotators, it is Fleiss' kappa if every unit has the same number of
ratings, no matter which annotators gave them. Otherwise it is Krippendorff's nominal alpha, which allows missing
ratings. The choice is made once, for all clips, so that the rows of a table hold the same statistic.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.agreement import ALL_THE_SAME, Ratings, alpha, cohen, cohens, fleiss
from robogaze.stats.interval import estimate
from robogaze.stats.resample import Clusters, Floats, ratio

KappaKind = Literal["cohen", "fleiss", "krippendorff"]


def choose_kappa(ratings: Ratings) -> KappaKind:
    """The kappa to use for these ratings. Each unit lists one rating for each annotator, None for a missing rating."""
    if all(len(unit) == 2 for unit in ratings):
        return "cohen"
    sizes = {len(given) for unit in ratings if len(given := _given(unit)) > 1}
    return "fleiss" if len(sizes) == 1 else "krippendorff"


def kappa(kind: KappaKind, ratings: Ratings, *, by: Clusters, level: float) -> Estimate:
    """Agreement beyond chance; `n` counts the units that were rated twice or more."""
    if kind == "cohen":
        return cohen(ratings, by=by, level=level)
    if kind == "krippendorff":
        return alpha(ratings, by=by, level=level)
    # A unit with a single rating says nothing about agreement, and Fleiss' kappa cannot include it.
    return fleiss([unit if len(_given(unit)) > 1 else () for unit in ratings], by=by, level=level)


def mean_cohen(ratings: Ratings, *, by: Clusters, level: float) -> Estimate:
    """The mean of Cohen's kappa over the pairs of annotators for which it is defined; `n` counts these pairs."""
    labels = sorted({label for unit in ratings for label in _given(unit)}, key=repr)
    pairs = list(combinations(range(max(map(len, ratings), default=0)), 2))
    tables = np.zeros((len(ratings), len(pairs), len(labels) ** 2))
    for place, unit in enumerate(ratings):
        for pair, (first, second) in enumerate(pairs):
            rating_a, rating_b = unit[first], unit[second]
            if rating_a is not None and rating_b is not None:
                tables[place, pair, labels.index(rating_a) * len(labels) + labels.index(rating_b)] = 1
    kappas = cohens(tables.sum(axis=0))
    n = int((~np.isnan(kappas)).sum())
    if not n:
        return undefined(ALL_THE_SAME if tables.any() else "no unit was rated by both")

    def statistic(sums: Floats) -> Floats:
        return _mean(cohens(sums.reshape(*sums.shape[:-1], *tables.shape[1:])))

    return estimate(float(_mean(kappas)), tables.reshape(len(ratings), -1), statistic, n=n, by=by, level=level)


def _given(unit: Sequence[Hashable | None]) -> list[Hashable]:
    return [rating for rating in unit if rating is not None]


def _mean(kappas: Floats) -> Floats:
    """The mean of the defined values over the last axis; values are summed in order of size, so that the order of the
    pairs does not matter.
    """
    defined = ~np.isnan(kappas)
    whole = np.sort(np.where(defined, kappas, 0.0), axis=-1).sum(axis=-1)
    return ratio(whole, defined.sum(axis=-1).astype(np.float64))
