"""Tables of rows to estimates: every metric over the corpus and over clips, with confidence intervals."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.core.report import Usage
from robogaze.evaluation.config import EvaluationConfig
from robogaze.metrics.breakdown import group_scores
from robogaze.metrics.scores import METRICS, macro, macro_n, micro, micro_n, safe_divide, with_clip_values
from robogaze.stats.interval import interval, percentile
from robogaze.stats.jackknife import (
    JackknifeError,
    clustered_wilson,
    has_value,
    influences,
    stratum_numbers,
    student_intervals,
)
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Resamples, Sums, mean, mean_rows

Matrix = NDArray[np.float64]
Scores = Mapping[str, Estimate]
"""Estimates by metric."""

Values = Callable[[Matrix], Matrix]
"""Sums (..., columns) to values (..., metrics)."""


def corpus_sums(tables: Matrix, resamples: Resamples) -> Sums:
    """The sums over the clips of tables (..., clips, columns). They include the sums from which the means over clips
    are computed.
    """
    return resamples.sums(with_clip_values(tables))


def macro_scores(sums: Sums, config: EvaluationConfig) -> list[Scores]:
    """The means over clips, for each table of a stack."""
    return _scores(sums, macro, macro_n(sums.total), config)


def micro_scores(sums: Sums, config: EvaluationConfig) -> list[Scores]:
    """The values over the corpus, for each table of a stack."""
    return _scores(sums, micro, micro_n(sums.total), config)


def _scores(sums: Sums, values: Values, n: Matrix, config: EvaluationConfig) -> list[Scores]:
    found = estimates(sums, values, len(METRICS), config)
    shares = _Shares(sums, values, config)
    return [
        {
            name: shares(name, table, index, found(table, index, int(n[table, index])))
            for index, name in enumerate(METRICS)
        }
        for table in range(len(n))
    ]


SHARES = ("clean_accuracy", "detection_precision", "detection_recall")
"""Metrics that are a share of clips. Their intervals are Wilson's, which have a width even for 0 of n."""


class _Shares:
    """Wilson's intervals for shares of clips, with the effective number of clips if a unit has several clips."""

    def __init__(self, sums: Sums, values: Values, config: EvaluationConfig) -> None:
        self._level = config.level
        self._spread = JackknifeError.of(influences(sums, values), stratum_numbers(sums)) if sums.clustered else None
        self._units = has_value(sums, values).sum(axis=-1)

    def __call__(self, name: str, table: int, index: int, estimate: Estimate) -> Estimate:
        if name not in SHARES or not estimate.defined:
            return estimate
        if self._spread is None:
            return wilson(round(estimate.value * estimate.n), estimate.n, level=self._level)
        error, freedom = (float(values[table, index]) for values in (self._spread.error, self._spread.freedom))
        if isnan(error):
            return estimate
        low, high = clustered_wilson(
            estimate.value, estimate.n, (error, freedom), int(self._units[table, index]), level=self._level
        )
        return Estimate(estimate.value, low, high, estimate.n)


def estimates(
    sums: Sums, values: Values, count: int, config: EvaluationConfig, *, share: bool = True
) -> Callable[[int, int, int], Estimate]:
    """A function that returns the estimate of one value. Its arguments are the position of a table in the stack, the
    position of one of the `count` values, and n.

    `share` says that the values lie in [0, 1]. With `share`, a value of 0 or 1 for which no interval can be computed
    gets Student's interval, which equals Wilson's interval in this case.
    """
    whole = student_intervals(sums, values, level=config.level, share=share)
    if config.interval == "student":
        return lambda table, index, n: whole.estimate(table, index, n=n)
    resampled = _resampled(sums, values, count, config)

    def estimate(table: int, index: int, n: int) -> Estimate:
        found = resampled(table, index, n)
        always = share and isnan(found.low) and found.value in (0.0, 1.0)
        return whole.estimate(table, index, n=n) if always else found

    return estimate


def _resampled(sums: Sums, values: Values, count: int, config: EvaluationConfig) -> Callable[[int, int, int], Estimate]:
    if config.interval == "bca":
        intervals = [
            interval(sums, select_metric(values, index), level=config.level, method="bca") for index in range(count)
        ]
        return lambda table, index, n: intervals[index].estimate(table, n=n)
    whole = percentile(values(sums.total), np.swapaxes(values(sums.drawn), -1, -2), level=config.level)
    return lambda table, index, n: whole.estimate(table, index, n=n)


def select_metric(values: Values, index: int) -> Values:
    """One of several values."""
    return lambda sums: values(sums)[..., index]


