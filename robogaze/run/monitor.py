"""`robogaze.Monitor`: score clips from a training loop without blocking it.

    submit -> bounded queue -> thread: hands frames to a process that encodes them, writes a line in OUT/clips.jsonl
                            -> process: robogaze score OUT/clips.jsonl --watch --out OUT

The process scores, and everything that it needs is on disk. If the process dies, it is started again; if the training
dies, the same Monitor continues where it stopped.
"""

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

import numpy as np

from robogaze.datasets import ManifestEntry
from robogaze.datasets.manifest import manifest_lines, manifest_text
from robogaze.errors import OptionError, RobogazeError
from robogaze.paths import given_path
from robogaze.run.frame_writer import FrameWriter
from robogaze.run.scoring_process import ScoringProcess
from robogaze.store import StoredRun, file_name, write_whole

_log = logging.getLogger("robogaze")

_LOOK_S = 0.5

_UNUSABLE = (TypeError, ValueError, RuntimeError, MemoryError, OSError, RobogazeError)
"""What frames and the disk raise."""


@dataclass(frozen=True)
class MonitorCounts:
    """What became of the clips that were submitted: submitted = written + queued + dropped + failed.

    `dropped` counts the clips that were dropped because the queue was full. `failed` counts the clips that could not be
    written. `unscored` counts the written clips without a result; it is None until `close` counts them. `failures` are
    the most recent failure messages.
    """

    submitted: int
    written: int
    queued: int
    dropped: int
    failed: int
    unscored: int | None = None
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class MonitoredCheckpoint:
    """A checkpoint whose clips are scored. `folder` is its run folder, and `numbers` are the rates that a tracker gets.
    `passed` says whether the checkpoint passed the gate; without a gate, it is True.
    """

    step: int
    name: str
    folder: Path
    numbers: Mapping[str, float]
    passed: bool


@dataclass(frozen=True)
class _Submitted:
    """A clip in the queue: the path of a video, or frames. `frames` is a copy."""

    entry: ManifestEntry
    frames: Any = None
    fps: float = 0.0


