"""A gate: rules that a checkpoint must pass, from a YAML file.

    rules:
      - no_new_types: {severity: 5}
      - clean_rate: {not_below_baseline_by: 0.05, confidence: 0.95}
      - events_per_clip: {not_above_baseline_by: 0.2, confidence: 0.95}
      - unscored: {at_most: 0.02}

no_new_types     every event type that occurs at this severity or above also does so in the baseline; an event without a
                 severity counts as this severe
clean_rate       the clean rate is below the baseline's by no more than this value: over the shared prompts, the lower
                 bound of the difference, one-sided at this confidence, is not below minus this value
events_per_clip  the events per clip exceed the baseline's by no more than this value: the upper bound of the
                 difference is not above this value; or, with `at_most`, the events per clip do not exceed that limit
unscored         the share of clips that are unscored, unreadable or missing

Every run except the baseline is checked. A rule that cannot be decided counts as failed.
"""

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path

from pydantic import Field, model_validator

from robogaze.comparison.clip_measures import CLEAN
from robogaze.comparison.comparison import Comparison
from robogaze.comparison.pairs import clean_rate_difference, mean_differences
from robogaze.comparison.runs import Run
from robogaze.core.data import Data, Fraction
from robogaze.core.estimate import Estimate
from robogaze.core.events import Severity
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

Confidence = Field(default=0.95, gt=0.5, lt=1)


class NoNewTypes(Data):
    """Every type of this severity or above must also occur in the baseline."""

    severity: Severity


class CleanRate(Data):
    """The clean rate compared with the baseline's."""

    not_below_baseline_by: Fraction
    confidence: float = Confidence


class EventsPerClip(Data):
    """The events per clip, compared with the baseline's or with a fixed limit."""

    not_above_baseline_by: float | None = Field(default=None, ge=0)
    confidence: float = Confidence
    at_most: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one_of_them(self) -> "EventsPerClip":
        if (self.not_above_baseline_by is None) == (self.at_most is None):
            raise ValueError("give either not_above_baseline_by or at_most")
        return self


class Unscored(Data):
    """The share of clips that are unscored, unreadable or missing."""

    at_most: Fraction


class GateRule(Data):
    """One rule, under its name."""

    no_new_types: NoNewTypes | None = None
    clean_rate: CleanRate | None = None
    events_per_clip: EventsPerClip | None = None
    unscored: Unscored | None = None

    @model_validator(mode="after")
    def _one_at_a_time(self) -> "GateRule":
        if len(self.model_fields_set) != 1 or self.settings is None:
            raise ValueError(f"a rule is one of: {', '.join(type(self).model_fields)}")
        return self

    @property
    def name(self) -> str:
        return next(iter(self.model_fields_set))

    @property
    def settings(self) -> Data | None:
        """The settings of the one rule that is given."""
        found: Data | None = getattr(self, self.name)
        return found

    @property
    def needs_baseline(self) -> bool:
        """Whether the rule compares with another run."""
        return self.unscored is None and not (self.events_per_clip and self.events_per_clip.at_most is not None)


class Gate(Data):
    rules: tuple[GateRule, ...] = Field(min_length=1)


@dataclass(frozen=True)
class GateCheck:
    """A rule applied to a run; `message` explains the result."""

    rule: str
    run: str
    passed: bool
    message: str


def read_gate(path: Path) -> Gate:
    """The rules of a file. Raises DomainError with file, line and key for an invalid value."""
    return read_yaml(path).parse(Gate)


def check_gate(gate: Gate, result: Comparison) -> tuple[GateCheck, ...]:
    """Check every rule for every run except the baseline.

    Raises InputError if a rule needs a baseline and there is none, and if there is no run to check.
    """
    if result.baseline is None and (missing := [rule.name for rule in gate.rules if rule.needs_baseline]):
        raise InputError(f"the gate's rule {missing[0]} compares with a baseline; give a baseline with --baseline")
    runs = [run for run in range(len(result.runs)) if run != result.baseline]
    if not runs:
        raise InputError("the gate has no run to check, because the only run is the baseline; add another run")
    return tuple(_check(rule, run, result) for run in runs for rule in gate.rules)


