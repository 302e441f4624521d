"""Fits the weights, thresholds and confidence of the pixels pipeline to simulated clips with known events.

    robogaze forge simulate --out fit/ --clips 300 --seed 101 --world first --clean-share 0.34 --size 320x240 ...
    python scripts/research/fit_pixels.py fit/ fit2/ fit3/ --cache measured/ --write
    python scripts/research/fit_pixels.py lost1/ lost2/ --cache measured/ --only measured/dropped_frames --write

docs/pixels.md describes all steps. First the classifier is fitted (scripts/research/fit_classes.py), then the rules.
Each clip is measured once. Clean synthetic clips (tests/evidence/cases.py) are added, because the simulator has no
lamps, pans, noise and plain tables.

A finding is correct when an event of the rule's type is annotated at that time. Of the thresholds at which at least
LEAST_PRECISION of the findings are correct, the chosen one has the most events found, minus WRONG_COST for each wrong
finding and CLEAN_COST more for each clean clip with a finding; among equally good thresholds, the middle.

Confidence is then the share that was correct, in steps that never fall with the peak. A rule keeps its threshold where
it has too few findings, or where synthetic clips give a tighter bound (FIXED_THRESHOLDS); with LEAST findings it gets a
confidence all the same, and with fewer that of its type. Nothing is random: the same clips give the same numbers.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
from fit_classes import examples, fitted_classifier, with_out_of_world_classes
from measured_clips import KnownClip, simulated_clips, synthetic_clips

from robogaze.core.report import Report
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.evidence import Classifier, RuleFinding, find, with_classes
from robogaze.stages.event_rule import ConfidenceStep, EventRule

WRONG_COST, CLEAN_COST, LEAST = 1.0, 4.0, 4
LEAST_PRECISION = 0.85
"""More than the 0.8 that is required on other clips."""

FIXED_THRESHOLDS = tuple(f"measured/{name}" for name in ("dark", "bright", "flat", "patch", "shake"))
"""Rules, by their descriptions, whose thresholds come from tests/evidence/survey.py: its dim scenes, plain tables and
fast arms are nearer to a fault than any simulated clip, and it has weaker shakes."""

LEAST_IN_STEP = 8
"""The smallest number of findings in a step of confidence."""
CANDIDATES = 60
ROBOT = resource_folder("taxonomy") / "robot"
PIPELINE, CLASSIFIER = ROBOT / "pipelines" / "pixels.yaml", ROBOT / "classifiers" / "region_replacement.yaml"
_ANY_PEAK = 1e9


@dataclass(frozen=True)
class Outcome:
    """A rule's findings: each peak with whether it is correct, the events found, and the clean clips with a finding."""

    peaks: tuple[tuple[float, bool], ...]
    events: int
    clean: int

    @property
    def correct(self) -> int:
        """The number of correct findings."""
        return sum(correct for _, correct in self.peaks)

    @property
    def precision(self) -> float:
        """The share of the findings that are correct; NaN without any."""
        return self.correct / len(self.peaks) if self.peaks else np.nan

    @property
    def value(self) -> float:
        """The events found minus the costs of wrong findings."""
        return self.events - WRONG_COST * (len(self.peaks) - self.correct) - CLEAN_COST * self.clean


def matched_events(rule: EventRule, finding: RuleFinding, truth: Report | None) -> list[str]:
    """The ids of the annotated events of the rule's type that overlap a finding."""
    events = truth.events if truth is not None else ()
    return [
        event.id
        for event in events
        if event.type == rule.type and any(span.overlap(finding.span) > 0 for span in event.spans)
    ]


def outcome(rule: EventRule, clips: Sequence[KnownClip]) -> Outcome:
    """The findings of a rule in the clips."""
    found = [(clip, finding) for clip in clips for finding in find(rule, clip.evidence)]
    matched = [matched_events(rule, finding, clip.truth) for clip, finding in found]
    return Outcome(
        peaks=tuple((finding.peak, bool(events)) for (_, finding), events in zip(found, matched, strict=True)),
        events=len({(clip.name, event) for (clip, _), events in zip(found, matched, strict=True) for event in events}),
        clean=len({clip.name for clip, _ in found if clip.clean}),
    )


def reach(rule: EventRule, clip: KnownClip) -> float:
    """The most extreme value of a rule's signal in a clip, times the rule's sign; -inf without any value."""
    series = [rule.sign * measured.series[rule.signal] for measured in clip.evidence.views.values()]
    return max((float(np.nanmax(values)) for values in series if np.isfinite(values).any()), default=-np.inf)


