"""Compares checkpoints by their reports alone, without videos or models.

compare.py         robogaze.compare: read runs and calibrations, compare
comparison.py      the whole comparison, from runs to verdicts
runs.py            a run, and which runs can be compared
prompt_pairing.py  which clips were generated from the same prompt
scope.py           clean rate or nothing-found rate, and in which dimensions
clip_measures.py   what is measured of a clip
leaderboard.py     the numbers of each run
pairs.py           two runs on the prompts they share; bands of runs without a significant difference
flips.py           which prompts changed, and which to look at first
trend.py           the slope over training steps
calibration.py     corrections for the judge's errors
verdict.py         the results as sentences
gate.py            rules a checkpoint must pass
"""

from robogaze.comparison.calibration import Calibration, CorrectedEstimate, pair_calibration
from robogaze.comparison.compare import compare
from robogaze.comparison.comparison import Comparison, compare_runs
from robogaze.comparison.gate import Gate, GateCheck, check_gate, read_gate
from robogaze.comparison.leaderboard import ComparisonConfig, LeaderboardRow
from robogaze.comparison.pairs import RunPair
from robogaze.comparison.runs import ReportMetadata, Run

__all__ = [
    "Calibration",
    "Comparison",
    "ComparisonConfig",
    "CorrectedEstimate",
    "Gate",
    "GateCheck",
    "LeaderboardRow",
    "ReportMetadata",
    "Run",
    "RunPair",
    "check_gate",
    "compare",
    "compare_runs",
    "pair_calibration",
    "read_gate",
]
