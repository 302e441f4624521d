"""What a rule over measured signals means: an event type, in words, and how sure its findings are.

How sure comes from clips of which the truth is known: a rule states how many of its findings that reached so and so
far were right. Without such counts the confidence stays open (None).
"""

from itertools import pairwise
from typing import Self

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.core.events import Name
from robogaze.evidence import SignalRule


class ConfidenceStep(Data):
    """What findings were worth whose peak went as far as `reaching`, or further: `right` of so many `of`."""

    reaching: float
    right: int = Field(ge=0)
    of: int = Field(ge=1)

    @property
    def share(self) -> float:
        """The share that is right, one right and one wrong added: of few findings nothing is sure."""
        return (self.right + 1) / (self.of + 2)


class Weak(Data):
    """From where on, `beyond`, findings that do not reach a rule's threshold are told as evidence; `told` says why."""

    beyond: float
    told: str = Field(min_length=1)


class EventRule(SignalRule):
    """A rule with what it means: an event type, and the prompt that describes it.

    `confidence` are steps outward from the threshold, of which none is worth less than the one before. `told` says
    why its findings are told as evidence and make no event; empty where they do, and then `weak` may say from where on
    weaker ones are told.
    """

    dimension: Name
    type: Name
    describe: str
    confidence: tuple[ConfidenceStep, ...] = ()
    told: str = ""
    weak: Weak | None = None

    @model_validator(mode="after")
    def _rises(self) -> Self:
        sign = 1 if self.above is not None else -1
        for one, other in pairwise(self.confidence):
            if sign * one.reaching >= sign * other.reaching or one.share > other.share:
                raise ValueError(f"the steps of confidence in {self.signal} must lead outward and never fall")
        return self

    @model_validator(mode="after")
    def _weak_before_the_threshold(self) -> Self:
        if self.weak is not None and self.told:
            raise ValueError(f"all findings of the rule on {self.signal} are only told; 'weak' adds nothing")
        sign, threshold = (1, self.above) if self.above is not None else (-1, self.below)
        if self.weak is not None and threshold is not None and sign * self.weak.beyond >= sign * threshold:
            raise ValueError(f"'weak' of the rule on {self.signal} must come before its threshold")
        return self

    def at(self, threshold: float) -> Self:
        """The rule with another threshold, no confidence yet, and nothing weaker that is told."""
        side = "above" if self.above is not None else "below"
        return self.with_(**{side: threshold}, confidence=(), weak=None)

    @property
    def weakened(self) -> Self | None:
        """The rule that tells of weak findings and of those that make events, each stretch by itself; None without."""
        return None if self.weak is None else self.at(self.weak.beyond).with_(told=self.weak.told, join_s=0.0)

    def sure(self, peak: float) -> float | None:
        """The confidence in a finding with this peak, that of the last step it reaches; None without steps."""
        sign = 1 if self.above is not None else -1
        reached = [one for one in self.confidence if sign * peak >= sign * one.reaching]
        return (reached or self.confidence)[-1 if reached else 0].share if self.confidence else None
