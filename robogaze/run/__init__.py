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
