"""Synchronous versions of async functions."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from robogaze.threads import start_thread

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def run_sync(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end.

    If an event loop is already running, as in a notebook, the coroutine runs in another thread, and the call blocks.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    result: Future[Result] = Future()
    start_thread(lambda: asyncio.run(coroutine), result)
    return result.result()


def synchronous(work: Callable[Arguments, Coroutine[Any, Any, Result]]) -> Callable[Arguments, Result]:
    """A synchronous version of an async function: `name_async` becomes `name`."""

    @wraps(work)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return run_sync(work(*args, **kwargs))

    call.__name__ = call.__qualname__ = work.__name__.removesuffix("_async")
    return call
