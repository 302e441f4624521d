"""Work in threads that never keep a program from ending.

Python waits for the threads of `asyncio.to_thread` when it ends. These are daemons, and work that calls `check` ends as
soon as nobody waits for its result any more.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextvars import ContextVar, copy_context
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

NAME = "robogaze work"
"""What every such thread is called."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Abandoned(BaseException):
    """Nobody waits for this work any more. It passes through `except Exception`, as a cancellation does."""


_current: ContextVar["Future[Any] | None"] = ContextVar("current", default=None)


def check() -> None:
    """Raise Abandoned in a thread of `in_thread` whose caller was cancelled; anywhere else, do nothing."""
    current = _current.get()
    if current is not None and current.cancelled():
        raise Abandoned


async def in_thread(work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Do work in a daemon thread, in the caller's context; return its result, or raise what it raises."""
    result: Future[Result] = Future()
    context = copy_context()
    context.run(_current.set, result)
    start_thread(lambda: context.run(work, *args, **kwargs), result)
    return await asyncio.wrap_future(result)


_cores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def on_core(work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """`in_thread` for work that a processor does: at most as many at a time as there are cores; others would only use
    memory.
    """
    free = _cores.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1))
    async with free:
        return await in_thread(work, *args, **kwargs)


def start_thread(work: Callable[[], Result], result: "Future[Result]") -> None:
    """Do work in a daemon thread and settle its result."""

    def run() -> None:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, whatever it is
            _settle(result.set_exception, error)
        else:
            _settle(result.set_result, found)

    threading.Thread(target=run, daemon=True, name=NAME).start()


def _settle(tell: Callable[[Any], None], value: object) -> None:
    """Hand a result over, unless nobody waits for it."""
    try:
        tell(value)
    except InvalidStateError:
        return
    except RuntimeError:  # the caller's event loop is closed
        return
