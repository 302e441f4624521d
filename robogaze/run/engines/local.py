"""The engine in this process: an event loop with a limited number of clips at a time."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import nullcontext

from robogaze.errors import RunStopped
from robogaze.media.compose import one_thread_each
from robogaze.run.engines.base import ClipTask, ClipWorker, EngineContext, Result


class Local:
    """Diagnoses `clips_at_once` clips at a time in this process."""

    def __init__(self, context: EngineContext) -> None:
        setup = context.setup
        self.clips_at_once = context.options.clips_at_once
        self.worker = ClipWorker(setup.pipeline, context.models, setup.decoder, context.on_decoded)

    async def run(self, tasks: Sequence[ClipTask]) -> AsyncGenerator[Result, None]:
        """See `Engine`."""
        # Only decoding uses this machine's cores. Decoding more clips at once than there are cores only uses memory.
        cores = os.cpu_count() or 1
        decoding = asyncio.Semaphore(cores)
        waiting = list(reversed(tasks))
        running: set[asyncio.Task[Result]] = set()
        stopped: RunStopped | None = None
        with one_thread_each() if len(tasks) >= cores else nullcontext():
            try:
                while True:
                    while waiting and len(running) < self.clips_at_once and not (stopped and stopped.at_once):
                        running.add(asyncio.create_task(self.worker(waiting.pop(), decoding)))
                    if not running:
                        break
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    failed: BaseException | None = None
                    for task in done:
                        error = task.exception()
                        if error is None:
                            yield task.result()
                        elif not isinstance(error, RunStopped):
                            failed = error
                        # The last of several stops has the final number of pending requests.
                        elif stopped is None or error.at_once or not stopped.at_once:
                            stopped = error
                    if failed is not None:
                        raise failed
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)
        if stopped is not None:
            raise stopped
