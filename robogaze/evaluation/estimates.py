"""Tables of rows into estimates: every metric over the corpus and over clips, with intervals over resampled clips."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from robogaze.core.scores import Estimate
from robogaze.evaluation.config import EvaluationConfig
from robogaze.metrics.breakdown import group_scores
from robogaze.metrics.scores import METRICS, divided, expand, macro, macro_n, micro, micro_n
from robogaze.stats.interval import interval, percentile
from robogaze.stats.jackknife import Variability, clustered_share, moves, speaking, strata_of, student
from robogaze.stats.proportion import wilson
from robogaze.stats.resample import Resamples, Sums

Matrix = NDArray[np.float64]
Scores = Mapping[str, Estimate]
"""Estimates by metric."""

Values = Callable[[Matrix], Matrix]
"""Sums (..., columns) to values (..., metrics)."""


def totals(tables: Matrix, resamples: Resamples) -> Sums:
    """The sums of tables of rows (..., clips, columns), with what the means over clips need."""
    return resamples.sums(expand(tables))


def macro_scores(sums: Sums, terms: EvaluationConfig) -> list[Scores]:
    """The means over clips, for each table of a stack."""
    return _scores(sums, macro, macro_n(sums.total), terms)


def micro_scores(sums: Sums, terms: EvaluationConfig) -> list[Scores]:
    """The values over the corpus, for each table of a stack."""
    return _scores(sums, micro, micro_n(sums.total), terms)


def _scores(sums: Sums, values: Values, n: Matrix, terms: EvaluationConfig) -> list[Scores]:
    found = estimates(sums, values, len(METRICS), terms)
    shares = _Shares(sums, values, terms)
    return [
        {
            name: shares(name, table, index, found(table, index, int(n[table, index])))
            for index, name in enumerate(METRICS)
        }
        for table in range(len(n))
    ]


SHARES = ("clean_accuracy", "detection_precision", "detection_recall")
"""Metrics that are a share of clips, which are told with Wilson's interval: it has a width for 0 of n, too."""


class _Shares:
    """Wilson's intervals for shares of clips; of as many independent ones as vary alike, where a unit has several."""

    def __init__(self, sums: Sums, values: Values, terms: EvaluationConfig) -> None:
        self._level = terms.level
        self._spread = Variability.of(moves(sums, values), strata_of(sums)) if sums.clustered else None
        self._units = speaking(sums, values).sum(axis=-1)

    def __call__(self, name: str, table: int, index: int, one: Estimate) -> Estimate:
        if name not in SHARES or not one.defined:
            return one
        if self._spread is None:
            return wilson(round(one.value * one.n), one.n, level=self._level)
        error, freedom = (float(each[table, index]) for each in (self._spread.error, self._spread.freedom))
        if isnan(error):
            return one
        low, high = clustered_share(
            one.value, one.n, (error, freedom), int(self._units[table, index]), level=self._level
        )
        return Estimate(one.value, low, high, one.n)


def estimates(
    sums: Sums, values: Values, count: int, terms: EvaluationConfig, *, share: bool = True
) -> Callable[[int, int, int], Estimate]:
    """The estimates of `count` values for each of a stack of tables: (table, value, n) to an estimate.

    `share` says that the values lie in [0, 1]. Then one that is the same in all resamples has Student's interval, which
    is that of a share there.
    """
    whole = student(sums, values, level=terms.level, share=share)
    if terms.interval == "student":
        return lambda table, index, n: whole.estimate(table, index, n=n)
    resampled = _resampled(sums, values, count, terms)

    def estimate(table: int, index: int, n: int) -> Estimate:
        found = resampled(table, index, n)
        always = share and isnan(found.low) and found.value in (0.0, 1.0)
        return whole.estimate(table, index, n=n) if always else found

    return estimate


def _resampled(sums: Sums, values: Values, count: int, terms: EvaluationConfig) -> Callable[[int, int, int], Estimate]:
    if terms.interval == "bca":
        each = [interval(sums, one_of(values, index), level=terms.level, method="bca") for index in range(count)]
        return lambda table, index, n: each[index].estimate(table, n=n)
    whole = percentile(values(sums.total), np.swapaxes(values(sums.drawn), -1, -2), level=terms.level)
    return lambda table, index, n: whole.estimate(table, index, n=n)


def one_of(values: Values, index: int) -> Values:
    """One of several values."""
    return lambda sums: values(sums)[..., index]


def mean_of_strata(table: Matrix, strata: Sequence[str], resamples: Resamples, terms: EvaluationConfig) -> Scores:
    """The macro values averaged over strata, as the paper's tables are over its three datasets.

    A stratum in which a value is undefined leaves that mean; n counts the strata in it.
    """
    names = sorted(set(strata))
    sums = resamples.sums(np.concatenate([expand(of_stratum(table, strata, name)) for name in names], axis=-1)[None])

    def parts(whole: Matrix) -> Matrix:
        return macro(whole.reshape(*whole.shape[:-1], len(names), -1))

    found = estimates(sums, lambda whole: _mean(parts(whole)), len(METRICS), terms)
    n = (~np.isnan(parts(sums.total)[0])).sum(axis=0)
    return {name: found(0, index, int(n[index])) for index, name in enumerate(METRICS)}


def of_stratum(table: Matrix, strata: Sequence[str], name: str) -> Matrix:
    """The table with zeros in the rows of other strata."""
    return table * np.array([one == name for one in strata], dtype=np.float64)[:, None]


def _mean(values: Matrix) -> Matrix:
    """The mean over the axis before the last of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    return divided(np.where(defined, values, 0.0).sum(axis=-2), defined.sum(axis=-2))


def group_estimates(tables: Matrix, resamples: Resamples, terms: EvaluationConfig) -> list[Scores]:
    """Precision, recall and F1 of every group from counts (groups, clips, group columns); n counts events."""
    sums = resamples.sums(tables)
    found = estimates(sums, group_scores, len(GROUP_METRICS), terms)
    references, predictions = sums.total[:, 0], sums.total[:, 1]
    n = np.stack([predictions, references, references + predictions], axis=-1)
    return [
        {name: found(group, index, int(n[group, index])) for index, name in enumerate(GROUP_METRICS)}
        for group in range(len(tables))
    ]


GROUP_METRICS = ("desc_precision", "desc_recall", "desc_f1")
"""What is scored in a group."""


def loss_estimates(base: Matrix, repaired: Matrix, resamples: Resamples, terms: EvaluationConfig) -> list[Estimate]:
    """The description F1 over the corpus that each repair gains, from what F1 needs (`F1_AT`); n counts events.

    `base` (clips, 3) is as it was, `repaired` (kinds, clips, 3) with a kind of error repaired.
    """
    sums = resamples.sums(np.concatenate([np.broadcast_to(base, repaired.shape), repaired], axis=-1))
    found = estimates(sums, _gained, 1, terms, share=False)
    n = sums.total[:, 1] + sums.total[:, 2]
    return [found(kind, 0, int(n[kind])) for kind in range(len(repaired))]


def _gained(sums: Matrix) -> Matrix:
    before, after = np.split(sums, 2, axis=-1)
    return (_f1(after) - _f1(before))[..., None]


def _f1(sums: Matrix) -> Matrix:
    similarity, predictions, references = np.moveaxis(sums, -1, 0)
    return divided(2 * similarity, predictions + references)
