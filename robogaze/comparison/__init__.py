"""Checkpoints compared by what their reports say: no video, no model.

runs.py         what a run is, and which can be compared
prompts.py      which clips were made from one prompt
scope.py        clean rate or nothing-found rate, and in which dimensions
measures.py     what is measured of a clip
board.py        where each run stands
pairs.py        two runs on the prompts they share; bands of runs without a significant difference
flips.py        which prompts changed, and which of them deserve a look
trend.py        the slope over training steps
calibration.py  corrected for the judge's own errors
verdict.py      all of it in sentences
comparison.py   all of it joined
gate.py         rules a checkpoint must pass
"""

from robogaze.comparison.calibration import Calibration, CorrectedEstimate, calibration
from robogaze.comparison.compare import Comparison, compare
from robogaze.comparison.gate import Gate, GateCheck, check, read_gate
from robogaze.comparison.leaderboard import ComparisonConfig, LeaderboardRow
from robogaze.comparison.pairs import PairedDifference, RunPair
from robogaze.comparison.runs import ReportMetadata, Run

__all__ = [
    "Calibration",
    "Comparison",
    "ComparisonConfig",
    "CorrectedEstimate",
    "Gate",
    "GateCheck",
    "LeaderboardRow",
    "PairedDifference",
    "ReportMetadata",
    "Run",
    "RunPair",
    "calibration",
    "check",
    "compare",
    "read_gate",
]
