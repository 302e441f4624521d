"""What each class of the pixels pipeline finds at several thresholds, on clips with known events.

    python scripts/bench/curves.py held/ more/ --cache measured/

A finding is correct when an event of the type that the class is fitted to is annotated at that time. Findings of
several views count one by one. docs/pixels.md has the table.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import cv2

sys.path.insert(0, str(Path(__file__).parents[1] / "research"))
from fit_pixels import CLASSIFIER, outcome
from measured_clips import KnownClip, simulated_clips

from robogaze.domains import load_domain
from robogaze.domains.yaml_files import read_yaml
from robogaze.evidence import Classifier, with_classes
from robogaze.stages.measure import Measure
from robogaze.stages.pipeline import Pipeline

THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


def rows(stage: Measure, classifier: Classifier, clips: Sequence[KnownClip]) -> Iterator[str]:
    """A row for each class; a class without a rule uses the conditions of the first rule on a class."""
    names = {feature_class.name for feature_class in classifier.classes}
    present = next(rule for rule in stage.rules if rule.signal in names)
    for feature_class in (feature_class for feature_class in classifier.classes if feature_class.fitted_to):
        rule = present.with_(signal=feature_class.name, type=feature_class.fitted_to, reported_signal="")
        events = sum(event.type == rule.type for clip in clips if clip.truth for event in clip.truth.events)
        found = [outcome(rule.at(threshold), clips) for threshold in THRESHOLDS]
        cells = [f"{at.correct}/{len(at.peaks)}, {at.events}" for at in found]
        yield f"| `{rule.signal}` | {events} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    parser.add_argument("--cache", type=Path, required=True, help="where measured series are kept")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    classifier = read_yaml(CLASSIFIER).parse(Classifier)
    pipeline = Pipeline.build(load_domain("robot"), "pixels")
    (stage,) = (stage for _, stage in pipeline.stages if isinstance(stage, Measure))
    clips = [
        replace(clip, name=f"{folder.name}/{clip.name}", evidence=with_classes(clip.evidence, [classifier]))
        for folder in options.folders
        for clip in simulated_clips(folder, options.cache)
    ]
    print(f"{len(clips)} clips; at each threshold: correct of findings, events found\n")
    print(f"| class | events | {' | '.join(f'above {threshold:g}' for threshold in THRESHOLDS)} |")
    print(f"|---|---|{'---|' * len(THRESHOLDS)}")
    print("\n".join(rows(stage, classifier, clips)))


if __name__ == "__main__":
    main()
