"""Fits the weights, thresholds and confidence of the pixels pipeline to simulated clips, of which the truth is known.

    robogaze forge simulate --out fit/ --clips 300 --seed 101 --world first --clean-share 0.34 --size 320x240 ...
    python scripts/research/fit_pixels.py fit/ fit2/ fit3/ --cache measured/ --write
    python scripts/research/fit_pixels.py lost1/ lost2/ --cache measured/ --only measured/leapt --write

docs/pixels.md has the whole recipe. Each folder has a cache of its own name. First classifiers are fitted
(scripts/research/fit_classes.py), then rules.

Every clip is measured once and its series are kept in the cache, so that a second run takes seconds; what has been
measured by another version of a meter is measured again. To the simulated clips come clean ones drawn by arithmetic
(tests/evidence/cases.py), whose lamps, pans, noise and plain tables the simulator does not have.

A finding is right when an event of the rule's type is annotated at that time. Of the thresholds at which at least
LEAST_RIGHT of the findings are right, that is taken at which the events found, less WRONG_COSTS for each wrong finding
and ACCUSED_COSTS more for each clean clip accused, are most; of a range that is worth as much, the middle.

Confidence is then the share that was right, in steps that never fall with the peak. A rule keeps its threshold where
too little is found, or where drawn clips bound it more closely (BOUND); with LEAST findings it gets a confidence all
the same, and with fewer that of its type. Nothing is drawn at random: the same clips give the same numbers.
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
from fit_classes import examples, fitted_classes, out_of_world
from measured_clips import Known, drawn, simulated

from robogaze.core.report import Report
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.evidence import METERS, Classifier, RuleFinding, find
from robogaze.evidence.classifier import Class, classified
from robogaze.stages.event_rule import ConfidenceStep, EventRule

WRONG_COSTS, ACCUSED_COSTS, LEAST = 1.0, 4.0, 4
LEAST_RIGHT = 0.85
"""More than the 0.8 that must be right on clips that are not alike."""

BOUND = tuple(
    f"measured/{name}"
    for name in (
        *("dark", "bright", "flat", "patch", "blocks", "shake", "appeared", "vanished"),
        *("exchanged", "copied", "lost_part"),
    )
)
"""Rules by their descriptions that keep their thresholds, because others say more: the survey
(tests/evidence/survey.py), in which dim scenes, plain tables and fast arms come nearer than any simulated clip and
weaker shakes, fewer blocks and smaller things are drawn; and those of which all findings are only told, from as small a
share on as other rules tell what is no event."""

LEAST_IN_STEP = 8
"""Findings in a step of confidence; of fewer no share is told."""
CANDIDATES = 60
FITTED = ("above", "below", "confidence")
"""The keys of a rule that are written."""
PIPELINE = "pixels"
_OPEN = 1e9


@dataclass(frozen=True)
class Tried:
    """What a rule finds: each finding's peak with whether it is right, events found, and clean clips accused."""

    peaks: tuple[tuple[float, bool], ...]
    events: int
    accused: int

    @property
    def precision(self) -> float:
        """The share of the findings that are right; NaN without any."""
        return sum(right for _, right in self.peaks) / len(self.peaks) if self.peaks else np.nan

    @property
    def worth(self) -> float:
        """The events found, less what the wrong findings cost, most of all those in clean clips."""
        return self.events - WRONG_COSTS * sum(not right for _, right in self.peaks) - ACCUSED_COSTS * self.accused


def hits(rule: EventRule, finding: RuleFinding, truth: Report | None) -> list[str]:
    """The annotated events of the rule's type that share time with a finding."""
    events = truth.events if truth is not None else ()
    return [
        one.id for one in events if one.type == rule.type and any(span.overlap(finding.span) > 0 for span in one.spans)
    ]


def tried(rule: EventRule, clips: Sequence[Known]) -> Tried:
    """What a rule makes of the clips."""
    found = [(one, finding) for one in clips for finding in find(rule, one.evidence)]
    right = [hits(rule, finding, one.truth) for one, finding in found]
    return Tried(
        peaks=tuple((finding.peak, bool(events)) for (_, finding), events in zip(found, right, strict=True)),
        events=len({(one.name, event) for (one, _), events in zip(found, right, strict=True) for event in events}),
        accused=len({one.name for one, _ in found if one.clean}),
    )


def reach(rule: EventRule, clip: Known) -> float:
    """How far a rule's signal goes in a clip, more being more wrong: at no stricter threshold is anything found."""
    sign = 1 if rule.above is not None else -1
    views = [sign * measured.series[rule.signal] for measured in clip.evidence.views.values()]
    return max((float(one[np.isfinite(one)].max()) for one in views if np.isfinite(one).any()), default=-np.inf)


