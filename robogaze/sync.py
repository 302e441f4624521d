"""Synchronous functions over their async twins."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from robogaze.errors import RobogazeError

Result = TypeVar("Result")


def run_sync(coroutine: Coroutine[Any, Any, Result], twin: str) -> Result:
    """Run a coroutine to its end.

    Raises RobogazeError inside a running event loop; `twin` names the function of `robogaze` to await there.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    coroutine.close()
    raise RobogazeError(f"an event loop is already running (as in a notebook); use: await robogaze.{twin}(...)")
