"""The contract of a judge: how far is this prediction that reference, said in words alone?

A judge is given pairs of descriptions and gives each a similarity in [0, 1]. A pair it could not judge is unscored:
it has no similarity and a reason, and whoever prints a table counts it. It is never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class DescriptionPair:
    """A reference and a prediction of one clip: who they are, and what they say went wrong.

    `instruction` is what the clip was made for, None when not known. The types are labels, None when not given; a
    judge may use that they are equal, but two descriptions do not match because their labels do.
    """

    clip_id: str
    reference_id: str
    prediction_id: str
    reference: str
    prediction: str
    instruction: str | None = None
    reference_type: str | None = None
    prediction_type: str | None = None

    @property
    def silent(self) -> "Judgement | None":
        """The judgement where a side says nothing, which no judge need be asked for; None where both say something.

        A prediction without a description describes nothing: leaving it out must never pay. Without a reference's
        there is nothing to compare with.
        """
        if not self.reference.strip():
            return unscored("the reference has no description")
        return None if self.prediction.strip() else Judgement(0.0, rationale="the prediction has no description")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer.

    `similarity` is in [0, 1], None when the pair is unscored. `axes` are the ratings it was made from, empty for a
    judge that has none. `rationale` is what the judge says for itself; of an unscored pair, why it has no similarity.
    """

    similarity: float | None
    axes: Mapping[str, float] = field(default_factory=dict)
    rationale: str = ""


def unscored(why: str) -> Judgement:
    """The judgement of a pair that could not be judged."""
    return Judgement(None, rationale=why)


class Judge(Protocol):
    """Something that rates pairs."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What its similarities depend on: two results with one identity can be compared."""

    @property
    def note(self) -> str:
        """One sentence about how far it can be trusted; printed under every table it scored."""

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""
