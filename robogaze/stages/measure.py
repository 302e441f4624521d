"""measure: hypotheses from signals that were measured in every frame, by the rules of a pipeline.

A rule names a signal, a threshold, a minimum duration and an event type; a template describes the finding. No model is
asked. Without rules the stage only provides the measurements to later stages.

A rule may have an innocent explanation for a finding, such as a moving camera. If it applies, the finding becomes a
rejected hypothesis with the explanation and its measured value. Findings of a `report_only` rule, and findings between
a rule's weak threshold and its threshold, also become rejected hypotheses, because too few of them are correct to
report them as events. They leave their dimension undecided, even if no rule covers the dimension.

If a signal could not be measured, its rule has no answer. All these gaps are reported. If the gaps exceed the allowance
of the pipeline, the rule's dimension is not examined, and a failure gives the reason.

A dimension whose rules find few of its possible faults is partially covered (`partial`): a finding is an event, but a
fault is possible even without a finding.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypedDict

from pydantic import Field

from robogaze.core import events
from robogaze.core.clip import Clip
from robogaze.core.coverage import Coverage, CoverageState
from robogaze.core.data import Data, Fraction
from robogaze.core.events import NOT_MEASURED, TOO_UNCERTAIN, Hypothesis, Name
from robogaze.core.report import Failure
from robogaze.core.time import RESOLUTION
from robogaze.domains import Domain
from robogaze.errors import FailureKind, InputError
from robogaze.evidence import (
    Classifier,
    ClipSignals,
    MeasurementGap,
    RuleFinding,
    check_signals,
    class_signals,
    describe_place,
    explained_findings,
    find,
    known_signals,
    measurement_gaps,
    with_classes,
)
from robogaze.stages.base import InvalidParameter, Stage
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context, Slot
from robogaze.stages.event_rule import EventRule

_SPANS_SHOWN = 3


class MeasureVariables(TypedDict):
    """The variables of a description.

    `view` is None for a clip with one view, and `place` is None for the whole picture. `peak`, in `unit`, is the value
    of the rule's reported signal at the finding's peak.
    """

    view: str | None
    start_s: float
    end_s: float
    peak: float
    unit: str
    place: str | None


class Allowance(Data):
    """The largest gap in the measurements of a view with which the dimension still counts as examined. By default, no
    gap is allowed.

    `share` is a share of the frames, and `stretch_s` is the longest duration without a measurement.
    """

    share: Fraction = 0.0
    stretch_s: float = Field(default=0.0, ge=0)

    def allows(self, gap: MeasurementGap) -> bool:
        """Whether the gap is within both limits."""
        return gap.frames <= self.share * gap.of and gap.longest_s <= self.stretch_s + RESOLUTION


class Measure(Stage):
    """Writes a hypothesis for every finding of every rule; severity is the default of the event type.

    `classifiers` are names of files in the domain's folder `classifiers`.
    """

    classifiers: tuple[Name, ...] = ()
    rules: tuple[EventRule, ...] = ()
    partial: tuple[Name, ...] = ()
    unmeasured: Allowance = Allowance()

    def writes(self) -> frozenset[Slot]:
        return frozenset({"evidence", "hypotheses"})

    def examines(self) -> bool:
        """True if the findings of some rules become events."""
        return bool(self._event_rules)

    def covers(self, domain: Domain) -> frozenset[str]:
        """The dimensions in which findings become events, except the partially covered dimensions."""
        return frozenset(rule.dimension for rule in self._event_rules) - self.covers_partly(domain)

    def covers_partly(self, domain: Domain) -> frozenset[str]:
        """The dimensions in which findings become events, but whose rules find too little to rule out a fault."""
        return frozenset(self.partial)

    def templates(self) -> Mapping[str, type]:
        return {rule.describe: MeasureVariables for rule in self.rules}

    def check(self, domain: Domain) -> None:
        """Raise ValueError for an unknown signal or classifier, or for a type that does not belong to its dimension."""
        try:
            known = class_signals(self._load_classifiers(domain), known_signals())
        except InputError as error:
            raise ValueError(str(error)) from error
        for number, rule in enumerate(self.rules):
            try:
                check_signals(rule, known)
            except InputError as error:
                raise InvalidParameter(str(error), "rules", number) from error
            if rule.dimension not in domain.dimensions:
                names = ", ".join(domain.dimensions)
                raise InvalidParameter(f"there is no dimension {rule.dimension}; use {names}", "rules", number)
            if domain.dimension_of.get(rule.type) != rule.dimension:
                raise InvalidParameter(f"{rule.type} is not a type of {rule.dimension}", "rules", number)
        for name in self.partial:
            if name not in {rule.dimension for rule in self._event_rules}:
                raise ValueError(f"'partial' names the dimension {name}, but no rule makes an event in this dimension")

    def notes(self, domain: Domain, evidence: ClipSignals | None) -> tuple[str, ...]:
        """The limitations of the signals, the findings that are too uncertain to be events, and the gaps that are
        allowed.
        """
        if evidence is None:
            return ()
        evidence = with_classes(evidence, self._load_classifiers(domain))
        limitations = {rule.type: evidence.signals[rule.signal].limitation for rule in self._event_rules}
        uncertain = ((domain.types[rule.type].name, rule.report_only) for rule, _ in self._uncertain(evidence))
        allowed = [(rule, gap) for rule, gap in self._worst_gaps(evidence) if self.unmeasured.allows(gap)]
        return (
            *(f"{domain.types[kind].name}: {limitation}." for kind, limitation in limitations.items() if limitation),
            *(f"{TOO_UNCERTAIN.capitalize()}{name}. {reason}." for name, reason in dict.fromkeys(uncertain)),
            *(f"{text}." for _, text in _describe_gaps(allowed, evidence, domain)),
        )

    async def run(self, context: Context, client: ModelClient) -> Context:
        assert context.evidence is not None, "diagnose measures the clip for a pipeline with this stage"
        domain = client.domain
        evidence = with_classes(context.evidence, self._load_classifiers(domain))
        first = len(context.hypotheses or ()) + 1
        hypotheses = self._hypotheses(evidence, context.clip, domain)
        numbered = tuple(hypothesis.with_(id=f"H{number}") for number, hypothesis in enumerate(hypotheses, start=first))
        failures = (*self._gap_failures(evidence, context, domain), *self._undecided(evidence, context, domain))
        return replace(
            context.covering(self._coverage(evidence, context, domain)),
            hypotheses=(*(context.hypotheses or ()), *numbered),
            failures=(*context.failures, *failures),
        )

    @property
    def _event_rules(self) -> tuple[EventRule, ...]:
        """The rules whose findings become events."""
        return tuple(rule for rule in self.rules if not rule.report_only)

    def _load_classifiers(self, domain: Domain) -> tuple[Classifier, ...]:
        """The classifiers of the domain. Raises InputError for an unknown name, DomainError for a wrong file."""
        for name in self.classifiers:
            if name not in domain.classifiers:
                known = ", ".join(domain.classifiers) or "none"
                raise InputError(f"the domain {domain.id} has no classifier {name!r} (known: {known})")
        return tuple(domain.classifiers[name].parse(Classifier) for name in self.classifiers)

    def _uncertain(self, evidence: ClipSignals) -> Iterator[tuple[EventRule, RuleFinding]]:
        """The findings that do not become events, with their rules.

        A finding that overlaps an event of the same type, in any view, belongs to that event and is left out.
        """
        for rule in self.rules:
            uncertain_rule = rule if rule.report_only else rule.weak_rule
            if uncertain_rule is None:
                continue
            same_type = (other for other in self._event_rules if other.type == rule.type)
            found = [finding.span for other in same_type for finding in find(other, evidence)]
            for finding in find(uncertain_rule, evidence):
                if not any(finding.span.overlap(span) > 0 for span in found):
                    yield uncertain_rule, finding

    def _worst_gaps(self, evidence: ClipSignals) -> tuple[tuple[EventRule, MeasurementGap], ...]:
        """The worst gap of each event type in each view, ordered by type."""
        types = [rule.type for rule in self._event_rules]
        worst: dict[tuple[str, str], tuple[EventRule, MeasurementGap]] = {}
        for rule in self._event_rules:
            for gap in measurement_gaps(rule.weak_rule or rule, evidence):
                _, present = worst.setdefault((rule.type, gap.view), (rule, gap))
                if (self.unmeasured.allows(present), -present.frames) > (self.unmeasured.allows(gap), -gap.frames):
                    worst[rule.type, gap.view] = (rule, gap)
        return tuple(worst[key] for key in sorted(worst, key=lambda key: types.index(key[0])))

    def _examined(self, context: Context, domain: Domain) -> frozenset[str]:
        """The dimensions that the rules of the stage cover in this clip, wholly or partially."""
        partial = self.covers_partly(domain) & set(context.partial_dimensions)
        return (self.covers(domain) & set(context.dimensions)) | partial

    def _coverage(self, evidence: ClipSignals, context: Context, domain: Domain) -> dict[str, Coverage]:
        """The coverage of each examined dimension."""
        gaps = [(rule, gap) for rule, gap in self._worst_gaps(evidence) if not self.unmeasured.allows(gap)]
        coverage = {}
        for dimension in self._examined(context, domain):
            types = tuple(dict.fromkeys(rule.type for rule in self._event_rules if rule.dimension == dimension))
            here = [gap for rule, gap in gaps if rule.dimension == dimension]
            if here:
                coverage[dimension] = _coverage_with_gaps(here, len(types) * len(evidence.views))
                continue
            names = ", ".join(domain.types[kind].name for kind in types)
            if dimension in self.partial:
                reason = f"measured in the pixels, which show only some faults of these types: {names}"
                coverage[dimension] = Coverage(state="partial", reason=reason)
            else:
                coverage[dimension] = Coverage(
                    state="examined", reason=f"measured in the pixels of every frame: {names}"
                )
        return coverage

    def _hypotheses(self, evidence: ClipSignals, clip: Clip, domain: Domain) -> Iterator[Hypothesis]:
        """The findings, the findings too uncertain for an event, and the explained findings."""
        for rule in self._event_rules:
            tried = "; ".join(condition.explanation for condition in rule.unless if condition.explanation)
            for finding in find(rule, evidence):
                hypothesis = _hypothesis(rule, finding, clip, domain)
                yield hypothesis.with_(reason=f"not explained by: {tried}") if tried else hypothesis
        for rule, finding in self._uncertain(evidence):
            reason = f"{TOO_UNCERTAIN}{rule.report_only}"
            yield _hypothesis(rule, finding, clip, domain).with_(verdict="rejected", reason=reason)
        for rule in self.rules:
            for explained in explained_findings(rule, evidence):
                condition = explained.condition
                value = f"{condition.signal} reaches {explained.peak:.3g} {explained.unit}"
                reason = f"{condition.explanation}: {value} (explains it: {condition.limit})"
                hypothesis = _hypothesis(rule, explained.finding, clip, domain)
                yield hypothesis.with_(verdict="rejected", reason=reason, confidence=None)

    def _undecided(self, evidence: ClipSignals, context: Context, domain: Domain) -> Iterator[Failure]:
        """A failure for each finding too uncertain for an event, except in dimensions that only other stages decide."""
        others = set(context.dimensions) - self.covers(domain)
        for rule, finding in self._uncertain(evidence):
            if rule.dimension in others:
                continue
            when = f"{domain.types[rule.type].name} at {finding.span.start:.2f}-{finding.span.end:.2f} s"
            yield Failure(
                stage="measure",
                dimension=rule.dimension,
                kind=FailureKind.EVIDENCE_ONLY,
                message=f"{when} is undecided: {rule.report_only}; check the clip yourself or run with a model",
            )

    def _gap_failures(self, evidence: ClipSignals, context: Context, domain: Domain) -> Iterator[Failure]:
        """A failure for each gap beyond the allowance."""
        limit = f"allowed: {self.unmeasured.share:.0%} of the frames, {self.unmeasured.stretch_s:g} s at a time"
        examined = self._examined(context, domain)
        beyond = [
            (rule, gap)
            for rule, gap in self._worst_gaps(evidence)
            if rule.dimension in examined and not self.unmeasured.allows(gap)
        ]
        for dimension, text in _describe_gaps(beyond, evidence, domain):
            yield Failure(
                stage="measure", dimension=dimension, kind=FailureKind.NOT_MEASURED, message=f"{text} ({limit})"
            )


def _coverage_with_gaps(gaps: Sequence[MeasurementGap], possible: int) -> Coverage:
    """The coverage of a dimension with gaps beyond the allowance; `possible` is the number of types times views."""
    widest = max(gaps, key=lambda gap: gap.frames / gap.of)
    nowhere = sum(gap.frames == gap.of for gap in gaps) == possible
    state: CoverageState = "not_examined" if nowhere else "partial"
    return Coverage(state=state, reason=f"not measured in {widest.frames} of {widest.of} frames: {widest.reason}")


def _hypothesis(rule: EventRule, finding: RuleFinding, clip: Clip, domain: Domain) -> Hypothesis:
    """The hypothesis of a finding, with a provisional id."""
    single = len(clip.layout.active) == 1
    variables = MeasureVariables(
        view=None if single else finding.view,
        start_s=finding.span.start,
        end_s=finding.span.end,
        peak=finding.amount,
        unit=finding.unit,
        place=describe_place(finding.box),
    )
    reported = f"{rule.reports} {finding.amount:.3g} {finding.unit}".strip()
    values = reported if rule.reports == rule.signal else f"{rule.signal} {finding.peak:.3g}, {reported}"
    text = f"{values} at frame {finding.peak_frame} (rule: {rule.signal} {rule.limit})"
    evidence = events.Evidence(
        text=text, frames=finding.frames, view=finding.view, box=finding.box, source=f"signal {rule.signal}"
    )
    return Hypothesis(
        id="H0",
        dimension=rule.dimension,
        type=rule.type,
        spans=(clip.clamp(finding.span),),
        severity=domain.types[rule.type].severity,
        confidence=rule.confidence_at(finding.peak),
        description=domain.prompts.render(rule.describe, variables),
        evidence=(evidence,),
        proposed_by=_proposer(rule, None if single else finding.view),
    )


def _proposer(rule: EventRule, view: str | None) -> str:
    """The rule that proposes a hypothesis. Findings of different rules, or in different views, can be one event."""
    where = "" if view is None else f" in the view {view}"
    return f"signal {rule.signal} {rule.limit}{where}"


def _describe_gaps(
    gaps: Sequence[tuple[EventRule, MeasurementGap]], evidence: ClipSignals, domain: Domain
) -> Iterator[tuple[Name, str]]:
    """One sentence for the gaps of an event type that have the same reason, with the dimension."""
    for (kind, reason), same in groupby(gaps, key=lambda rule_gap: (rule_gap[0].type, rule_gap[1].reason)):
        where = ", ".join(_describe_frames(gap, evidence) for _, gap in same)
        yield domain.dimension_of[kind], f"{NOT_MEASURED}{domain.types[kind].name} in {where}: {reason}"


def _describe_frames(gap: MeasurementGap, evidence: ClipSignals) -> str:
    """The number of frames, and the times of the longest runs."""
    edges_s = evidence.frame_edges_s
    longest = sorted(gap.runs, key=lambda run: edges_s[run[0]] - edges_s[run[1]])[:_SPANS_SHOWN]
    times = ", ".join(f"{edges_s[first]:.2f}-{edges_s[end]:.2f} s" for first, end in sorted(longest))
    more = f" and {len(gap.runs) - len(longest)} more" if len(gap.runs) > len(longest) else ""
    view = f" of the view {gap.view}" if len(evidence.views) > 1 else ""
    return f"{gap.frames} of {gap.of} frames{view} ({times}{more})"
