"""Builds an environment from a proposal (GBQA, 3.2 and appendix A).

build.py          the pipeline: producer, teams, proof, bugs, preliminary plays
teams.py          a team: its leader plans and reviews, its workers do the tasks
draft.py          an environment as far as it is built, and the proofs by running it
build_answers.py  what models answer
build_client.py   requests to the models
builder_spec.py   how it is configured: taxonomy/interactive/builders/NAME.yaml
"""
