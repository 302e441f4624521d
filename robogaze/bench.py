"""Many clips: one event loop, a bounded number under way, resumed from what is there.

A clip whose report is in the run folder is done, unless a question of it was never answered: that is put again. A clip
that cannot be read is written down and the others go on; a clip a model fails on gets its report, partial or unscored.
Only what ends a run on purpose ends it: an exhausted budget at once, pending answers after every clip has asked what it
can.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from robogaze.backends import AnswerStore, Models
from robogaze.core.report import Report, Unreadable
from robogaze.datasets import Entry
from robogaze.diagnose import OpenClip, content_sha256, diagnose, open_clip
from robogaze.errors import (
    BudgetExhausted,
    InputError,
    RateLimited,
    RequestRefused,
    RobogazeError,
    RunStopped,
    ServerFault,
    ServerStalled,
    Unreachable,
    VideoError,
)
from robogaze.reporting.html import frames_to_show
from robogaze.stages import Pipeline
from robogaze.store import ManifestLine, RunFolder

_THUMBNAIL_PX = 480
_PASSING = frozenset(kind.__name__ for kind in (RateLimited, ServerFault, ServerStalled, Unreachable))
"""Failures in which no answer came, so that asking again is asking for the first time."""

_UNDECIDED = "Undecided"
_WANTING = frozenset({"InvalidAnswer", RequestRefused.__name__, _UNDECIDED})
"""Failures that another answer would mend."""


@dataclass
class Outcome:
    """What became of a run's clips: their reports (by id), the unreadable ones, and why the run stopped if it did.

    `diagnosed` are the ids of those that were not done before.
    """

    reports: dict[str, Report] = field(default_factory=dict)
    diagnosed: set[str] = field(default_factory=set)
    unreadable: list[Unreadable] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    stopped: RunStopped | None = None


@dataclass(frozen=True)
class Job:
    """What a run does with each clip, and how many at once.

    With `retry_failed`, clips are done again whose questions were answered in a way that could not be used.
    """

    pipeline: Pipeline
    models: Models | None = None
    run: RunFolder | None = None
    answers: AnswerStore | None = None
    decoder: str = "pyav"
    in_flight: int = 16
    retry_failed: bool = False
    on_done: Callable[[str, Report | None], None] = lambda name, report: None


async def run_clips(entries: Sequence[Entry], job: Job) -> Outcome:
    """Diagnose every clip that is not done. Raises what is the program's, the disk's or the domain's own fault."""
    outcome = Outcome()
    clips = await asyncio.to_thread(_take_stock, entries, outcome)
    if job.run is not None:
        _enter(clips, job.run)
    waiting = list(reversed(clips))
    # Decoding is the only work of this machine's; more at once than it has cores would only cost memory.
    decoding = asyncio.Semaphore(os.cpu_count() or 1)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(job.in_flight, len(waiting)))):
                group.create_task(_work(waiting, job, outcome, decoding))
    except* RobogazeError as errors:
        raise errors.exceptions[0] from None
    place = {entry.path.as_posix(): number for number, entry in enumerate(entries)}
    outcome.unreadable.sort(key=lambda one: place[one.uri])
    outcome.reports = {clip.id: outcome.reports[clip.id] for clip in clips if clip.id in outcome.reports}
    if job.run is not None:
        _keep_unreadable(outcome, clips, job.run)
    return outcome


def awaits_answer(report: Report) -> bool:
    """Whether a question of a clip was never answered, so that the same command puts it again."""
    return any(failure.kind in _PASSING for failure in report.failures)


def wants_other_answers(report: Report) -> bool:
    """Whether a clip's answers were refused, could not be used or settled nothing; `retry_failed` asks for others."""
    return any(failure.kind in _WANTING for failure in report.failures)


@dataclass(frozen=True)
class _Clip:
    """A clip of the run, before it is opened."""

    entry: Entry
    line: ManifestLine

    @property
    def id(self) -> str:
        """The clip's id."""
        return self.line.clip_id


