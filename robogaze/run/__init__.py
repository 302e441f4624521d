"""Runs over many clips.

paths -> clips.py: which clips they hold -> plan.py: which of them are to be scored
      -> engines/: a report for each     -> execute.py: stored in the run folder

setup.py      what is done with each clip: domain, pipeline, models
options.py    how the run is done: where, how many at once, at what cost
shards.py     parts, samples and the order of a run
retry.py      which clips are scored again
estimate.py   what a run will take
merge.py      shards become a run
score.py      all of it in one function
"""

from robogaze.run.execute import ClipResult, ScoringRun, open_run
from robogaze.run.options import RunOptions
from robogaze.run.retry import awaits_answer, found_no_server, has_invalid_answers
from robogaze.run.setup import RunSetup, make_setup

__all__ = [
    "ClipResult",
    "RunOptions",
    "RunSetup",
    "ScoringRun",
    "awaits_answer",
    "found_no_server",
    "has_invalid_answers",
    "make_setup",
    "open_run",
]
