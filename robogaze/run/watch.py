"""Score clips as they appear, checkpoint by checkpoint: `robogaze score --watch`.

    watch = Watch(paths, setup, options, watching, environ)
    async for result in watch.results():      # a checkpoint that became complete
        ...

Each checkpoint has its own run folder, `OUT/CHECKPOINT`, as `score` and `bench` write it; OUT itself holds the
comparison of the checkpoints. Nothing else is stored, so a watch that is killed is resumed like a run: a clip with a
report is finished.

A checkpoint is complete when all clips that arrived are scored and `per_checkpoint` clips are there. Without
`per_checkpoint`, a checkpoint is complete once a clip of a later checkpoint is there, or once nothing has arrived for
`quiet_s`. At the end of the watch every checkpoint is complete. If more clips arrive afterwards, the checkpoint is
yielded again.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from robogaze.comparison import Comparison, Gate, GateCheck, check_gate, compare
from robogaze.comparison.trend import step_of
from robogaze.core.report import Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry
from robogaze.errors import InputError, OptionError, RunStopped, Unreachable
from robogaze.reporting.comparison_files import write_comparison
from robogaze.reporting.pages.run import write_run_page
from robogaze.reporting.wording import count
from robogaze.run.arrivals import Arrival, Arrivals, Arrived
from robogaze.run.execute import ScoringRun, open_run
from robogaze.run.known_clips import as_known, missing_clips
from robogaze.run.options import RunOptions
from robogaze.run.retry import awaits_answer
from robogaze.run.setup import RunSetup
from robogaze.store import StoredRun, file_name
from robogaze.threads import in_thread

_log = logging.getLogger("robogaze")

_RETRIES = 3
_FIRST_RETRY_S = 30.0
"""The pause before clips without an answer are scored again; each pause is twice as long as the one before."""

_PAGE_EVERY_S = 30.0
"""The shortest time between two writings of a checkpoint's page, unless it is complete."""


@dataclass(frozen=True)
class WatchOptions:
    """How long a watch lasts, and when a checkpoint is complete.

    Args:
        until: Returns True once no more clips will come; the watch then ends when all clips are scored.
        until_idle_s: End the watch when nothing has arrived for this time.
        per_checkpoint: The number of clips of a checkpoint.
        gate: Rules that each checkpoint must pass; the watch ends at the first checkpoint that fails a rule.
        baseline: The checkpoint to compare with, or the path of a run; the first checkpoint by default.
        page: Write the pages.
        settled_s: A file is complete if it has not changed for this time.
        broken_s: A file that stays incomplete for this time is counted as unreadable.
        quiet_s: See above.
        poll_s: The pause between two checks of the paths.
    """

    until: Callable[[], bool] | None = None
    until_idle_s: float | None = None
    per_checkpoint: int | None = None
    gate: Gate | None = None
    baseline: str | Path | None = None
    page: bool = True
    settled_s: float = 2.0
    broken_s: float = 60.0
    quiet_s: float = 60.0
    poll_s: float = 1.0


@dataclass(frozen=True)
class CheckpointResult:
    """A checkpoint that became complete. `again` is True if the checkpoint was complete before, and more clips have
    arrived since.

    `comparison` compares the complete checkpoints and the baseline. It is None while there is only one checkpoint, or
    no baseline. `checks` are the rules of the gate, applied to this checkpoint.
    """

    name: str
    folder: Path
    summaries: tuple[ReportSummary, ...]
    unreadable: tuple[Unreadable, ...]
    again: bool
    comparison: Comparison | None = None
    checks: tuple[GateCheck, ...] = ()

    @property
    def step(self) -> int:
        """The last number in the name; 0 without a number."""
        return step_of(self.name) or 0

    @property
    def is_whole(self) -> bool:
        """Whether every clip has a complete report."""
        return not self.unreadable and all(summary.status == "complete" for summary in self.summaries)


