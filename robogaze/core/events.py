"""Hypotheses (unverified claims about faults) and events (the faults that a report states)."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.time import Span, union

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,64}$")]
"""An identifier of a taxonomy: a dimension or an event type."""

Severity = Annotated[int, Field(ge=1, le=5)]
"""1 cosmetic, 2 minor, 3 moderate, 4 severe, 5 catastrophic (RoboGaze, A.1)."""

HypothesisVerdict = Literal["accepted", "rejected", "merged", "unverified"]

TOO_UNCERTAIN = "too uncertain for an event: "
"""The beginning of the reason of a rejected hypothesis that was measured, but is too uncertain to be an event. Notes of
a report begin with it too, capitalised.
"""

NOT_MEASURED = "Not measured: "
"""The beginning of a report's note on frames in which something could not be measured (docs/reports.md)."""


class Box(Data):
    """A rectangle in a view, in fractions of the view's width and height from the top left corner; never empty."""

    left: Fraction
    top: Fraction
    right: Fraction
    bottom: Fraction

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if self.left >= self.right or self.top >= self.bottom:
            raise ValueError("a box needs left < right and top < bottom")
        return self

    @property
    def area(self) -> float:
        """The area as a share of the view, in (0, 1]."""
        return (self.right - self.left) * (self.bottom - self.top)

    def iou(self, other: Self) -> float:
        """Intersection over union with another box of the same view, in [0, 1]."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        if width <= 0 or height <= 0:
            return 0.0
        return width * height / (self.area + other.area - width * height)


class Evidence(Data):
    """Frames that support a claim, and what is visible or was measured in them.

    `frames` are frame numbers, empty if no frame is cited. `view` is the view in which `box` lies. `picture` is the id
    of one of the report's pictures that shows the claim, such as a claim sheet. `source` is the stage that asked a
    model, or the measured signal.
    """

    text: str
    frames: tuple[int, ...] = ()
    view: str | None = None
    box: Box | None = None
    picture: str | None = None
    source: str


class Claim(Data):
    """The common fields of hypotheses and events.

    `spans` are disjoint, in order and in seconds (steps for interactive play). `severity` and `confidence` are None
    when not given.
    """

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
        """The start of the first span, in seconds."""
        return self.spans[0].start

    @property
    def offset_s(self) -> float:
        """The end of the last span, in seconds."""
        return self.spans[-1].end


class Hypothesis(Claim):
    """A claim and its verdict.

    `verdict` is "unverified" until a stage decides; `reason` explains the decision. If the hypothesis was merged into
    another one, `merged_into` is the id of the other hypothesis. `proposed_by` says where the hypothesis comes from,
    such as a dimension's specialist, a rule, or one of several sampled answers of a model.
    """

    verdict: HypothesisVerdict = "unverified"
    reason: str = ""
    merged_into: str | None = None
    proposed_by: str

    @model_validator(mode="after")
    def _merged_has_a_target(self) -> Self:
        if (self.verdict == "merged") != (self.merged_into is not None):
            raise ValueError(
                f"{self.id}: the verdict 'merged' needs merged_into, and no other verdict can have merged_into"
            )
        return self


class Reproduction(Data):
    """Commands that should show an event of an interactive play again in a fresh session.

    `reproduced` says whether a replay of the commands showed the event again; None if the environment could not replay
    them. `recorded` is the number of commands before they were shortened. `replays` counts the replays that were made
    after the play to check and shorten the commands.
    """

    commands: tuple[str, ...]
    reproduced: bool | None
    recorded: int = Field(ge=0)
    replays: int = Field(ge=0)


class Event(Claim):
    """A fault that a report states.

    `secondary` are further dimensions that the fault belongs to. `reproduction` is given only for an event of an
    interactive play; otherwise it is None and is not written.
    """

    secondary: tuple[Name, ...] = ()
    reproduction: Reproduction | None = None

    @model_serializer(mode="wrap")
    def _without_unused(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        if written["reproduction"] is None:
            del written["reproduction"]
        return written
