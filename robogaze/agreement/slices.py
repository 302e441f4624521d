"""What is rated in some clips: by whom, and how.

For one dimension the same is taken of what belongs to it: clips whose annotators all looked for it, the question "any
event of this dimension?", "this dimension or another?" for matched events, and of matched events those that one side
or the other files there. To take only those on which both agree would leave out the disputed ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robogaze.agreement.event_matching import MatchedClip, MatchedEvents
from robogaze.core.annotation import AnnotatedEvent
from robogaze.stats.agreement import Rating
from robogaze.stats.resample import Floats
from robogaze.stats.unitizing import LabelledStretch, Timeline


@dataclass(frozen=True)
class Slice:
    """Some clips, and the events in them that are asked about: all, or those of one dimension, if it is named.

    Things are told with the position of their clip, ratings with a place for every one of `annotators`.
    """

    matched: tuple[MatchedClip, ...]
    annotators: tuple[str, ...]
    named: str | None

    @classmethod
    def of(cls, matched: Iterable[MatchedClip], annotators: Sequence[str], named: str | None = None) -> "Slice":
        """All of some clips, or what belongs to a dimension."""
        looked_for = (
            one for one in matched if named is None or one.case.dimensions is None or named in one.case.dimensions
        )
        return cls(tuple(looked_for), tuple(annotators), named)

    @property
    def events(self) -> int:
        return sum(self.has(one) for each in self.matched for account in each.case.accounts for one in account.findings)

    def has(self, one: AnnotatedEvent) -> bool:
        """Whether an event is asked about."""
        return self.named is None or one.dimension == self.named

    def detection(self) -> list[list[Rating]]:
        """For each clip whether each annotator reports an event."""
        return [
            self._placed(one, [any(map(self.has, account.findings)) for account in one.case.accounts])
            for one in self.matched
        ]

    def dimensions(self) -> list[tuple[int, list[Rating]]]:
        """For each matched event the dimension each annotator files it under, or whether it is the one asked about."""
        return [
            (place, self._placed(one, [None if found is None else self._label(found) for found in unit]))
            for place, one in enumerate(self.matched)
            for unit in one.units
            if sum(found is not None for found in unit) > 1
        ]

    def _label(self, one: AnnotatedEvent) -> Rating:
        return one.dimension if self.named is None or one.dimension is None else self.has(one)

    def _placed(self, one: MatchedClip, ratings: Sequence[Rating]) -> list[Rating]:
        """Ratings of a case's annotators at the places they have among all annotators."""
        given = dict(zip(one.case.authors, ratings, strict=True))
        return [given.get(name) for name in self.annotators]

    def severities(self) -> list[tuple[int, list[Rating]]]:
        """For each matched event its severities."""
        return [
            (place, [found.severity for found in unit if found is not None])
            for place, one in enumerate(self.matched)
            for unit in one.units
            if sum(found is not None for found in unit) > 1 and any(found and self.has(found) for found in unit)
        ]

    def links(self) -> Iterator[tuple[int, MatchedEvents]]:
        """The matched pairs."""
        for place, one in enumerate(self.matched):
            for link in one.links:
                if self.has(one.finding(link.first)) or self.has(one.finding(link.second)):
                    yield place, link

    def shares(self) -> Floats:
        """For each clip, over its pairs of annotators: matched events, and events, (clips, 2)."""
        rows = np.zeros((len(self.matched), 2))
        for place, one in enumerate(self.matched):
            counts = [sum(map(self.has, account.findings)) for account in one.case.accounts]
            ends = (one.finding(end) for link in one.links for end in (link.first, link.second))
            rows[place] = sum(map(self.has, ends)), sum(a + b for a, b in combinations(counts, 2))
        return rows

    def timelines(self) -> list[tuple[int, Timeline]]:
        """The clips whose length is known; one is at least as long as what is marked in it."""
        found = []
        for place, one in enumerate(self.matched):
            marks = [
                [span for found in account.findings if self.has(found) for span in found.spans]
                for account in one.case.accounts
            ]
            if one.case.duration_s is not None:
                length = max([one.case.duration_s, *(span.end for spans in marks for span in spans)])
                stretches = (tuple(LabelledStretch(span.start, span.end, True) for span in spans) for spans in marks)
                found.append((place, Timeline(length, tuple(stretches))))
        return found
