"""The progress of a run on stderr: a bar on a terminal, occasional lines in a log."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.run.execute import ClipResult

_FIRST_S, _LONGEST_S = 10.0, 60.0
"""The pause before the first line of a log, and the longest pause; each pause is twice as long as the previous one."""


@dataclass
class Progress:
    """The progress of a run. Every change calls `show`, in the thread that makes the change.

    `total` is the number of all clips. `before` of them were finished before this start, and `now` were scored in this
    start. `cost_usd` is the known cost of this start, and `uncosted` counts the clips whose cost is unknown. `decoding`
    maps each clip that is being decoded to the share that is already decoded.
    """

    total: int
    before: int = 0
    now: int = 0
    cost_usd: float = 0.0
    uncosted: int = 0
    decoding: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=lambda: time.monotonic())
    show: Callable[[], None] = lambda: None

    def add(self, result: ClipResult) -> None:
        """Count a clip. A clip without a report from this start either was finished before or is unreadable."""
        self.decoding.pop(result.clip_id, None)
        if result.report is None and result.summary is not None:
            self.before += 1
        else:
            self.now += 1
            cost_usd = 0.0 if result.summary is None else result.summary.usage.cost_usd
            self.cost_usd += cost_usd or 0.0
            self.uncosted += cost_usd is None
        self.show()

    def decoded(self, clip_id: str, share: float) -> None:
        """Record which share of a clip is decoded."""
        if share >= 1:
            self.decoding.pop(clip_id, None)
        else:
            self.decoding[clip_id] = share
        self.show()

    def __str__(self) -> str:
        done = self.before + self.now
        minutes = (time.monotonic() - self.started) / 60
        parts = [f"{done:,}/{self.total:,} clips"]
        if self.now and minutes > 0 and done < self.total:
            rate = self.now / minutes
            parts += [f"{rate:,.1f} a minute", f"{remaining((self.total - done) / rate)} left"]
        if self.cost_usd:
            parts.append(f"{'at least ' if self.uncosted else ''}{self.cost_usd:,.2f} USD since the start")
        clip_id, share = next(iter(tuple(self.decoding.items())), ("", math.nan))
        if clip_id:
            parts.append(f"{clip_id}: {'decoding' if math.isnan(share) else f'{share:.0%} decoded'}")
        return ", ".join(parts)


def remaining(minutes: float) -> str:
    """A remaining time in words, at least 1 s."""
    if minutes < 1:
        return f"{max(1, math.ceil(minutes * 60)):.0f} s"
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


@contextmanager
def showing(total: int) -> Iterator[Progress]:
    """Show the progress of a run of `total` clips."""
    progress = Progress(total)
    if not sys.stderr.isatty():
        progress.show = _logged(progress)
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(str(progress), total=total)

        def show() -> None:
            bar.update(task, completed=progress.before + progress.now, description=str(progress))

        progress.show = show
        yield progress


def _logged(progress: Progress) -> Callable[[], None]:
    pause_s, due, lock = [_FIRST_S], [progress.started + _FIRST_S], Lock()

    def show() -> None:
        with lock:
            if time.monotonic() < due[0]:
                return
            pause_s[0] = min(_LONGEST_S, 2 * pause_s[0])
            due[0] = time.monotonic() + pause_s[0]
        click.echo(str(progress), err=True)

    return show
