"""What was found in a clip: hypotheses (unverified claims) and events (what a report stands for)."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.time import Span, union

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,64}$")]
"""An identifier of a taxonomy: a dimension or an event type."""

Severity = Annotated[int, Field(ge=1, le=5)]
"""1 cosmetic, 2 minor, 3 moderate, 4 severe, 5 catastrophic (RoboGaze, A.1)."""

Verdict = Literal["accepted", "rejected", "merged", "unverified"]


class Box(Data):
    """A rectangle in a view, as shares of its width and height, from its top left corner; never empty."""

    left: Fraction
    top: Fraction
    right: Fraction
    bottom: Fraction

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if self.left >= self.right or self.top >= self.bottom:
            raise ValueError("a box must end right of and below where it starts")
        return self


class Evidence(Data):
    """What a claim rests on: frames that can be looked at, and what is to be seen or was measured there.

    `source` names who says so: the stage that asked a model, or the measured signal.
    """

    text: str
    frames: tuple[int, ...] = ()
    view: str | None = None
    box: Box | None = None
    source: str


class Claim(Data):
    """What hypotheses and events have in common."""

    id: str
    dimension: Name
    type: Name
    spans: tuple[Span, ...] = Field(min_length=1)
    severity: Severity | None
    confidence: Fraction | None
    description: str
    evidence: tuple[Evidence, ...]

    @model_validator(mode="after")
    def _spans_are_disjoint(self) -> Self:
        if union(self.spans) != self.spans:
            raise ValueError(f"the spans of {self.id} must be disjoint and in order")
        return self

    @property
    def onset_s(self) -> float:
        """When it first shows."""
        return self.spans[0].start

    @property
    def offset_s(self) -> float:
        """When it is last gone."""
        return self.spans[-1].end


class Hypothesis(Claim):
    """A claim with what became of it.

    `verdict` is "unverified" until something decides; `reason` says why it was decided so; `merged_into` is the
    hypothesis that stands for a merged one. `proposed_by` names the source: a dimension's specialist, a rule, a
    sample.
    """

    verdict: Verdict = "unverified"
    reason: str = ""
    merged_into: str | None = None
    proposed_by: str

    @model_validator(mode="after")
    def _merged_has_a_target(self) -> Self:
        if (self.verdict == "merged") != (self.merged_into is not None):
            raise ValueError(f"{self.id}: merged_into belongs to the verdict 'merged' and to no other")
        return self


class Event(Claim):
    """Something that went wrong, as a report states it. `secondary` holds further dimensions it belongs to."""

    secondary: tuple[Name, ...] = ()