class Monitor:
    """Scores clips in another process while a model is trained.

    `submit` copies the clip into a queue and returns. A thread writes the clips, and a process scores them with
    `robogaze score --watch`. When the queue is full, the new clip is dropped and counted. Once the Monitor is created,
    it raises no errors in the training: failures are counted and logged to the logger `robogaze`.

    Use the Monitor in one process of a distributed training.

    Args:
        out: The folder for the clips (`clips.jsonl`, `clips/`), a run folder for each checkpoint (`step_001000/`), the
            comparison of the checkpoints (`index.html`), and the messages of the process (`monitor.log`).
        model: See `score` for this argument and the following three.
        domain: The name of a built-in domain, or the folder of a custom domain.
        pipeline: A pipeline of the domain.
        concurrency: The maximum number of requests per model at the same time; also the maximum number of clips at the
            same time.
        track: `KIND:PROJECT` of an experiment tracker; each complete checkpoint is logged at its step.
        per_checkpoint: The number of clips of a checkpoint; by default, a checkpoint is complete once a later
            checkpoint has clips.
        gate: A file of rules that each checkpoint must pass; see `should_stop`.
        baseline: The checkpoint to compare with (such as `step_001000`), or the path of a run; by default, the first
            checkpoint.
        outage_s: How long to wait for a server that cannot be reached, before the process is started again.
        queue_size: The number of clips that may wait to be written.

    Raises:
        OptionError: An argument is out of range, or a file does not exist.
        InputError: The `clips.jsonl` of an earlier start is damaged.
    """

    def __init__(
        self,
        out: str | Path,
        *,
        model: str | Path | None = None,
        domain: str | Path | None = None,
        pipeline: str | None = None,
        concurrency: int | None = None,
        track: str | None = None,
        per_checkpoint: int | None = None,
        gate: str | Path | None = None,
        baseline: str | Path | None = None,
        outage_s: float = 1800.0,
        queue_size: int = 64,
    ) -> None:
        numbers = {"queue_size": queue_size, "per_checkpoint": per_checkpoint, "concurrency": concurrency}
        for name, number in numbers.items():
            if number is not None and number < 1:
                raise OptionError(f"{name} must be at least 1, not {number}")
        if not 0 <= outage_s < inf:
            raise OptionError(f"outage_s must be at least 0 and finite, not {outage_s}")
        if gate is not None and not Path(gate).is_file():
            raise OptionError(f"the gate {gate} does not exist")
        self.out = given_path(out, "`out`").absolute()
        self._manifest = self.out / "clips.jsonl"
        self._options = {
            "--model": model,
            "--domain": domain,
            "--pipeline": pipeline,
            "--concurrency": concurrency,
            "--track": track,
            "--per-checkpoint": per_checkpoint,
            "--gate": gate,
            "--baseline": baseline,
            "--outage": outage_s / 60,
        }
        known = [entry for _, entry in manifest_lines(self._manifest, growing=True)] if self._manifest.exists() else []
        write_whole(self._manifest, manifest_text(known, self.out))
        self._paths = {(entry.checkpoint or "", entry.clip_id or ""): entry.path for entry in known}
        self._queue: Queue[_Submitted] = Queue(queue_size)
        self._lock, self._closing = Lock(), Event()
        self._counts: Counter[str] = Counter()
        self._per_step: Counter[int] = Counter()
        self._failures: list[str] = []
        self._completed: list[MonitoredCheckpoint] = []
        self._stop = Event()
        self._writer = FrameWriter()
        self._scorer = ScoringProcess(self._command(), self.out / "monitor.log", self._receive, self._fail)
        self._thread = Thread(target=self._work, daemon=True, name="robogaze monitor")
        self._thread.start()

    def submit(
        self,
        clip: Any,
        *,
        step: int,
        prompt: str | None = None,
        prompt_id: str | None = None,
        name: str | None = None,
        fps: float = 16.0,
    ) -> bool:
        """Give a clip to be scored; return at once.

        Args:
            clip: The path of a video, which must stay where it is, or frames: an array or tensor of uint8 and shape
                (frames, height, width, 3). Frames are copied.
            step: The training step; clips of one step are a checkpoint.
            prompt: The instruction that the clip was generated from.
            prompt_id: The id of the prompt; clips generated from the same prompt have the same id in all checkpoints.
            name: The clip's id, the same in every checkpoint; by default the name of the file, or `clip_000` for the
                first clip of a step, and so on. A clip of the same step and name replaces an earlier clip.
            fps: The frame rate of frames.

        Returns:
            False if the clip was dropped (the queue is full or the Monitor is closed) or cannot be used.
        """
        self._add("submitted")
        if self._closing.is_set():
            return self._drop("the Monitor is closed")
        try:
            self._queue.put_nowait(self._submitted(clip, step, name, fps, instruction=prompt, prompt_id=prompt_id))
        except Full:
            return self._drop(f"the queue of {self._queue.maxsize} clips is full")
        except _UNUSABLE as error:
            self._fail(f"a clip of step {step} cannot be used: {error}", "failed")
            return False
        return True

    @property
    def should_stop(self) -> bool:
        """Whether a checkpoint failed the gate. After a failed gate, no further clips are scored."""
        return self._stop.is_set()

    @property
    def counts(self) -> MonitorCounts:
        """The counts so far."""
        with self._lock:
            counts, failures = Counter(self._counts), tuple(self._failures)
        names = ("submitted", "written", "dropped", "failed")
        queued = counts["submitted"] - counts["written"] - counts["dropped"] - counts["failed"]
        return MonitorCounts(**{name: counts[name] for name in names}, queued=queued, failures=failures)

    def completed(self) -> tuple[MonitoredCheckpoint, ...]:
        """The checkpoints that became complete since the last call; after a restart, also the checkpoints of earlier
        starts.
        """
        with self._lock:
            found, self._completed = tuple(self._completed), []
        return found

    def close(self, timeout_s: float | None = None) -> MonitorCounts:
        """Write and score the clips that were submitted, then end the process.

        After `timeout_s` the process is ended. Clips that are not scored are counted, and the next Monitor with the
        same `out` scores them. If `timeout_s` is None, there is no time limit.
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        self._closing.set()
        self._thread.join(timeout_s)
        has_clips = self._manifest.stat().st_size > 0
        self._scorer.finish(end_s, start=has_clips)
        return _with_unscored(self.counts, self.out)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the Monitor; after an exception, close it without waiting."""
        self.close(None if error is None else 0.0)

    def _command(self) -> list[str]:
        command = [sys.executable, "-m", "robogaze", "score", str(self._manifest), "--watch", "--out", str(self.out)]
        given = [(flag, str(value)) for flag, value in self._options.items() if value is not None]
        return [*command, "--until", "-", "--json", *(word for pair in given for word in pair)]

    def _submitted(self, clip: Any, step: int, name: str | None, fps: float, **fields: Any) -> _Submitted:
        if not 0 < fps < inf:
            raise ValueError(f"fps is {fps}; it must be above 0 and finite")
        checkpoint = f"step_{step:06d}"
        if isinstance(clip, str | Path):
            path = Path(clip).absolute()
            clip_id = name or path.stem
            if name is None and self._paths.setdefault((checkpoint, clip_id), path) != path:
                clip_id = f"{clip_id}-{sha256(os.fsencode(path)).hexdigest()[:8]}"
            return _Submitted(ManifestEntry(path=path, checkpoint=checkpoint, clip_id=clip_id, **fields))
        clip_id = name or f"clip_{self._per_step[step]:03d}"
        path = self.out / "clips" / checkpoint / f"{file_name(clip_id)}.mp4"
        entry = ManifestEntry(path=path, checkpoint=checkpoint, clip_id=clip_id, **fields)
        submitted = _Submitted(entry, _copied(clip), fps)
        self._per_step[step] += 1
        return submitted

    def _work(self) -> None:
        """Write the clips of the queue, and keep the process running."""
        while not (self._closing.is_set() and self._queue.empty()):
            try:
                submitted = self._queue.get(timeout=_LOOK_S)
            except Empty:
                submitted = None
            if submitted is not None:
                self._write(submitted)
            if self._counts["written"]:
                self._scorer.keep_running()
        self._writer.close()

    def _write(self, submitted: _Submitted) -> None:
        entry = submitted.entry
        try:
            if submitted.frames is not None:
                entry.path.parent.mkdir(parents=True, exist_ok=True)
                self._writer.write(entry.path, submitted.frames, submitted.fps)
            with self._manifest.open("a", encoding="utf-8") as manifest:
                manifest.write(manifest_text((entry,), self.out))
        except _UNUSABLE as error:
            self._fail(f"{entry.checkpoint}: {entry.clip_id} cannot be written: {error}", "failed")
        else:
            self._add("written")

    def _receive(self, line: Mapping[str, Any]) -> None:
        """Note a checkpoint that the process reports."""
        passed = all(check["passed"] for check in line["gate"])
        found = MonitoredCheckpoint(line["step"], line["checkpoint"], Path(line["run"]), line["numbers"], passed)
        with self._lock:
            self._completed.append(found)
        if not passed:
            self._stop.set()

    def _add(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def _drop(self, reason: str) -> bool:
        self._add("dropped")
        dropped = self._counts["dropped"]
        if dropped & (dropped - 1) == 0:  # 1, 2, 4, 8, ... so that a log is not flooded
            self._fail(f"a clip was dropped, because {reason}; clips dropped so far: {dropped}")
        return False

    def _fail(self, message: str, counted: str | None = None) -> None:
        _log.warning("%s", message)
        with self._lock:
            self._failures = [*self._failures[-19:], message]
            if counted is not None:
                self._counts[counted] += 1


def _copied(frames: Any) -> Any:
    """A copy of frames in this machine's memory. Raises ValueError for another shape or type."""
    found = np.array(frames.detach().cpu().numpy() if hasattr(frames, "detach") else frames, copy=True)
    if found.dtype != np.uint8 or found.ndim != 4 or found.shape[3] != 3 or not len(found):
        raise ValueError(
            f"frames have type {found.dtype} and shape {found.shape}; give type uint8 and shape "
            "(frames, height, width, 3)"
        )
    return found


def _with_unscored(counts: MonitorCounts, out: Path) -> MonitorCounts:
    """Count the clips in the manifest that have neither a report nor a reason why they cannot be read."""
    lines = manifest_lines(out / "clips.jsonl", growing=True)  # after a time limit, the last line may be half written
    entries = {(entry.checkpoint, entry.clip_id): entry for _, entry in lines}
    stored = {name: StoredRun(out / file_name(name or "")) for name, _ in entries}
    unreadable = {name: {clip.uri for clip in run.unreadable} for name, run in stored.items()}
    unscored = sum(
        not (stored[name].has_report(clip_id or "") or stored[name].address(entry.path) in unreadable[name])
        for (name, clip_id), entry in entries.items()
    )
    return replace(counts, unscored=unscored)
