"""Runs over many clips: which clips there are, which are to be done, and what became of them."""

from robogaze.bench.retry import awaits_answer, found_no_server, wants_other_answers
from robogaze.bench.run import ClipResult, RunOptions, RunResult, run_clips

__all__ = [
    "ClipResult",
    "RunOptions",
    "RunResult",
    "awaits_answer",
    "found_no_server",
    "run_clips",
    "wants_other_answers",
]
