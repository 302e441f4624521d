"""measure: hypotheses from what was measured in the pixels, by the rules a pipeline states.

A rule says which signal, beyond which value and for how long, means which event type; the description is rendered
from a template, with the measured amount. No model is asked. Without rules the stage only makes the measurements
known to the stages after it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core import events
from robogaze.core.events import Hypothesis, Name
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.evidence import SIGNALS, Evidence, Finding, Rule, check, find, gaps, place
from robogaze.stages.base import Stage
from robogaze.stages.context import Context, Slot
from robogaze.stages.desk import Desk


class MeasureVariables(TypedDict):
    """What a description may use; `view` is None for a clip of one view, `place` None for the whole picture."""

    view: str | None
    start_s: float
    end_s: float
    peak: float
    unit: str
    place: str | None


class EventRule(Rule):
    """A rule with what it means: an event type, and the prompt that describes it."""

    dimension: Name
    type: Name
    describe: str


class Measure(Stage):
    """Writes a hypothesis for every finding of every rule.

    Severity is the type's usual one, since nothing here measures what the fault means for the task; confidence stays
    open (None), since nothing here has been calibrated.
    """

    prompts: ClassVar[Mapping[str, type]] = {}

    rules: tuple[EventRule, ...] = ()

    def writes(self) -> frozenset[Slot]:
        """The evidence, and the hypotheses."""
        return frozenset({"evidence", "hypotheses"})

    def examines(self) -> bool:
        """With rules, it does."""
        return bool(self.rules)

    def assesses(self, domain: Domain) -> frozenset[str]:
        """The dimensions its rules speak of."""
        return frozenset(rule.dimension for rule in self.rules)

    def notes(self, domain: Domain, evidence: Evidence | None) -> tuple[str, ...]:
        """Which types the rules can find, since a dimension holds more, and where they could not look."""
        if not self.rules:
            return ()
        types = ", ".join(dict.fromkeys(domain.types[rule.type].name for rule in self.rules))
        known = f"Measured in pixels, of the dimensions judged here: {types}; their other types need a model."
        return (known, *(() if evidence is None else self._gaps(domain, evidence)))

    def _gaps(self, domain: Domain, evidence: Evidence) -> Iterator[str]:
        """A sentence for every type whose signal is missing in frames after the first, which has none before it."""
        for kind in dict.fromkeys(rule.type for rule in self.rules):
            signals = [evidence.signals[rule.signal] for rule in self.rules if rule.type == kind]
            missing = {signal.name: gaps(evidence, signal.name) for signal in signals if signal.gap}
            if frames := max(missing.values(), default=0):
                why = next(signal.gap for signal in signals if missing.get(signal.name) == frames)
                total = len(evidence.frame_times_s)
                yield f"{domain.types[kind].name} could not be measured in {frames} of {total} frames: {why}."

    def templates(self) -> Mapping[str, type]:
        """The rules' descriptions."""
        return {rule.describe: MeasureVariables for rule in self.rules}

    def check(self, domain: Domain) -> None:
        """Raise ValueError for a signal no meter measures, or a type that is not of its dimension."""
        for rule in self.rules:
            try:
                check(rule, SIGNALS)
            except InputError as error:
                raise ValueError(str(error)) from error
            if domain.dimension_of.get(rule.type) != rule.dimension:
                raise ValueError(f"{rule.type} is not a type of {rule.dimension}")

    async def run(self, context: Context, desk: Desk) -> Context:
        """Apply the rules; asks no model."""
        assert context.evidence is not None, "diagnose measures the clip for a pipeline with this stage"
        first = len(context.hypotheses or ()) + 1
        findings = ((rule, finding) for rule in self.rules for finding in find(rule, context.evidence))
        found = tuple(
            _hypothesis(f"H{number}", rule, finding, context, desk.domain)
            for number, (rule, finding) in enumerate(findings, start=first)
        )
        judged = frozenset(rule.dimension for rule in self.rules) & set(context.assessed)
        return replace(context, hypotheses=(*(context.hypotheses or ()), *found), judged=context.judged | judged)


def _hypothesis(name: str, rule: EventRule, finding: Finding, context: Context, domain: Domain) -> Hypothesis:
    single = len(context.clip.layout.active) == 1
    variables = MeasureVariables(
        view=None if single else finding.view,
        start_s=finding.span.start,
        end_s=finding.span.end,
        peak=finding.peak,
        unit=finding.unit,
        place=place(finding.box),
    )
    limit = f"above {rule.above:g}" if rule.above is not None else f"below {rule.below:g}"
    measured = f"{rule.signal} reaches {finding.peak:.3g} {finding.unit} at frame {finding.peak_frame} (rule: {limit})"
    evidence = events.Evidence(
        text=measured, frames=finding.frames, view=finding.view, box=finding.box, source=f"signal {rule.signal}"
    )
    return Hypothesis(
        id=name,
        dimension=rule.dimension,
        type=rule.type,
        spans=(context.clip.clamp(finding.span),),
        severity=domain.types[rule.type].severity,
        confidence=None,
        description=domain.prompts.render(rule.describe, variables),
        evidence=(evidence,),
        proposed_by=f"signal {rule.signal}" if single else f"signal {rule.signal} in the view {finding.view}",
    )
