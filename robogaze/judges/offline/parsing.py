"""Parses a description: which concepts it mentions, and which of them it states as facts.

"It falls" states a fact; "it does not fall" denies it and "it should fall" wishes for it, so neither happened. A denial
reaches a few words ahead within its clause, a wish covers its whole clause. Some denials state the opposite as a fact
("never opened" is closed).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robogaze.judges.offline.words import Stems, WordList

_DENIAL_REACH = 6
"""How many words a denial reaches ahead."""

_Found = Mapping[int, tuple[int, tuple[str, ...]]]
"""The end and the meanings of each phrase, by its start."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept at a position in a description. `fact` is false if the concept is denied or wished for."""

    concept: str
    fact: bool
    place: int


@dataclass(frozen=True, slots=True)
class ParsedDescription:
    """A parsed description.

    `stems` are all words of the description, `words` are the words that carry meaning, and `unknown` are the words in
    `words` that belong to no concept.
    """

    stems: Stems
    words: Stems
    unknown: Stems
    mentions: tuple[Mention, ...]


def parse_description(text: str, known: WordList) -> ParsedDescription:
    stems = known.stemmer.stems(text)
    cues: _Found = {start: (end, names) for start, end, names in known.cues.find(stems)}
    concepts: _Found = {start: (end, names) for start, end, names in known.concepts.find(stems)}
    named = _covered(concepts)
    silent = _covered(cues) | {place for place, stem in enumerate(stems) if not stem[0].isalnum()}
    words = tuple((place, stem) for place, stem in enumerate(stems) if place in named or place not in silent)
    return ParsedDescription(
        stems=stems,
        words=tuple(stem for _, stem in words),
        unknown=tuple(stem for place, stem in words if place not in named),
        mentions=tuple(_mentions(stems, cues, concepts, known.complements)),
    )


def _covered(found: _Found) -> set[int]:
    return {place for start, (end, _) in found.items() for place in range(start, end)}


def _mentions(stems: Stems, cues: _Found, concepts: _Found, complements: Mapping[str, str]) -> Iterator[Mention]:
    for clause in _clauses(stems, cues):
        cues_here = {place: cues[place][1] for place in clause if place in cues}
        wished = any("wanted" in names for names in cues_here.values())
        denied_to = -1
        for place in clause:
            for concept in concepts[place][1] if place in concepts else ():
                # A phrase that makes a wish or a denial is itself a fact.
                fact = place in cues_here or not (wished or place <= denied_to)
                yield Mention(concept, fact, place)
                if not fact and concept in complements:
                    yield Mention(complements[concept], True, place)
            if "denials" in cues_here.get(place, ()):
                denied_to = place + _DENIAL_REACH


def _clauses(stems: Stems, cues: _Found) -> Iterator[range]:
    """The positions of each clause; a word that ends a clause begins the next one."""
    start = 0
    for place, stem in enumerate(stems):
        if not stem[0].isalnum() or (place in cues and "breaks" in cues[place][1]):
            yield range(start, place)
            start = place
    yield range(start, len(stems))
