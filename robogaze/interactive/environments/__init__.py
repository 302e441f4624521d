"""Environments behind one protocol: in this process, in one that it starts, or behind HTTP.

An environment is a folder with a `world.yaml`, whose `engine` is one of ENGINES. Another package adds an engine as an
entry point in the group `robogaze.environments`.
"""

from robogaze.datasets.builds import parse_switches
from robogaze.errors import InputError
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


def open_environment(spec: str, *, mode: Mode, timeout_s: float = 30.0, version: str | None = None) -> Environment:
    """An environment by its spec; it starts with its first `reset`.

    spec       NAME of a built-in one or a folder, with `:clean` the build without a bug, with `:+a+b` the one with
               only the bugs a and b, with `:-a` the one with all bugs but a; or http://HOST:PORT of a hub
    timeout_s  the time limit of each request
    version    the version of the bugs, None for the last

    Raises InputError for an unknown name, version or bug, and DomainError for an invalid folder.
    """
    if spec.startswith(("http://", "https://")):
        if version is not None:
            raise InputError(f"version {version} cannot be chosen for {spec}; its server chooses it")
        from robogaze.interactive.environments.http import HttpEnvironment

        return HttpEnvironment(spec, mode, timeout_s)
    name, _, switches = spec.partition(":")
    folder = load_folder(name, version)
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
