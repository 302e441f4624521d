"""--watch: score clips as they appear."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, aclosing, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import runs
from robogaze.cli.shared.options import Command, with_options
from robogaze.cli.shared.types import FiniteRange, GivenPath, GivenSource

if TYPE_CHECKING:
    from robogaze.reporting.trackers import Tracker
    from robogaze.run.setup import RunSetup
    from robogaze.run.watch import CheckpointResult, Watch, WatchOptions

SCHEMA_VERSION = 1
"""Of the lines that --watch --json prints."""

_NAMES = ("watch", "until", "until_idle", "per_checkpoint", "gate", "baseline")

EXIT_GATE = 3


def options(command: Command) -> Command:
    """--watch, --until, --until-idle, --per-checkpoint, --gate and --baseline."""
    seconds = FiniteRange(min=0, min_open=True)
    return with_options(
        command,
        click.option(
            "--watch", is_flag=True, help="Score clips when they arrive. Each checkpoint gets a folder in --out."
        ),
        click.option(
            "--until",
            type=GivenSource(),
            metavar="FILE|-",
            help="With --watch: end once FILE exists and all clips are scored. With -, wait for a line or the end of "
            "stdin instead of a file.",
        ),
        click.option(
            "--until-idle",
            type=seconds,
            metavar="SECONDS",
            help="With --watch: end when nothing has arrived for this number of seconds.",
        ),
        click.option(
            "--per-checkpoint",
            type=click.IntRange(min=1),
            metavar="N",
            help="With --watch: treat a checkpoint as complete when it has N clips.",
        ),
        click.option(
            "--gate",
            type=GivenPath(),
            help="With --watch: file of rules. If a checkpoint fails a rule, the watch ends with exit code 3.",
        ),
        click.option(
            "--baseline",
            type=GivenSource(),
            metavar="NAME|PATH",
            help="With --watch: checkpoint or run to compare each checkpoint with.  [default: the first checkpoint]",
        ),
    )


@dataclass(frozen=True)
class WatchFlags:
    """The values of --watch and of the options that need --watch."""

    watch: bool
    until: str | None
    until_idle: float | None
    per_checkpoint: int | None
    gate: Path | None
    baseline: str | None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> WatchFlags:
        """Remove these options from the arguments of the command. Raises UsageError if one of them is given without
        --watch.
        """
        flags = cls(**{name: given.pop(name) for name in _NAMES})
        if not flags.watch and (alone := [name for name in _NAMES if getattr(flags, name)]):
            raise click.UsageError(f"--{alone[0].replace('_', '-')} needs --watch")
        if flags.gate is not None and not flags.gate.is_file():
            raise click.BadParameter(f"{flags.gate} does not exist", param_hint="--gate")
        return flags

    def watch_options(self, page: bool) -> WatchOptions:
        from robogaze.comparison import read_gate
        from robogaze.run.watch import WatchOptions

        return WatchOptions(
            until=None if self.until is None else _stdin_ended() if self.until == "-" else Path(self.until).exists,
            until_idle_s=self.until_idle,
            per_checkpoint=self.per_checkpoint,
            gate=None if self.gate is None else read_gate(self.gate),
            baseline=self.baseline,
            page=page,
        )


def _stdin_ended() -> Callable[[], bool]:
    """A function that is True once stdin has sent a line, or has ended."""
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.readline()
        ended.set()

    threading.Thread(target=wait, daemon=True, name="stdin").start()
    return ended.is_set


def watch(
    paths: Sequence[Path],
    flags: WatchFlags,
    given: runs.GivenOptions,
    out: Path | None,
    *,
    page: bool,
    tracker: Tracker | None,
    as_json: bool,
) -> int:
    """Score clips as they appear, and print a line for each complete checkpoint; return the exit code."""
    from robogaze.cli import quiet_retries
    from robogaze.run.watch import Watch

    if given.engine == "datatrove":
        raise click.UsageError("--watch cannot be used with --engine datatrove; use --engine local or ray")
    setup = given.setup()
    watching = Watch(paths, setup, given.run_options(out), flags.watch_options(page), os.environ)
    quiet_retries()
    runs.say_what_is_kept(watching.out)
    shown = _Shown(setup, tracker, as_json)

    async def watched() -> None:
        async with aclosing(watching.results()) as results:
            async for result in results:
                shown.show(result, watching.out)

    try:
        asyncio.run(watched())
    finally:
        shown.finish()
    if flags.gate is not None and watching.stopped is None and watching.complete and not shown.checked:
        _say_nothing_was_checked(watching, flags.baseline)
    return _exit_code(watching, shown)


def _say_nothing_was_checked(watching: Watch, baseline: str | None) -> None:
    """Say why a gate checked nothing. Raises UsageError for a baseline that does not exist."""
    if baseline is not None and baseline not in {result.name for result in watching.complete}:
        known = ", ".join(result.name for result in watching.complete)
        raise click.UsageError(
            f"--gate checked no checkpoint: --baseline {baseline} is neither one of the checkpoints ({known}) nor the "
            "path of a run"
        )
    name = baseline or watching.complete[0].name
    click.echo(f"--gate checked no checkpoint: {name} is the baseline, and there is no other checkpoint", err=True)


@dataclass
class _Shown:
    """Prints checkpoints and sends their numbers to a tracker, in one run of the tracker."""

    setup: RunSetup
    tracker: Tracker | None
    as_json: bool
    stack: ExitStack = field(default_factory=ExitStack)
    checked: bool = False
    failed: bool = False
    refused: bool = False
    _log: Callable[[Mapping[str, float | None], int], None] | None = None

    def show(self, result: CheckpointResult, out: Path) -> None:
        from robogaze.reporting.trackers import run_numbers

        numbers = run_numbers(result.summaries, result.unreadable, self.setup.domain)
        click.echo(
            json.dumps(_as_json(result, numbers), ensure_ascii=False) if self.as_json else _line(result, numbers)
        )
        for check in result.checks:
            self.checked = True
            if not check.passed:
                self.failed = True
                click.echo(f"gate: {check.run}: {check.rule}: {check.message}", err=True)
        self._send(result, numbers, out)

    def finish(self) -> None:
        """End the tracker's run."""
        with redirect_stdout(sys.stderr):
            self.stack.close()

    def _send(self, result: CheckpointResult, numbers: Mapping[str, float], out: Path) -> None:
        """Send numbers; a tracker that refuses does not end the watch."""
        from robogaze.errors import RobogazeError
        from robogaze.reporting.trackers import open_run
        from robogaze.version import VERSION

        if self.tracker is None:
            return
        try:
            with redirect_stdout(sys.stderr):  # the libraries print what they do, and stdout is data
                if self._log is None:
                    made = {"robogaze": VERSION, **self.setup.tracked}
                    self._log = self.stack.enter_context(open_run(self.tracker, out.resolve().name, made))
                self._log(numbers, result.step)
            click.echo(f"sent to {self.tracker.place}: {result.name} at step {result.step}", err=True)
        except RobogazeError as error:
            self.refused = True
            click.echo(f"error: {error}", err=True)


