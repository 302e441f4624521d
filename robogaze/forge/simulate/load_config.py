"""Loads simulate.yaml, and checks its names against the taxonomy and each other, and the placeholders of its texts."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from robogaze.core.data import dotted
from robogaze.domains import Domain, load_domain
from robogaze.domains.load import find_domain
from robogaze.domains.yaml_files import Key, read_yaml
from robogaze.errors import InputError
from robogaze.forge.placeholders import placeholder_problem
from robogaze.forge.simulate import BEHAVIOURS, EDITS
from robogaze.forge.simulate.simulation_config import (
    FILE,
    MIN_OBJECTS,
    SimulatedFault,
    SimulationConfig,
    TaskConfig,
    Variation,
)

_FIELDS = frozenset(
    {"object", "goal", "into", "hand", "phase", "Phase", "an_object", "other", "an_other", "part", "asked"}
)
"""The placeholders of a fault's texts: those of every fault, and those that RoboGaze's own edits and behaviours add."""


def load_simulation_config(domain: str | Path) -> SimulationConfig:
    """The configuration of a domain. Raises DomainError, which names file and line, if the file is invalid, and
    InputError if there is no file.
    """
    path = find_domain(domain) / FILE
    if not path.is_file():
        raise InputError(f"{path} does not exist; it defines what can be simulated (docs/forge-simulate.md)")
    file = read_yaml(path)
    config = file.parse(SimulationConfig)
    for key, message in chain(_problems(config, load_domain(domain)), _text_problems(config)):
        raise file.fault(f"{dotted(key)}: {message}", key)
    return config


Problem = tuple[Key, str]


def _faults(config: SimulationConfig) -> Iterator[tuple[Key, SimulatedFault]]:
    for number, fault in enumerate(config.faults):
        yield ("faults", number), fault


def _variations(config: SimulationConfig) -> Iterator[tuple[Key, Variation]]:
    yield from _faults(config)
    for number, variation in enumerate(config.clean):
        yield ("clean", number), variation
    for difficulty in config.difficulties:
        for name, variation in config.difficulties[difficulty].negatives.items():
            yield ("difficulties", difficulty, "negatives", name), variation


def _tasks(config: SimulationConfig) -> Iterator[tuple[Key, TaskConfig]]:
    for name, task in config.tasks.items():
        yield ("tasks", name), task
    yield ("chain", "carry"), config.chain.carry
    yield ("chain", "work"), config.chain.work


def _problems(config: SimulationConfig, domain: Domain) -> Iterator[Problem]:
    """Names of the configuration that are not in the taxonomy or not in another part of the configuration."""
    for key, fault in _faults(config):
        if fault.type not in domain.types:
            yield (*key, "type"), f"{fault.type!r} is not in the taxonomy"
            return
        for dimension in fault.secondary:
            if dimension not in domain.dimensions or dimension == domain.dimension_of[fault.type]:
                yield (*key, "secondary"), f"{dimension!r} is not a dimension of the domain, or is the fault's own"
        if fault.act is not None:
            yield from _missing((*key, "act"), "phase", filter(None, (fault.act.since, fault.act.until)), config.phases)
    for kind, outcome in config.outcomes.items():
        if outcome.type not in domain.types:
            yield ("outcomes", kind, "type"), f"{outcome.type!r} is not in the taxonomy"
    for key, variation in _variations(config):
        yield from _missing((*key, "tasks"), "task", variation.tasks, config.tasks)
    yield from _missing(("second_faults",), "fault", config.second_faults, [fault.make for fault in config.faults])
    yield from _missing(("sides",), "colour", config.sides.values(), config.colours)
    movable = {*config.objects, *config.goals}
    for key, task in _tasks(config):
        known = movable if task.goals else config.fixtures
        yield from _missing((*key, "objects"), "shape", task.objects, known)
        yield from _missing((*key, "goals"), "shape", task.goals, known)
    for name, world in config.worlds.items():
        key, chosen = ("worlds", name, "objects"), {*world.objects}
        yield from _missing(key, "object or goal", world.objects, movable)
        if chosen and min(len(chosen & {*config.objects}), len(chosen & {*config.goals})) < MIN_OBJECTS:
            yield key, "a world needs at least two objects and two goals; add more"
        for task_key, task in _tasks(config) if chosen else ():
            if task.goals and not (chosen.intersection(task.objects) and chosen.intersection(task.goals)):
                yield key, f"no object or no goal of this world is left for {dotted(task_key)}; add more"


def _missing(key: Key, kind: str, names: Iterable[str], known: Collection[str]) -> Iterator[Problem]:
    for name in names:
        if name not in known:
            yield key, f"there is no {kind} {name!r}; there are: {', '.join(sorted(filter(None, {*known})))}"


def _text_problems(config: SimulationConfig) -> Iterator[Problem]:
    """Format strings that are not valid or have unknown placeholders."""
    for key, text, fields in _texts(config):
        if problem := placeholder_problem(text, fields):
            yield key, problem


def _texts(config: SimulationConfig) -> Iterator[tuple[Key, str, Collection[str]]]:
    """Every format string with its placeholders. Changes of other packages may add placeholders to those of a fault."""
    yield ("part_of_side",), config.part_of_side, ("part", "side")
    yield ("arm_of_side",), config.arm_of_side, ("part", "side")
    yield ("instruction_with_side",), config.instruction_with_side, ("side", "colour", "instruction")
    for word in ("first", "next", "last"):
        yield ("chain", word), getattr(config.chain, word), ("instruction",)
    for name, text in config.phases.items():
        yield ("phases", name), text, ("hand", "object", "goal")
    for key, task in _tasks(config):
        numbered = [f"{name}{n}" for n in range(1, task.subtasks + 1) for name in ("object", "goal", "into")]
        yield (*key, "instruction"), task.instruction, ("other", *numbered)
    for kind, outcome in config.outcomes.items():
        yield ("outcomes", kind, "description"), outcome.description, ("object", "goal", "into")
    for key, fault in _faults(config):
        if fault.make in EDITS.own or fault.make in BEHAVIOURS.own:
            yield (*key, "description"), fault.description, _FIELDS
            yield (*key, "evidence"), fault.evidence, _FIELDS
