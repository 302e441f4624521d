"""Environments with one protocol: they run in this process, in a separate process, or behind HTTP.

An environment is a folder with a `world.yaml`, whose `engine` is one of ENGINES. Another package adds an engine as an
entry point in the group `robogaze.environments`.
"""

from robogaze.datasets.builds import is_address, parse_switches
from robogaze.interactive.environments.base import (
    DocumentLine,
    Documents,
    Environment,
    EnvironmentFault,
    Mode,
    Observation,
)
from robogaze.interactive.environments.folder import (
    Engine,
    EnvironmentFolder,
    built_in_environments,
    load_folder,
)
from robogaze.interactive.environments.in_process import InProcessEnvironment
from robogaze.registry import Registry

ENGINES: Registry[Engine] = Registry(
    "environments",
    {
        "rooms": "robogaze.interactive.environments.rooms:load",
        "grid": "robogaze.interactive.environments.grid:load",
        "program": "robogaze.interactive.environments.program:load",
    },
)


def open_environment(spec: str, *, mode: Mode, timeout_s: float = 30.0) -> Environment:
    """An environment by its spec; it starts with its first `reset`.

    The spec is http://HOST:PORT of a hub, or the name of a built-in environment, or a folder. After a name or a folder,
    `:clean` is the build without bugs, `:+a+b` the build with only the bugs a and b, and `:-a` the build without the
    bug a. `timeout_s` is the time limit of each request.

    Raises InputError for an unknown name or bug, and DomainError for an invalid folder.
    """
    if is_address(spec):
        from robogaze.interactive.environments.http import HttpEnvironment

        return HttpEnvironment(spec, mode, timeout_s)
    name, _, switches = spec.partition(":")
    folder = load_folder(name)
    return open_build(folder, parse_switches(switches, folder.bug_ids), mode=mode, timeout_s=timeout_s)


def open_build(
    folder: EnvironmentFolder, bugs: frozenset[str], *, mode: Mode, timeout_s: float = 30.0
) -> InProcessEnvironment:
    """The build of an environment that has some of its documented bugs. Raises DomainError for an invalid folder."""
    engine = ENGINES.load(folder.engine)
    build = folder.build(bugs)
    documents = folder.documents(build, engine) if mode == "qa" else None
    label = "" if bugs == {*folder.bug_ids} else "+".join(["", *sorted(bugs)]) or "-clean"
    return InProcessEnvironment(f"{folder.name}{label}", engine(build), documents, timeout_s)


__all__ = [
    "ENGINES",
    "DocumentLine",
    "Documents",
    "Environment",
    "EnvironmentFault",
    "EnvironmentFolder",
    "Mode",
    "Observation",
    "built_in_environments",
    "load_folder",
    "open_build",
    "open_environment",
]