def candidates(rule: EventRule, clips: Sequence[Known]) -> list[float]:
    """Thresholds between the peaks that the clips reach, the least strict first."""
    sign = 1 if rule.above is not None else -1
    open_ = rule.at(-sign * _OPEN).with_(for_s=0, join_s=0, at_most_s=None, spread=())
    peaks = [[finding.peak for finding in find(open_, one.evidence)] for one in clips]
    ranked = np.unique([max(sign * peak for peak in one) for one in peaks if one])
    middles = (ranked[1:] + ranked[:-1]) / 2
    # Most clips reach little and few have faults: the strict end is tried throughout, and values as well as places are
    # gone through in even steps. What the rule has now is tried, too.
    places = {*np.linspace(0, len(middles) - 1, CANDIDATES).astype(int), *range(len(middles))[-CANDIDATES:]}
    if len(middles):
        places |= {*np.searchsorted(middles[:-1], np.linspace(middles[0], middles[-1], CANDIDATES))}
    now = rule.above if rule.above is not None else rule.below
    assert now is not None, "a rule has one of the two"
    between = [sign * float(middles[place]) for place in places] if len(middles) else []
    return sorted({*between, now}, key=lambda threshold: sign * threshold)


def fitted(rule: EventRule, clips: Sequence[Known]) -> tuple[EventRule, Tried]:
    """The rule with its threshold, as it was where there is too little to fit it, and its confidence."""
    sign = 1 if rule.above is not None else -1
    reached = [reach(rule, one) for one in clips]
    tries = []
    for threshold in candidates(rule, clips):
        near = [one for one, value in zip(clips, reached, strict=True) if value >= sign * threshold]
        tries.append((threshold, tried(rule.at(threshold), near)))
    open_ = [
        (threshold, told) for threshold, told in tries if len(told.peaks) >= LEAST and told.precision >= LEAST_RIGHT
    ]
    chosen = rule.with_(confidence=())
    best = max((told.worth for _, told in open_), default=0.0)
    if best > 0 and rule.describe not in BOUND:
        first = next(place for place, (_, told) in enumerate(open_) if told.worth == best)
        range_ = [threshold for threshold, _ in takewhile(lambda one: one[1].worth == best, open_[first:])]
        chosen = rule.at(float(f"{(range_[0] + range_[-1]) / 2:.3g}")).with_(weak=rule.weak)
    told = tried(chosen, clips)
    enough = len(told.peaks) >= LEAST
    return chosen.with_(confidence=steps(chosen, told.peaks) if enough else ()), told


def shared(fits: Sequence[tuple[EventRule, Tried]]) -> list[tuple[EventRule, Tried]]:
    """The rules; one that finds too little for a confidence of its own has that of all rules of its type together."""
    told: list[tuple[EventRule, Tried]] = []
    for rule, own in fits:
        peaks = [peak for other, found in fits if other.type == rule.type for peak in found.peaks]
        limit = rule.above if rule.above is not None else rule.below
        if own.peaks and not rule.confidence and not rule.told and len(peaks) >= LEAST and limit is not None:
            step = ConfidenceStep(reaching=limit, right=sum(right for _, right in peaks), of=len(peaks))
            rule = rule.with_(confidence=(step,))
        told.append((rule, own))
    return told


def steps(rule: EventRule, peaks: Sequence[tuple[float, bool]]) -> tuple[ConfidenceStep, ...]:
    """The share that is right, in steps outward that never fall (pooled where they would)."""
    sign = 1 if rule.above is not None else -1
    limit = rule.above if rule.above is not None else rule.below
    assert limit is not None, "a rule has one of the two"
    pools: list[ConfidenceStep] = []
    for peak, right in sorted(peaks, key=lambda one: sign * one[0]):
        pools.append(ConfidenceStep(reaching=float(f"{peak:.3g}"), right=right, of=1))
        while len(pools) > 1 and (pools[-2].of < LEAST_IN_STEP or pools[-2].share > pools[-1].share):
            pools[-2:] = [pooled(*pools[-2:])]
    while len(pools) > 1 and pools[-1].of < LEAST_IN_STEP:
        pools[-2:] = [pooled(*pools[-2:])]
    return tuple(one.with_(reaching=limit) if place == 0 else one for place, one in enumerate(pools))


def pooled(one: ConfidenceStep, other: ConfidenceStep) -> ConfidenceStep:
    """Two steps as one, from where the inner one begins."""
    return ConfidenceStep(reaching=one.reaching, right=one.right + other.right, of=one.of + other.of)


