"""measure: hypotheses from what was measured in the pixels, by the rules a pipeline states.

A rule says which signal, beyond which value and for how long, means which event type; the description is rendered
from a template, with the measured amount. No model is asked. Without rules the stage only makes the measurements
known to the stages after it.

The rules are their own critic. What an explanation of a rule (the camera moves, something passes) keeps from being
found is a hypothesis all the same: rejected, with what explains it and how much of that was measured. So is what a rule
finds that is only `told`, because too few such findings were right where the truth is known, or so few faults are found
that the others are not ruled out, and what comes near the threshold of a rule that makes events (`weak`). Its dimension
is then undecided, also a dimension that is not covered otherwise: nothing was found, and nothing ruled out.

Where a signal could not be measured a rule finds nothing, and that is no answer. Such gaps are reported, however short.
What they may amount to is a parameter: beyond it the rule's dimension is not examined, and a failure says why.

A dimension whose rules find too little of what may be wrong in it is partially covered (`partial`): what they find is
an event, and no finding does not mean no fault.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core import events
from robogaze.core.clip import Clip
from robogaze.core.coverage import Coverage, CoverageState
from robogaze.core.data import Data, Fraction
from robogaze.core.events import Hypothesis, Name
from robogaze.core.report import Failure
from robogaze.core.time import RESOLUTION
from robogaze.domains import Domain
from robogaze.errors import FailureKind, InputError
from robogaze.evidence import (
    SIGNALS,
    Classifier,
    ClipSignals,
    MeasurementGap,
    RuleFinding,
    check,
    class_signals,
    classified,
    explained,
    find,
    gaps,
    place,
)
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot
from robogaze.stages.event_rule import EventRule
from robogaze.stages.measure_notes import ONLY_EVIDENCE, gaps_in_words


class MeasureVariables(TypedDict):
    """What a description may use; `view` is None for a clip of one view, `place` None for the whole picture.

    `peak`, in `unit`, is the value of the signal that the rule shows, where the rule is at its most extreme.
    """

    view: str | None
    start_s: float
    end_s: float
    peak: float
    unit: str
    place: str | None


class Allowance(Data):
    """How much of a view may go unmeasured by a rule whose dimension counts as judged all the same.

    At most this `share` of its frames, and no stretch longer than `stretch_s`. By default nothing may.
    """

    share: Fraction = 0.0
    stretch_s: float = Field(default=0.0, ge=0)


class Measure(Stage):
    """Writes a hypothesis for every finding of every rule, rejected where it is explained away or only told.

    Severity is the type's usual one, since nothing here measures what the fault means for the task.
    """

    prompts: ClassVar[Mapping[str, type]] = {}

    classifiers: tuple[Classifier, ...] = ()
    rules: tuple[EventRule, ...] = ()
    partial: tuple[Name, ...] = ()
    unmeasured: Allowance = Allowance()

    def writes(self) -> frozenset[Slot]:
        """The evidence, and the hypotheses."""
        return frozenset({"evidence", "hypotheses"})

    def examines(self) -> bool:
        """With rules that make events, it does."""
        return bool(self._deciding)

    def covers(self, domain: Domain) -> frozenset[str]:
        """The dimensions in which its rules can make an event, but for those it covers partly."""
        return frozenset(rule.dimension for rule in self._deciding) - self.covers_partly(domain)

    def covers_partly(self, domain: Domain) -> frozenset[str]:
        """The dimensions in which its rules make events and find too little to say that there is none."""
        return frozenset(self.partial)

    @property
    def _deciding(self) -> tuple[EventRule, ...]:
        """The rules whose findings make events."""
        return tuple(rule for rule in self.rules if not rule.told)

    def _only_told(self, evidence: ClipSignals) -> Iterator[tuple[EventRule, RuleFinding]]:
        """What is found that makes no event, with the rule that tells of it.

        What a fault of the same type that is found meets in time, in any view, is a part of that fault.
        """
        telling = (rule if rule.told else rule.weakened for rule in self.rules)
        for rule in (one for one in telling if one is not None):
            same = (one for one in self._deciding if one.type == rule.type)
            found = [finding.span for one in same for finding in find(one, evidence)]
            for weak in find(rule, evidence):
                if not any(weak.span.overlap(span) > 0 for span in found):
                    yield rule, weak

    def notes(self, domain: Domain, evidence: ClipSignals | None) -> tuple[str, ...]:
        """What the rules cannot show, what is evidence only, and where they could not measure."""
        if evidence is None:
            return ()
        evidence = classified(evidence, self.classifiers)
        hidden = {rule.type: hides for rule in self._deciding if (hides := evidence.signals[rule.signal].hides)}
        limits = (f"{domain.types[kind].name}: {hides}." for kind, hides in hidden.items())
        told = [(rule, gap) for rule, gap in self._gaps(evidence) if self._allows(gap)]
        weak = (f"{ONLY_EVIDENCE}{name}. {why}." for name, why in self._weak(domain, evidence))
        return (*limits, *weak, *(f"{gap}." for _, gap in gaps_in_words(told, evidence, domain)))

    def _weak(self, domain: Domain, evidence: ClipSignals) -> tuple[tuple[str, str], ...]:
        """The types of which something was found that makes no event, and why it makes none."""
        found = self._only_told(evidence)
        return tuple(dict.fromkeys((domain.types[rule.type].name, rule.told) for rule, _ in found))

    def _gaps(self, evidence: ClipSignals) -> tuple[tuple[EventRule, MeasurementGap], ...]:
        """The worst gap of each type in each view, views of a type together."""
        types = [rule.type for rule in self._deciding]
        worst: dict[tuple[str, str], tuple[EventRule, MeasurementGap]] = {}
        for rule in self._deciding:
            for gap in gaps(rule.weakened or rule, evidence):
                told = worst.setdefault((rule.type, gap.view), (rule, gap))[1]
                if (self._allows(told), -told.frames) > (self._allows(gap), -gap.frames):
                    worst[rule.type, gap.view] = (rule, gap)
        return tuple(worst[key] for key in sorted(worst, key=lambda key: types.index(key[0])))

    def _allows(self, gap: MeasurementGap) -> bool:
        allowed = self.unmeasured
        return gap.frames <= allowed.share * gap.of and gap.longest_s <= allowed.stretch_s + RESOLUTION

    def templates(self) -> Mapping[str, type]:
        """The rules' descriptions."""
        return {rule.describe: MeasureVariables for rule in self.rules}

    def check(self, domain: Domain) -> None:
        """Raise ValueError for a signal no meter measures, or a type that is not of its dimension."""
        try:
            known = class_signals(self.classifiers, SIGNALS)
            for rule in self.rules:
                check(rule, known)
        except InputError as error:
            raise ValueError(str(error)) from error
        for rule in self.rules:
            if domain.dimension_of.get(rule.type) != rule.dimension:
                raise ValueError(f"{rule.type} is not a type of {rule.dimension}")
        for name in self.partial:
            if name not in {rule.dimension for rule in self._deciding}:
                raise ValueError(f"partial names {name}, in which no rule makes an event")

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Apply the rules; asks no model."""
        assert context.evidence is not None, "diagnose measures the clip for a pipeline with this stage"
        evidence = classified(context.evidence, self.classifiers)
        first = len(context.hypotheses or ()) + 1
        claims = self._claims(evidence, context.clip, desk.domain)
        found = tuple(claim.with_(id=f"H{number}") for number, claim in enumerate(claims, start=first))
        failures = (
            *self._failures(evidence, context, desk.domain),
            *self._undecided(evidence, context, desk.domain),
        )
        return replace(
            context.covering(self._coverage(evidence, context, desk.domain)),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *failures),
        )

    def _asked(self, context: Context, domain: Domain) -> frozenset[str]:
        """The dimensions that its rules cover in this clip, wholly or partly."""
        partly = self.covers_partly(domain) & set(context.partial_dimensions)
        return (self.covers(domain) & set(context.dimensions)) | partly

    def _coverage(self, evidence: ClipSignals, context: Context, domain: Domain) -> dict[str, Coverage]:
        """What each dimension's rules could look for, and where they could not measure."""
        asked, gaps = self._asked(context, domain), self._gaps(evidence)
        beyond = {
            name: [gap for rule, gap in gaps if rule.dimension == name and not self._allows(gap)] for name in asked
        }
        types = {name: [rule.type for rule in self._deciding if rule.dimension == name] for name in asked}
        cells = {name: len(set(types[name])) * len(evidence.views) for name in asked}
        return {name: _covered(types[name], name in self.partial, beyond[name], cells[name], domain) for name in asked}

    def _claims(self, evidence: ClipSignals, clip: Clip, domain: Domain) -> Iterator[Hypothesis]:
        """What the rules find, what they only tell, and what was explained away."""
        for rule in self._deciding:
            tried = "; ".join(one.explains for one in rule.unless if one.explains)
            for finding in find(rule, evidence):
                claim = _hypothesis(rule, finding, clip, domain)
                yield claim.with_(reason=f"not explained by: {tried}") if tried else claim
        for rule, finding in self._only_told(evidence):
            reason = f"evidence only: {rule.told}"
            yield _hypothesis(rule, finding, clip, domain).with_(verdict="rejected", reason=reason)
        for rule in self.rules:
            for one in explained(rule, evidence):
                seen = f"{one.by.signal} reaches {one.peak:.3g} {one.unit} (explains it: {one.by.limit})"
                reason = f"{one.by.explains}: {seen}"
                claim = _hypothesis(rule, one.finding, clip, domain)
                yield claim.with_(verdict="rejected", reason=reason, confidence=None)

    def _undecided(self, evidence: ClipSignals, context: Context, domain: Domain) -> Iterator[Failure]:
        """What is evidence only, and no part of a fault that was found: neither a fault nor nothing.

        In a dimension that only other stages cover it is theirs to decide.
        """
        theirs = set(context.dimensions) - self.covers(domain)
        for rule, weak in ((rule, weak) for rule, weak in self._only_told(evidence) if rule.dimension not in theirs):
            when = f"{domain.types[rule.type].name} at {weak.span.start:.2f}-{weak.span.end:.2f} s"
            yield Failure(
                stage="measure",
                dimension=rule.dimension,
                kind=FailureKind.EVIDENCE_ONLY,
                message=f"{when} is neither found nor ruled out: {rule.told}; check it yourself or run with a model",
            )

    def _failures(self, evidence: ClipSignals, context: Context, domain: Domain) -> Iterator[Failure]:
        """The gaps beyond what is allowed."""
        limit = f"allowed: {self.unmeasured.share:.0%} of the frames, {self.unmeasured.stretch_s:g} s on end"
        asked = self._asked(context, domain)
        beyond = [
            (rule, gap) for rule, gap in self._gaps(evidence) if rule.dimension in asked and not self._allows(gap)
        ]
        for dimension, told in gaps_in_words(beyond, evidence, domain):
            yield Failure(
                stage="measure", dimension=dimension, kind=FailureKind.NOT_MEASURED, message=f"{told} ({limit})"
            )


