"""Which glitches a domain has planted: `forge.yaml` beside its other files.

A planter is code and knows pictures; what its result is called, how it is put into words and how severe it is, is a
domain's affair:

    schema_version: 1
    plants:
      - name: mirror              the plant; without it, the planter's name
        planter: smear            one of PLANTERS
        type: some_type           a type of the taxonomy; its dimension follows
        secondary: [dimension]
        severity: {2: 0.0, 3: 0.5}    the level, and from which strength (0 to 1) on it holds
        describe: "{where} is out of focus ({amount})."

In `describe` stand `{start}`, `{end}`, `{length}` (times with their unit), `{where}`, `{amount}`, and for changed
instructions `{old}` and `{new}`. A plant that changes the instruction says how, under `words` (see `words.py`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.domains import Domain, load_domain
from robogaze.domains.load import find_domain
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import Key, read_yaml
from robogaze.errors import InputError
from robogaze.forge.plant.edit import PLANTERS, REWORDS

FILE = "forge.yaml"

_FIELDS = frozenset({"start", "end", "length", "where", "amount", "old", "new"})
_SLOT, _PARTS = frozenset({"slot"}), frozenset({"first", "second"})


class InstructionChange(Data):
    """How an instruction is changed.

    `find` is a regular expression (case makes no difference). With a group `slot`, one of `instead` takes its place;
    with the groups `first` and `second`, these two change places. Where a word of `unless` stands in a group, the
    instruction is left alone.
    """

    find: str = Field(min_length=1)
    instead: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


class Plant(Data):
    """One kind of glitch that is planted."""

    planter: Name
    name: Name = ""
    type: Name
    secondary: tuple[Name, ...] = ()
    severity: Annotated[dict[Severity, Fraction], Field(min_length=1)]
    describe: str = Field(min_length=1)
    words: InstructionChange | None = None

    @property
    def id(self) -> str:
        """Its name, or the planter's."""
        return self.name or self.planter

    def level(self, strength: float) -> int:
        """The severity at a strength in [0, 1]: the highest level that holds from there, or from less, on."""
        return max(level for level, least in self.severity.items() if strength >= least)


class RecipeFile(Data):
    """forge.yaml."""

    schema_version: Literal[1]
    plants: tuple[Plant, ...] = Field(min_length=1)


@dataclass(frozen=True)
class PlantingConfig:
    """A domain and what is planted in its clips, by the plants' names."""

    domain: Domain
    plants: Mapping[str, Plant]

    def chosen(self, names: tuple[str, ...]) -> tuple[Plant, ...]:
        """The plants of these names, or all when none is named. Raises InputError for an unknown name."""
        for name in names:
            if name not in self.plants:
                raise InputError(f"the domain {self.domain.id} plants no {name!r} (but {', '.join(self.plants)})")
        return tuple(plant for name, plant in self.plants.items() if not names or name in names)


def find_recipe(name_or_path: str | Path) -> Path | None:
    """The forge.yaml of a domain, or None when it has none; a user's domain may share that of a built-in one."""
    folder = find_domain(name_or_path)
    homes = (folder, resource_folder("taxonomy") / load_domain(name_or_path).id)
    return next((home / FILE for home in homes if (home / FILE).is_file()), None)


def read_recipe(name_or_path: str | Path) -> PlantingConfig:
    """What a domain has planted.

    Raises InputError when it has no forge.yaml, DomainError with the line for what does not fit in it.
    """
    path, domain = find_recipe(name_or_path), load_domain(name_or_path)
    if path is None:
        raise InputError(f"the domain {domain.id} plants nothing: it has no {FILE} (docs/forge.md says what it holds)")
    file = read_yaml(path)
    found = file.parse(RecipeFile).plants
    for number, plant in enumerate(found):
        for key, message in (*_faults(plant, domain), *_repeated(found, number)):
            raise file.fault(f"plants.{number}.{key[0]}: {message}", ("plants", number, *key))
    return PlantingConfig(domain, {plant.id: plant for plant in found})


Fault = tuple[Key, str]


def _repeated(plants: tuple[Plant, ...], number: int) -> Iterator[Fault]:
    if plants[number].id in {one.id for one in plants[:number]}:
        yield ("planter",), f"{plants[number].id!r} is planted twice; give each a name"


def _faults(plant: Plant, domain: Domain) -> Iterator[Fault]:
    if plant.planter not in PLANTERS:
        yield ("planter",), f"there is no planter {plant.planter!r} (there is: {', '.join(PLANTERS)})"
    if plant.type not in domain.types:
        yield ("type",), f"{plant.type!r} is not in the taxonomy"
        return
    for one in plant.secondary:
        if one not in domain.dimensions or one == domain.dimension_of[plant.type]:
            yield ("secondary",), f"{one!r} is no further dimension"
    if min(plant.severity.values()) > 0:
        yield ("severity",), "no level holds from strength 0 on"
    if [level for level, _ in sorted(plant.severity.items(), key=lambda one: one[1])] != sorted(plant.severity):
        yield ("severity",), "a higher level must hold from a higher strength on"
    yield from _described(plant.describe)
    if (plant.words is not None) is not (plant.planter == REWORDS):
        yield ("planter",), f"{REWORDS} needs 'words', and no other planter has any"
    if plant.words is not None:
        yield from _worded(plant.words)


def _described(template: str) -> Iterator[Fault]:
    try:
        used = {field for _, field, _, _ in Formatter().parse(template) if field is not None}
    except ValueError as error:
        yield ("describe",), f"cannot be filled in: {error}"
        return
    if unknown := sorted(used - _FIELDS):
        yield ("describe",), f"{{{unknown[0]}}} stands for nothing (there is: {', '.join(sorted(_FIELDS))})"


def _worded(words: InstructionChange) -> Iterator[Fault]:
    try:
        groups = frozenset(re.compile(words.find).groupindex)
    except re.error as error:
        yield ("words", "find"), f"no regular expression: {error}"
        return
    if groups not in (_SLOT, _PARTS):
        yield ("words", "find"), "needs the group 'slot', or the groups 'first' and 'second'"
    if (groups == _SLOT) is not bool(words.instead):
        yield ("words", "instead"), "belongs to a 'slot', and a slot needs it"


def filled(template: str, fields: Mapping[str, Any]) -> str:
    """A description with its fields, beginning with a capital."""
    text = template.format_map(fields)
    return text[0].upper() + text[1:]
