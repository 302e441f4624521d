"""The ratings that annotators give to clips and events, for all dimensions or for one.

For one dimension, only clips in which all annotators looked for the dimension are used. The rating of a clip says
whether the annotator reports an event of the dimension. The rating of a matched event says whether the annotator
assigns it to this dimension or to another one. The matched events include each event that at least one annotator
assigns to the dimension. Using only events that both annotators assign to the dimension would leave out disputed
events.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robogaze.agreement.event_matching import EventMatch, MatchedClip
from robogaze.core.annotation import AnnotatedEvent
from robogaze.stats.agreement import Rating
from robogaze.stats.resample import Floats
from robogaze.stats.unitizing import Timeline


@dataclass(frozen=True)
class Slice:
    """Clips with their rated events. If `named` is a dimension, only the events of this dimension are rated.

    A result for an event comes with the position of its clip in `matched`. The ratings of `detection` and `dimensions`
    are in the order of `annotators`; None stands for an annotator without a rating.
    """

    matched: tuple[MatchedClip, ...]
    annotators: tuple[str, ...]
    named: str | None

    @classmethod
    def of(cls, matched: Iterable[MatchedClip], annotators: Sequence[str], named: str | None = None) -> "Slice":
        """A slice of the given clips: all their events, or only the events of the dimension `named`."""
        looked_for = (
            clip
            for clip in matched
            if named is None or clip.annotated.dimensions is None or named in clip.annotated.dimensions
        )
        return cls(tuple(looked_for), tuple(annotators), named)

    @property
    def events(self) -> int:
        return sum(
            self.has(event)
            for clip in self.matched
            for annotation in clip.annotated.annotations
            for event in annotation.findings
        )

    def has(self, event: AnnotatedEvent) -> bool:
        """Whether an event is rated."""
        return self.named is None or event.dimension == self.named

    def detection(self) -> list[list[Rating]]:
        """For each clip, whether each annotator reports an event."""
        return [
            self._placed(clip, [any(map(self.has, annotation.findings)) for annotation in clip.annotated.annotations])
            for clip in self.matched
        ]

    def dimensions(self) -> list[tuple[int, list[Rating]]]:
        """For each matched event, the dimension that each annotator assigns to it. If `named` is a dimension, the
        rating is instead whether the annotator assigns this dimension.
        """
        return [
            (place, self._placed(clip, [None if found is None else self._label(found) for found in unit]))
            for place, clip in enumerate(self.matched)
            for unit in clip.units
            if sum(found is not None for found in unit) > 1
        ]

    def _label(self, event: AnnotatedEvent) -> Rating:
        return event.dimension if self.named is None or event.dimension is None else self.has(event)

    def _placed(self, clip: MatchedClip, ratings: Sequence[Rating]) -> list[Rating]:
        """The ratings of a clip's annotators, each at the annotator's position among all annotators."""
        given = dict(zip(clip.annotated.authors, ratings, strict=True))
        return [given.get(name) for name in self.annotators]

    def severities(self) -> list[tuple[int, list[Rating]]]:
        """The severities of each matched event."""
        return [
            (place, [found.severity for found in unit if found is not None])
            for place, clip in enumerate(self.matched)
            for unit in clip.units
            if sum(found is not None for found in unit) > 1 and any(found and self.has(found) for found in unit)
        ]

    def matches(self) -> Iterator[tuple[int, EventMatch]]:
        """The matched pairs."""
        for place, clip in enumerate(self.matched):
            for match in clip.matches:
                if self.has(clip.finding(match.first)) or self.has(clip.finding(match.second)):
                    yield place, match

    def shares(self) -> Floats:
        """For each clip, the number of matched events and the number of all events, both summed over the pairs of
        annotators. The shape is (clips, 2).
        """
        rows = np.zeros((len(self.matched), 2))
        for place, clip in enumerate(self.matched):
            counts = [sum(map(self.has, annotation.findings)) for annotation in clip.annotated.annotations]
            ends = (clip.finding(end) for match in clip.matches for end in (match.first, match.second))
            rows[place] = sum(map(self.has, ends)), sum(a + b for a, b in combinations(counts, 2))
        return rows

    def timelines(self) -> list[tuple[int, Timeline]]:
        """The timelines of the clips with a known duration. If an event ends after this duration, the timeline ends
        with the event.
        """
        found = []
        for place, clip in enumerate(self.matched):
            marks = tuple(
                tuple(span for event in annotation.findings if self.has(event) for span in event.spans)
                for annotation in clip.annotated.annotations
            )
            if clip.annotated.duration_s is not None:
                length = max([clip.annotated.duration_s, *(span.end for spans in marks for span in spans)])
                found.append((place, Timeline(length, marks)))
        return found