def _take_stock(entries: Sequence[Entry], outcome: Outcome) -> list[_Clip]:
    """Which clips there are, each once; what cannot be read, or is there again, goes to the outcome.

    Raises InputError for two clips of which one would be lost, because their ids are made of what they have in common.
    """
    clips: dict[str, _Clip] = {}
    for entry in entries:
        try:
            clip = _Clip(entry, _line(entry))
        except VideoError as error:
            outcome.unreadable.append(_unreadable(entry, error))
            continue
        first = clips.setdefault(clip.id, clip)
        if field := first.line.differs(clip.line):
            raise InputError(
                f"{first.entry.path} and {entry.path} are one film and differ in {field.removesuffix('_sha256')} only; "
                "give each a clip_id"
            )
        if first is not clip:
            outcome.repeated.append(entry.path.as_posix())
    return list(clips.values())


def _line(entry: Entry) -> ManifestLine:
    """What shapes a clip's report. Raises VideoError when its file, or its initial frame, cannot be read."""
    content = content_sha256(entry)
    given = {name: getattr(entry, name) for name in ManifestLine.model_fields if name in Entry.model_fields}
    made = {"clip_id": entry.id_for(content), "path": entry.path.as_posix(), "sha256": content}
    initial = entry.initial_frame
    return ManifestLine(**{**given, **made}, initial_frame_sha256=None if initial is None else _sha256(initial))


def _sha256(initial_frame: Path) -> str:
    try:
        return sha256(initial_frame.read_bytes()).hexdigest()
    except OSError as error:
        raise VideoError(f"the initial frame {initial_frame} cannot be read: {error.strerror}") from error


def _enter(clips: Sequence[_Clip], run: RunFolder) -> None:
    run.enter(*(clip.line.with_(path=run.address(clip.entry.path)) for clip in clips))


def _keep_unreadable(outcome: Outcome, clips: Sequence[_Clip], run: RunFolder) -> None:
    unreadable = [one.with_(uri=run.address(Path(one.uri))) for one in outcome.unreadable]
    run.keep_unreadable(unreadable, [run.address(clip.entry.path) for clip in clips if clip.id in outcome.reports])


def _unreadable(entry: Entry, error: VideoError) -> Unreadable:
    return Unreadable(uri=entry.path.as_posix(), reason=str(error))


async def _work(waiting: list[_Clip], job: Job, outcome: Outcome, decoding: asyncio.Semaphore) -> None:
    """Take clip after clip until none waits."""
    while waiting and not isinstance(outcome.stopped, BudgetExhausted):
        clip = waiting.pop()
        report = None
        try:
            report = _done(clip.id, job)
            if report is None:
                report = await _diagnosed(clip, job, decoding)
                outcome.diagnosed.add(clip.id)
        except VideoError as error:
            outcome.unreadable.append(_unreadable(clip.entry, error))
        except RunStopped as error:
            outcome.stopped = error
            continue
        if report is not None:
            outcome.reports[clip.id] = report
        job.on_done(clip.entry.path.name, report)


async def _diagnosed(clip: _Clip, job: Job, decoding: asyncio.Semaphore) -> Report:
    """The report of one clip, made now and stored."""
    with ExitStack() as stack:
        async with decoding:
            opening = open_clip(clip.entry, job.pipeline, job.models, job.decoder)
            opened = await asyncio.to_thread(stack.enter_context, opening)
        report = await diagnose(opened, job.pipeline, job.models)
        if job.run is not None:
            frames = await asyncio.to_thread(_thumbnails, opened, frames_to_show(report))
            job.run.keep(report, frames)
        elif report.status != "ok":
            # No report is left to be done again with `retry_failed`; the next command must not find the same answers.
            _forget_answers(report, job)
    return report


def _thumbnails(opened: OpenClip, frames: Sequence[int]) -> dict[int, bytes]:
    return {number: opened.footage.thumbnail(number, _THUMBNAIL_PX) for number in frames}


def _done(clip_id: str, job: Job) -> Report | None:
    """The clip's report if it need not be made again."""
    report = None if job.run is None else job.run.report(clip_id)
    if report is None or report.status == "ok" or not (job.retry_failed or awaits_answer(report)):
        return report
    if job.retry_failed:
        _forget_answers(report, job)
    return None


def _forget_answers(report: Report, job: Job) -> None:
    """Forget the answers that broke their contract or left something undecided; the cache would only repeat them."""
    undecided = {failure.stage for failure in report.failures if failure.kind == _UNDECIDED}
    calls = [call for call in report.provenance.calls if call.outcome == "invalid" or call.stage in undecided]
    if job.answers is not None:
        job.answers.forget(call.key for call in calls)
