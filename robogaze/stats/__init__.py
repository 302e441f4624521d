"""Statistics on numbers: intervals, comparisons and agreement. Nothing here knows what the numbers are about."""

from robogaze.stats.agreement import alpha, alpha_by_class, cohen, fleiss
from robogaze.stats.correlation import mean_absolute_error, mean_difference, pearson, spearman
from robogaze.stats.interval import Intervals, interval
from robogaze.stats.multiple_comparisons import benjamini_hochberg, holm, min_resamples
from robogaze.stats.paired import Difference, Rank, pairwise_differences, ranks
from robogaze.stats.proportion import wilson
from robogaze.stats.resample import Clusters, Resamples, Sums, draw_resamples, mean, mean_rows, ratio
from robogaze.stats.unitizing import LabelledStretch, Timeline, alpha_u

__all__ = [
    "Clusters",
    "Difference",
    "Intervals",
    "LabelledStretch",
    "Rank",
    "Resamples",
    "Sums",
    "Timeline",
    "alpha",
    "alpha_by_class",
    "alpha_u",
    "benjamini_hochberg",
    "cohen",
    "draw_resamples",
    "fleiss",
    "holm",
    "interval",
    "mean",
    "mean_absolute_error",
    "mean_difference",
    "mean_rows",
    "min_resamples",
    "pairwise_differences",
    "pearson",
    "ranks",
    "ratio",
    "spearman",
    "wilson",
]
