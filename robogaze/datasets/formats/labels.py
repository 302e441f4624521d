"""What foreign labels mean in a taxonomy.

A taxonomy's own words are the ids and names of its types and dimensions, and the codes of its dimensions. How others
call the same things is data: `aliases.yaml` beside a domain's other files,

    schema_version: 1
    types:
      some_type: [what others call it, ...]
    dimensions:
      some_dimension: [...]

Case and signs make no difference. What is read through an alias is counted as a warning.
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

_CLOSE = 0.75
"""How alike, from 0 to 1, a misspelt label and the one that was meant are."""

ALIASES = "aliases.yaml"

Words = Mapping[str, str]
"""Folded labels, each with the id it stands for."""


class AliasFile(Data):
    """aliases.yaml."""

    schema_version: Literal[1]
    types: dict[Name, tuple[str, ...]] = {}
    dimensions: dict[Name, tuple[str, ...]] = {}


@dataclass(frozen=True)
class Vocabulary:
    """The labels of one kind: the taxonomy's own words, and what others say for them."""

    own: Words
    others: Words

    def find(self, label: str) -> tuple[str, bool] | None:
        """The id a label stands for, and whether that is known from an alias only; None for an unknown label."""
        folded = fold(label)
        if folded in self.own:
            return self.own[folded], False
        return (self.others[folded], True) if folded in self.others else None

    def close_to(self, label: str) -> str | None:
        """The id that a misspelt label is closest to; None where none is close."""
        close = get_close_matches(fold(label), self.own, n=1, cutoff=_CLOSE)
        return self.own[close[0]] if close else None


@dataclass(frozen=True)
class Labels:
    """The labels of a domain. `table` is the file in which its aliases stand, or would."""

    domain: str
    types: Vocabulary
    dimensions: Vocabulary
    dimension_of: Mapping[str, str]
    table: Path


def load_labels(domain: str | Path, aliases: Path | None = None) -> Labels:
    """The labels of a domain, with the aliases of a file; by default of the domain's own, if it has one.

    Raises DomainError for an alias of something that is not in the taxonomy, or with two meanings.
    """
    loaded = load_domain(domain)
    homes = (find_domain(domain), resource_folder("taxonomy") / loaded.id)
    table = aliases or next((home / ALIASES for home in homes if (home / ALIASES).is_file()), homes[0] / ALIASES)
    own_types = _words((one.id, (one.id, one.name)) for one in loaded.types.values())
    own_dimensions = _words((one.id, (one.id, one.name, one.code)) for one in loaded.dimensions.values())
    others = _aliases(table, loaded) if aliases or table.is_file() else AliasFile(schema_version=1)
    return Labels(
        domain=loaded.id,
        types=Vocabulary(own_types, _words(others.types.items())),
        dimensions=Vocabulary(own_dimensions, _words(others.dimensions.items())),
        dimension_of=loaded.dimension_of,
        table=table,
    )


def fold(label: str) -> str:
    """A label without case and signs."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in label.casefold()).split())


def _words(named: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    return {fold(label): name for name, labels in named for label in labels}


def _aliases(table: Path, domain: Domain) -> AliasFile:
    file = read_yaml(table)
    found = file.parse(AliasFile)
    for kind, named, known in (
        ("types", found.types, domain.types),
        ("dimensions", found.dimensions, domain.dimensions),
    ):
        _check(file, kind, named, frozenset(known))
    return found


def _check(file: YamlText, kind: str, named: Mapping[str, tuple[str, ...]], known: frozenset[str]) -> None:
    meaning: dict[str, str] = {}
    for name, labels in named.items():
        if name not in known:
            raise file.fault(f"{kind}.{name}: {name!r} is not in the taxonomy", (kind, name))
        for number, label in enumerate(labels):
            key = (kind, name, number)
            if not fold(label):
                raise file.fault(f"{label!r} holds no letter and no digit", key)
            if meaning.setdefault(fold(label), name) != name:
                raise file.fault(f"{label!r} stands for both {meaning[fold(label)]} and {name}", key)
