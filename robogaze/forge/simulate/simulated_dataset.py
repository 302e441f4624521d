"""A data set of simulated clips.

    clips/<clip id>.mp4    the clips; names and order reveal nothing
    clips.jsonl            the manifest
    annotations.jsonl      one report per clip
    truth.jsonl            how each clip was made: variation, frames of the fault, phases, measurements
    simulated.json         the settings, clips per type, and why draws were rejected
    .simulated/            one file per finished clip, the settings, a lock

A clip depends only on the settings and its number, not on the process that generates it, so a run can be resumed.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from robogaze.core.report import Report
from robogaze.errors import InputError
from robogaze.forge.dataset_folder import dataset_lock, read_record, write_annotations
from robogaze.forge.simulate.generate import NoValidDraw, PlannedClip, SimulatedClip, SimulationContext, generate_clip
from robogaze.forge.simulate.recording import FPS
from robogaze.forge.simulate.request_sampler import RequestSampler
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig
from robogaze.store import write_whole

SIMULATOR = "3.3.0"
"""The version of MuJoCo; another version gives other physics and pixels."""

_HIDDEN = ".simulated"


@dataclass(frozen=True)
class SimulationPlan:
    """The number of clips, their types, the share of clean clips, and whether to write twins in addition.

    `seconds` and `fps` are ranges: (least, most). If `seconds` is None, each clip shows a single task.
    """

    context: SimulationContext
    clips: int
    types: tuple[str, ...]
    clean_share: float
    twins: bool = False
    seconds: tuple[float, float] | None = None
    fps: tuple[int, int] = (FPS, FPS)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings on which the data set depends. The domain's fingerprint covers the configuration."""
        context = self.context
        return {
            "domain": context.domain.ref.model_dump(),
            "simulator": f"mujoco {SIMULATOR}",
            "clips": self.clips,
            "types": list(self.types),
            "faults": list(dict.fromkeys(fault.make for fault in context.config.faults)),
            "tasks": list(context.config.tasks),
            "clean_share": self.clean_share,
            "twins": self.twins,
            "size": list(context.size),
            "seconds": None if self.seconds is None else list(self.seconds),
            "fps": list(self.fps),
            "difficulty": context.difficulty,
            "world": context.world,
            "seed": context.seed,
        }

    def planned_clips(self) -> tuple[PlannedClip, ...]:
        """Every clip, in random order; all types are equally frequent, and all faults of a type are equally
        frequent.
        """
        rng = np.random.default_rng([self.context.seed])
        config, clean = self.context.config, round(self.clips * self.clean_share)
        requests = RequestSampler(config, self.context.difficulty, self.seconds, self.fps, self.clips, rng)
        faults = _in_turn(config, self.types, self.clips - clean, rng)
        wanted = [requests.faulty(fault) for fault in faults]
        wanted += [requests.clean(number) for number in range(clean)]
        mixed = [wanted[place] for place in rng.permutation(len(wanted))]
        # Random numbers, which reveal neither the fault nor which clip is whose twin.
        names = [f"sim-{number:05}" for number in rng.permutation(len(mixed) * (1 + self.twins))]
        twins = names[len(mixed) :] if self.twins else [""] * len(mixed)
        return tuple(PlannedClip(names[number], number, request, twins[number]) for number, request in enumerate(mixed))


