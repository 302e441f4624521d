"""Parts that are found by name: those of a package, and those that other packages add as entry points.

A package lists its own parts in its `__init__`, as import paths, so that a part is imported when it is first used:

    TRACKERS: Registry[type[Tracker]] = Registry("trackers", {"wandb": "robogaze.reporting.trackers.wandb:Wandb"})

Another package adds a part in its pyproject.toml, in the entry-point group `robogaze.<kind>`:

    [project.entry-points."robogaze.trackers"]
    clearml = "my_package.clearml:ClearML"
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from robogaze.errors import InputError

Part = TypeVar("Part")


@dataclass(frozen=True)
class Registry(Generic[Part]):
    """The parts of one kind by name. `own` maps a name to `module:attribute`; a module alone is its own part."""

    kind: str
    own: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Every name, the package's own first, then those of other packages, sorted."""
        return (*self.own, *sorted(self._others().keys() - self.own.keys()))

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._others()

    def load(self, name: str) -> Part:
        """Import a part. Raises InputError for an unknown name, and where two packages register the same name."""
        paths = {*((self.own[name],) if name in self.own else ()), *(point.value for point in self._named(name))}
        if not paths:
            known = ", ".join(self.names())
            raise InputError(f"{name!r} is not one of the {self.kind}: {known}")
        if len(paths) > 1:
            raise InputError(f"{self.kind}: {name!r} is registered as {' and as '.join(sorted(paths))}; uninstall one")
        module, _, attribute = paths.pop().partition(":")
        loaded = import_module(module)
        return cast(Part, getattr(loaded, attribute) if attribute else loaded)

    def _others(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=f"robogaze.{self.kind}")}

    def _named(self, name: str) -> tuple[EntryPoint, ...]:
        return tuple(entry_points(group=f"robogaze.{self.kind}", name=name))
