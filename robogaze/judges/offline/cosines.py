"""Compares descriptions by the words, parts of words and concepts that they share; rare ones count more."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfTransformer

from robogaze.judges.offline.parsing import ParsedDescription

Rows = Any
"""A sparse matrix with one row per description; scipy is untyped."""

_NGRAMS = (3, 4)
_HASHES = 2**18


def words(parsed: ParsedDescription) -> Sequence[str]:
    """The words that carry meaning."""
    return parsed.words


def phrasing(parsed: ParsedDescription) -> Sequence[str]:
    """The words that carry meaning, and every pair of adjacent words."""
    words_of_text = parsed.words
    return (*words_of_text, *(f"{first} {second}" for first, second in pairwise(words_of_text)))


def spelling(parsed: ParsedDescription) -> Sequence[str]:
    """The character n-grams of the words that carry meaning, with word boundaries marked."""
    return tuple(chain.from_iterable(map(_ngrams, parsed.words)))


def concepts(parsed: ParsedDescription) -> Sequence[str]:
    """The concepts, each marked as fact or not, and the words without a concept."""
    return (*dict.fromkeys(f"{mention.concept} {mention.fact}" for mention in parsed.mentions), *parsed.unknown)


@lru_cache(maxsize=2**16)
def _ngrams(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    return tuple(padded[start : start + size] for size in _NGRAMS for start in range(len(padded) - size + 1))


class TfidfRows:
    """Weights parts by how rare they are in a corpus (TF-IDF, sublinear). Parts that the corpus lacks weigh most."""

    def __init__(
        self, parts: Callable[[ParsedDescription], Sequence[str]], corpus: Sequence[ParsedDescription]
    ) -> None:
        self._parts = parts
        # Hashed, not listed: a word that the corpus lacks must count as well.
        self._hasher = FeatureHasher(_HASHES, input_type="string", alternate_sign=False)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(self._counts(corpus))

    def rows(self, parsed_texts: Sequence[ParsedDescription]) -> Rows:
        """A unit vector for each description, so that the product of two rows is their cosine. A description without
        parts gets a row of zeros.
        """
        return self._weights.transform(self._counts(parsed_texts))

    def _counts(self, parsed_texts: Sequence[ParsedDescription]) -> Rows:
        return self._hasher.transform(self._parts(parsed) for parsed in parsed_texts)
