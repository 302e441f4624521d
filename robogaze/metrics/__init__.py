"""What matched reports are worth: tallies, every metric from them, breakdowns, errors and their cost, controls."""

from robogaze.metrics.breakdown import by_group, confusion, dimension_of, group_scores, groups_in, type_of
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.errors import KINDS
from robogaze.metrics.losses import losses
from robogaze.metrics.operating import THRESHOLDS, at_threshold
from robogaze.metrics.scores import METRICS, expand, macro, macro_n, micro, micro_n
from robogaze.metrics.tally import COLUMNS, judgeable, tally

__all__ = [
    "COLUMNS",
    "CONTROLS",
    "KINDS",
    "METRICS",
    "THRESHOLDS",
    "at_threshold",
    "by_group",
    "confusion",
    "dimension_of",
    "expand",
    "group_scores",
    "groups_in",
    "judgeable",
    "losses",
    "macro",
    "macro_n",
    "micro",
    "micro_n",
    "tally",
    "type_of",
]
