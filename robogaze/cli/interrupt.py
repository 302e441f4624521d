"""Ctrl-C: the program ends at once, and says what is kept and how to resume.

All that is written is there whole or not at all, so there is nothing to unwind: a run that is interrupted is one that
is killed, and says so. A thread watches for the signal, since Python runs a handler in the main thread only, between
two of its steps, and a step may take long (a decoder, a large product of matrices).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

EXIT_INTERRUPTED = 130

_NOTHING = "nothing was saved; run the command again"
_LAST_S = 1.0
"""How long the last words may take, on a stderr that nobody reads."""

_CLEAR = b"\r\x1b[2K\x1b[?25h"
"""Removes a progress bar from a terminal, and shows the cursor again."""

_kept = [_NOTHING]
_ending = threading.Lock()


def keeps(text: str) -> None:
    """Say from now on, when the command is interrupted, what is kept and how to resume."""
    _kept[0] = text


def keeps_clips(folder: Path) -> None:
    """Say that finished clips are kept in a folder, and that the same command does the rest."""
    keeps(f"finished clips are kept in {folder}; run the same command again to resume")


def said() -> str:
    """The sentence of the command as it is now."""
    return f"interrupted: {_kept[0]}"


@contextmanager
def watching() -> Iterator[None]:
    """End the process on Ctrl-C while the context lasts. A SIGINT that is ignored, or handled by others, stays so."""
    keeps(_NOTHING)
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    ours, pythons = socket.socketpair()
    pythons.setblocking(False)
    before = signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(ours, os.getpid()), daemon=True, name="interrupt").start()
    signal.signal(signal.SIGINT, _handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        pythons.close()  # which ends the watching thread


def _watch(ours: socket.socket, process: int) -> None:
    with ours:
        while received := ours.recv(64):
            if signal.SIGINT in received:
                _end(process)


def _handler(_signal: int, _frame: FrameType | None) -> None:
    """The same, where an event loop has taken the descriptor that the thread watches."""
    _end(os.getpid())


def _end(process: int) -> None:
    """Say the sentence and end the process with its children."""
    if not _ending.acquire(blocking=False):  # the other one of thread and handler is at it
        time.sleep(2 * _LAST_S)
    if os.getpid() != process:  # a fork, whose parent speaks
        os._exit(EXIT_INTERRUPTED)
    threading.Thread(target=_end_anyway, daemon=True).start()
    for child in multiprocessing.active_children():
        child.kill()
    # Not through sys.stderr, whose lock the interrupted thread may hold.
    clear = _CLEAR if os.isatty(2) else b""
    os.write(2, clear + f"{said()}\n".encode(errors="replace"))
    os._exit(EXIT_INTERRUPTED)


def _end_anyway() -> None:
    time.sleep(_LAST_S)
    os._exit(EXIT_INTERRUPTED)
