"""Parsed descriptions as sparse matrices over the concepts of a word list, one row per description."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robogaze.judges.offline.cosines import Rows
from robogaze.judges.offline.parsing import Mention, ParsedDescription
from robogaze.judges.offline.words import WordList

Floats = NDArray[np.float64]

RELATED = 0.5
"""The weight of a related, wider or narrower concept."""


class Concepts:
    """Which concepts are similar, which concepts exclude each other, and the kinds of each concept."""

    def __init__(self, words: WordList) -> None:
        self.place = {concept: place for place, concept in enumerate(words.kinds)}
        self.kinds = tuple(dict.fromkeys(words.kinds.values()))
        self._things, self._events, self._always = (
            frozenset(concept for concept, kind in words.kinds.items() if kind in names)
            for names in (words.things, words.events, words.always)
        )
        self.near = {concept: {concept: 1.0} for concept in words.kinds}
        for first, second in (*words.related, *words.broader):
            self.near[first].setdefault(second, RELATED)
            self.near[second].setdefault(first, RELATED)
        self.nearness = self._square(
            (first, second, share) for first, others in self.near.items() for second, share in others.items()
        )
        self.exclusion = self._square((first, second, 1.0) for first, second in words.opposites)
        kinds = np.array(list(words.kinds.values()))
        columns = [*(kinds == kind for kind in self.kinds), np.isin(kinds, words.events)]
        self.by_kind: Floats = np.column_stack(columns).astype(np.float64)
        """Concepts by kinds; the last column is for everything that happens, of any kind."""

    def is_fact(self, mention: Mention) -> bool:
        """Whether a mention counts as a fact."""
        return mention.fact or mention.concept in self._always

    def thing_events(self, parsed: ParsedDescription) -> Iterator[tuple[str, str]]:
        """Yield (thing, event) for each event that is a fact. The thing is the last one that is mentioned before the
        event. If none is mentioned before it, the thing is the first one of the description.
        """
        things = [mention for mention in parsed.mentions if mention.concept in self._things]
        for event in parsed.mentions:
            if things and event.fact and event.concept in self._events:
                before = [thing for thing in things if thing.place < event.place]
                yield (before[-1] if before else things[0]).concept, event.concept

    def _square(self, cells: Iterable[tuple[str, str, float]]) -> Rows:
        square = sparse.lil_array((len(self.place), len(self.place)))
        for first, second, share in cells:
            square[self.place[first], self.place[second]] = share
        return square.tocsr()


@dataclass(frozen=True)
class ConceptRows:
    """Sparse matrices with one row per description and one column per concept.

    `facts` marks the concepts that are facts, and `denied` marks the concepts that are denied or wished for. `near` is
    the similarity of each concept to the facts. `roles` has a column for each combination of an event and the thing to
    which the event happens. `near_roles` also marks similar things.
    """

    facts: Rows
    denied: Rows
    near: Rows
    roles: Rows
    near_roles: Rows

    def at(self, places: NDArray[np.intp]) -> "ConceptRows":
        """The rows of some descriptions, in the given order."""
        return ConceptRows(
            *(rows[places] for rows in (self.facts, self.denied, self.near, self.roles, self.near_roles))
        )


def concept_rows(parsed_texts: Sequence[ParsedDescription], known: Concepts) -> ConceptRows:
    """The matrices of parsed descriptions; their rows are in the order of the descriptions."""
    facts: list[tuple[int, int]] = []
    denied: list[tuple[int, int]] = []
    roles: list[tuple[int, int]] = []
    near_roles: list[tuple[int, int]] = []
    size = len(known.place)
    for row, parsed in enumerate(parsed_texts):
        for mention in parsed.mentions:
            (facts if known.is_fact(mention) else denied).append((row, known.place[mention.concept]))
        for thing, event in known.thing_events(parsed):
            base = known.place[event] * size
            roles.append((row, base + known.place[thing]))
            near_roles += [(row, base + known.place[near]) for near in known.near[thing]]
    count = len(parsed_texts)
    fact_rows = _ones(facts, count, size)
    near = fact_rows @ known.nearness
    near.data = np.minimum(near.data, 1.0)
    return ConceptRows(
        facts=fact_rows,
        denied=_ones(denied, count, size),
        near=near,
        roles=_ones(roles, count, size * size),
        near_roles=_ones(near_roles, count, size * size),
    )


def _ones(cells: Sequence[tuple[int, int]], height: int, width: int) -> Rows:
    """A matrix that is 1 in the given cells, even if a cell is listed several times."""
    places = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    rows = sparse.csr_array((np.ones(places.shape[1]), (places[0], places[1])), shape=(height, width))
    rows.data[:] = 1.0
    return rows