def written(
    lines: Sequence[str], classifiers: Sequence[Classifier], fits: Sequence[tuple[EventRule, Tried | None]]
) -> Iterator[str]:
    """The pipeline's lines with the weights of the classes and what is fitted of the rules, both in their order."""
    features = iter([one for classifier in classifiers for one in classifier.features])
    classes = iter([one for classifier in classifiers for one in classifier.classes])
    waiting = iter(fits)
    now: Class | EventRule | None = None
    told: Tried | None = None
    for line in lines:
        key, depth = line.strip().split(":")[0], len(line) - len(line.lstrip())
        if line.startswith("            - {signal: ") and not isinstance(now, EventRule):
            feature = next(features)
            log = "" if feature.log is None else f", log: {feature.log:g}"
            yield f"            - {{signal: {feature.signal}{log}, mean: {feature.mean:g}, scale: {feature.scale:g}}}\n"
        elif line.startswith("            - name: "):
            now = next(classes)
            yield line
        elif line.startswith("        - signal: "):
            now, told = next(waiting)
            yield line
        elif isinstance(now, Class) and depth == 14 and key in ("constant", "weights"):
            value = f"{now.constant:g}" if key == "constant" else f"[{', '.join(f'{one:g}' for one in now.weights)}]"
            yield f"              {key}: {value}\n"
        elif isinstance(now, EventRule) and told is not None and depth == 10 and key in FITTED:
            yield from _written_rule(line, key, now, told)
        else:
            yield line


def _written_rule(line: str, key: str, rule: EventRule, told: Tried) -> Iterator[str]:
    """A line of a rule that may be fitted: its threshold with the confidence, or the confidence it had."""
    if key == "confidence":
        return
    if not rule.confidence:
        yield line
        return
    right = sum(right for _, right in told.peaks)
    yield f"          {key}: {getattr(rule, key):g} # fit: {right} of {len(told.peaks)} findings right\n"
    inner = ", ".join(f"{{reaching: {one.reaching:g}, right: {one.right}, of: {one.of}}}" for one in rule.confidence)
    yield f"          confidence: [{inner}]\n"


def measured(folders: Sequence[Path], cached: Path) -> Iterator[Known]:
    """The clips of all folders, each measured into a folder of its own, and clean ones drawn by arithmetic."""
    for folder in folders:
        (cached / folder.name).mkdir(parents=True, exist_ok=True)
        for one in simulated(folder, cached / folder.name, list(METERS)):
            yield replace(one, name=f"{folder.name}/{one.name}")
    (cached / "drawn").mkdir(parents=True, exist_ok=True)
    yield from drawn(cached / "drawn", list(METERS))


def refitted(
    classifiers: Sequence[Classifier], rules: Sequence[EventRule], clips: Sequence[Known]
) -> tuple[list[Classifier], list[Known]]:
    """The classifiers with weights fitted to the clips, and the clips with the shares of each class."""
    made = []
    for one in classifiers:
        by_class = [rule for rule in rules if rule.signal in {each.name for each in one.classes}]
        known = examples(one, by_class, clips)
        counts = zip(*np.unique(known.classes, return_counts=True), strict=True)
        print({str(name): int(count) for name, count in counts})
        made.append(fitted_classes(one, known))
        clips = out_of_world(one, known, clips)
    return made, list(clips)


def main() -> None:
    """Measure, fit, print the table, and write the pipeline if asked to."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    asked.add_argument("--cache", type=Path, required=True, help="where measured series are kept")
    asked.add_argument("--only", metavar="RULE", help="fit the rule that is described so, and nothing else")
    asked.add_argument("--write", action="store_true", help="write thresholds and confidence into the pipeline")
    given = asked.parse_args()
    cv2.setNumThreads(1)
    path = resource_folder("taxonomy") / "robot" / "pipelines" / f"{PIPELINE}.yaml"
    stage = read_yaml(path).content["stages"][0]["measure"]
    classifiers = [Classifier.model_validate(one) for one in stage["classifiers"]]
    rules = [EventRule.model_validate(one) for one in stage["rules"]]
    if given.only not in (None, *(rule.describe for rule in rules)):
        asked.error(f"--only: no rule of {path.name} is described by {given.only}")
    clips = list(measured(given.folders, given.cache))
    if given.only is None:
        classifiers, clips = refitted(classifiers, rules, clips)
        fits = shared([fitted(rule, clips) for rule in rules])
    else:
        clips = [replace(one, evidence=classified(one.evidence, classifiers)) for one in clips]
        fits = [fitted(rule, clips) for rule in rules if rule.describe == given.only]
    for rule, told in fits:
        right = sum(right for _, right in told.peaks)
        events = sum(event.type == rule.type for one in clips if one.truth for event in one.truth.events)
        found = f"{right} of {len(told.peaks)} right, {told.events} of {events} events, {told.accused} clean accused"
        print(f"{rule.describe:24} {rule.type:26} {rule.signal} {rule.limit}: {found}")
    if given.write:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        by_name = {rule.describe: (rule, told) for rule, told in fits}
        of_all = [by_name.get(rule.describe, (rule, None)) for rule in rules]
        path.write_text("".join(written(lines, classifiers, of_all)), encoding="utf-8")


if __name__ == "__main__":
    main()
