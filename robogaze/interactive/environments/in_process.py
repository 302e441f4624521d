"""Environments that an engine runs in this process, or in a process that the engine starts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from robogaze.interactive.environments.base import MOST_LINES, DocumentLine, Documents, EnvironmentFault, Observation
from robogaze.threads import in_thread

Result = TypeVar("Result")


class World(Protocol):
    """One session of an engine; its methods block. `log` has a line for each thing that the engine did."""

    log: list[str]

    def observe(self) -> Observation: ...

    def act(self, command: str) -> Observation: ...

    def close(self) -> None: ...


StartWorld = Callable[[], World]
"""Starts a session from the initial state."""


class InProcessEnvironment:
    """An environment whose sessions are worlds. A session ends when an action takes longer than the time limit."""

    def __init__(self, name: str, start: StartWorld, documents: Mapping[str, str] | None, timeout_s: float) -> None:
        self.name = name
        self._start = start
        self._documents = documents
        self._timeout_s = timeout_s
        self._world: World | None = None

    async def reset(self) -> Observation:
        await self.close()
        self._world = await self._in_time(self._start)
        return await self.observe()

    async def act(self, command: str) -> Observation:
        world = self._session()
        return await self._in_time(lambda: world.act(command))

    async def observe(self) -> Observation:
        return await self._in_time(self._session().observe)

    def documents(self) -> Documents | None:
        if self._documents is None:
            return None
        return TextDocuments(self._documents, lambda: () if self._world is None else tuple(self._world.log))

    async def close(self) -> None:
        world, self._world = self._world, None
        if world is not None:
            world.close()

    def _session(self) -> World:
        if self._world is None:
            raise EnvironmentFault(f"{self.name} has no session; reset it first", "refused")
        return self._world

    async def _in_time(self, work: Callable[[], Result]) -> Result:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await in_thread(work)
        except TimeoutError as error:
            # The thread may still change the world.
            await self.close()
            raise EnvironmentFault(f"{self.name} did not reply within {self._timeout_s:g} s", "timeout") from error


class TextDocuments:
    """The texts of documents by their paths, and the debug log of a session."""

    def __init__(self, texts: Mapping[str, str], log: Callable[[], tuple[str, ...]]) -> None:
        self._texts = texts
        self._log = log

    async def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._texts))

    async def read(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        if path not in self._texts:
            raise EnvironmentFault(f"{path!r} is not one of the documents: {', '.join(sorted(self._texts))}", "refused")
        return "".join(self._texts[path].splitlines(keepends=True)[max(start_line, 1) - 1 : end_line])

    async def search(self, text: str) -> tuple[DocumentLine, ...]:
        found = [
            DocumentLine(path, number, line)
            for path in sorted(self._texts)
            for number, line in enumerate(self._texts[path].splitlines(), 1)
            if text.casefold() in line.casefold()
        ]
        return tuple(found[:MOST_LINES])

    async def debug_log(self) -> str:
        return "\n".join(self._log())
