"""Many clips. Resumable: finished clips are skipped.

A clip whose report is in the run folder is done, unless a question of it was never answered: that is put again. A clip
that cannot be read is written down and the others go on; a clip a model fails on gets its report, partial or unscored.
Only what ends a run on purpose ends it: an exhausted budget at once, pending answers after every clip has asked what it
can.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robogaze.backends import AnswerStore
from robogaze.bench.plan import RunPlan, take_stock
from robogaze.bench.retry import awaits_answer, forget_answers
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry
from robogaze.engines.base import Engine, Result, Task
from robogaze.errors import RunStopped
from robogaze.store import RunFolder
from robogaze.threads import in_thread


@dataclass(frozen=True)
class ClipResult:
    """A clip of which it is known what became of it; `report` is there when it was made now, None else."""

    clip_id: str
    entry: ManifestEntry
    digest: ReportSummary | None
    report: Report | None = None


@dataclass
class RunResult:
    """What became of a run's clips, in their order, and why the run stopped if it did.

    `digests` are by clip id. `diagnosed` are the ids of those that were not done before. `replaced` are those that
    were, of another file or with another instruction, by what changed.
    """

    digests: dict[str, ReportSummary] = field(default_factory=dict)
    diagnosed: set[str] = field(default_factory=set)
    unreadable: list[Unreadable] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    stopped: RunStopped | None = None


async def _go_on(tasks: Sequence[Task], done: Mapping[str, ReportSummary]) -> bool:
    return True


@dataclass(frozen=True)
class RunOptions:
    """What a run does with its clips, wherever they are diagnosed.

    Without a run folder nothing is kept but what `on_settled` keeps. With `retry_failed`, clips are done again whose
    questions were answered in a way that could not be used. `whole` says that the entries are all the clips of the run:
    what of others could not be read in earlier starts is forgotten. Clips are done in the order of `order`, by clip id,
    that of the entries by default. `on_stock` is told which clips there are before anything is written; `before` is
    given what is to do and what is done, and says whether to go on.
    """

    run: RunFolder | None = None
    answers: AnswerStore | None = None
    retry_failed: bool = False
    whole: bool = False
    order: Callable[[str], str] = lambda clip_id: ""
    on_stock: Callable[[RunPlan], None] = lambda stock: None
    before: Callable[[Sequence[Task], Mapping[str, ReportSummary]], Awaitable[bool]] = _go_on
    on_settled: Callable[[ClipResult], None] = lambda settled: None


async def run_clips(entries: Sequence[ManifestEntry], engine: Engine, job: RunOptions | None = None) -> RunResult:
    """Diagnose every clip that is not done. Raises what is the program's, the disk's or the domain's own fault."""
    job = job or RunOptions()
    stock = await in_thread(take_stock, entries, job.run)
    outcome = RunResult(unreadable=stock.unreadable, repeated=stock.repeated)
    job.on_stock(stock)
    tasks = _todo(stock, job, outcome)
    try:
        if not await job.before(tasks, outcome.digests):
            return outcome
    except RunStopped as error:
        outcome.stopped = error
        return outcome
    if job.run is not None:
        lines = (clip.line.with_(path=job.run.address(clip.entry.path)) for clip in stock.clips.values())
        job.run.enter(*lines, replace=True)
        _forget(tasks, job)
    outcome.stopped = await engine.run(tasks, lambda result: _keep(result, stock, job, outcome))
    outcome.digests = {clip_id: outcome.digests[clip_id] for clip_id in stock.clips if clip_id in outcome.digests}
    place = {entry.address: number for number, entry in enumerate(entries)}
    outcome.unreadable.sort(key=lambda one: place[one.uri])
    if job.run is not None:
        _keep_unreadable(outcome, entries, stock, job, job.run)
    return outcome


def _todo(stock: RunPlan, job: RunOptions, outcome: RunResult) -> list[Task]:
    """The clips to be done, in the order to do them; those that are done go to the outcome."""
    todo = []
    for clip_id, clip in stock.clips.items():
        digest = None if job.run is None else job.run.stored.digest(clip_id)
        changed = None if job.run is None else job.run.replaced(clip.line)
        if changed is not None:
            outcome.replaced[clip_id] = changed.removesuffix("_sha256")
        if digest is None or changed is not None or _wants_another(digest, job):
            todo.append(clip.task)
            continue
        outcome.digests[clip_id] = digest
        job.on_settled(ClipResult(clip_id, clip.entry, digest))
    return sorted(todo, key=lambda task: job.order(task.clip_id))


def _forget(tasks: Sequence[Task], job: RunOptions) -> None:
    """Forget the answers of clips that are done again because theirs were invalid."""
    if job.retry_failed and job.run is not None and job.answers is not None:
        for task in tasks:
            if (report := job.run.stored.report(task.clip_id)) is not None:
                forget_answers(report, job.answers)


def _wants_another(digest: ReportSummary, job: RunOptions) -> bool:
    return digest.status != "complete" and (job.retry_failed or awaits_answer(digest))


def _keep(result: Result, stock: RunPlan, job: RunOptions, outcome: RunResult) -> None:
    """Take what became of a clip."""
    clip, report = stock.clips[result.clip_id], result.report
    if report is None:
        reason = result.unreadable or ""
        outcome.unreadable.append(Unreadable(uri=clip.entry.address, reason=reason))
        job.on_settled(ClipResult(result.clip_id, clip.entry, None))
        return
    if job.run is not None:
        job.run.keep(report, result.frames)
    elif report.status != "complete" and job.answers is not None:
        # No report is left to be done again with `retry_failed`; the next command must not find the same answers.
        forget_answers(report, job.answers)
    outcome.digests[result.clip_id] = digest = ReportSummary.of(report)
    outcome.diagnosed.add(result.clip_id)
    job.on_settled(ClipResult(result.clip_id, clip.entry, digest, report))


def _keep_unreadable(
    outcome: RunResult, entries: Sequence[ManifestEntry], stock: RunPlan, job: RunOptions, run: RunFolder
) -> None:
    unreadable = [one.with_(uri=run.address(Path(one.uri))) for one in outcome.unreadable]
    read = {clip.entry.address for clip_id, clip in stock.clips.items() if clip_id in outcome.digests}
    listed = {run.address(Path(one.address)) for one in entries} if job.whole else None
    run.keep_unreadable(unreadable, {run.address(Path(one)) for one in read}, listed)
