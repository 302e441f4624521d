"""Synchronous versions of async functions, also where an event loop runs."""

import asyncio
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing

import pytest

from robogaze.sync import run_sync


async def _fails() -> None:
    raise ValueError("wrong")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_call_in_an_event_loop_cancels_the_work() -> None:
    ended: list[str] = []

    async def work() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("cancelled")

    async def cell() -> None:
        run_sync(work())

    # asyncio.run would handle the interrupt itself; the loop of a notebook does not.
    with closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(cell())
    assert ended == ["cancelled"]


def test_an_error_is_raised_alone() -> None:
    async def cell() -> None:
        run_sync(_fails())

    for call in (lambda: run_sync(_fails()), lambda: asyncio.run(cell())):
        with pytest.raises(ValueError, match="wrong") as caught:
            call()
        assert "During handling" not in "".join(traceback.format_exception(caught.value))
