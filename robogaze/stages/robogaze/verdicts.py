"""Verification: which hypotheses are decided, and how each decision of the critic changes a hypothesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robogaze.core.clip import Clip
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.core.time import Span, frame_iou
from robogaze.errors import FailureKind
from robogaze.stages.robogaze.claim_sheets import edges_shown
from robogaze.stages.robogaze.decisions import DecisionAnswer, share_time

_MAX_OMISSIONS = 1
"""How often the critic may omit a hypothesis before it stays unverified."""

_PRINTED_S = 0.01
"""The resolution of the times that a prompt prints, in seconds."""


@dataclass(frozen=True)
class Decided:
    """A decision, and what it was made from. `shown` are the frames, and `sheet` is the picture id of the claim sheet
    (None without a claim sheet).
    """

    decision: DecisionAnswer
    sheet: str | None
    shown: tuple[int, ...]


@dataclass
class VerificationState:
    """The hypotheses by id, and the ids that are pending.

    `omissions` counts how often the critic omitted a hypothesis. `reasons` says why a hypothesis is undecided, unless
    the critic omitted it. `low_confidence` are the ids that the critic accepted with too little confidence.
    """

    clip: Clip
    hypotheses: dict[str, Hypothesis]
    min_confidence: float
    pending: list[str] = field(init=False)
    omissions: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    low_confidence: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.pending = [name for name, hypothesis in self.hypotheses.items() if hypothesis.verdict == "unverified"]
        self._claimed = dict(self.hypotheses)

    @property
    def claims(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that are pending."""
        return tuple(self.hypotheses[name] for name in self.pending)

    @property
    def accepted(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that were accepted."""
        return tuple(hypothesis for hypothesis in self.hypotheses.values() if hypothesis.verdict == "accepted")

    def give_up(self, names: Sequence[str], reason: str) -> None:
        """Leave hypotheses unverified, with the reason."""
        self.pending = [name for name in self.pending if name not in names]
        self.reasons |= dict.fromkeys(names, reason)

    def decide(self, decisions: Mapping[str, Decided], same_span_iou: float | None) -> None:
        """Apply the decisions of a round.

        An accepted hypothesis stays pending if the IoU of its old and new span is below `same_span_iou`, unless its
        claim sheet showed the frames at the new edges. If `same_span_iou` is None, no hypothesis stays pending for this
        reason.
        """
        still_pending = []
        for name in self.pending:
            decided, hypothesis = decisions.get(name), self.hypotheses[name]
            self.reasons.pop(name, None)
            if decided is None:
                if self._may_be_omitted(name):
                    still_pending.append(name)
            elif decided.decision.decision == "MERGE":
                self.hypotheses[name] = _relabelled(hypothesis, decided.decision).with_(
                    verdict="merged", merged_into=decided.decision.merge_with, reason=decided.decision.rationale
                )
            else:
                after = self._judged(hypothesis, decided)
                self.hypotheses[name] = after
                if after.verdict == "accepted" and self._moved(hypothesis, decided, after, same_span_iou):
                    self.hypotheses[name] = after.with_(verdict="unverified")
                    still_pending.append(name)
        self.pending = still_pending + self._resolve_merges(decisions, still_pending)

    def _may_be_omitted(self, name: str) -> bool:
        """Count an omission, and return whether the hypothesis is requested again."""
        self.omissions[name] = self.omissions.get(name, 0) + 1
        return self.omissions[name] <= _MAX_OMISSIONS

    def _judged(self, hypothesis: Hypothesis, decided: Decided) -> Hypothesis:
        """The hypothesis after ACCEPT or REJECT."""
        decision = decided.decision
        seen = Evidence(
            text=decision.verified_evidence,
            frames=tuple(sorted(set(decision.frames))),
            source="verify",
            picture=decided.sheet,
        )
        earlier = tuple(evidence for evidence in hypothesis.evidence if evidence.source != "verify")
        after = hypothesis.with_(reason=decision.rationale, confidence=decision.confidence)
        if decision.decision == "REJECT":
            return after.with_(verdict="rejected", evidence=(*earlier, seen))
        verdict, reason = "accepted", decision.rationale
        if decision.confidence < self.min_confidence:
            self.low_confidence.add(hypothesis.id)
            too_low = f"{decision.confidence:.2f}, under {self.min_confidence:.2f}"
            verdict, reason = (
                "rejected",
                f"rejected, because the critic accepted it only with confidence {too_low}: {reason}",
            )
        return _relabelled(after, decision).with_(
            verdict=verdict,
            reason=reason,
            spans=_refined(hypothesis, decision.refined_span_s, self.clip),
            severity=decision.severity or hypothesis.severity,
            evidence=(seen, *earlier),
        )

    def _moved(self, before: Hypothesis, decided: Decided, after: Hypothesis, same_span_iou: float | None) -> bool:
        """Whether the span changed so much that the frames at its new edges were not shown."""
        if same_span_iou is None or frame_iou(before.spans, after.spans, self.clip.frame_times_s) >= same_span_iou:
            return False
        return decided.sheet is None or not edges_shown(after, decided.shown, self.clip)

    def _resolve_merges(self, decisions: Mapping[str, Decided], still_pending: Sequence[str]) -> list[str]:
        """Follow every merge of this round to an accepted hypothesis; return the ids of merges without an accepted
        hypothesis, to request them again.

        A merge fails if its chain ends at a hypothesis that was not accepted, if its chain returns to itself, or if the
        two hypotheses never overlap in time. A merge into a pending hypothesis waits for it and is not an omission. A
        merge into a hypothesis that was accepted with too little confidence is kept, because both make the same claim.
        """
        reopened = []
        merged = [name for name in self.pending if name in decisions and self.hypotheses[name].verdict == "merged"]
        for name in merged:
            hypothesis, target = self.hypotheses[name], self._root(name)
            if target is not None and self._may_be_merged(hypothesis, target):
                self.hypotheses[name] = hypothesis.with_(merged_into=target.id)
                continue
            self.reasons[name] = (
                f"the critic merged it into {hypothesis.merged_into}, but that hypothesis is not accepted at an "
                f"overlapping time"
            )
            self.hypotheses[name] = hypothesis.with_(verdict="unverified", merged_into=None)
            waits = target is not None and target.id in still_pending
            if (waits and self.omissions.get(name, 0) <= _MAX_OMISSIONS) or (not waits and self._may_be_omitted(name)):
                reopened.append(name)
        return reopened

    def _may_be_merged(self, hypothesis: Hypothesis, target: Hypothesis) -> bool:
        spans = (*target.spans, *self._claimed[target.id].spans)
        return (target.verdict == "accepted" or target.id in self.low_confidence) and share_time(
            hypothesis.spans, spans
        )

    def _root(self, name: str) -> Hypothesis | None:
        """The hypothesis at the end of a chain of merges; None if the chain is a circle."""
        seen = {name}
        hypothesis = self.hypotheses[name]
        while hypothesis.merged_into is not None:
            if hypothesis.merged_into in seen:
                return None
            seen.add(hypothesis.merged_into)
            hypothesis = self.hypotheses[hypothesis.merged_into]
        return hypothesis

    def result(self) -> tuple[Hypothesis, ...]:
        """All hypotheses, in their order. Each undecided hypothesis says why it is undecided."""
        return tuple(
            hypothesis.with_(reason=self.reasons.get(name, "the critic gave no decision on this hypothesis"))
            if hypothesis.verdict == "unverified"
            else hypothesis
            for name, hypothesis in self.hypotheses.items()
        )


def undecided_failures(hypotheses: Sequence[Hypothesis]) -> tuple[Failure, ...]:
    """A failure for each hypothesis that is undecided."""
    return tuple(
        Failure(
            stage="verify",
            dimension=hypothesis.dimension,
            kind=FailureKind.UNDECIDED,
            message=f"{hypothesis.id} ({hypothesis.type}) is undecided: {hypothesis.reason}",
        )
        for hypothesis in hypotheses
        if hypothesis.verdict == "unverified"
    )


def _relabelled(hypothesis: Hypothesis, decision: DecisionAnswer) -> Hypothesis:
    """The hypothesis with the dimension and type that the critic names, if any."""
    return hypothesis.with_(
        dimension=decision.primary_dimension or hypothesis.dimension, type=decision.type or hypothesis.type
    )


def _refined(hypothesis: Hypothesis, span_s: Sequence[float] | None, clip: Clip) -> tuple[Span, ...]:
    """The spans after ACCEPT; they are the spans of the claim if the critic repeats the claim's time exactly as the
    prompt printed it.
    """
    if span_s is None:
        return hypothesis.spans
    claimed = (hypothesis.onset_s, hypothesis.offset_s)
    if all(abs(given - known) < _PRINTED_S for given, known in zip(span_s, claimed, strict=True)):
        return hypothesis.spans
    return (clip.clamp(Span(*span_s)),)