def _check(rule: GateRule, run: int, result: Comparison) -> GateCheck:
    passed, message = _decided(rule, run, result)
    return GateCheck(rule.name, result.names[run], passed, message)


def _decided(rule: GateRule, run: int, result: Comparison) -> tuple[bool, str]:
    row = result.leaderboard[run]
    if rule.unscored is not None:
        share, limit = row.unscored_share, rule.unscored.at_most
        return (
            share <= limit,
            f"{share:.1%} of the clips are unscored, unreadable or missing; the limit is {limit:.1%}",
        )
    if rule.events_per_clip is not None and rule.events_per_clip.at_most is not None:
        value, most = row.measures["events_per_clip"], rule.events_per_clip.at_most
        return value.defined and value.value <= most, f"{value.value:.3f} events per clip; the limit is {most:g}"
    assert result.baseline is not None
    if rule.no_new_types is not None:
        return _no_new_types(rule.no_new_types.severity, result.runs[run], result.runs[result.baseline])
    if rule.clean_rate is not None:
        return _clean_rate(rule.clean_rate, run, result.baseline, result)
    assert rule.events_per_clip is not None
    return _events_per_clip(rule.events_per_clip, run, result)


def _clean_rate(rule: CleanRate, run: int, baseline: int, result: Comparison) -> tuple[bool, str]:
    if (examined := result.scope.dimensions) is not None:
        why = "there is no clean rate, because a run has no clip that was examined in every dimension"
        return False, f"{why} (dimensions examined in all complete clips: {', '.join(examined) or 'none'})"
    for place in (run, baseline):
        annotations = result.runs[place].annotations.values()
        if not any(annotation.clean or annotation.findings for annotation in annotations):
            return False, f"no clip of {result.names[place]} is known to be clean or faulty"
    difference, least = _difference(CLEAN, run, result, rule.confidence), -rule.not_below_baseline_by
    bound = f"above {_signed(difference.low)} with {rule.confidence:.0%} confidence"
    message = (
        f"clean rate minus the baseline's: {_signed(difference.value)}, {bound}; this bound may not be below {least:+g}"
    )
    return difference.low >= least, message


def _events_per_clip(rule: EventsPerClip, run: int, result: Comparison) -> tuple[bool, str]:
    assert rule.not_above_baseline_by is not None
    difference, most = _difference("events_per_clip", run, result, rule.confidence), rule.not_above_baseline_by
    bound = f"below {_signed(difference.high)} with {rule.confidence:.0%} confidence"
    message = (
        f"events per clip minus the baseline's: {_signed(difference.value)}, {bound}; this bound may not "
        f"be above {most:+g}"
    )
    return difference.high <= most, message


def _difference(name: str, run: int, result: Comparison, confidence: float) -> Estimate:
    """The run minus the baseline; each end of the interval is a one-sided bound at this confidence."""
    clips = next(result.clips(pair) for pair in result.pairs if pair.first == run)
    both = [clips[prompt] for prompt in sorted(clips)]
    units = [result.prompts.unit[prompt] for prompt in sorted(clips)]
    config = replace(result.config, level=2 * confidence - 1)
    gap = clean_rate_difference(both, units, config) if name == CLEAN else mean_differences(both, units, config)[name]
    return gap.difference


def _no_new_types(severity: int, run: Run, baseline: Run) -> tuple[bool, str]:
    new = _types_from(severity, run)
    for name in _types_from(severity, baseline):
        new.pop(name, None)
    if not new:
        return True, f"no new type of severity {severity} or above"
    shown = ", ".join(f"{name} ({clip_id})" for name, clip_id in sorted(new.items()))
    return False, f"new types of severity {severity} or above: {shown}"


def _types_from(severity: int, run: Run) -> dict[str, str]:
    """The types that occur at a severity or above, each with the first clip that shows it."""
    found: dict[str, str] = {}
    for clip_id, annotation in sorted(run.annotations.items()):
        for event in annotation.findings:
            if event.severity is None or event.severity >= severity:
                found.setdefault(event.type or event.dimension or "(no type)", clip_id)
    return found


def _signed(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:+.3f}"
