"""How far a run is: a bar on a terminal, a line now and then in a log. All of it on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.bench import Settled

_EVERY_S = 60.0
"""How often a log is told."""


@dataclass
class Progress:
    """Counts the clips of a run: all, done before, done now; what those now cost, and for how many it is not known."""

    total: int
    before: int = 0
    now: int = 0
    cost_usd: float = 0.0
    uncosted: int = 0
    started: float = field(default_factory=time.monotonic)

    def take(self, settled: Settled) -> None:
        """Count a clip; one without a report made now was done before, or cannot be read."""
        if settled.report is None and settled.digest is not None:
            self.before += 1
            return
        self.now += 1
        cost_usd = 0.0 if settled.digest is None else settled.digest.usage.cost_usd
        self.cost_usd += cost_usd or 0.0
        self.uncosted += cost_usd is None

    def __str__(self) -> str:
        done = self.before + self.now
        minutes = (time.monotonic() - self.started) / 60
        parts = [f"{done:,}/{self.total:,} clips"]
        if self.now and minutes > 0:
            rate = self.now / minutes
            parts += [f"{rate:,.1f} a minute", f"{_lasting((self.total - done) / rate)} left"]
        if self.cost_usd:
            parts.append(f"{'at least ' if self.uncosted else ''}{self.cost_usd:,.2f} USD for the clips of this start")
        return ", ".join(parts)


def _lasting(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


@contextmanager
def showing(total: int) -> Iterator[Callable[[Settled], None]]:
    """Show the progress of a run of `total` clips; yields what is told of each clip."""
    progress = Progress(total)
    if not sys.stderr.isatty():
        yield _in_a_log(progress)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(str(progress), total=total)

        def show(settled: Settled) -> None:
            progress.take(settled)
            bar.update(task, advance=1, description=str(progress))

        yield show


def _in_a_log(progress: Progress) -> Callable[[Settled], None]:
    told = [progress.started]

    def show(settled: Settled) -> None:
        progress.take(settled)
        if time.monotonic() - told[0] >= _EVERY_S:
            told[0] = time.monotonic()
            click.echo(str(progress), err=True)

    return show
