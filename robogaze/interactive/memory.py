"""Cross-session memory: what the sessions in an environment leave to the next one (GBQA, 4.2), in one file."""

from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from robogaze.core.context import Memory
from robogaze.core.data import Data, fault_of
from robogaze.errors import InputError
from robogaze.store import file_name, write_whole


class SessionMemory(Data):
    """What a session left, by the number of the session, from 1."""

    session: int
    notes: dict[str, Any]


class EnvironmentMemory(Data):
    """The content of memory/ENVIRONMENT.json: what each session left, in order."""

    schema_version: Literal[1] = 1
    environment: str
    sessions: tuple[SessionMemory, ...] = ()

    def before(self, session: int) -> tuple[Memory, ...]:
        """What the sessions before a session left."""
        return tuple(left.notes for left in self.sessions if left.session < session)

    def including(self, session: int, notes: Memory) -> "EnvironmentMemory":
        """The memory with what a session left."""
        others = [left for left in self.sessions if left.session != session]
        added = [*others, SessionMemory(session=session, notes=dict(notes))]
        return self.with_(sessions=tuple(sorted(added, key=lambda left: left.session)))


def memory_path(root: Path, environment: str) -> Path:
    """The file of an environment's memory in a run folder, whether it exists or not."""
    return root / "memory" / f"{file_name(environment)}.json"


def read_memory(root: Path, environment: str) -> EnvironmentMemory:
    """The memory of an environment, empty without a file. Raises InputError for a damaged file."""
    path = memory_path(root, environment)
    if not path.is_file():
        return EnvironmentMemory(environment=environment)
    try:
        return EnvironmentMemory.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path} is damaged ({fault_of(error)}); remove it to begin without memory") from error


def write_memory(root: Path, memory: EnvironmentMemory) -> None:
    """Write the memory of an environment. Raises RunError if that fails."""
    write_whole(memory_path(root, memory.environment), memory.model_dump_json(indent=1) + "\n")
