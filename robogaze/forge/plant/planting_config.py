"""The glitches that are planted for a domain: `forge.yaml` next to the domain's other files (docs/forge.md)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.domains import Domain, load_domain
from robogaze.domains.load import find_domain
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import Key, read_yaml
from robogaze.errors import InputError
from robogaze.forge.placeholders import placeholder_problem
from robogaze.forge.plant import PLANTERS, REWORD

FILE = "forge.yaml"

_FIELDS = frozenset({"start", "end", "length", "where", "amount", "old", "new"})
_SLOT, _PARTS = frozenset({"slot"}), frozenset({"first", "second"})


class InstructionChange(Data):
    """How an instruction is changed.

    `pattern` is a regular expression, case-insensitive. Either the group `slot` is replaced by one of `replacements`,
    or the groups `first` and `second` are exchanged. An instruction with an excluded word in a group is not changed.
    """

    pattern: str = Field(min_length=1)
    replacements: tuple[str, ...] = ()
    excluded_words: tuple[str, ...] = ()


class Glitch(Data):
    """A kind of glitch: the planter that makes it, and its event type, description and severity.

    If `name` is empty, the planter's name is used. `severity` maps a level to the strength (0 to 1) from which the
    level applies. `description` may use the fields in _FIELDS; times have their unit.
    """

    planter: Name
    name: Name = ""
    type: Name
    secondary: tuple[Name, ...] = ()
    severity: Annotated[dict[Severity, Fraction], Field(min_length=1)]
    description: str = Field(min_length=1)
    instruction_change: InstructionChange | None = None

    @property
    def id(self) -> str:
        """The name of the glitch, or the name of its planter."""
        return self.name or self.planter

    def level(self, strength: float) -> int:
        """The severity at a strength in [0, 1]: the highest level that applies."""
        return max(level for level, least in self.severity.items() if strength >= least)


class GlitchesFile(Data):
    """The contents of forge.yaml."""

    schema_version: Literal[1]
    glitches: tuple[Glitch, ...] = Field(min_length=1)


@dataclass(frozen=True)
class PlantingConfig:
    """A domain and its glitches by name."""

    domain: Domain
    glitches: Mapping[str, Glitch]

    def select(self, names: tuple[str, ...]) -> tuple[Glitch, ...]:
        """The glitches with these names, or all glitches if no name is given. Raises InputError for an unknown name."""
        for name in names:
            if name not in self.glitches:
                known = ", ".join(self.glitches)
                raise InputError(f"the domain {self.domain.id} has no glitch {name!r}; known: {known}")
        return tuple(glitch for name, glitch in self.glitches.items() if not names or name in names)


def find_planting_file(name_or_path: str | Path) -> Path | None:
    """The forge.yaml of a domain. If the domain has none, the file of the built-in domain with the same id is used.
    None if neither file exists.
    """
    folder = find_domain(name_or_path)
    folders = (folder, resource_folder("taxonomy") / load_domain(name_or_path).id)
    return next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)


def load_planting_config(name_or_path: str | Path) -> PlantingConfig:
    """Load the glitches of a domain. Raises InputError if there is no forge.yaml, and DomainError, which gives the
    line, if the forge.yaml is invalid.
    """
    path, domain = find_planting_file(name_or_path), load_domain(name_or_path)
    if path is None:
        raise InputError(f"the domain {domain.id} has no {FILE}, so nothing can be planted (see docs/forge.md)")
    file = read_yaml(path)
    glitches = file.parse(GlitchesFile).glitches
    by_name: dict[str, Glitch] = {}
    for number, glitch in enumerate(glitches):
        for key, message in _problems(glitch, domain):
            raise file.fault(f"glitches.{number}.{key[0]}: {message}", ("glitches", number, *key))
        if glitch.id in by_name:
            message = f"glitches.{number}.planter: {glitch.id!r} is used twice; give each glitch a different name"
            raise file.fault(message, ("glitches", number, "planter"))
        by_name[glitch.id] = glitch
    return PlantingConfig(domain, by_name)


Problem = tuple[Key, str]


def _problems(glitch: Glitch, domain: Domain) -> Iterator[Problem]:
    if glitch.planter not in PLANTERS:
        yield ("planter",), f"unknown planter {glitch.planter!r}; known: {', '.join(PLANTERS.names())}"
    if glitch.type not in domain.types:
        yield ("type",), f"{glitch.type!r} is not in the taxonomy"
        return
    for dimension in glitch.secondary:
        if dimension not in domain.dimensions or dimension == domain.dimension_of[glitch.type]:
            yield ("secondary",), f"{dimension!r} is not a dimension of the domain, or is the glitch's own dimension"
    if min(glitch.severity.values()) > 0:
        yield ("severity",), "one level must apply from strength 0"
    if [level for level, _ in sorted(glitch.severity.items(), key=lambda item: item[1])] != sorted(glitch.severity):
        yield ("severity",), "a higher level must apply from a higher strength"
    if problem := placeholder_problem(glitch.description, _FIELDS):
        yield ("description",), problem
    if (glitch.instruction_change is not None) is not (glitch.planter == REWORD):
        yield (
            ("planter",),
            f"the planter {REWORD} needs 'instruction_change'; no other planter may have 'instruction_change'",
        )
    if glitch.instruction_change is not None:
        yield from _instruction_problems(glitch.instruction_change)


def _instruction_problems(change: InstructionChange) -> Iterator[Problem]:
    try:
        groups = frozenset(re.compile(change.pattern).groupindex)
    except re.error as error:
        yield ("instruction_change", "pattern"), f"is not a regular expression: {error}"
        return
    if groups not in (_SLOT, _PARTS):
        yield ("instruction_change", "pattern"), "needs the group 'slot', or the groups 'first' and 'second'"
    if (groups == _SLOT) is not bool(change.replacements):
        yield ("instruction_change", "replacements"), "is required with the group 'slot' and not allowed without it"