def mean_of_strata(table: Matrix, strata: Sequence[str], resamples: Resamples, config: EvaluationConfig) -> Scores:
    """The mean of the macro values over strata. In the same way, the paper's tables give means over its three data
    sets.

    A stratum in which a value is undefined is excluded from the mean of this value; n counts the strata that are
    included.
    """
    names = sorted(set(strata))
    sums = resamples.sums(
        np.concatenate([with_clip_values(stratum_rows(table, strata, name)) for name in names], axis=-1)[None]
    )

    def parts(whole: Matrix) -> Matrix:
        return macro(whole.reshape(*whole.shape[:-1], len(names), -1))

    found = estimates(sums, lambda whole: _mean(parts(whole)), len(METRICS), config)
    n = (~np.isnan(parts(sums.total)[0])).sum(axis=0)
    return {name: found(0, index, int(n[index])) for index, name in enumerate(METRICS)}


def stratum_rows(table: Matrix, strata: Sequence[str], name: str) -> Matrix:
    """A copy of the table in which the rows of all other strata are zero."""
    return table * np.array([stratum == name for stratum in strata], dtype=np.float64)[:, None]


def _mean(values: Matrix) -> Matrix:
    """The mean of the defined values over the axis before the last; NaN if none is defined."""
    defined = ~np.isnan(values)
    return safe_divide(np.where(defined, values, 0.0).sum(axis=-2), defined.sum(axis=-2))


def group_estimates(tables: Matrix, resamples: Resamples, config: EvaluationConfig) -> list[Scores]:
    """Precision, recall and F1 of every group from counts (groups, clips, group columns); n counts events."""
    sums = resamples.sums(tables)
    found = estimates(sums, group_scores, len(GROUP_METRICS), config)
    references, predictions = sums.total[:, 0], sums.total[:, 1]
    n = np.stack([predictions, references, references + predictions], axis=-1)
    return [
        {name: found(group, index, int(n[group, index])) for index, name in enumerate(GROUP_METRICS)}
        for group in range(len(tables))
    ]


GROUP_METRICS = ("desc_precision", "desc_recall", "desc_f1")
"""The metrics of a group."""


def error_costs(base: Matrix, repaired: Matrix, resamples: Resamples, config: EvaluationConfig) -> list[Estimate]:
    """The gain in description F1 over the corpus from each repair; n counts events.

    `base` (clips, 3) has the F1_COLUMNS without any repair. `repaired` (kinds, clips, 3) has the same columns after one
    kind of error is repaired.
    """
    sums = resamples.sums(np.concatenate([np.broadcast_to(base, repaired.shape), repaired], axis=-1))
    found = estimates(sums, _gained, 1, config, share=False)
    n = sums.total[:, 1] + sums.total[:, 2]
    return [found(kind, 0, int(n[kind])) for kind in range(len(repaired))]


def _gained(sums: Matrix) -> Matrix:
    before, after = np.split(sums, 2, axis=-1)
    return (_f1(after) - _f1(before))[..., None]


def _f1(sums: Matrix) -> Matrix:
    similarity, predictions, references = np.moveaxis(sums, -1, 0)
    return safe_divide(2 * similarity, predictions + references)


USAGE: Mapping[str, Callable[[Usage], float | None]] = {
    "calls": lambda usage: usage.calls,
    "prompt_tokens": lambda usage: usage.prompt_tokens,
    "completion_tokens": lambda usage: usage.completion_tokens,
    "wall_s": lambda usage: usage.wall_s,
    "cost_usd": lambda usage: usage.cost_usd,
}
"""What is averaged over clips; None if a server does not report the value, or no price is known. `wall_s` is
in seconds."""


def usage_per_clip(
    predictions: Sequence[ClipAnnotation | None], resamples: Resamples, config: EvaluationConfig
) -> Mapping[str, Estimate]:
    """The mean of each value in USAGE over the clips for which the value is known, including unscored clips; n counts
    these clips.
    """
    usages = [None if prediction is None else prediction.usage for prediction in predictions]
    values = np.array(
        [[np.nan if usage is None else _number(of(usage)) for usage in usages] for of in USAGE.values()],
        dtype=np.float64,
    )
    sums = resamples.sums(mean_rows(values))
    found = estimates(sums, lambda total: mean(total)[..., None], 1, config, share=False)
    known = (~np.isnan(values)).sum(axis=-1)
    return {name: found(place, 0, int(known[place])) for place, name in enumerate(USAGE)}


def _number(value: float | None) -> float:
    return np.nan if value is None else value
