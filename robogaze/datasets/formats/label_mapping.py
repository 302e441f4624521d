"""Maps the labels of other tools to the types and dimensions of a taxonomy.

A taxonomy's own words are the ids and names of its types and dimensions, and the codes of its dimensions. Aliases are
in `aliases.yaml`, next to a domain's other files:

    schema_version: 1
    types:
      some_type: [what others call it, ...]
    dimensions:
      some_dimension: [...]

Case and punctuation do not matter. Labels that are read through an alias are counted in a warning.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from robogaze.core.data import Data
from robogaze.core.events import Name
from robogaze.domains import Domain, load_domain
from robogaze.domains.load import find_domain
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import YamlText, read_yaml

_SIMILARITY = 0.75
"""How similar, from 0 to 1, a misspelt label and the suggested one are."""

_ALIASES = "aliases.yaml"

Words = Mapping[str, str]
"""Folded labels, each with the id it means."""


class AliasFile(Data):
    """aliases.yaml."""

    schema_version: Literal[1]
    types: dict[Name, tuple[str, ...]] = {}
    dimensions: dict[Name, tuple[str, ...]] = {}


@dataclass(frozen=True)
class Vocabulary:
    """The labels of types or of dimensions: the taxonomy's own words, and aliases."""

    own: Words
    aliases: Words

    def find(self, label: str) -> tuple[str, bool] | None:
        """The id that a label means, and whether it comes from an alias; None for an unknown label."""
        folded = fold(label)
        if folded in self.own:
            return self.own[folded], False
        return (self.aliases[folded], True) if folded in self.aliases else None

    def close_to(self, label: str) -> str | None:
        """The id whose own label is most similar to this one; None if no label is similar enough."""
        close = get_close_matches(fold(label), self.own, n=1, cutoff=_SIMILARITY)
        return self.own[close[0]] if close else None


@dataclass(frozen=True)
class Labels:
    """The labels of a domain. `table` is the path of the file with the domain's aliases; this file may not exist."""

    domain: str
    types: Vocabulary
    dimensions: Vocabulary
    dimension_of: Mapping[str, str]
    table: Path


def load_labels(domain: str | Path) -> Labels:
    """The labels of a domain, with the aliases in its folder or in the folder of the built-in domain with the same id.

    Raises DomainError for an alias that has two meanings, or whose meaning is not in the taxonomy.
    """
    loaded = load_domain(domain)
    folders = (find_domain(domain), resource_folder("taxonomy") / loaded.id)
    existing = (folder / _ALIASES for folder in folders if (folder / _ALIASES).is_file())
    table = next(existing, folders[0] / _ALIASES)
    own_types = _words((type_.id, (type_.id, type_.name)) for type_ in loaded.types.values())
    own_dimensions = _words(
        (dimension.id, (dimension.id, dimension.name, dimension.code)) for dimension in loaded.dimensions.values()
    )
    file = _read_aliases(table, loaded) if table.is_file() else AliasFile(schema_version=1)
    return Labels(
        domain=loaded.id,
        types=Vocabulary(own_types, _words(file.types.items())),
        dimensions=Vocabulary(own_dimensions, _words(file.dimensions.items())),
        dimension_of=loaded.dimension_of,
        table=table,
    )


def fold(label: str) -> str:
    """A label in lower case, with single spaces instead of punctuation."""
    letters = (character if character.isalnum() else " " for character in label.casefold())
    return " ".join("".join(letters).split())


def _words(labels_by_id: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    return {fold(label): id_ for id_, labels in labels_by_id for label in labels}


def _read_aliases(table: Path, domain: Domain) -> AliasFile:
    file = read_yaml(table)
    aliases = file.parse(AliasFile)
    _check(file, "types", aliases.types, frozenset(domain.types))
    _check(file, "dimensions", aliases.dimensions, frozenset(domain.dimensions))
    return aliases


def _check(file: YamlText, kind: str, aliases: Mapping[str, tuple[str, ...]], known: frozenset[str]) -> None:
    meanings: dict[str, str] = {}
    for name, labels in aliases.items():
        if name not in known:
            raise file.fault(f"{kind}.{name}: {name!r} is not in the taxonomy", (kind, name))
        for number, label in enumerate(labels):
            key = (kind, name, number)
            if not fold(label):
                raise file.fault(f"{label!r} must contain a letter or a digit", key)
            if meanings.setdefault(fold(label), name) != name:
                raise file.fault(f"{label!r} means both {meanings[fold(label)]} and {name}", key)
