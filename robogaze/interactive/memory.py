"""Cross-session memory (GBQA, 4.2): the notes that sessions in an environment leave for later sessions. Each
environment has one file.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from robogaze.core.data import Data, fault_of
from robogaze.errors import InputError
from robogaze.store import file_name, write_whole


class EnvironmentMemory(Data):
    """The content of memory/ENVIRONMENT.json. `sessions` maps the number of a session, starting at 1, to its notes."""

    schema_version: Literal[1] = 1
    environment: str
    sessions: dict[int, dict[str, Any]] = {}


def read_memory(root: Path, environment: str) -> EnvironmentMemory:
    """The memory of an environment in a run folder; empty if there is no file. Raises InputError if the file is
    damaged.
    """
    path = _path(root, environment)
    if not path.is_file():
        return EnvironmentMemory(environment=environment)
    try:
        return EnvironmentMemory.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path} is damaged ({fault_of(error)}); remove the file to begin without memory") from error


def write_memory(root: Path, memory: EnvironmentMemory) -> None:
    """Write the memory of an environment into a run folder. Raises RunError if the file cannot be written."""
    write_whole(_path(root, memory.environment), memory.model_dump_json(indent=1) + "\n")


def _path(root: Path, environment: str) -> Path:
    return root / "memory" / f"{file_name(environment)}.json"
