"""What each class of the pixels pipeline finds at several thresholds, on clips of which the truth is known.

    python scripts/bench/curves.py held/ more/ --cache measured/

As in scripts/research/fit_pixels.py, each folder has a cache of its own name, and a finding is correct when an event of
the rule's type is annotated at that time. Findings of several views count one by one.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2

sys.path.insert(0, str(Path(__file__).parents[1] / "research"))
from fit_pixels import tried
from measured_clips import Known, simulated

from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.evidence import METERS, classified
from robogaze.stages.measure import Measure

PIPELINE = "pixels"
THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


def known(folders: Sequence[Path], cache: Path, stage: Measure) -> Iterator[Known]:
    """The clips of all folders with the shares of the classes."""
    for folder in folders:
        (cache / folder.name).mkdir(parents=True, exist_ok=True)
        for one in simulated(folder, cache / folder.name, list(METERS)):
            evidence = classified(one.evidence, stage.classifiers)
            yield Known(f"{folder.name}/{one.name}", one.truth, evidence)


def rows(stage: Measure, clips: Sequence[Known]) -> Iterator[str]:
    """A row for each rule that goes by a class."""
    classes = {one.name for classifier in stage.classifiers for one in classifier.classes}
    for rule in stage.rules:
        if rule.signal in classes:
            events = sum(event.type == rule.type for one in clips if one.truth for event in one.truth.events)
            tries = [tried(rule.at(threshold), clips) for threshold in THRESHOLDS]
            cells = [f"{sum(right for _, right in one.peaks)}/{len(one.peaks)}, {one.events}" for one in tries]
            yield f"| `{rule.signal}` | {events} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    asked.add_argument("--cache", type=Path, required=True, help="where measured series are kept")
    given = asked.parse_args()
    cv2.setNumThreads(1)
    path = resource_folder("taxonomy") / "robot" / "pipelines" / f"{PIPELINE}.yaml"
    stage = Measure.model_validate(read_yaml(path).content["stages"][0]["measure"])
    clips = list(known(given.folders, given.cache, stage))
    print(f"{len(clips)} clips; at each threshold: right of findings, events found\n")
    print(f"| class | events | {' | '.join(f'above {one:g}' for one in THRESHOLDS)} |")
    print(f"|---|---|{'---|' * len(THRESHOLDS)}")
    print("\n".join(rows(stage, clips)))


if __name__ == "__main__":
    main()
