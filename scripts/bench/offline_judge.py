"""What the offline judge is worth: agreement with the ratings of the held-out pairs, beside plainer ways of comparing.

The word list was written by those who wrote the pairs, so it may hold words of the held-out half that it would not have
held. For `offline, unseen words` all words and phrases that occur in the held-out half, and not in the half for
fitting, are taken out of the list first, also those that any list would hold: what to expect of the texts of others
lies between the two.

    python scripts/bench/offline_judge.py
"""

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))
from fit_offline_judge import fitted, measured, similarities, texts, without_unseen_words

from robogaze.core.scores import Estimate
from robogaze.judges.base import Judgement
from robogaze.judges.check import check_judge
from robogaze.judges.offline import FIT, HELD_OUT, RUBRIC, data_folder, judge_pairs, read_features, read_pairs
from robogaze.judges.offline.concepts import Floats
from robogaze.judges.rated_pairs import RatedPair
from robogaze.judges.rubric import read_rubric

ROUNDS = 5
PLAIN = ("close paraphrase", "other clip")
"""The kinds of pair that words in common tell apart."""


def token_f1(rated: Sequence[RatedPair]) -> Floats:
    """The F1 of words in common."""
    found = []
    for one in rated:
        left, right = (Counter(re.findall(r"\w+", text.lower())) for text in (one.pair.reference, one.pair.prediction))
        found.append(2 * (left & right).total() / (left.total() + right.total()))
    return np.array(found)


def tfidf_cosine(rated: Sequence[RatedPair], corpus: Sequence[RatedPair]) -> Floats:
    """The cosine of words weighted by how rare they are in the half for fitting."""
    weights = TfidfVectorizer(token_pattern=r"\w+").fit(texts(corpus))
    left = weights.transform([one.pair.reference for one in rated])
    right = weights.transform([one.pair.prediction for one in rated])
    return np.asarray(left.multiply(right).sum(axis=1)).ravel()


def pairs_a_second(home: Path, rated: Sequence[RatedPair]) -> float:
    """Processor time per pair at 20,000 pairs of 7,000 descriptions made of the words of real ones, best of several."""
    rng = np.random.default_rng(0)
    words = " ".join(texts(rated)).split()
    made = [" ".join(rng.choice(words, rng.integers(8, 22))) for _ in range(7000)]
    drawn = rng.choice(made, (20_000, 2)).tolist()
    asked = [replace(rated[0].pair, reference=one, prediction=other) for one, other in drawn]
    axes, rubric = fitted(home), read_rubric(RUBRIC)
    best = np.inf
    for _ in range(ROUNDS):
        features = read_features(home)  # anew, for it remembers descriptions
        start = time.process_time()
        judge_pairs(asked, features, axes, rubric)
        best = min(best, time.process_time() - start)
    return len(asked) / best


def line(name: str, estimates: Sequence[Estimate]) -> str:
    """A row of the table."""
    cells = (f"{one.value:6.3f} [{one.low:6.3f}, {one.high:6.3f}]" for one in estimates)
    return f"{name:26}" + "  ".join(cells)


def main() -> None:
    """Print the tables."""
    home = data_folder()
    fit, rated = read_pairs(home, FIT), read_pairs(home, HELD_OUT)
    untyped = [replace(one, pair=replace(one.pair, reference_type=None, prediction_type=None)) for one in rated]
    with tempfile.TemporaryDirectory() as folder:
        gone = without_unseen_words(home, Path(folder))
        ways = {
            "token F1": token_f1(rated),
            "TF-IDF cosine": tfidf_cosine(rated, fit),
            "offline": similarities(home, rated),
            "offline, no types": similarities(home, untyped),
            "offline, unseen words": similarities(Path(folder), rated),
        }
    print(f"{len(rated)} held-out pairs about {len({one.unit for one in rated})} events, fitted on {len(fit)};")
    print(f"unseen words: {gone} forms of the list that only the held-out half has are taken out\n")
    print(f"{'':26}{'Pearson':24}{'Spearman':24}{'mean absolute error'}")
    for name, values in ways.items():
        found = measured(values, rated)
        print(line(name, (found.pearson, found.spearman, found.mean_absolute_error)))
    hard = np.array([one.kind not in PLAIN for one in rated])
    print(f"\nwithout {' and '.join(PLAIN)}: {hard.sum()} pairs")
    for name in ("token F1", "TF-IDF cosine", "offline"):
        found = measured(ways[name][hard], [one for one, kept in zip(rated, hard, strict=True) if kept])
        print(line(name, (found.pearson, found.spearman, found.mean_absolute_error)))
    judged = [Judgement(float(one)) for one in ways["offline"]]
    print(f"\n{'kind of pair':24}{'n':>4}{'rated':>8}{'offline':>9}")
    for kind, (count, human, offline_mean) in check_judge(rated, [judged], np.random.default_rng(0)).kinds.items():
        print(f"{kind:24}{count:4}{human:8.2f}{offline_mean:9.2f}")
    print(f"\n{pairs_a_second(home, rated):,.0f} pairs a second of processor time, 20,000 pairs of 7,000 descriptions")


if __name__ == "__main__":
    main()
