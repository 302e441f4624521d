"""Runs over many clips: which clips there are, which are to be done, and what became of them."""

from robogaze.bench.again import awaits_answer, found_no_server, wants_other_answers
from robogaze.bench.run import Job, Outcome, Settled, run_clips

__all__ = ["Job", "Outcome", "Settled", "awaits_answer", "found_no_server", "run_clips", "wants_other_answers"]
