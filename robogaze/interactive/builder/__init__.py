"""Builds an environment from a proposal (GBQA, 3.2 and appendix A).

build.py          the pipeline: producer, teams, proof, bugs, preliminary plays
teams.py          a team: the leader plans and reviews, the workers do the tasks
draft.py          the environment so far, and the proofs by running it
build_answers.py  what models answer
build_client.py   requests to the models
builder_spec.py   the configuration: taxonomy/interactive/builders/studio.yaml
"""
