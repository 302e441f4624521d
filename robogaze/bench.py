"""Many clips: one event loop, a bounded number under way, resumed from what is there.

A clip whose report is in the run folder is done. A clip that cannot be read is written down and the others go on; a
clip a model fails on gets its report, partial or unscored. Only what ends a run on purpose ends it: an exhausted
budget at once, pending answers after every clip has asked what it can.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from robogaze.backends import AnswerStore, Models
from robogaze.core.report import Report, Unreadable
from robogaze.datasets import Entry
from robogaze.diagnose import OpenClip, content_sha256, diagnose, open_clip
from robogaze.errors import BudgetExhausted, RobogazeError, RunStopped, VideoError
from robogaze.reporting.html import frames_to_show
from robogaze.stages import Pipeline
from robogaze.store import ManifestLine, RunFolder

_THUMBNAIL_PX = 480


@dataclass
class Outcome:
    """What became of a run's clips: their reports (by id), the unreadable ones, and why the run stopped if it did."""

    reports: dict[str, Report] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    stopped: RunStopped | None = None


@dataclass(frozen=True)
class Job:
    """What a run does with each clip, and how many at once."""

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
        job.run.enter(*(_line(clip) for clip in clips))
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
        job.run.keep_unreadable(outcome.unreadable)
    return outcome


@dataclass(frozen=True)
class _Clip:
    """A clip of the run, before it is opened."""

    id: str
    sha256: str
    entry: Entry


def _take_stock(entries: Sequence[Entry], outcome: Outcome) -> list[_Clip]:
    """Which clips there are, each once; what cannot be read, or is there again, goes to the outcome."""
    clips: dict[str, _Clip] = {}
    for entry in entries:
        try:
            content = content_sha256(entry)
        except VideoError as error:
            outcome.unreadable.append(_unreadable(entry, error))
            continue
        clip = _Clip(entry.id_for(content), content, entry)
        if clip.id in clips:
            outcome.repeated.append(entry.path.as_posix())
        clips.setdefault(clip.id, clip)
    return list(clips.values())


def _line(clip: _Clip) -> ManifestLine:
    entry = clip.entry
    return ManifestLine(clip_id=clip.id, path=entry.path.as_posix(), sha256=clip.sha256, instruction=entry.instruction)


def _unreadable(entry: Entry, error: VideoError) -> Unreadable:
    return Unreadable(uri=entry.path.as_posix(), reason=str(error))


async def _work(waiting: list[_Clip], job: Job, outcome: Outcome, decoding: asyncio.Semaphore) -> None:
    """Take clip after clip until none waits."""
    while waiting and not isinstance(outcome.stopped, BudgetExhausted):
        clip = waiting.pop()
        report = None
        try:
            report = _done(clip.id, job) or await _diagnosed(clip, job, decoding)
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
    return report


def _thumbnails(opened: OpenClip, frames: Sequence[int]) -> dict[int, bytes]:
    return {number: opened.footage.thumbnail(number, _THUMBNAIL_PX) for number in frames}


def _done(clip_id: str, job: Job) -> Report | None:
    """The clip's report if it need not be made again.

    Answers that broke their contract are forgotten before a retry; else the cache would only repeat them.
    """
    report = None if job.run is None else job.run.report(clip_id)
    if job.run is not None and report is not None and job.retry_failed and report.status != "ok":
        if job.answers is not None:
            job.answers.forget(call.key for call in report.provenance.calls if call.outcome == "invalid")
        job.run.forget(clip_id)
        return None
    return report
