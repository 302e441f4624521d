"""How alike descriptions are by their parts (words, parts of words, concepts), the rarer parts counting more."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfTransformer

from robogaze.judges.offline.parsing import ParsedDescription

Rows = Any
"""A sparse matrix with one row a description; scipy is untyped."""

_NGRAMS = (3, 4)
_HASHES = 2**18


def words(reading: ParsedDescription) -> Sequence[str]:
    """The words that say something."""
    return reading.words


def phrasing(reading: ParsedDescription) -> Sequence[str]:
    """These words, and every two that follow one another."""
    said = reading.words
    return (*said, *(f"{first} {second}" for first, second in pairwise(said)))


def spelling(reading: ParsedDescription) -> Sequence[str]:
    """Their character n-grams, with the ends of words marked."""
    return tuple(chain.from_iterable(map(_ngrams, reading.words)))


def concepts(reading: ParsedDescription) -> Sequence[str]:
    """The concepts, told apart by whether they are a fact, and the words that belong to none."""
    return (*dict.fromkeys(f"{mention.concept} {mention.fact}" for mention in reading.mentions), *reading.unknown)


@lru_cache(maxsize=2**16)
def _ngrams(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple(padded[start : start + size] for size in _NGRAMS for start in range(len(padded) - size + 1))


class Weighted:
    """Weights parts by how rare they are in a corpus (TF-IDF, sublinear); parts it has not seen are the rarest."""

    def __init__(
        self, parts: Callable[[ParsedDescription], Sequence[str]], corpus: Sequence[ParsedDescription]
    ) -> None:
        self._parts = parts
        # Hashed, not listed: a word that the corpus lacks must count as well.
        self._hasher = FeatureHasher(_HASHES, input_type="string", alternate_sign=False)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(self._counts(corpus))

    def rows(self, readings: Sequence[ParsedDescription]) -> Rows:
        """A row of length 1 for each, of zeros for one without parts: products of rows are cosines."""
        return self._weights.transform(self._counts(readings))

    def _counts(self, readings: Sequence[ParsedDescription]) -> Rows:
        return self._hasher.transform(self._parts(reading) for reading in readings)
