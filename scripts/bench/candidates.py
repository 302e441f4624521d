"""Candidates of prompts: several renderings of a scene and task, with known faults, for `scripts/bench/rank.py`.

    python scripts/bench/candidates.py /tmp/candidates --prompts 40 --renderings 6 --jobs 2

The renderings of a prompt have one `prompt_id`: the same scene, task, instruction and cameras. Between a third and two
thirds of them are usable (no fault of severity 3 or more): clean, with something unusual that is no fault, or with a
mild fault. Edits of the picture or of objects leave the rest as it is; another behaviour of the arm also draws the
surfaces again. Next to the data set of `robogaze forge simulate` is labels.csv: `clip_id,usable,severe`, where severe
is a fault of severity 4 or more.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from robogaze.core.report import Report
from robogaze.domains import load_domain
from robogaze.forge.dataset_folder import write_annotations
from robogaze.forge.simulate import BEHAVIOURS, EDITS
from robogaze.forge.simulate.generate import MAX_DRAWS, NoValidDraw, PlannedClip, SimulationContext, generate_clip
from robogaze.forge.simulate.load_config import load_simulation_config
from robogaze.forge.simulate.scene_sampler import ClipRequest
from robogaze.forge.simulate.simulation_config import SimulationConfig, Variation
from robogaze.store import write_whole

UNUSABLE, SEVERE = 3, 4
FPS = 10
_TASKS = ("place", "stack", "push", "open", "close", "press")


def worst(report: Report) -> int:
    """The highest severity, 0 without a fault."""
    return max((event.severity or 0 for event in report.events), default=0)


def usable(report: Report) -> bool:
    """Whether no fault has the severity UNUSABLE or more."""
    return worst(report) < UNUSABLE


def wanted(usable_clips: int, renderings: int) -> list[bool]:
    """Whether each rendering is to be usable."""
    return [number < usable_clips for number in range(renderings)]


def choices(config: SimulationConfig, mild: bool) -> list[tuple[Variation, ...]]:
    """What renderings of a prompt can show; the first variation decides how the arm moves."""
    plain = next(variation for variation in config.clean if variation.make == "plain")
    simple = [fault for fault in config.faults if not fault.single_view and not fault.last and fault.arms != 2]
    edits: list[tuple[Variation, ...]] = [(plain, fault) for fault in simple if fault.make in EDITS]
    if not mild:
        return edits + [(fault,) for fault in simple if fault.make in BEHAVIOURS]
    least = {fault.make: min(case.level for case in fault.severity) for fault in config.faults}
    clean = [(variation,) for variation in config.clean if variation.make in BEHAVIOURS and variation.make != "plain"]
    unusual = [(plain, variation) for variation in config.clean if variation.make in EDITS]
    return [(plain,), *clean, *unusual, *(pair for pair in edits if least[pair[1].make] < UNUSABLE)]


def prompt_clips(context: SimulationContext, prompt: int, renderings: int) -> list[Report]:
    """The renderings of a prompt, in random order. Raises NoValidDraw if no scene allows them."""
    rng = np.random.default_rng([context.seed, prompt])
    config = context.config.with_tasks((str(rng.choice(_TASKS)),))
    third = renderings // 3
    targets = [
        bool(target) for target in rng.permutation(wanted(int(rng.integers(third, renderings - third + 1)), renderings))
    ]
    seconds = float(rng.uniform(6.0, 8.0))
    for draw in range(MAX_DRAWS):
        found: list[Report] = []
        left = {mild: choices(config, mild) for mild in (True, False)}
        for number, target in enumerate(targets):
            for place in rng.permutation(len(left[target])):
                variations = left[target][place]
                request = ClipRequest(variations, seconds=seconds, fps=FPS)
                planned = PlannedClip(f"p{prompt:02}-{number + 1}", prompt, request, draws=(draw,))
                try:
                    report = generate_clip(context, planned).reports[0]
                except NoValidDraw:
                    continue
                same = not found or report.clip.instruction == found[0].clip.instruction
                if usable(report) == target and same:
                    found.append(report.with_(clip=report.clip.with_(prompt_id=f"p{prompt:02}")))
                    left[target] = [other for other in left[target] if other != variations]
                    break
            else:
                break
        if len(found) == renderings:
            return found
    raise NoValidDraw(f"p{prompt:02}", "renderings", {})


def _stored(context: SimulationContext, prompt: int, renderings: int) -> list[Report]:
    """The renderings of a prompt, generated unless they are there."""
    record = context.folder / ".prompts" / f"{prompt}.jsonl"
    if record.is_file():
        return [Report.model_validate_json(line) for line in record.read_text().splitlines()]
    reports = prompt_clips(context, prompt, renderings)
    record.parent.mkdir(parents=True, exist_ok=True)
    write_whole(record, "".join(f"{report.model_dump_json()}\n" for report in reports))
    return reports


def generate(context: SimulationContext, prompts: int, renderings: int, jobs: int) -> Iterator[Report]:
    """The reports of all renderings, prompt by prompt."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(_stored, context, prompt, renderings) for prompt in range(prompts)]
        for number, done in enumerate(waiting, start=1):
            yield from done.result()
            print(f"\r{number} of {prompts} prompts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def main() -> None:
    """Write the data set and the labels."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--renderings", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 480))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    config = load_simulation_config("robot")
    context = SimulationContext(options.out, load_domain("robot"), config, options.seed, tuple(options.size))
    reports = list(generate(context, options.prompts, options.renderings, options.jobs))
    write_annotations(reports, options.out)
    labels = [
        f"{report.clip.id},{json.dumps(usable(report))},{json.dumps(worst(report) >= SEVERE)}" for report in reports
    ]
    write_whole(options.out / "labels.csv", "\n".join(("clip_id,usable,severe", *labels)) + "\n")
    print(f"{len(reports)} clips, {sum(map(usable, reports))} usable: {options.out}")


if __name__ == "__main__":
    main()
