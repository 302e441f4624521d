"""The numbers by which the offline judge compares two descriptions.

    words, spelling       the cosine of the weighted words, and of the weighted character n-grams, in [0, 1]
    concepts              the cosine of the weighted concepts and of the words that belong to no concept
    nearly_same           (c - NEAR) / (1 - NEAR), at least 0; c is the cosine of the words and adjacent word pairs
    KIND.agree            the share of the concepts of a kind, on both sides, that the other side has, too
    KIND.apart            the number of concepts that the other side lacks, at most MAX_UNSHARED per side
    KIND.other            1 if both sides mention the kind but share none of its concepts: another object, side, time
    KIND.against          1 if one side denies a fact of the other side, or states a fact that excludes it
    event.agree, .apart, .other   as for a kind, but over the events of all kinds
    event.shared          1 if the two sides share an event
    role                  the share of the reference's events that happen to the same thing in the prediction
    longer                the logarithm of the length of the prediction divided by the length of the reference
    type.same             1 if both labels are given and are the same
    type.other            1 if both labels are given and differ

All pairs are computed at once, as products of sparse matrices.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from robogaze.judges.base import DescriptionPair
from robogaze.judges.offline import cosines
from robogaze.judges.offline.concepts import ConceptRows, Concepts, Floats, concept_rows
from robogaze.judges.offline.cosines import Rows, TfidfRows
from robogaze.judges.offline.parsing import ParsedDescription, parse_description
from robogaze.judges.offline.words import Stems, WordList

NEAR, MAX_UNSHARED = 0.6, 3.0
EVENT = "event"
_PARTS = (cosines.words, cosines.phrasing, cosines.spelling, cosines.concepts)
_REMEMBERED = 2**15
_LENGTHENED = 3
"""Added to both lengths, so that one more word counts little."""

Places = NDArray[np.intp]


class Features:
    """Computes the features of pairs; word frequencies come from the corpus."""

    def __init__(self, words: WordList, corpus: Sequence[str]) -> None:
        self._concepts = Concepts(words)
        # A description is compared with many others, that of a reference with those of every system.
        self._read = lru_cache(maxsize=_REMEMBERED)(partial(parse_description, known=words))
        parsed_texts = [self._read(text) for text in corpus]
        self._cosines = {part.__name__: TfidfRows(part, parsed_texts) for part in _PARTS}

    def of(self, pairs: Sequence[DescriptionPair]) -> tuple[Mapping[str, Floats], NDArray[np.bool_]]:
        """Return every feature of the pairs, keyed by its name. Also return a flag for each pair: true if its
        descriptions differ in nothing but punctuation and word forms.
        """
        texts = {text: None for pair in pairs for text in (pair.reference, pair.prediction)}
        place = {text: number for number, text in enumerate(texts)}
        references = np.array([place[pair.reference] for pair in pairs], dtype=np.intp)
        predictions = np.array([place[pair.prediction] for pair in pairs], dtype=np.intp)
        parsed_texts = [self._read(text) for text in texts]
        described = concept_rows(parsed_texts, self._concepts)
        found = {
            **self._lexical(parsed_texts, references, predictions),
            **self._conceptual(described.at(references), described.at(predictions)),
            **_labels(pairs),
        }
        alike: dict[Stems, int] = {}
        wordings = (tuple(stem for stem in parsed.stems if stem[0].isalnum()) for parsed in parsed_texts)
        wording = np.array([alike.setdefault(stems, len(alike)) for stems in wordings], dtype=np.intp)
        return found, wording[references] == wording[predictions]

    def _lexical(
        self, parsed_texts: Sequence[ParsedDescription], references: Places, predictions: Places
    ) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for name, weighted in self._cosines.items():
            rows = weighted.rows(parsed_texts)
            found[name] = _sums(rows[references].multiply(rows[predictions]))
        lengths = np.array([len(parsed.stems) for parsed in parsed_texts]) + _LENGTHENED
        found["nearly_same"] = np.maximum(found.pop("phrasing") - NEAR, 0) / (1 - NEAR)
        found["longer"] = np.log(lengths[predictions] / lengths[references])
        return found

    def _conceptual(self, reference: ConceptRows, prediction: ConceptRows) -> dict[str, Floats]:
        by_kind = self._concepts.by_kind
        shared = reference.facts.multiply(prediction.near) @ by_kind
        matched = prediction.facts.multiply(reference.near) @ by_kind
        mentioned, predicted = reference.facts @ by_kind, prediction.facts @ by_kind
        agree = _ratio(shared + matched, mentioned + predicted)
        apart = np.minimum(mentioned - shared, MAX_UNSHARED) + np.minimum(predicted - matched, MAX_UNSHARED)
        differs = (mentioned > 0) & (predicted > 0) & (shared + matched == 0)
        against = (self._excluded(reference, prediction) + _denied(reference, prediction)) @ by_kind > 0
        found: dict[str, Floats] = {}
        for column, kind in enumerate((*self._concepts.kinds, EVENT)):
            found[f"{kind}.agree"] = agree[:, column]
            found[f"{kind}.apart"] = apart[:, column]
            found[f"{kind}.other"] = differs[:, column].astype(np.float64)
            found[f"{kind}.against"] = against[:, column].astype(np.float64)
        del found[f"{EVENT}.against"]  # the kinds have it
        found[f"{EVENT}.shared"] = (shared[:, -1] > 0).astype(np.float64)
        found["role"] = _ratio(_sums(reference.roles.multiply(prediction.near_roles)), _sums(reference.roles))
        return found

    def _excluded(self, reference: ConceptRows, prediction: ConceptRows) -> Rows:
        """The concepts of the prediction that exclude a concept of the reference, among the concepts that only one side
        has.
        """
        both = reference.facts.multiply(prediction.facts)
        return ((reference.facts - both) @ self._concepts.exclusion).multiply(prediction.facts - both)


def _denied(reference: ConceptRows, prediction: ConceptRows) -> Rows:
    """The concepts that are a fact and not denied on one side, and are denied on the other side."""
    return _firm(reference).multiply(prediction.denied) + _firm(prediction).multiply(reference.denied)


def _firm(side: ConceptRows) -> Rows:
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
    """`part` / `whole`, 0 if neither side mentions anything."""
    found: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return found
