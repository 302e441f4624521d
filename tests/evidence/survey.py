"""The rules of the pixels pipeline on synthetic clips: `python -m tests.evidence.survey [FIRST_SEED] [END_SEED]`.

For each rule it prints the most extreme value of its signal over clean clips in which no explanation holds, and each
clean clip with a finding. For each kind of clean clip it counts the incomplete ones and the reasons. For each kind of
fault it counts the clips in which the fault is found under an accepted type. The thresholds that are not fitted to
simulated clips, and the allowance for unmeasured frames, come from this table.
"""

import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from robogaze.domains import load_domain
from robogaze.evidence import Classifier, ClipSignals, RuleFinding, find, measurement_gaps, with_classes
from robogaze.media.decode import Image
from robogaze.stages.event_rule import EventRule
from robogaze.stages.measure import Measure
from robogaze.stages.pipeline import Pipeline

from .cases import CLEAN, FAULTS, Planted
from .measuring import measured
from .procedural import film


@cache
def stage() -> Measure:
    """The first stage of the pixels pipeline."""
    (measure,) = (stage for _, stage in Pipeline.build(load_domain("robot"), "pixels").stages if type(stage) is Measure)
    return measure


@cache
def classifiers() -> list[Classifier]:
    """The classifiers of the pixels pipeline."""
    return [load_domain("robot").classifiers[name].parse(Classifier) for name in stage().classifiers]


def evidence_of(images: Sequence[Image]) -> ClipSignals:
    """The signals of a clip, with the classes of the pipeline's classifiers."""
    return with_classes(measured(images), classifiers())


def rules_with_gaps(evidence: ClipSignals) -> Iterator[str]:
    """The rules with a gap beyond the pipeline's allowance, by their descriptions."""
    pipeline_stage = stage()
    for rule in pipeline_stage.rules:
        if not all(pipeline_stage.unmeasured.allows(gap) for gap in measurement_gaps(rule, evidence)):
            yield rule.describe


def is_correct(rule: EventRule, finding: RuleFinding, planted: Planted) -> bool:
    """Whether the finding has an accepted type and touches the planted frames, within two frames."""
    frames = range(planted.start - 2, planted.end + 2)
    return rule.type in planted.types and (finding.frames[0] in frames or finding.frames[-1] in frames)


def extreme(rule: EventRule, evidence: ClipSignals) -> float:
    """The most extreme value of the rule's signal where its other conditions hold; NaN without any."""
    any_peak = rule.at(-rule.sign * 1e9).with_(min_duration_s=0, merge_gap_s=0)
    peaks = [finding.peak for finding in find(any_peak, evidence)]
    return (max if rule.sign > 0 else min)(peaks, default=np.nan)


def main(first: int, end: int) -> None:
    """Print the survey for the seeds [first, end)."""
    rules = stage().rules
    values: dict[str, list[tuple[float, str]]] = defaultdict(list)
    incomplete: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in range(first, end):
        for name, take in CLEAN.items():
            evidence = evidence_of(film(seed, take))
            incomplete[name].update(set(rules_with_gaps(evidence)))
            for rule in rules:
                values[rule.describe].append((extreme(rule, evidence), f"{name} {seed}"))
                for finding in find(rule, evidence):
                    print(f"FALSE {name} seed {seed}: {rule.describe} {finding.span} {finding.peak:.4g}", flush=True)
    for rule in rules:
        defined = [pair for pair in values[rule.describe] if np.isfinite(pair[0])]
        ranked = sorted(defined, reverse=rule.sign > 0)[:3]
        shown = ", ".join(f"{value:.4g} ({where})" for value, where in ranked)
        print(f"clean {rule.describe} {rule.signal} {rule.limit}: {shown}")
    for name, counted in incomplete.items():
        print(f"clean {name}, incomplete: {dict(counted) or 'none'}")
    for name, make_fault in FAULTS.items():
        hits, peaks, wrong = 0, [], []
        for seed in range(first, end):
            planted = make_fault(seed)
            evidence = evidence_of(planted.images)
            found = [(rule, finding) for rule in rules for finding in find(rule, evidence)]
            correct = [finding for rule, finding in found if is_correct(rule, finding, planted)]
            hits += bool(correct)
            peaks += [finding.peak for finding in correct[:1]]
            wrong += [f"{rule.describe}@{finding.frames[0]}" for rule, finding in found if finding not in correct]
        peak = f"weakest {np.min(np.abs(peaks)):.4g}" if peaks else "none"
        others = ", ".join(wrong) or "nothing"
        print(f"fault {name}: {hits} of {end - first}, {peak}; other findings: {others}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(*(int(argument) for argument in sys.argv[1:3]))
