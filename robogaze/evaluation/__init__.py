"""Predictions scored against references, from reports alone.

evaluate.py    robogaze.evaluate: read, pair, judge, score
systems.py     judges, matches, scores and compares the systems of a pairing
comparisons.py compares systems with each other, or with a baseline
clip_fields.py the fields that results are broken down by
results.py     what an evaluation returns
config.py      options, and conventions of matching
clip_rows.py   counts one clip under one system in rows of numbers
tables.py      the tables of these rows for a corpus
estimates.py   computes metrics with intervals, and the usage per clip
released.py    applies the released evaluators to the same annotations
robustness.py  compares the scores under two judges

bugs.py          reads, judges and scores the bug reports of plays
plays.py         plays, with the documented bugs of the build that was played
bug_matching.py  which report describes which bug
bug_scores.py    recall, precision and F1
bug_results.py   what an evaluation of bug reports returns
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
