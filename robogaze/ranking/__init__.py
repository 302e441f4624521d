"""Candidates of a prompt in order of usability, by what their reports say: no video, no model.

rank.py               robogaze.rank: read runs and labels, rank, measure
config.py             what is kept, and the settings of the measurement
weights.py            the weights of the rule, from judges/ranking/
reading.py            the clips of runs, and why some have no report
candidates.py         what the rule reads of a report
candidate_prompts.py  which candidates belong to one prompt
order.py              the rule, the order and its ties, what is kept
labels.py             labels of people, and scores of other tools
screening.py          how usable the kept part is, against other measures
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
