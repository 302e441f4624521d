"""Ctrl-C: the program prints what is kept and how to resume, and ends at once.

Every file is written completely or not at all, so nothing needs to be undone: an interrupted run is like a killed run,
with a message. A thread watches for the signal, because Python runs a signal handler only in the main thread and only
between two instructions, and one instruction may take long (a decoder, a large matrix product).
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
"""The time limit for the last message, in case nobody reads stderr."""

_CLEAR = b"\r\x1b[2K\x1b[?25h"
"""Removes a progress bar from a terminal and shows the cursor again."""

_kept = [_NOTHING]
_folder: list[Path | None] = [None]
"""The folder in which clips are kept; nothing is kept if it does not exist yet."""
_ending = threading.Lock()


def keeps(text: str, folder: Path | None = None) -> None:
    """Set the message that is printed on an interruption: what is kept, and how to resume. If a folder is given, the
    message says that nothing was saved as long as the folder does not exist.
    """
    _kept[0], _folder[0] = text, folder


def keeps_clips(folder: Path) -> None:
    """Set the message that finished clips are kept in a folder and that the same command resumes the run."""
    keeps(f"finished clips are kept in {folder}; run the same command again to resume", folder)


def message() -> str:
    """The current message of the command."""
    folder = _folder[0]
    return f"interrupted: {_kept[0] if folder is None or folder.exists() else _NOTHING}"


@contextmanager
def watching() -> Iterator[None]:
    """End the process on Ctrl-C inside the context. If SIGINT is ignored or has another handler, this context changes
    nothing.
    """
    keeps(_NOTHING)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader, os.getpid()), daemon=True, name="interrupt").start()
    signal.signal(signal.SIGINT, _handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        writer.close()  # this ends the watching thread


def _watch(reader: socket.socket, process: int) -> None:
    """Wait for the numbers of signals, which Python writes to the socket."""
    with reader:
        while received := reader.recv(64):
            if signal.SIGINT in received:
                _end(process)


def _handler(_signal: int, _frame: FrameType | None) -> None:
    """Handle SIGINT in the main thread, in case an event loop replaced the descriptor that `_watch` reads."""
    _end(os.getpid())


def _end(process: int) -> None:
    """Print the message and end the process with its children."""
    is_first = _ending.acquire(blocking=False)
    if not is_first:  # the handler or the thread is already doing this
        time.sleep(2 * _LAST_S)
    if not is_first or os.getpid() != process:  # of a fork, the parent prints the message
        os._exit(EXIT_INTERRUPTED)
    threading.Thread(target=_end_anyway, daemon=True).start()
    for child in multiprocessing.active_children():
        child.kill()
    # Not through sys.stderr, whose lock the interrupted thread may hold.
    clear = _CLEAR if os.isatty(2) else b""
    os.write(2, clear + f"{message()}\n".encode(errors="replace"))
    os._exit(EXIT_INTERRUPTED)


def _end_anyway() -> None:
    time.sleep(_LAST_S)
    os._exit(EXIT_INTERRUPTED)
