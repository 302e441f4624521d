"""How far a run is: a bar on a terminal, a line now and then in a log. All of it on stderr."""

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
    from robogaze.bench import ClipResult

_FIRST_S, _EVERY_S = 10.0, 60.0
"""When a log gets its first line, and how far apart lines are later: each pause is twice the one before, up to that."""

_REDRAWN_S = 0.1


@dataclass
class Progress:
    """Counts the clips of a run: all, done before, done now; what those now cost, and for how many it is not known.

    `decoding` has the clips that are being decoded, with the share that is done.
    """

    total: int
    before: int = 0
    now: int = 0
    cost_usd: float = 0.0
    uncosted: int = 0
    decoding: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=lambda: time.monotonic())

    def take(self, settled: ClipResult) -> None:
        """Count a clip; one without a report made now was done before, or cannot be read."""
        self.decoding.pop(settled.clip_id, None)
        if settled.report is None and settled.digest is not None:
            self.before += 1
            return
        self.now += 1
        cost_usd = 0.0 if settled.digest is None else settled.digest.usage.cost_usd
        self.cost_usd += cost_usd or 0.0
        self.uncosted += cost_usd is None

    def decoded(self, clip_id: str, share: float) -> None:
        """Note how much of a clip is decoded; one that is decoded to its end is under way no more."""
        if share >= 1:
            self.decoding.pop(clip_id, None)
        else:
            self.decoding[clip_id] = share

    def __str__(self) -> str:
        done = self.before + self.now
        minutes = (time.monotonic() - self.started) / 60
        parts = [f"{done:,}/{self.total:,} clips"]
        if self.now and minutes > 0 and done < self.total:
            rate = self.now / minutes
            parts += [f"{rate:,.1f} a minute", f"{lasting((self.total - done) / rate)} left"]
        if self.cost_usd:
            parts.append(f"{'at least ' if self.uncosted else ''}{self.cost_usd:,.2f} USD for the clips of this start")
        clip_id, share = next(iter(tuple(self.decoding.items())), ("", math.nan))
        if clip_id:
            parts.append(f"{clip_id}: {'decoding' if math.isnan(share) else f'{share:.0%} decoded'}")
        return ", ".join(parts)


def lasting(minutes: float) -> str:
    """A time that is still to come, to two digits or so: never none."""
    if minutes < 1:
        return f"{max(1, math.ceil(minutes * 60)):.0f} s"
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


@dataclass(frozen=True)
class ProgressLine:
    """A progress that is shown again whenever it changes; it may change in several threads."""

    progress: Progress
    show: Callable[[], None]

    def take(self, settled: ClipResult) -> None:
        """Count a clip."""
        self.progress.take(settled)
        self.show()

    def decoded(self, clip_id: str, share: float) -> None:
        """Note how much of a clip is decoded."""
        self.progress.decoded(clip_id, share)
        self.show()


@contextmanager
def showing(total: int) -> Iterator[ProgressLine]:
    """Show the progress of a run of `total` clips."""
    progress = Progress(total)
    if not sys.stderr.isatty():
        yield ProgressLine(progress, _in_a_log(progress))
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(str(progress), total=total)

        def show() -> None:
            bar.update(task, completed=progress.before + progress.now, description=str(progress))

        yield ProgressLine(progress, _at_most_every(_REDRAWN_S, show))


def _at_most_every(pause_s: float, show: Callable[[], None]) -> Callable[[], None]:
    last, lock = [0.0], Lock()

    def sometimes() -> None:
        with lock:
            if time.monotonic() - last[0] < pause_s:
                return
            last[0] = time.monotonic()
        show()

    return sometimes


def _in_a_log(progress: Progress) -> Callable[[], None]:
    pause_s, due, lock = [_FIRST_S], [progress.started + _FIRST_S], Lock()

    def show() -> None:
        with lock:
            if time.monotonic() < due[0]:
                return
            pause_s[0] = min(_EVERY_S, 2 * pause_s[0])
            due[0] = time.monotonic() + pause_s[0]
        click.echo(str(progress), err=True)

    return show