def candidates(rule: EventRule, clips: Sequence[KnownClip]) -> list[float]:
    """Thresholds between the peaks of the clips, the least strict first, with the present threshold."""
    any_peak = rule.at(-rule.sign * _ANY_PEAK).with_(min_duration_s=0, merge_gap_s=0, extend_while=())
    peaks = [[finding.peak for finding in find(any_peak, clip.evidence)] for clip in clips]
    ranked = np.unique([max(rule.sign * peak for peak in of_clip) for of_clip in peaks if of_clip])
    middles = (ranked[1:] + ranked[:-1]) / 2
    # Most clips have small peaks and few have faults: the strict end is tried completely, and elsewhere even steps of
    # ranks and of values.
    places = {*np.linspace(0, len(middles) - 1, CANDIDATES).astype(int), *range(len(middles))[-CANDIDATES:]}
    if len(middles):
        places |= {*np.searchsorted(middles[:-1], np.linspace(middles[0], middles[-1], CANDIDATES))}
    between = [rule.sign * float(middles[place]) for place in places] if len(middles) else []
    return sorted({*between, rule.threshold}, key=lambda threshold: rule.sign * threshold)


def fitted_rule(rule: EventRule, clips: Sequence[KnownClip]) -> tuple[EventRule, Outcome]:
    """The rule with its threshold and confidence; with too few findings it keeps its threshold."""
    reached = [reach(rule, clip) for clip in clips]
    tried = []
    for threshold in candidates(rule, clips):
        near = [clip for clip, value in zip(clips, reached, strict=True) if value >= rule.sign * threshold]
        tried.append((threshold, outcome(rule.at(threshold), near)))
    eligible = [
        (threshold, found)
        for threshold, found in tried
        if len(found.peaks) >= LEAST and found.precision >= LEAST_PRECISION
    ]
    chosen = rule.with_(confidence=())
    best = max((found.value for _, found in eligible), default=0.0)
    if best > 0 and rule.describe not in FIXED_THRESHOLDS:
        first = next(place for place, (_, found) in enumerate(eligible) if found.value == best)
        equal = [threshold for threshold, _ in takewhile(lambda pair: pair[1].value == best, eligible[first:])]
        chosen = rule.at(float(f"{(equal[0] + equal[-1]) / 2:.3g}")).with_(weak_threshold=rule.weak_threshold)
    found = outcome(chosen, clips)
    return chosen.with_(confidence=steps(chosen, found.peaks) if len(found.peaks) >= LEAST else ()), found


def with_type_confidence(fits: Sequence[tuple[EventRule, Outcome]]) -> list[tuple[EventRule, Outcome]]:
    """The rules; one with too few findings gets the confidence of all rules of its type together."""
    completed: list[tuple[EventRule, Outcome]] = []
    for rule, own in fits:
        peaks = [peak for other, found in fits if other.type == rule.type for peak in found.peaks]
        if own.peaks and not rule.confidence and not rule.report_only and len(peaks) >= LEAST:
            correct = sum(right for _, right in peaks)
            rule = rule.with_(confidence=(ConfidenceStep(peak=rule.threshold, correct=correct, of=len(peaks)),))
        completed.append((rule, own))
    return completed


def steps(rule: EventRule, peaks: Sequence[tuple[float, bool]]) -> tuple[ConfidenceStep, ...]:
    """The share of correct findings in steps outward that never fall; steps that would fall are pooled."""
    pools: list[ConfidenceStep] = []
    for peak, correct in sorted(peaks, key=lambda pair: rule.sign * pair[0]):
        pools.append(ConfidenceStep(peak=float(f"{peak:.3g}"), correct=correct, of=1))
        while len(pools) > 1 and (pools[-2].of < LEAST_IN_STEP or pools[-2].share > pools[-1].share):
            pools[-2:] = [pooled(*pools[-2:])]
    while len(pools) > 1 and pools[-1].of < LEAST_IN_STEP:
        pools[-2:] = [pooled(*pools[-2:])]
    return tuple(step.with_(peak=rule.threshold) if place == 0 else step for place, step in enumerate(pools))


def pooled(inner: ConfidenceStep, outer: ConfidenceStep) -> ConfidenceStep:
    """Two steps as one, from the peak of the inner one."""
    return ConfidenceStep(peak=inner.peak, correct=inner.correct + outer.correct, of=inner.of + outer.of)


