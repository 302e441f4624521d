"""Agreement of the offline judge with the ratings of the held-out pairs, next to simpler methods: the tables of
judges/offline/README.md.

The word list and the pairs have the same authors, so the list may contain words of the held-out half for that reason.
For `offline, unseen words`, every phrase that occurs in the held-out half and not in the half for fitting is removed,
even if any list would contain it: the agreement on other texts is between the two.

    python scripts/research/offline_judge.py
"""

import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from fit_offline_judge import fitted, measured, similarities, texts, without_unseen_words
from sklearn.feature_extraction.text import TfidfVectorizer

from robogaze.core.estimate import Estimate
from robogaze.judges.base import Judgement
from robogaze.judges.judge_check import check_judge
from robogaze.judges.offline import FIT, HELD_OUT, RUBRIC, data_folder, judge_pairs, read_features, read_pairs
from robogaze.judges.offline.concepts import Floats
from robogaze.judges.rated_pairs import RatedPair
from robogaze.judges.rubric import read_rubric

ROUNDS = 5
PLAIN = ("close paraphrase", "other clip")
"""The kinds of pair that shared words tell apart."""


def token_f1(rated: Sequence[RatedPair]) -> Floats:
    """The F1 of shared words."""
    found = []
    for example in rated:
        left, right = (
            Counter(re.findall(r"\w+", text.lower())) for text in (example.pair.reference, example.pair.prediction)
        )
        found.append(2 * (left & right).total() / (left.total() + right.total()))
    return np.array(found)


def tfidf_cosine(rated: Sequence[RatedPair], corpus: Sequence[RatedPair]) -> Floats:
    """The cosine of words weighted by their rarity in the half for fitting."""
    weights = TfidfVectorizer(token_pattern=r"\w+").fit(texts(corpus))
    left = weights.transform([example.pair.reference for example in rated])
    right = weights.transform([example.pair.prediction for example in rated])
    return np.asarray(left.multiply(right).sum(axis=1)).ravel()


def pairs_a_second(home: Path, rated: Sequence[RatedPair]) -> float:
    """Pairs per second of processor time for 20,000 pairs of 7,000 descriptions made of real words; best of several
    rounds.
    """
    rng = np.random.default_rng(0)
    words = " ".join(texts(rated)).split()
    made = [" ".join(rng.choice(words, rng.integers(8, 22))) for _ in range(7000)]
    drawn = rng.choice(made, (20_000, 2)).tolist()
    pairs = [replace(rated[0].pair, reference=reference, prediction=prediction) for reference, prediction in drawn]
    axes, rubric = fitted(home), read_rubric(RUBRIC)
    best = np.inf
    for _ in range(ROUNDS):
        features = read_features(home)  # anew, for it remembers descriptions
        start = time.process_time()
        judge_pairs(pairs, features, axes, rubric)
        best = min(best, time.process_time() - start)
    return len(pairs) / best


def line(name: str, estimates: Sequence[Estimate]) -> str:
    cells = (f"{known.value:6.3f} [{known.low:6.3f}, {known.high:6.3f}]" for known in estimates)
    return f"{name:26}" + "  ".join(cells)


def main() -> None:
    home = data_folder()
    fit, rated = read_pairs(home, FIT), read_pairs(home, HELD_OUT)
    untyped = [
        replace(example, pair=replace(example.pair, reference_type=None, prediction_type=None)) for example in rated
    ]
    with tempfile.TemporaryDirectory() as folder:
        gone = without_unseen_words(home, Path(folder))
        axes = fitted(home)
        ways = {
            "token F1": token_f1(rated),
            "TF-IDF cosine": tfidf_cosine(rated, fit),
            "offline": similarities(home, rated, axes),
            "offline, no types": similarities(home, untyped, axes),
            "offline, unseen words": similarities(Path(folder), rated, fitted(Path(folder))),
        }
    print(f"{len(rated)} held-out pairs about {len({example.unit for example in rated})} events, fitted on {len(fit)};")
    print(f"unseen words: {gone} forms of the list that only the held-out half has are taken out\n")
    print(f"{'':26}{'Pearson':24}{'Spearman':24}{'mean absolute error'}")
    for name, values in ways.items():
        found = measured(values, rated)
        print(line(name, (found.pearson, found.spearman, found.mean_absolute_error)))
    hard = np.array([example.kind not in PLAIN for example in rated])
    print(f"\nwithout {' and '.join(PLAIN)}: {hard.sum()} pairs")
    for name in ("token F1", "TF-IDF cosine", "offline"):
        found = measured(ways[name][hard], [example for example, kept in zip(rated, hard, strict=True) if kept])
        print(line(name, (found.pearson, found.spearman, found.mean_absolute_error)))
    judged = [Judgement(float(value)) for value in ways["offline"]]
    print(f"\n{'kind of pair':24}{'n':>4}{'rated':>8}{'offline':>9}")
    for kind, (count, human, offline_mean) in check_judge(rated, [judged], np.random.default_rng(0)).kinds.items():
        print(f"{kind:24}{count:4}{human:8.2f}{offline_mean:9.2f}")
    print(f"\n{pairs_a_second(home, rated):,.0f} pairs a second of processor time, 20,000 pairs of 7,000 descriptions")


if __name__ == "__main__":
    main()
