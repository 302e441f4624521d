"""The protocol of judges. A judge says how similar a prediction and a reference are, and sees only texts.

A judge rates each pair of descriptions with a similarity in [0, 1]. A pair that the judge cannot judge is unscored: it
has a reason instead of a similarity. Every table counts unscored pairs; they never count as 0.

A judge that asks a model also has `ask_ahead` (see `AsksAhead`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class DescriptionPair:
    """The descriptions of a reference and a predicted event of one clip.

    `instruction` is what the clip was generated from, None if not known. The types are labels, None if not given. A
    judge may use whether the types are equal, but equal types alone do not make two descriptions similar.
    `reference_steps` and `prediction_steps` are the steps that show an event of interactive play; they are empty if not
    given.
    """

    clip_id: str
    reference_id: str
    prediction_id: str
    reference: str
    prediction: str
    instruction: str | None = None
    reference_type: str | None = None
    prediction_type: str | None = None
    reference_steps: tuple[str, ...] = ()
    prediction_steps: tuple[str, ...] = ()

    @property
    def silent(self) -> "Judgement | None":
        """The judgement of a pair with an empty description; None if both have a description.

        No judge is asked about a pair with an empty description. A prediction without a description scores 0, so that
        an empty field never raises a score. A pair whose reference has no description is unscored.
        """
        if not self.reference.strip():
            return unscored("the reference has no description")
        return None if self.prediction.strip() else Judgement(0.0, rationale="the prediction has no description")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer.

    `similarity` is in [0, 1], None if the pair is unscored. `axes` are the ratings it was computed from, empty for a
    judge without axes. `rationale` is the judge's explanation, or the reason why a pair is unscored.
    """

    similarity: float | None
    axes: Mapping[str, float] = field(default_factory=dict)
    rationale: str = ""


def unscored(why: str) -> Judgement:
    """The judgement of a pair that could not be judged."""
    return Judgement(None, rationale=why)


class Judge(Protocol):
    """Rates pairs of descriptions."""

    @property
    def name(self) -> str:
        """The name shown in tables."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Everything that the similarities depend on; results with the same identity can be compared."""

    @property
    def note(self) -> str:
        """One sentence on how reliable the judge is, shown under every table it scored."""

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""


@runtime_checkable
class AsksAhead(Protocol):
    """A judge that can be asked in advance about the pairs of all systems, so that their requests go into one batch.

    Pairs that are known only after answers have arrived are sent in a second batch.
    """

    async def ask_ahead(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """Ask about the pairs and keep the answers for `rate`. Returns a judgement for each pair, in their order."""
