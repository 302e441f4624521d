"""What the offline judge compares in two descriptions, as numbers.

    words, spelling       cosine of weighted words, and of weighted character n-grams, in [0, 1]
    concepts              the same of concepts, and of the words that belong to none
    nearly_same           how far the cosine of words and of pairs of neighbours is above NEAR, as a share of the rest
    KIND.agree            of a kind of concept: the share of both sides' mentions that the other side has, too
    KIND.apart            how many mentions the other side lacks, at most MOST_APART a side
    KIND.other            1 where both sides mention something of the kind and share nothing: another object, side, time
    KIND.against          1 where one side denies what is a fact on the other, or says what excludes it
    event.agree, .apart   the same over all that happens, whatever its kind
    event.shared          1 where anything that happens is shared
    role                  the share of what happens in the reference that befalls the same thing in the prediction
    longer                the logarithm of how much longer the prediction is
    type.same, .other     1 where both labels are given and are the same, or are not

All pairs are computed at once, as products of sparse matrices.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from robogaze.judges.base import DescriptionPair
from robogaze.judges.offline import weights
from robogaze.judges.offline.concepts import Concepts, Described, Floats, describe
from robogaze.judges.offline.parsing import ParsedDescription, read
from robogaze.judges.offline.weights import Rows, Weighted
from robogaze.judges.offline.words import Stems, WordList

NEAR, MAX_SEVERITY_GAP = 0.6, 3.0
EVENT = "event"
_PARTS = (weights.words, weights.phrasing, weights.spelling, weights.concepts)
_REMEMBERED = 2**15
_LENGTHENED = 3
"""Added to both lengths, so that one word more counts little."""

Places = NDArray[np.intp]


class Features:
    """Computes the features of pairs. The corpus tells how rare words are."""

    def __init__(self, words: WordList, corpus: Sequence[str]) -> None:
        self._concepts = Concepts(words)
        # A description meets many others, and those of references meet every system's.
        self._read = lru_cache(maxsize=_REMEMBERED)(partial(read, known=words))
        readings = [self._read(text) for text in corpus]
        self._cosines = {part.__name__: Weighted(part, readings) for part in _PARTS}

    def of(self, pairs: Sequence[DescriptionPair]) -> tuple[Mapping[str, Floats], NDArray[np.bool_]]:
        """Every feature of the pairs, by name; and which pairs are the same but for punctuation and forms of words."""
        texts = {text: None for pair in pairs for text in (pair.reference, pair.prediction)}
        place = {text: number for number, text in enumerate(texts)}
        references = np.array([place[pair.reference] for pair in pairs], dtype=np.intp)
        predictions = np.array([place[pair.prediction] for pair in pairs], dtype=np.intp)
        readings = [self._read(text) for text in texts]
        described = describe(readings, self._concepts)
        found = {
            **self._lexical(readings, references, predictions),
            **self._conceptual(described.at(references), described.at(predictions)),
            **_labels(pairs),
        }
        alike: dict[Stems, int] = {}
        said = (tuple(stem for stem in parsed.stems if stem[0].isalnum()) for parsed in readings)
        wording = np.array([alike.setdefault(stems, len(alike)) for stems in said], dtype=np.intp)
        return found, wording[references] == wording[predictions]

    def _lexical(
        self, readings: Sequence[ParsedDescription], references: Places, predictions: Places
    ) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for name, weighted in self._cosines.items():
            rows = weighted.rows(readings)
            found[name] = _sums(rows[references].multiply(rows[predictions]))
        lengths = np.array([len(parsed.stems) for parsed in readings]) + _LENGTHENED
        found["nearly_same"] = np.maximum(found.pop("phrasing") - NEAR, 0) / (1 - NEAR)
        found["longer"] = np.log(lengths[predictions] / lengths[references])
        return found

    def _conceptual(self, reference: Described, prediction: Described) -> dict[str, Floats]:
        by_kind = self._concepts.by_kind
        shared = reference.facts.multiply(prediction.near) @ by_kind
        matched = prediction.facts.multiply(reference.near) @ by_kind
        said, told = reference.facts @ by_kind, prediction.facts @ by_kind
        agree = _ratio(shared + matched, said + told)
        apart = np.minimum(said - shared, MAX_SEVERITY_GAP) + np.minimum(told - matched, MAX_SEVERITY_GAP)
        second = (said > 0) & (told > 0) & (shared + matched == 0)
        against = (self._excluded(reference, prediction) + _denied(reference, prediction)) @ by_kind > 0
        found: dict[str, Floats] = {}
        for column, kind in enumerate((*self._concepts.kinds, EVENT)):
            found[f"{kind}.agree"] = agree[:, column]
            found[f"{kind}.apart"] = apart[:, column]
            found[f"{kind}.other"] = second[:, column].astype(np.float64)
            found[f"{kind}.against"] = against[:, column].astype(np.float64)
        del found[f"{EVENT}.against"]  # it is said by the kinds
        found[f"{EVENT}.shared"] = (shared[:, -1] > 0).astype(np.float64)
        found["role"] = _ratio(_sums(reference.roles.multiply(prediction.near_roles)), _sums(reference.roles))
        return found

    def _excluded(self, reference: Described, prediction: Described) -> Rows:
        """The concepts of the prediction that exclude one of the reference, among those that only one side has."""
        both = reference.facts.multiply(prediction.facts)
        return ((reference.facts - both) @ self._concepts.exclusion).multiply(prediction.facts - both)


def _denied(reference: Described, prediction: Described) -> Rows:
    """The concepts that are a fact on one side, without being denied there, too, and are denied on the other."""
    return _firm(reference).multiply(prediction.denied) + _firm(prediction).multiply(reference.denied)


def _firm(side: Described) -> Rows:
    return side.facts - side.facts.multiply(side.denied)


def _labels(pairs: Sequence[DescriptionPair]) -> dict[str, Floats]:
    labels = [(pair.reference_type, pair.prediction_type) for pair in pairs]
    both = np.array([None not in pair for pair in labels], dtype=bool)
    same = np.array([first == second for first, second in labels], dtype=bool)
    return {"type.same": (both & same).astype(np.float64), "type.other": (both & ~same).astype(np.float64)}


def _sums(rows: Rows) -> Floats:
    """The sum of each row."""
    return np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()


def _ratio(part: Floats, whole: Floats) -> Floats:
    """`part` / `whole`, 0 where neither side mentions anything: nothing speaks for a match there, nor against one."""
    found: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return found
