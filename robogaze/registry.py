"""Parts that are found by name: the parts of a package, and the parts that other packages add as entry points.

A package lists its own parts in its `__init__`, as import paths, so that a part is imported when it is first used:

    TRACKERS: Registry[type[Tracker]] = Registry("trackers", {"wandb": "robogaze.reporting.trackers.wandb:Wandb"})

Another package adds a part in its pyproject.toml, in the entry-point group `robogaze.<kind>`:

    [project.entry-points."robogaze.trackers"]
    clearml = "my_package.clearml:ClearML"
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from robogaze.errors import InputError

Part = TypeVar("Part")


@dataclass(frozen=True)
class Registry(Generic[Part]):
    """The parts of one kind by name. `own` maps a name to `module:attribute`; if only a module is given, the module
    itself is the part.
    """

    kind: str
    own: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Every name: first the package's own names, then the names from other packages, sorted."""
        return (*self.own, *sorted(self._others().keys() - self.own.keys()))

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._others()

    def load(self, name: str) -> Part:
        """Import a part.

        Raises InputError for an unknown name, for a name that two packages register, and for an entry point that cannot
        be imported.
        """
        points = {point.value: point for point in self._points() if point.name == name}
        paths = {*((self.own[name],) if name in self.own else ()), *points}
        if not paths:
            known = ", ".join(self.names())
            raise InputError(f"{name!r} is not one of the {self.kind}: {known}")
        if len(paths) > 1:
            raise InputError(
                f"{self.kind}: {name!r} is registered as {' and as '.join(sorted(paths))}; uninstall one package"
            )
        path = paths.pop()
        return cast(Part, _imported(path) if name in self.own else self._of_package(points[path]))

    def _of_package(self, point: EntryPoint) -> object:
        try:
            return _imported(point.value)
        except (ImportError, AttributeError) as error:
            package = "an unnamed package" if point.dist is None else point.dist.name
            raise InputError(
                f"the entry point {point.name} = {point.value!r} of {package} (group {point.group}) cannot be imported "
                f"({error}); correct or uninstall {package}"
            ) from error

    def _points(self) -> tuple[EntryPoint, ...]:
        return _installed(f"robogaze.{self.kind}", tuple(sys.path))

    def _others(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in self._points()}


@lru_cache(maxsize=64)
def _installed(group: str, search_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group. Cached, because finding the entry points takes milliseconds, and parts are loaded
    often.
    """
    return tuple(entry_points(group=group))


def _imported(path: str) -> object:
    module, _, attribute = path.partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded
