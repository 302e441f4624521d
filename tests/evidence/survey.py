"""What the rules make of many procedural clips: `python -m tests.evidence.survey [FIRST_SEED] [END_SEED]`.

For each rule the most extreme value of its signal over clean clips (where nothing explains it away), the clean clips
it falsely fires on, and for each kind of fault in how many clips its frames were found under an admissible type. For
each kind of clip, how many are incomplete, and why. The thresholds of the pixels pipeline, and what it
allows to go unmeasured, were read off this table.
"""

import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.evidence import ClipSignals, RuleFinding, classified, find, gaps
from robogaze.media.decode import Image
from robogaze.stages.event_rule import EventRule
from robogaze.stages.measure import Measure

from .cases import CLEAN, FAULTS, Planted
from .measuring import measured
from .procedural import film


def stage() -> Measure:
    """The first stage of the pixels pipeline."""
    content = read_yaml(resource_folder("taxonomy") / "robot" / "pipelines" / "pixels.yaml").content
    return Measure.model_validate(content["stages"][0]["measure"])


def rules(*, told: bool = True) -> list[EventRule]:
    """The rules of the pixels pipeline; without those that are only told, the ones whose findings make events."""
    return [rule for rule in stage().rules if told or not rule.told]


def evident(images: Sequence[Image]) -> ClipSignals:
    """What is measured in a clip, and what the pipeline's classifiers make of it."""
    return classified(measured(images), stage().classifiers)


def unanswered(evidence: ClipSignals) -> Iterator[str]:
    """The rules that could not be answered in more of the clip than the pipeline allows, of those that judge."""
    allowed = stage().unmeasured
    for rule in (one for one in rules() if not one.told):
        for gap in gaps(rule, evidence):
            if gap.frames > allowed.share * gap.of or gap.longest_s > allowed.stretch_s + 1e-6:
                yield rule.describe


def right(rule: EventRule, finding: RuleFinding, planted: Planted) -> bool:
    """The finding has an admissible type and meets the planted frames, give or take two."""
    frames = range(planted.start - 2, planted.end + 2)
    return rule.type in planted.types and (finding.frames[0] in frames or finding.frames[-1] in frames)


def extreme(rule: EventRule, evidence: ClipSignals) -> float:
    """The most extreme value of the rule's signal where its other conditions hold; NaN without any."""
    open_ = rule.at(-1e9 if rule.above is not None else 1e9).with_(for_s=0, join_s=0)
    peaks = [finding.peak for finding in find(open_, evidence)]
    return (max if rule.above is not None else min)(peaks, default=np.nan)


def main(first: int, end: int) -> None:
    """Print the survey for the seeds [first, end)."""
    worst: dict[str, list[tuple[float, str]]] = defaultdict(list)
    incomplete: dict[str, Counter[str]] = defaultdict(Counter)
    for seed in range(first, end):
        for name, take in CLEAN.items():
            evidence = evident(film(seed, take))
            incomplete[name].update(set(unanswered(evidence)))
            for rule in rules():
                worst[rule.describe].append((extreme(rule, evidence), f"{name} {seed}"))
                for finding in find(rule, evidence):
                    print(f"FALSE {name} seed {seed}: {rule.describe} {finding.span} {finding.peak:.4g}", flush=True)
    for rule in rules():
        values = [pair for pair in worst[rule.describe] if np.isfinite(pair[0])]
        ranked = sorted(values, reverse=rule.above is not None)[:3]
        shown = ", ".join(f"{value:.4g} ({where})" for value, where in ranked)
        bound = f"> {rule.above}" if rule.above is not None else f"< {rule.below}"
        print(f"clean {rule.describe} {rule.signal} {bound}: {shown}")
    for name, counted in incomplete.items():
        print(f"clean {name}, incomplete: {dict(counted) or 'none'}")
    for name, make_fault in FAULTS.items():
        hits, peaks, wrong = 0, [], []
        for seed in range(first, end):
            planted = make_fault(seed)
            evidence = evident(planted.images)
            found = [(rule, finding) for rule in rules() for finding in find(rule, evidence)]
            good = [finding for rule, finding in found if right(rule, finding, planted)]
            hits += bool(good)
            peaks += [finding.peak for finding in good[:1]]
            wrong += [f"{rule.describe}@{finding.frames[0]}" for rule, finding in found if finding not in good]
        peak = f"weakest {np.min(np.abs(peaks)):.4g}" if peaks else "none"
        print(f"fault {name}: {hits} of {end - first}, {peak}; besides: {', '.join(wrong) or 'nothing'}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(*(int(argument) for argument in sys.argv[1:3]))
