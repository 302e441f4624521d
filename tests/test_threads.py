"""Work in threads: its result, its error, its context, and its end when nobody waits for it."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from weakref import ReferenceType, ref

import pytest

from robogaze.threads import IDLE_NAME, NAME, Abandoned, check, in_thread, on_core

LONGEST_S = 60.0
"""The time limit of a wait; other processes may share the cores."""

name: ContextVar[str] = ContextVar("name", default="none")


async def test_the_result_and_the_context_of_the_caller() -> None:
    name.set("caller")
    assert await in_thread(lambda more: (name.get(), more, threading.current_thread().daemon), 3) == ("caller", 3, True)


async def test_an_error_is_raised_where_the_work_is_awaited() -> None:
    def fail() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        await in_thread(fail)


async def test_cancelled_work_ends_at_its_next_check() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            for _ in range(10_000):
                check()
                time.sleep(0.01)
        except Abandoned:
            ended.set()
            raise

    task = asyncio.ensure_future(in_thread(work))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, LONGEST_S)


async def test_a_thread_that_has_done_its_work_does_the_next() -> None:
    assert await in_thread(threading.get_ident) == await in_thread(threading.get_ident)


async def test_work_at_the_same_time_is_in_threads_of_its_own() -> None:
    together = threading.Barrier(3)
    await asyncio.gather(*(in_thread(together.wait, LONGEST_S) for _ in range(3)))


async def test_no_more_threads_wait_for_work_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    together = threading.Barrier(6)
    await asyncio.gather(*(in_thread(together.wait, LONGEST_S) for _ in range(6)))
    until = time.monotonic() + LONGEST_S
    while (count := sum(thread.name in (NAME, IDLE_NAME) for thread in threading.enumerate())) > 2:
        assert time.monotonic() < until, count
        await asyncio.sleep(0.01)


async def test_a_waiting_thread_keeps_no_result() -> None:
    class Large:
        pass

    async def made() -> ReferenceType[Large]:
        return ref(await in_thread(Large))

    kept = await made()
    until = time.monotonic() + LONGEST_S
    while kept() is not None:
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_has_threads_of_its_own() -> None:
    code = """
import asyncio, os
from robogaze.threads import in_thread
asyncio.run(in_thread(int))
if (child := os.fork()) == 0:
    asyncio.run(asyncio.wait_for(in_thread(int), 60))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "7\n", done.stderr


def test_work_that_never_looks_does_not_keep_the_program() -> None:
    code = """
import asyncio, time
from robogaze.threads import in_thread, on_core
async def main():
    await asyncio.wait_for(in_thread(time.sleep, 60), 0.1)
try:
    asyncio.run(main())
except TimeoutError:
    print("over")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr, done.returncode) == ("over\n", "", 0)


async def test_no_more_work_is_on_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    working, most, changing, together = 0, 0, threading.Lock(), threading.Barrier(2)

    def work() -> None:
        nonlocal working, most
        with changing:
            working += 1
            most = max(most, working)
        together.wait(LONGEST_S)
        time.sleep(0.02)
        with changing:
            working -= 1

    await asyncio.gather(*(on_core(work) for _ in range(6)))
    assert most == 2
