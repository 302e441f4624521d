"""Predictions scored against references, from reports alone.

evaluate.py    robogaze.evaluate: read, pair, judge, score
systems.py     every system of a pairing: judged, matched, estimated, compared
comparisons.py systems against each other, or against a baseline
clip_fields.py the fields that results are broken down by
results.py     what an evaluation returns
config.py      options, and conventions of matching
clip_rows.py   one clip under one system as rows of counts
tables.py      the rows of a corpus
estimates.py   rows to metrics with intervals, and usage per clip
released.py    the released evaluators on the same annotations
robustness.py  the scores of two judges compared

bugs.py          reports of plays against lists of bugs: read, judge, score
plays.py         plays with the bugs of the build that was played
bug_matching.py  which report is which bug
bug_scores.py    recall, precision and F1
bug_results.py   what it returns
"""

from typing import TYPE_CHECKING

from robogaze.registry import Registry

if TYPE_CHECKING:
    from robogaze.evaluation.bug_matching import BugConvention
    from robogaze.evaluation.config import Convention
    from robogaze.evaluation.released import ReleasedEvaluator

CONVENTIONS: "Registry[Convention | ReleasedEvaluator | BugConvention]" = Registry(
    "conventions",
    {
        "robogaze": "robogaze.evaluation.config:ROBOGAZE",
        "glide-paper": "robogaze.evaluation.config:GLIDE_PAPER",
        "descriptions": "robogaze.evaluation.config:DESCRIPTIONS",
        "robogaze-released": "robogaze.evaluation.released:ROBOGAZE_RELEASED",
        "glide-released": "robogaze.evaluation.released:GLIDE_RELEASED",
        "gbqa-0.65": "robogaze.evaluation.bug_matching:AT_065",
        "gbqa-0.60": "robogaze.evaluation.bug_matching:AT_060",
        "gbqa-released-0.65": "robogaze.evaluation.bug_matching:RELEASED_AT_065",
        "gbqa-released-0.60": "robogaze.evaluation.bug_matching:RELEASED_AT_060",
    },
)
"""How predictions are matched and scored, by name."""
