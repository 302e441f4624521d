"""The data set of simulated clips, and how it comes about.

    clips/<clip id>.mp4    the clips; their names and order tell nothing
    clips.jsonl            the manifest
    annotations.jsonl      what is true of each: a report a line
    truth.jsonl            how each came about: what was done, in which frames, phases, what the auditor measured
    simulated.json         the settings, how many of each type, and why draws were turned down
    .simulated/            one file a clip that is done, the settings, a lock

A clip depends on the settings and its number only, so it does not matter which process makes it, or in which start.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from robogaze.core.data import dotted, first_fault
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry, manifest_text
from robogaze.errors import InputError
from robogaze.forge.dataset_lock import held
from robogaze.forge.sim.make import ClipOrder, GivenUp, Made, Workshop
from robogaze.forge.sim.make import make as make_clip
from robogaze.forge.sim.recipe import Doing, SimulationConfig
from robogaze.store import write_whole

SCHEMA_VERSION: Literal[1] = 1
SIMULATOR = "3.3.0"
"""The version of MuJoCo whose physics and pixels a seed stands for."""

_HIDDEN = ".simulated"


@dataclass(frozen=True)
class SimulationPlan:
    """What is to be made: how many clips of which types, which share of them clean, and whether twins, too.

    A twin is a clip of its own, beside the `clips`.
    """

    workshop: Workshop
    clips: int
    types: tuple[str, ...]
    clean_share: float
    twins: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides what comes of a clip; the domain's fingerprint stands for its recipe, too."""
        shop = self.workshop
        return {
            "domain": shop.domain.ref.model_dump(),
            "simulator": f"mujoco {SIMULATOR}",
            "clips": self.clips,
            "types": list(self.types),
            "tasks": list(shop.recipe.tasks),
            "clean_share": self.clean_share,
            "twins": self.twins,
            "size": list(shop.size),
            "world": shop.world,
            "seed": shop.seed,
        }

    def orders(self) -> tuple[ClipOrder, ...]:
        """Every clip: each type as often as the others, each of its faults, too, in an order that tells nothing."""
        rng = np.random.default_rng([self.workshop.seed])
        recipe, clean = self.workshop.recipe, round(self.clips * self.clean_share)
        wanted = list(_in_turn(recipe, self.types, self.clips - clean, rng))
        wanted += [recipe.clean[number % len(recipe.clean)] for number in range(clean)]
        mixed = [wanted[place] for place in rng.permutation(len(wanted))]
        # Names are numbers that tell nothing: neither what is wrong with a clip nor whose twin it is.
        names = [f"sim-{number:05}" for number in rng.permutation(len(mixed) * (1 + self.twins))]
        twins = names[len(mixed) :] if self.twins else [""] * len(mixed)
        return tuple(ClipOrder(names[number], number, doing, twins[number]) for number, doing in enumerate(mixed))


