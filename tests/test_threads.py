"""Work in threads: its result, its error, its context, and its end when nobody waits for it."""

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from robogaze.threads import Abandoned, check, in_thread, on_core

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
            for _ in range(1000):
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
    assert await asyncio.to_thread(ended.wait, 5)


def test_outside_such_a_thread_a_check_passes() -> None:
    check()


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.stdout, done.stderr, done.returncode) == ("over\n", "", 0)


async def test_no_more_work_is_on_cores_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    working, most = 0, 0

    def work() -> None:
        nonlocal working, most
        working += 1
        most = max(most, working)
        time.sleep(0.02)
        working -= 1

    await asyncio.gather(*(on_core(work) for _ in range(6)))
    assert most == 2