def pipeline_lines(lines: Sequence[str], fits: Sequence[tuple[EventRule, Outcome | None]]) -> Iterator[str]:
    """The pipeline's lines with the fitted thresholds and confidence of its rules, given in their order."""
    waiting = iter(fits)
    rule: EventRule | None = None
    found: Outcome | None = None
    for line in lines:
        key, depth = line.strip().split(":")[0], len(line) - len(line.lstrip())
        if line.startswith("        - signal: "):
            rule, found = next(waiting)
        if rule is None or found is None or not rule.confidence or depth != 10:
            yield line
        elif key in ("above", "below"):
            yield f"          {key}: {rule.threshold:g} # fit: {found.correct} of {len(found.peaks)} findings correct\n"
            inner = (f"{{peak: {step.peak:g}, correct: {step.correct}, of: {step.of}}}" for step in rule.confidence)
            yield f"          confidence: [{', '.join(inner)}]\n"
        elif key != "confidence":
            yield line


def classifier_lines(lines: Sequence[str], classifier: Classifier) -> Iterator[str]:
    """The classifier's lines with the fitted means, scales and weights."""
    features, classes = iter(classifier.features), iter(classifier.classes)
    feature_class = classifier.classes[0]
    for line in lines:
        key = line.strip().split(":")[0]
        if line.startswith("  - {signal: "):
            feature = next(features)
            log = "" if feature.log is None else f", log: {feature.log:g}"
            yield f"  - {{signal: {feature.signal}{log}, mean: {feature.mean:g}, scale: {feature.scale:g}}}\n"
        elif line.startswith("  - name: "):
            feature_class = next(classes)
            yield line
        elif key == "constant":
            yield f"    constant: {feature_class.constant:g}\n"
        elif key == "weights":
            yield f"    weights: [{', '.join(f'{weight:g}' for weight in feature_class.weights)}]\n"
        else:
            yield line


def rewrite(path: Path, lines: Iterator[str]) -> None:
    """Replace a file by lines that are made from it."""
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Measure, fit, print the table, and write the files if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    parser.add_argument("--cache", type=Path, required=True, help="where measured series are kept")
    parser.add_argument("--only", metavar="RULE", help="fit the rule with this description and nothing else")
    parser.add_argument("--write", action="store_true", help="write the fit into the pipeline and the classifier")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    classifier = read_yaml(CLASSIFIER).parse(Classifier)
    rules = [EventRule.model_validate(rule) for rule in read_yaml(PIPELINE).content["stages"][0]["measure"]["rules"]]
    if options.only not in (None, *(rule.describe for rule in rules)):
        parser.error(f"--only: no rule of {PIPELINE.name} has the description {options.only}")
    clips = [
        *(
            replace(clip, name=f"{folder.name}/{clip.name}")
            for folder in options.folders
            for clip in simulated_clips(folder, options.cache)
        ),
        *synthetic_clips(options.cache),
    ]
    if options.only is None:
        names = {feature_class.name for feature_class in classifier.classes}
        known = examples(classifier, [rule for rule in rules if rule.signal in names], clips)
        counts = zip(*np.unique(known.classes, return_counts=True), strict=True)
        print({str(name): int(count) for name, count in counts})
        clips = with_out_of_world_classes(classifier, known, clips)
        classifier = fitted_classifier(classifier, known)
        fits = with_type_confidence([fitted_rule(rule, clips) for rule in rules])
    else:
        clips = [replace(clip, evidence=with_classes(clip.evidence, [classifier])) for clip in clips]
        fits = [fitted_rule(rule, clips) for rule in rules if rule.describe == options.only]
    for rule, found in fits:
        annotated = sum(event.type == rule.type for clip in clips if clip.truth for event in clip.truth.events)
        counts_text = f"{found.correct} of {len(found.peaks)} correct, {found.events} of {annotated} events"
        print(f"{rule.describe:24} {rule.type:26} {rule.signal} {rule.limit}: {counts_text}, {found.clean} clean clips")
    if options.write:
        by_name = {rule.describe: (rule, found) for rule, found in fits}
        in_order = [by_name.get(rule.describe, (rule, None)) for rule in rules]
        rewrite(PIPELINE, pipeline_lines(PIPELINE.read_text(encoding="utf-8").splitlines(keepends=True), in_order))
        written = CLASSIFIER.read_text(encoding="utf-8").splitlines(keepends=True)
        rewrite(CLASSIFIER, classifier_lines(written, classifier))


if __name__ == "__main__":
    main()
