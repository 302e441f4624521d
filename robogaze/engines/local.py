"""This process: one event loop, a bounded number of clips under way."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from robogaze.engines.base import ClipWorker, Result, Task
from robogaze.errors import RobogazeError, RunStopped


@dataclass
class _State:
    """What the workers share."""

    waiting: list[Task]
    keep: Callable[[Result], None]
    # Decoding is the only work of this machine's; more at once than it has cores would only cost memory.
    decoding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(os.cpu_count() or 1))
    stopped: RunStopped | None = None


@dataclass(frozen=True)
class Local:
    """Diagnoses `in_flight` clips side by side in this process."""

    unit: ClipWorker
    in_flight: int = 16

    async def run(self, tasks: Sequence[Task], keep: Callable[[Result], None]) -> RunStopped | None:
        """See `Engine`."""
        state = _State(list(reversed(tasks)), keep)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(self.in_flight, len(tasks)))):
                    group.create_task(self._work(state))
        except* RobogazeError as errors:
            raise errors.exceptions[0] from None
        return state.stopped

    async def _work(self, state: _State) -> None:
        """Take clip after clip until none waits."""
        while state.waiting and not (state.stopped and state.stopped.at_once):
            task = state.waiting.pop()
            try:
                state.keep(await self.unit(task, state.decoding))
            except RunStopped as error:
                if state.stopped is None or error.at_once or not state.stopped.at_once:
                    state.stopped = error
