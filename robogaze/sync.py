"""Synchronous versions of async functions."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from robogaze.threads import start_thread

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def run_sync(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end.

    If an event loop is already running, as in a notebook, the coroutine runs in another thread, and the call blocks. If
    the call is interrupted, the coroutine is cancelled.
    """
    if not _loop_is_running():
        return asyncio.run(coroutine)
    started: Future[asyncio.Task[Result]] = Future()
    result: Future[Result] = Future()
    start_thread(lambda: asyncio.run(_announced(coroutine, started)), result)
    try:
        return result.result()
    finally:
        if not result.done():
            task = started.result()
            with suppress(RuntimeError):  # the work has ended in the meantime, and its loop is closed
                task.get_loop().call_soon_threadsafe(task.cancel)
            wait([result])


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _announced(coroutine: Coroutine[Any, Any, Result], started: "Future[asyncio.Task[Result]]") -> Result:
    """The result of a coroutine, which runs in a task of its own."""
    task = asyncio.ensure_future(coroutine)
    started.set_result(task)
    return await task


def synchronous(work: Callable[Arguments, Coroutine[Any, Any, Result]]) -> Callable[Arguments, Result]:
    """A synchronous version of an async function: `name_async` becomes `name`."""

    @wraps(work)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return run_sync(work(*args, **kwargs))

    call.__name__ = call.__qualname__ = work.__name__.removesuffix("_async")
    return call