@dataclass
class _Checkpoint:
    """The state of a checkpoint.

    `clips` are the ids of its clips, including the clips of earlier starts. `done` are the clips that were scored or
    are unreadable, `waiting` the clips to score now, `unanswered` the clips to score again. `searched` is True once
    clips that disappeared before this start were noted. `yielded` is True if the checkpoint was complete and no clip
    has arrived since.
    """

    name: str
    folder: Path
    changed_s: float
    clips: set[str] = field(default_factory=set)
    done: dict[str, Arrival] = field(default_factory=dict)
    waiting: dict[str, Arrival] = field(default_factory=dict)
    unanswered: dict[str, Arrival] = field(default_factory=dict)
    retries: int = 0
    retry_s: float = 0.0
    searched: bool = False
    yielded: bool = False
    again: bool = False
    page_s: float = -_PAGE_EVERY_S

    @property
    def step(self) -> int:
        return step_of(self.name) or 0


class Watch:
    """Scores the clips in the given paths as they appear.

    `stopped` is the reason why the watch ended early; None if the watch did not end early. `complete` maps each
    complete checkpoint to its latest result, in the order of the steps.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        setup: RunSetup,
        options: RunOptions,
        watching: WatchOptions,
        environ: Mapping[str, str],
    ) -> None:
        if options.run_folder is None:
            raise OptionError("`watch` needs `out`, the folder for the runs of the checkpoints")
        if options.shard is not None or options.limit is not None:
            raise OptionError("`watch` scores every clip; it cannot have `shard` or `limit`")
        idle = watching.until_idle_s
        if idle is not None and not 0 < idle < inf:
            raise OptionError(f"until_idle_s must be above 0 and finite, not {idle}")
        options.check(setup)
        self.out = options.run_folder
        self.stopped: RunStopped | None = None
        self._setup, self._options, self._watching, self._environ = setup, options, watching, environ
        self._arrivals = Arrivals(paths, watching.settled_s, watching.broken_s)
        self._arrivals.changed_s = time.monotonic()
        self._checkpoints = {
            name: _Checkpoint(name, folder, self._arrivals.changed_s, clips)
            for name, folder, clips in _stored(self.out)
        }
        self._results: dict[str, CheckpointResult] = {}
        self._unreachable_s: float | None = None

    @property
    def complete(self) -> tuple[CheckpointResult, ...]:
        return tuple(sorted(self._results.values(), key=lambda result: (result.step, result.name)))

    async def results(self) -> AsyncGenerator[CheckpointResult, None]:
        """Watch, score, and yield each checkpoint that became complete.

        Raises Unreachable if no server answers for longer than `outage_s`. Raises InputError if the paths cannot be
        read when the watch ends, or if the gate cannot be checked. Raises RunError if a folder is in use or contains
        another run.
        """
        while True:
            ending = self._is_ending()
            arrived = await in_thread(self._arrivals.look, time.monotonic(), ending=ending)
            self._enter(arrived)
            for checkpoint in self._in_order():
                self._retry(checkpoint, ending)
                if checkpoint.waiting and self.stopped is None:
                    await self._score(checkpoint)
                if not checkpoint.waiting and checkpoint.name not in arrived.writing:
                    self._find_missing(checkpoint)
            waiting = any(checkpoint.waiting for checkpoint in self._checkpoints.values())
            at_rest = ending and not arrived.writing and not waiting
            for checkpoint in self._in_order():
                if self._is_complete(checkpoint, arrived, at_rest):
                    result = await in_thread(self._result, checkpoint)
                    yield result
                    if not all(check.passed for check in result.checks):
                        return
            if at_rest or self.stopped is not None:
                break
            await asyncio.sleep(self._watching.poll_s)
        if self._arrivals.faults:
            raise InputError(self._arrivals.faults[0])

    def _in_order(self) -> list[_Checkpoint]:
        return sorted(self._checkpoints.values(), key=lambda checkpoint: (checkpoint.step, checkpoint.name))

    def _is_ending(self) -> bool:
        watching = self._watching
        if watching.until is not None and watching.until():
            return True
        idle_s = time.monotonic() - max(
            self._arrivals.changed_s, *(checkpoint.changed_s for checkpoint in self._checkpoints.values()), 0.0
        )
        return watching.until_idle_s is not None and idle_s >= watching.until_idle_s

    def _enter(self, arrived: Arrived) -> None:
        """Note the clips to score: new clips, changed clips, and clips that disappeared before they were scored."""
        for arrival in (*arrived.complete, *arrived.gone):
            checkpoint = self._checkpoint(arrival.checkpoint)
            if checkpoint.done.get(arrival.key) != arrival and checkpoint.waiting.get(arrival.key) != arrival:
                checkpoint.waiting[arrival.key] = arrival
                checkpoint.changed_s = time.monotonic()
                checkpoint.retries, checkpoint.yielded = 0, False
        for arrival in arrived.gone:
            if arrival.key in self._checkpoint(arrival.checkpoint).done:
                _log.warning("%s was deleted after it was scored; its report is kept", arrival.entry.address)
        for name in arrived.writing:
            self._checkpoint(name)

    def _checkpoint(self, name: str) -> _Checkpoint:
        if name not in self._checkpoints:
            self._checkpoints[name] = _Checkpoint(name, self.out / file_name(name), time.monotonic())
        return self._checkpoints[name]

    def _find_missing(self, checkpoint: _Checkpoint) -> None:
        """Note the clips that an earlier start added but did not score, and that no longer exist."""
        if checkpoint.searched:
            return
        checkpoint.searched = True
        checkpoint.waiting.update(missing_clips(StoredRun(checkpoint.folder)))

    def _retry(self, checkpoint: _Checkpoint, ending: bool) -> None:
        """Score clips without an answer again, after a pause, or once more at the end."""
        due = ending or time.monotonic() >= checkpoint.retry_s
        if checkpoint.unanswered and checkpoint.retries < _RETRIES and due:
            checkpoint.waiting.update(checkpoint.unanswered)
            checkpoint.retries += _RETRIES if ending else 1

    async def _score(self, checkpoint: _Checkpoint) -> None:
        """Score the clips that wait. If no server can be reached, the clips keep waiting; raises Unreachable if they
        wait too long.
        """
        arrivals = dict(checkpoint.waiting)
        entries = await in_thread(as_known, StoredRun(checkpoint.folder), arrivals)
        options = replace(self._options, out=checkpoint.folder)
        try:
            opening = in_thread(
                open_run, list(entries.values()), self._setup, options, self._environ, keeps_page=self._watching.page
            )
            with await opening as run:
                for clip_id, changed in run.plan.replaced.items():
                    what = f"{checkpoint.name}: {clip_id} changed after it was scored ({changed})"
                    _log.warning("%s; the clip is scored again", what)
                async with aclosing(run.execute()) as results:
                    async for _ in results:
                        pass
        except Unreachable as error:
            self._wait_for_server(error)
            return
        self._unreachable_s = None
        self._note(checkpoint, run, arrivals, entries)
        if self._watching.page and (time.monotonic() - checkpoint.page_s >= _PAGE_EVERY_S):
            await in_thread(self._write_page, checkpoint)

    def _wait_for_server(self, error: Unreachable) -> None:
        now_s, longest_s = time.monotonic(), self._options.outage_s
        if self._unreachable_s is None:
            self._unreachable_s = now_s
            if longest_s > 0:
                _log.warning("%s; waiting up to %.0f min for the server", error, longest_s / 60)
        if now_s - self._unreachable_s >= longest_s:
            raise error

    def _note(
        self,
        checkpoint: _Checkpoint,
        run: ScoringRun,
        arrivals: Mapping[str, Arrival],
        entries: Mapping[str, ManifestEntry],
    ) -> None:
        """Note what a run has scored. If the run stopped early, the clips without a result keep waiting."""
        self.stopped = run.stopped
        unreadable = {clip.uri for clip in run.unreadable}
        checkpoint.unanswered = {}
        for key, entry in entries.items():
            summary = run.summaries.get(entry.clip_id or "")
            if summary is None and entry.address not in unreadable and run.stopped is not None:
                continue
            checkpoint.waiting.pop(key, None)
            checkpoint.done[key] = arrivals[key]
            checkpoint.clips.add(entry.clip_id or "")
            if summary is not None and awaits_answer(summary):
                checkpoint.unanswered[key] = arrivals[key]
        checkpoint.retry_s = time.monotonic() + _FIRST_RETRY_S * 2**checkpoint.retries
        checkpoint.changed_s = time.monotonic()
        for clip in run.unreadable:
            _log.warning("%s: %s", checkpoint.name, clip.reason)
        if run.scored:
            known = len(run.plan.finished)
            before = f", {count(known, 'clip')} scored before" if known else ""
            _log.info("%s: %s scored%s", checkpoint.name, count(len(run.scored), "clip"), before)

    def _is_complete(self, checkpoint: _Checkpoint, arrived: Arrived, at_rest: bool) -> bool:
        if checkpoint.yielded or checkpoint.waiting:
            return False
        if at_rest:
            return True
        retried = checkpoint.unanswered and checkpoint.retries < _RETRIES
        if retried or checkpoint.name in arrived.writing or not checkpoint.clips:
            return False
        if self._watching.per_checkpoint is not None:
            return len(checkpoint.clips) >= self._watching.per_checkpoint
        later = any(other.step > checkpoint.step and other.clips for other in self._in_order())
        return later or time.monotonic() - checkpoint.changed_s >= self._watching.quiet_s

    def _result(self, checkpoint: _Checkpoint) -> CheckpointResult:
        """The numbers of a checkpoint from its run folder, the comparison, the gate, and the pages."""
        stored = StoredRun(checkpoint.folder)
        summaries = (stored.summary(line.clip_id) for line in stored.scored)
        result = CheckpointResult(
            checkpoint.name,
            checkpoint.folder,
            tuple(summary for summary in summaries if summary is not None),
            stored.unreadable,
            checkpoint.again,
        )
        self._results[checkpoint.name] = result
        checkpoint.yielded = checkpoint.again = True
        comparison = self._compared()
        checks = self._checked(result, comparison)
        self._results[checkpoint.name] = replace(result, checks=checks)
        if self._watching.page:
            self._write_page(checkpoint)
            if comparison is not None:
                write_comparison(comparison, self.out, domain=self._setup.domain_path)
        return replace(result, comparison=comparison, checks=checks)

    def _checked(self, result: CheckpointResult, comparison: Comparison | None) -> tuple[GateCheck, ...]:
        """The rules of the gate for a checkpoint; none while there is no baseline to compare with."""
        gate = self._watching.gate
        if gate is None or comparison is None:
            return ()
        if not result.summaries:
            return tuple(GateCheck(rule.name, result.name, False, "no clip has a report") for rule in gate.rules)
        return tuple(check for check in check_gate(gate, comparison) if check.run == result.name)

    def _compared(self) -> Comparison | None:
        """The complete checkpoints against the baseline; None while the baseline is not there.

        If there is a gate, raises InputError for a baseline that cannot be compared.
        """
        runs = {result.name: result.folder for result in self.complete if result.summaries}
        baseline = self._watching.baseline
        if baseline is None:
            return compare(runs, baseline=next(iter(runs))) if len(self.complete) > 1 and runs else None
        if str(baseline) not in runs:
            if not Path(baseline).exists():
                return None
            path = Path(baseline)
            name = path.resolve().name
            baseline = f"baseline {name}" if name in runs else name
            runs[baseline] = path
        return compare(runs, baseline=str(baseline)) if runs else None

    def _write_page(self, checkpoint: _Checkpoint) -> None:
        if (checkpoint.folder / "run.json").is_file():
            write_run_page(checkpoint.folder, self._setup.domain)
            checkpoint.page_s = time.monotonic()


def _stored(out: Path) -> Iterator[tuple[str, Path, set[str]]]:
    """The checkpoints of earlier starts: name, folder, and the ids of the clips."""
    for path in sorted(out.glob("*/run.json")):
        lines = StoredRun(path.parent).lines
        if lines and lines[0].checkpoint is not None:
            yield lines[0].checkpoint, path.parent, {line.clip_id for line in lines}
