"""Runs over many clips.

    paths -> clips.py: list the clips  -> plan.py: choose the clips to score
          -> engines/: diagnose each (robogaze/diagnose.py: the stages of a pipeline over one clip)
          -> execute.py: store each report in the run folder (robogaze/store)
          -> robogaze/reporting/pages/run.py: the page of the run folder

score.py            robogaze.score: all of it in one function
bench.py            robogaze.bench: score several checkpoints and compare them
checkpoints.py      the checkpoints of a bench by name
watch.py            score clips as they appear, checkpoint by checkpoint
arrivals.py         which clips have arrived completely
known_clips.py      arrived clips as their run folder knows them
monitor.py          robogaze.Monitor: the same from a training loop
frame_writer.py     the process that encodes frames for a Monitor
scoring_process.py  the process that scores for a Monitor
setup.py            how each clip is scored: domain, pipeline, models
options.py          how the run is done: folder, shard, engine, limits
shards.py           shards, samples and the order of a run
retry.py            which clips are scored again
estimate.py         the calls, tokens and cost of a run before it starts
merge.py            merge shards into a run
"""
