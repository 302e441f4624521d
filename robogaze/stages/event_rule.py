"""Rules over signals. Each rule indicates an event type, and its findings may have a confidence.

The confidence of a finding comes from counts on clips with known events. The findings of the rule in these clips are
divided into steps by their peaks. The confidence is the share of correct findings in the step that the peak of this
finding reaches. Without such counts, a finding has no confidence (None).
"""

from itertools import pairwise
from typing import Self

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.core.events import Name
from robogaze.evidence import SignalRule


class ConfidenceStep(Data):
    """The number of correct findings among the findings whose peak reached `peak` but not the next step."""

    peak: float
    correct: int = Field(ge=0)
    of: int = Field(ge=1)

    @property
    def share(self) -> float:
        """The share of findings that are correct, computed after one correct and one wrong finding are added."""
        return (self.correct + 1) / (self.of + 2)


class WeakThreshold(Data):
    """A weaker threshold. Findings that reach only this threshold, not the rule's own, are reported without an event.
    `reason` says why.
    """

    value: float
    reason: str = Field(min_length=1)


class EventRule(SignalRule):
    """A rule with the event type that it indicates and the prompt that describes a finding.

    The steps of `confidence` start at the threshold and go outward from there; the confidence never decreases from one
    step to the next. `report_only` is the reason why the findings are reported without an event; it is empty if they
    become events. If the findings become events, `weak_threshold` may report weaker findings.
    """

    dimension: Name
    type: Name
    describe: str
    confidence: tuple[ConfidenceStep, ...] = ()
    report_only: str = ""
    weak_threshold: WeakThreshold | None = None

    @model_validator(mode="after")
    def _confidence_rises(self) -> Self:
        for inner, outer in pairwise(self.confidence):
            if self.sign * inner.peak >= self.sign * outer.peak or inner.share > outer.share:
                raise ValueError(
                    f"the confidence steps of {self.signal} must be in order, from the threshold outward; "
                    "the confidence must not fall"
                )
        return self

    @model_validator(mode="after")
    def _weak_before_threshold(self) -> Self:
        if self.weak_threshold is None:
            return self
        if self.report_only:
            raise ValueError(f"the rule on {self.signal} is 'report_only', so it cannot have a 'weak_threshold'")
        if self.sign * self.weak_threshold.value >= self.sign * self.threshold:
            raise ValueError(f"the 'weak_threshold' of the rule on {self.signal} must come before its threshold")
        return self

    def at(self, threshold: float) -> Self:
        """The rule with another threshold, without confidence and weak threshold."""
        side = "above" if self.above is not None else "below"
        return self.with_(**{side: threshold}, confidence=(), weak_threshold=None)

    @property
    def weak_rule(self) -> Self | None:
        """The rule at its weak threshold, without merging spans; None without a weak threshold."""
        if self.weak_threshold is None:
            return None
        return self.at(self.weak_threshold.value).with_(report_only=self.weak_threshold.reason, merge_gap_s=0.0)

    def confidence_at(self, peak: float) -> float | None:
        """The confidence of a finding with this peak: the confidence of the last step that the peak reaches; None
        without steps.
        """
        if not self.confidence:
            return None
        reached = [step for step in self.confidence if self.sign * peak >= self.sign * step.peak]
        return (reached[-1] if reached else self.confidence[0]).share