def _covered(
    types: Sequence[str], partly: bool, beyond: Sequence[MeasurementGap], cells: int, domain: Domain
) -> Coverage:
    """The coverage of a dimension with rules for these types.

    `beyond` are the gaps larger than is allowed, the worst of each type in each view; `cells` counts types times views.
    """
    if beyond:
        widest = max(beyond, key=lambda gap: gap.frames / gap.of)
        nowhere = sum(gap.frames == gap.of for gap in beyond) == cells
        state: CoverageState = "not_examined" if nowhere else "partial"
        return Coverage(state=state, reason=f"not measured in {widest.frames} of {widest.of} frames: {widest.why}")
    names = ", ".join(domain.types[kind].name for kind in dict.fromkeys(types))
    if partly:
        return Coverage(
            state="partial", reason=f"measured in the pixels, which show some faults of these types: {names}"
        )
    return Coverage(state="examined", reason=f"measured in the pixels of every frame: {names}")


def _hypothesis(rule: EventRule, finding: RuleFinding, clip: Clip, domain: Domain) -> Hypothesis:
    """A finding in words; its id is given when all are there."""
    single = len(clip.layout.active) == 1
    variables = MeasureVariables(
        view=None if single else finding.view,
        start_s=finding.span.start,
        end_s=finding.span.end,
        peak=finding.amount,
        unit=finding.unit,
        place=place(finding.box),
    )
    shown = f"{rule.shown} {finding.amount:.3g} {finding.unit}".strip()
    reached = shown if rule.shown == rule.signal else f"{rule.signal} {finding.peak:.3g}, {shown}"
    measured = f"{reached} at frame {finding.peak_frame} (rule: {rule.signal} {rule.limit})"
    evidence = events.Evidence(
        text=measured, frames=finding.frames, view=finding.view, box=finding.box, source=f"signal {rule.signal}"
    )
    return Hypothesis(
        id="H0",
        dimension=rule.dimension,
        type=rule.type,
        spans=(clip.clamp(finding.span),),
        severity=domain.types[rule.type].severity,
        confidence=rule.sure(finding.peak),
        description=domain.prompts.render(rule.describe, variables),
        evidence=(evidence,),
        proposed_by=f"signal {rule.signal}" if single else f"signal {rule.signal} in the view {finding.view}",
    )
