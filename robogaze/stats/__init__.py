"""Statistics: intervals, comparisons and agreement. Nothing here depends on clips or reports.

resample.py              bootstrap over clips, kept as sums
interval.py              bootstrap intervals
jackknife.py             Student's intervals
proportions.py           shares, and paired differences of shares
paired.py                differences and ranks of systems on the same clips
multiple_comparisons.py  adjusted p-values
prediction_powered.py    means corrected with a few labels
correlation.py           correlations and mean differences
agreement.py             kappas and Krippendorff's alpha
unitizing.py             Krippendorff's alpha for stretches of time
"""

from robogaze.stats.agreement import alpha, alpha_by_class, cohen, fleiss
from robogaze.stats.correlation import mean_absolute_error, mean_difference, pearson, spearman
from robogaze.stats.interval import Intervals, interval
from robogaze.stats.multiple_comparisons import benjamini_hochberg, holm
from robogaze.stats.paired import Difference, Rank, pairwise_differences, ranks
from robogaze.stats.proportions import wilson
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
    "pairwise_differences",
    "pearson",
    "ranks",
    "ratio",
    "spearman",
    "wilson",
]