def _as_json(result: CheckpointResult, numbers: Mapping[str, float]) -> dict[str, Any]:
    from robogaze.reporting.trackers.base import finite

    return {
        "schema_version": SCHEMA_VERSION,
        "checkpoint": result.name,
        "step": result.step,
        "run": str(result.folder),
        "again": result.again,
        "numbers": finite(numbers),
        "gate": [{"rule": check.rule, "passed": check.passed, "message": check.message} for check in result.checks],
    }


def _line(result: CheckpointResult, numbers: Mapping[str, float]) -> str:
    from robogaze.reporting.wording import count

    clips = len(result.summaries) + len(result.unreadable)
    verdicts = ", ".join(f"{numbers[f'clips/{name}']} {name}" for name in ("faulty", "clean", "undecided"))
    unreadable = f", {len(result.unreadable)} unreadable" if result.unreadable else ""
    rate = "clean_rate" if "clean_rate" in numbers else "nothing_found_rate"
    interval = f"[{numbers[f'{rate}_low']:.3f}, {numbers[f'{rate}_high']:.3f}] n={clips}"
    rates = f"{rate.replace('_', ' ').replace('nothing found', 'nothing-found')} {numbers[rate]:.3f} {interval}"
    return f"{result.name}  {count(clips, 'clip')}: {verdicts}{unreadable}; {rates}"


def _exit_code(watching: Watch, shown: _Shown) -> int:
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED
    from robogaze.cli.shared.flags import with_flags

    if watching.stopped is not None:
        click.echo(f"stopped: {with_flags(str(watching.stopped))}", err=True)
    if watching.complete and (watching.out / "index.html").is_file():
        click.echo(f"report: {watching.out / 'index.html'}", err=True)
    if shown.failed:
        return EXIT_GATE
    if not watching.complete:
        click.echo("no clip has arrived", err=True)
        return EXIT_ERROR
    if shown.refused:
        return EXIT_ERROR
    whole = watching.stopped is None and all(result.is_whole for result in watching.complete)
    return 0 if whole else EXIT_UNFINISHED
