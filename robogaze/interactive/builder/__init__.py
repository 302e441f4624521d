"""Builds an environment from a proposal (GBQA, 3.2 and appendix A).

build.py          the steps of a build: concept, teams, proof, bugs, preliminary plays
teams.py          a team: its leader plans and reviews, and its workers do the tasks
draft.py          the environment so far, and the proofs by running it
build_answers.py  the contracts of the models' answers
build_client.py   requests to the models
builder_spec.py   the configuration: taxonomy/interactive/builders/studio.yaml
"""
