"""Work in threads that never keep a program from ending.

When Python ends, it waits for the threads of `asyncio.to_thread`. The threads of this module are daemons, and Python
does not wait for daemons. When the caller of some work is cancelled, the work ends at its next call of `check`.

Threads are reused: when its work is done, a thread waits for more work. A new thread would be slower, because OpenCV
loads its font in each thread that writes text, and loading takes about 0.1 s.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextvars import ContextVar, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

NAME, IDLE_NAME = "robogaze work", "robogaze idle"
"""The name of a thread while it works, and while it waits for work."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Abandoned(BaseException):
    """Nobody waits for this work any more. The exception passes through `except Exception`, as a cancellation does."""


_current: ContextVar["Future[Any] | None"] = ContextVar("current", default=None)


def check() -> None:
    """Raise Abandoned if this work was started with `in_thread` and its caller was cancelled; otherwise, do nothing."""
    current = _current.get()
    if current is not None and current.cancelled():
        raise Abandoned


async def in_thread(work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Do work in a daemon thread, in the caller's context; return its result, or raise its error."""
    result: Future[Result] = Future()
    context = copy_context()
    context.run(_current.set, result)
    start_thread(lambda: context.run(work, *args, **kwargs), result)
    return await asyncio.wrap_future(result)


_cores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def on_core(work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Like `in_thread`, but for CPU-bound work: at most one thread for each core works at a time. More threads would
    use more memory without being faster.
    """
    free = _cores.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1))
    async with free:
        return await in_thread(work, *args, **kwargs)


_Jobs = SimpleQueue[Callable[[], Callable[[], None]]]
"""The work of one thread. Each item returns a function that hands the result over."""

_idle: list[_Jobs] = []
os.register_at_fork(after_in_child=_idle.clear)  # a fork has none of the threads


def start_thread(work: Callable[[], Result], result: "Future[Result]") -> None:
    """Do work in a daemon thread and settle its result."""

    def run() -> Callable[[], None]:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 - the caller gets every error
            return partial(_settle, result.set_exception, error)
        return partial(_settle, result.set_result, found)

    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue()
        threading.Thread(target=_serve, args=(jobs,), daemon=True, name=IDLE_NAME).start()
    jobs.put(run)


def _serve(jobs: _Jobs) -> None:
    """Do work when it comes; end if the number of threads that already wait for work is the number of cores."""
    thread = threading.current_thread()
    ends = False
    while not ends:
        work = jobs.get()
        thread.name = NAME
        settle = work()
        del work  # a waiting thread keeps nothing in memory
        thread.name = IDLE_NAME
        # Before the result is known, so that the caller's next work finds this thread.
        ends = len(_idle) >= (os.cpu_count() or 1)
        if not ends:
            _idle.append(jobs)
        settle()
        del settle


def _settle(tell: Callable[[Any], None], value: object) -> None:
    """Hand a result over if somebody waits for it."""
    try:
        tell(value)
    except InvalidStateError:
        return
    except RuntimeError:  # the caller's event loop is closed
        return
