"""Ranks the candidates of a prompt by usability. Only their reports are needed: no video is read, no model is asked.

rank.py               robogaze.rank: reads runs and labels, ranks candidates, measures the ranking
config.py             how many candidates are kept, and the settings of the measurement
weights.py            the weights of the ranking rule, from judges/ranking/
reading.py            the clips of runs, and the reasons why some have no report
candidates.py         the facts of a report that the rule uses
candidate_prompts.py  which candidates belong to one prompt
order.py              the rule: usability, order, ties, and which candidates are kept
labels.py             people's labels and other tools' scores
screening.py          how usable the kept candidates are, compared with other measures
"""

from robogaze.ranking.candidates import Candidate
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.order import PromptRanking, RankedCandidate, Unranked
from robogaze.ranking.rank import Ranking, rank
from robogaze.ranking.screening import MeasureResult, Screening
from robogaze.ranking.weights import RankingWeights, read_weights

__all__ = [
    "Candidate",
    "MeasureResult",
    "PromptRanking",
    "RankedCandidate",
    "Ranking",
    "RankingConfig",
    "RankingWeights",
    "Screening",
    "Unranked",
    "rank",
    "read_weights",
]