def _in_turn(recipe: SimulationConfig, types: Sequence[str], count: int, rng: np.random.Generator) -> Iterator[Doing]:
    """Faults: type after type in a random order, and for each type fault after fault from a random one on."""
    by_type = {name: [fault for fault in recipe.faults if fault.type == name] for name in types}
    mixed = [types[place] for place in rng.permutation(len(types))]
    starts = {name: int(rng.integers(len(faults))) for name, faults in by_type.items()}
    for number in range(count):
        name = mixed[number % len(mixed)]
        yield by_type[name][(starts[name] + number // len(mixed)) % len(by_type[name])]


def chosen_types(recipe: SimulationConfig, names: Sequence[str]) -> tuple[str, ...]:
    """The named types, all for none. Raises InputError for one that the recipe, with the tasks it has, cannot make."""
    for name in names:
        if name not in recipe.types:
            where = f" in {', '.join(recipe.tasks)}"
            raise InputError(f"{name!r} cannot be simulated{where}; these types can: {', '.join(recipe.types)}")
    return tuple(dict.fromkeys(names)) or recipe.types


@dataclass(frozen=True)
class Simulated:
    """A whole data set: the clips in order of their numbers, those of earlier starts, too, and those given up."""

    plan: SimulationPlan
    made: tuple[Made, ...]
    given_up: tuple[GivenUp, ...]

    @property
    def rejections(self) -> dict[str, dict[str, int]]:
        """For each thing that is made, why draws of it were turned down and how often."""
        found: dict[str, Counter[str]] = {}
        told = [(one.truth["make"], one.rejected) for one in self.made]
        for name, reasons in told + [(one.make, one.rejected) for one in self.given_up]:
            found.setdefault(name, Counter()).update(reasons)
        return {name: dict(sorted(reasons.items())) for name, reasons in sorted(found.items())}

    @property
    def by_type(self) -> dict[str, int]:
        """How many clips were made for each type; "" stands for clean ones."""
        counts = Counter(one.truth["type"] or "" for one in self.made)
        return {name: counts[name] for name in ("", *self.plan.types)}

    @property
    def reports(self) -> tuple[Report, ...]:
        """The reports of all clips, by their names."""
        return tuple(sorted((one for made in self.made for one in made.reports), key=lambda one: one.clip.id))

    def as_json(self) -> dict[str, Any]:
        """simulated.json."""
        by_type = self.by_type
        return {
            "schema_version": SCHEMA_VERSION,
            "clips": len(self.made),
            "clean": by_type.pop(""),
            "with_a_second_fault": sum(len(one.events) > 1 for one in self.reports),
            "twins": len(self.reports) - len(self.made),
            "types": by_type,
            "draws": len(self.made) + sum(sum(reasons.values()) for reasons in self.rejections.values()),
            "rejected": self.rejections,
            "given_up": [str(one) for one in self.given_up],
            "settings": dict(self.plan.settings),
        }


def simulate_clips(plan: SimulationPlan, jobs: int = 1, on_done: Callable[[], None] = lambda: None) -> Simulated:
    """Make what is not there yet and write the data set. `on_done` is called after each clip, made now or before.

    With several jobs as many processes make clips. A clip that is given up is told, and the others go on. Raises
    RunError when another process holds the folder or it was made with other settings.
    """
    out = plan.workshop.folder
    with held(out, _HIDDEN, plan.settings, made="simulated"):
        made, given_up = [], []
        for one in _made(plan, jobs):
            if isinstance(one, Made):
                made.append(one)
            else:
                given_up.append(one)
            on_done()
        in_order = tuple(sorted(made, key=lambda one: str(one.truth["clip_id"])))
        done = Simulated(plan, in_order, tuple(sorted(given_up, key=lambda one: one.name)))
        _write(done, out)
    return done


def _made(plan: SimulationPlan, jobs: int) -> Iterator[Made | GivenUp]:
    """Every clip as it gets done."""
    missing = []
    for order in plan.orders():
        made = _earlier(plan.workshop.folder, order)
        if made is None:
            missing.append(order)
        else:
            yield made
    if jobs == 1 or len(missing) < 2:
        for order in missing:
            yield _keep(plan.workshop, order)
        return
    # A fresh interpreter each: what draws must not be shared by a fork.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(_keep, plan.workshop, order) for order in missing]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            # When this is left early, what waits is not begun.
            for one in waiting:
                one.cancel()


def _keep(shop: Workshop, order: ClipOrder) -> Made | GivenUp:
    """Make a clip and note that it is done."""
    try:
        made = make_clip(shop, order)
    except GivenUp as error:
        return error
    write_whole(_record(shop.folder, order), made.model_dump_json())
    return made


def _record(folder: Path, order: ClipOrder) -> Path:
    return folder / _HIDDEN / f"{order.name}.json"


def _earlier(folder: Path, order: ClipOrder) -> Made | None:
    """What an earlier start made of an order; None when it has to be made. Raises InputError."""
    path = _record(folder, order)
    if not path.is_file():
        return None
    try:
        made = Made.model_validate_json(path.read_bytes())
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{path}: {dotted(place)}: {message}; remove it and start again") from error
    return made if all((folder / report.clip.uri).is_file() for report in made.reports) else None


def _write(done: Simulated, out: Path) -> None:
    reports = done.reports
    given = ("instruction", "task_family", "embodiment", "layout")
    entries = [
        ManifestEntry(
            path=out / report.clip.uri,
            clip_id=report.clip.id,
            **{name: getattr(report.clip, name) for name in given},
        )
        for report in reports
    ]
    write_whole(out / "annotations.jsonl", "".join(f"{report.model_dump_json()}\n" for report in reports))
    write_whole(out / "clips.jsonl", manifest_text(entries, out))
    write_whole(out / "truth.jsonl", "".join(json.dumps(one.truth, ensure_ascii=False) + "\n" for one in done.made))
    write_whole(out / "simulated.json", json.dumps(done.as_json(), ensure_ascii=False, indent=1) + "\n")
