"""Systems against each other: differences in every metric, paired by clip, and ranks."""

from collections.abc import Mapping

from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import Matrix, corpus_sums, select_metric
from robogaze.evaluation.results import SystemComparisons
from robogaze.metrics.scores import METRICS, Metric, macro
from robogaze.metrics.tally import COLUMNS
from robogaze.stats.paired import (
    Difference,
    pairwise_differences,
    pairwise_mean_differences,
    pairwise_share_differences,
    ranks,
)
from robogaze.stats.resample import Resamples, Sums

_CLIP_SHARES = {"clean_accuracy": ("clean_found", "clean"), "detection_recall": ("faulty_found", "faulty")}
"""Metrics that are a share of the same clips for every system, with the columns of hits and of all clips."""


def compare_systems(
    tables: Matrix, resamples: Resamples, config: EvaluationConfig, baseline: int | None
) -> Mapping[str, SystemComparisons]:
    """The comparisons by metric, computed from tables (systems, clips, columns); empty for fewer than two systems.

    `baseline` is the position of a system. If it is given, only the differences from this system are computed, and p is
    adjusted for the number of these differences.
    """
    if len(tables) < 2:
        return {}
    sums = corpus_sums(tables, resamples)
    return {
        name: SystemComparisons(
            _differences(metric, place, tables, sums, resamples, config, baseline),
            ranks(sums, select_metric(macro, place), level=config.level),
        )
        for place, (name, metric) in enumerate(METRICS.items())
    }


def gains(
    tables: Matrix, resamples: Resamples, config: EvaluationConfig, baseline: int
) -> Mapping[str, tuple[Difference, ...]]:
    """For each metric, the difference between each other system and the baseline. Ranks are not computed."""
    sums = corpus_sums(tables, resamples)
    return {
        name: _differences(metric, place, tables, sums, resamples, config, baseline)
        for place, (name, metric) in enumerate(METRICS.items())
    }


def _differences(
    metric: Metric,
    place: int,
    tables: Matrix,
    sums: Sums,
    resamples: Resamples,
    config: EvaluationConfig,
    baseline: int | None,
) -> tuple[Difference, ...]:
    level = config.level
    if metric.level == "clip":
        return pairwise_mean_differences(metric.per_clip(tables), resamples, level=level, baseline=baseline)
    if metric.name in _CLIP_SHARES and resamples.of is None:
        hits, among = (tables[..., COLUMNS.index(column)] for column in _CLIP_SHARES[metric.name])
        return pairwise_share_differences(hits[:, among[0] > 0] > 0, level=level, baseline=baseline)
    return pairwise_differences(sums, select_metric(macro, place), level=level, share=True, baseline=baseline)
