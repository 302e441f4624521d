"""The folder of an environment: its world, its design, its documented bugs, and builds with some of the bugs.

world.yaml           the world without bugs; `engine` names the engine that runs it, and defines the other keys
faults.yaml          for each bug by its id, the values of world.yaml that it changes; agents cannot read this file
bugs/<version>.json  the documented bugs in GBQA's form; each minimal_reproduction is a list of commands
walkthrough.json     commands that win
design.md            the intended rules
"""

import copy
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from robogaze.core.data import Data, fault_of
from robogaze.datasets.formats.records import ForeignRecord
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import YamlText, read_text, read_yaml
from robogaze.errors import DomainError, InputError
from robogaze.interactive.environments.in_process import StartWorld

Engine = Callable[[YamlText], StartWorld]
"""Reads a definition and returns a function that starts sessions. Raises DomainError for an invalid definition."""

WORLD = "world.yaml"


class Bug(ForeignRecord):
    """A documented bug; `minimal_reproduction` are commands from the initial state, and the last one shows the bug."""

    id: str = Field(pattern=r"^\w+$")
    difficulty: Literal["easy", "medium", "hard"]
    minimal_reproduction: tuple[str, ...] = Field(min_length=1)
    observed_fault: str


class _BugFile(ForeignRecord):
    bugs: tuple[Bug, ...]


class _Change(Data):
    """A new value in the world; `at` is the path of keys to the old value, which must exist."""

    at: tuple[str | int, ...] = Field(min_length=1)
    value: Any


@dataclass(frozen=True)
class EnvironmentFolder:
    """The content of a folder; `bugs` are the documented bugs of one version."""

    path: Path
    version: str
    title: str
    engine: str
    bugs: tuple[Bug, ...]
    walkthrough: tuple[str, ...]
    design: str
    _world: YamlText
    _faults: dict[str, tuple[_Change, ...]]

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def bug_ids(self) -> tuple[str, ...]:
        return tuple(bug.id for bug in self.bugs)

    def build(self, bugs: frozenset[str]) -> YamlText:
        """The definition of the build that has some of the bugs."""
        content = copy.deepcopy(self._world.content)
        for bug in sorted(bugs):
            for change in self._faults[bug]:
                _replace(content, change, self.path / "faults.yaml")
        return YamlText(self._world.path, content, self._world.lines)

    def documents(self, build: YamlText, engine: Engine) -> dict[str, str]:
        """What an agent in mode `qa` may read: the design, the definition of a build, and the source of its engine."""
        source = Path(inspect.getfile(engine))
        definition = json.dumps(build.content, indent=1, ensure_ascii=False)
        return {"design.md": self.design, "world.json": definition, source.name: source.read_text(encoding="utf-8")}


def built_in_environments() -> tuple[str, ...]:
    """The names of the environments that come with RoboGaze, sorted."""
    return tuple(sorted(path.parent.name for path in _built_in().glob(f"*/{WORLD}")))


def load_folder(name: str) -> EnvironmentFolder:
    """Read a built-in environment or a folder, with the last version of its bugs.

    Raises InputError for an unknown name, and DomainError with the file and the line for an invalid file.
    """
    path = _built_in() / name if name in built_in_environments() else Path(name)
    if not (path / WORLD).is_file():
        known = ", ".join(built_in_environments())
        raise InputError(f"{name!r} is neither a built-in environment ({known}) nor a folder with a {WORLD}")
    versions = sorted(file.stem for file in (path / "bugs").glob("*.json"))
    if not versions:
        raise InputError(f"{path} has no list of bugs: the file bugs/VERSION.json is missing")
    version = versions[-1]
    world = read_yaml(path / WORLD)
    head = world.parse(dict[str, Any])
    bugs = _read_json(path / "bugs" / f"{version}.json", _BugFile).bugs
    faults = read_yaml(path / "faults.yaml")
    changes = faults.parse(dict[str, tuple[_Change, ...]])
    if missing := [bug.id for bug in bugs if bug.id not in changes]:
        raise DomainError(
            f"changes are missing for these bugs of bugs/{version}.json: {', '.join(missing)}", faults.path
        )
    return EnvironmentFolder(
        path=path.resolve(),
        version=version,
        title=str(head.get("title", path.name)),
        engine=str(head.get("engine")),
        bugs=bugs,
        walkthrough=_read_json(path / "walkthrough.json", tuple[str, ...]),
        design=read_text(path / "design.md"),
        _world=world,
        _faults=changes,
    )


def _built_in() -> Path:
    return resource_folder("datasets") / "environments"


def _read_json(path: Path, kind: type[Any]) -> Any:
    try:
        return TypeAdapter(kind).validate_json(read_text(path))
    except ValidationError as error:
        raise DomainError(fault_of(error), path) from error


def _replace(content: Any, change: _Change, path: Path) -> None:
    *parents, last = change.at
    try:
        for key in parents:
            content = content[key]
        content[last]
    except (KeyError, IndexError, TypeError) as error:
        raise DomainError(f"{WORLD} has no value at {'.'.join(map(str, change.at))}", path) from error
    content[last] = change.value
