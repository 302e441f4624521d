"""Plays commands in a build and returns what is said."""

import asyncio
import json
from collections.abc import Sequence

from robogaze.domains.yaml_files import YamlText, parse_yaml
from robogaze.interactive.environments import Observation, load_folder, open_environment


async def played_async(spec: str, commands: Sequence[str]) -> list[Observation]:
    environment = open_environment(spec, mode="player")
    try:
        return [await environment.reset(), *[await environment.act(command) for command in commands]]
    finally:
        await environment.close()


def played(spec: str, *commands: str) -> list[Observation]:
    """The observations of a fresh session, the first before any command."""
    return asyncio.run(played_async(spec, commands))


def said(spec: str, *commands: str) -> str:
    """The last message."""
    return played(spec, *commands)[-1].message


def with_changes(**changes: object) -> YamlText:
    """The definition of the warehouse with some keys changed."""
    folder = load_folder("warehouse")
    content = {**folder.build(frozenset()).content, **changes}
    return parse_yaml(json.dumps(content), folder.path / "world.yaml")