def _in_turn(
    config: SimulationConfig, types: Sequence[str], count: int, rng: np.random.Generator
) -> Iterator[SimulatedFault]:
    """Faults: types in random order, and the faults of each type in turn, starting at a random fault."""
    by_type = {name: [fault for fault in config.faults if fault.type == name] for name in types}
    shuffled = [types[place] for place in rng.permutation(len(types))]
    starts = {name: int(rng.integers(len(faults))) for name, faults in by_type.items()}
    for number in range(count):
        name = shuffled[number % len(shuffled)]
        yield by_type[name][(starts[name] + number // len(shuffled)) % len(by_type[name])]


def select_types(config: SimulationConfig, names: Sequence[str]) -> tuple[str, ...]:
    """The named types, or all types if no type is named. Raises InputError for a type that no task can make."""
    for name in names:
        if name not in config.types:
            where = f" in {', '.join(config.tasks)}"
            raise InputError(f"{name!r} cannot be simulated{where}; these types can: {', '.join(config.types)}")
    return tuple(dict.fromkeys(names)) or config.types


@dataclass(frozen=True)
class SimulatedDataset:
    """A data set: its clips, including those of earlier runs, and an error for each clip without a valid draw."""

    plan: SimulationPlan
    clips: tuple[SimulatedClip, ...]
    failed: tuple[NoValidDraw, ...]

    @property
    def rejections(self) -> dict[str, dict[str, int]]:
        """The number of rejected draws, by the edit or behaviour that was drawn and by the reason."""
        found: dict[str, Counter[str]] = {}
        rejected = [(clip.truth["make"], clip.rejected) for clip in self.clips]
        for name, reasons in rejected + [(error.make, error.rejected) for error in self.failed]:
            found.setdefault(name, Counter()).update(reasons)
        return {name: dict(sorted(reasons.items())) for name, reasons in sorted(found.items())}

    @property
    def by_type(self) -> dict[str, int]:
        """The number of clips of each event type; the key "" counts the clean clips."""
        counts = Counter(clip.truth["type"] or "" for clip in self.clips)
        return {name: counts[name] for name in ("", *self.plan.types)}

    @property
    def reports(self) -> tuple[Report, ...]:
        return tuple(report for clip in self.clips for report in clip.reports)

    def as_json(self) -> dict[str, Any]:
        """The contents of simulated.json."""
        by_type = self.by_type
        return {
            "schema_version": 1,
            "clips": len(self.clips),
            "clean": by_type.pop(""),
            "with_a_second_fault": sum(len(clip.truth["faults"]) > 1 for clip in self.clips),
            "twins": len(self.reports) - len(self.clips),
            "types": by_type,
            "draws": len(self.clips) + sum(sum(reasons.values()) for reasons in self.rejections.values()),
            "rejected": self.rejections,
            "given_up": [str(error) for error in self.failed],
            "settings": dict(self.plan.settings),
        }


def simulate_clips(
    plan: SimulationPlan, processes: int = 1, on_done: Callable[[], None] = lambda: None
) -> SimulatedDataset:
    """Generate the missing clips and write the data set. `on_done` is called after each clip, new or existing.

    `processes` is the number of worker processes. A clip without a valid draw is reported in the result, and the other
    clips are generated. Raises RunError if another process uses the folder or if the folder was made with
    other settings.
    """
    out = plan.context.folder
    with dataset_lock(out, _HIDDEN, plan.settings, made="simulated"):
        clips: list[SimulatedClip] = []
        failed: list[NoValidDraw] = []
        for result in _results(plan, processes):
            if isinstance(result, SimulatedClip):
                clips.append(result)
            else:
                failed.append(result)
            on_done()
        in_order = tuple(sorted(clips, key=lambda clip: str(clip.truth["clip_id"])))
        dataset = SimulatedDataset(plan, in_order, tuple(sorted(failed, key=lambda error: error.name)))
        write_annotations(dataset.reports, out)
        truths = (json.dumps(clip.truth, ensure_ascii=False) for clip in dataset.clips)
        write_whole(out / "truth.jsonl", "".join(f"{truth}\n" for truth in truths))
        write_whole(out / "simulated.json", json.dumps(dataset.as_json(), ensure_ascii=False, indent=1) + "\n")
    return dataset


def _results(plan: SimulationPlan, processes: int) -> Iterator[SimulatedClip | NoValidDraw]:
    missing = []
    for planned in plan.planned_clips():
        earlier = _earlier(plan.context.folder, planned)
        if earlier is None:
            missing.append(planned)
        else:
            yield earlier
    if processes == 1 or len(missing) < 2:
        for planned in missing:
            yield _generate(plan.context, planned)
        return
    # Each process is a new interpreter, because a fork must not share a rendering context.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        for done in as_completed([pool.submit(_generate, plan.context, planned) for planned in missing]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _generate(context: SimulationContext, planned: PlannedClip) -> SimulatedClip | NoValidDraw:
    try:
        clip = generate_clip(context, planned)
    except NoValidDraw as error:
        return error
    write_whole(_record(context.folder, planned), clip.model_dump_json())
    return clip


def _record(folder: Path, planned: PlannedClip) -> Path:
    return folder / _HIDDEN / f"{planned.name}.json"


def _earlier(folder: Path, planned: PlannedClip) -> SimulatedClip | None:
    """The clip from an earlier run, or None if the clip has to be generated. Raises InputError."""
    path = _record(folder, planned)
    if not path.is_file():
        return None
    clip = read_record(path, SimulatedClip)
    return clip if all((folder / report.clip.uri).is_file() for report in clip.reports) else None
