"""A run, from its clips to its reports.

    with open_run(entries, setup, options, environ) as run:   # list the clips, open the run folder
        async for result in run.execute():                    # each report is stored, then yielded
            ...
    run.summaries, run.unreadable, run.stopped                # what the run holds in the end

A clip with a report in the run folder is finished, unless a question of it was never answered: that is asked again. A
clip that cannot be read is counted and the others are scored; a clip that a model fails on gets its report, partial or
unscored. Only a stop on purpose ends a run early: an exhausted budget at once, pending answers after every clip has
asked what it can.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from robogaze.backends import AnswerStore, Models
from robogaze.backends.middleware.budget import Budget
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry
from robogaze.errors import RunStopped
from robogaze.run.engines import ENGINES
from robogaze.run.engines.base import Decoded, EngineContext, Result
from robogaze.run.options import RunOptions
from robogaze.run.plan import RunPlan, make_plan
from robogaze.run.retry import forget_answers
from robogaze.run.setup import RunSetup
from robogaze.run.shards import check_count, sample
from robogaze.store import RunFolder

_log = logging.getLogger("robogaze")


@dataclass(frozen=True)
class ClipResult:
    """A clip whose result is known: its report if it was scored now, and its summary; None where it is unreadable."""

    clip_id: str
    entry: ManifestEntry
    summary: ReportSummary | None
    report: Report | None = None


@dataclass
class ScoringRun:
    """A run over clips.

    `summaries` are the reports at a glance by clip id, in the order of the clips once the run ended; `scored` are the
    ids of those that this start scored. `stopped` says why the run ended early, None when it did not. `environ` holds
    the keys of servers; `models` are asked instead of those of the setup, if they are given, and `answers` is their
    cache. With `is_whole`, the entries are all the clips of the run: unreadable ones of earlier starts that are not
    among them are dropped.
    """

    entries: Sequence[ManifestEntry]
    setup: RunSetup
    options: RunOptions
    plan: RunPlan
    folder: RunFolder | None
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    models: Models | None = None
    answers: AnswerStore | None = None
    is_whole: bool = False
    summaries: dict[str, ReportSummary] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)
    unreadable: list[Unreadable] = field(default_factory=list)
    stopped: RunStopped | None = None
    _reports: dict[str, Report] = field(default_factory=dict, repr=False)

    async def execute(self, on_decoded: Decoded | None = None) -> AsyncGenerator[ClipResult, None]:
        """Score the clips that are to be scored; yields the finished ones first, each other when it is stored.

        `on_decoded` hears how much of each clip is decoded, in the thread that decodes. Raises Unreachable when no
        server answers before the first clip, and what is the fault of the program, the disk or the domain.
        """
        for clip_id, summary in self.plan.finished.items():
            yield ClipResult(clip_id, self.plan.clips[clip_id].entry, summary)
        if not self.plan.tasks:
            self._enter_clips()
        else:
            try:
                async with self._engine_context(on_decoded) as context:
                    self._enter_clips()
                    self._forget_failed(context.answers)
                    engine = ENGINES.load(self.options.engine)(context)
                    async with aclosing(engine.run(self.plan.tasks)) as results:
                        async for result in results:
                            yield self._keep(result, context.answers)
            except RunStopped as error:
                self.stopped = error
        self._finish()

    def reports(self) -> Iterator[Report]:
        """The reports, in the order of the clips; of a run with a folder each is read when it is needed."""
        for clip_id in self.summaries:
            report = self._reports.get(clip_id) if self.folder is None else self.folder.stored.report(clip_id)
            if report is not None:
                yield report

    @asynccontextmanager
    async def _engine_context(self, on_decoded: Decoded | None) -> AsyncIterator[EngineContext]:
        """Open the models and the answers kept so far; without a run folder these are in the user's cache."""
        if self.models is not None or self.setup.models is None:
            yield EngineContext(self.setup, self.options, self.environ, self.models, self.answers, on_decoded)
            return
        path = user_cache_path("robogaze") / "answers.sqlite" if self.folder is None else self.folder.answers
        answers = AnswerStore(path)
        try:
            models = Models.open(
                self.setup.models,
                answers,
                self.environ,
                # A run folder knows what all its starts spent; the user's cache knows no runs.
                usage=None if self.folder is None else answers,
                budget=Budget(self.options.max_calls, self.options.max_cost_usd),
                outage_s=self.options.outage_s,
                notify=_log.warning,
            )
            try:
                await models.ready()
                yield EngineContext(self.setup, self.options, self.environ, models, answers, on_decoded)
            finally:
                await models.close()
        finally:
            answers.close()

    def _enter_clips(self) -> None:
        """Put the clips on the run folder's manifest; before that nothing of this start is written."""
        if self.folder is None:
            return
        if self.options.shard is not None:
            self.folder.claim()  # a shard without clips must not count as missing
        clips = self.plan.clips.values()
        self.folder.add(*(clip.line.with_(path=self.folder.address(clip.entry.path)) for clip in clips), replace=True)

    def _forget_failed(self, answers: AnswerStore | None) -> None:
        """Forget the invalid answers of clips that are scored again; the cache would only repeat them."""
        if self.options.retry_failed and self.folder is not None and answers is not None:
            for task in self.plan.tasks:
                if (report := self.folder.stored.report(task.clip_id)) is not None:
                    forget_answers(report, answers)

    def _keep(self, result: Result, answers: AnswerStore | None) -> ClipResult:
        """Store the result of a clip."""
        entry, report = self.plan.clips[result.clip_id].entry, result.report
        if report is None:
            self.unreadable.append(Unreadable(uri=entry.address, reason=result.unreadable or ""))
            return ClipResult(result.clip_id, entry, None)
        if self.folder is not None:
            self.folder.write(report, result.frames, result.pictures)
        else:
            self._reports[result.clip_id] = report
            if report.status != "complete" and answers is not None:
                # Nothing is left to score again with --retry-failed; the next command must not find the same answers.
                forget_answers(report, answers)
        self.scored.add(result.clip_id)
        self.summaries[result.clip_id] = summary = ReportSummary.of(report)
        return ClipResult(result.clip_id, entry, summary, report)

    def _finish(self) -> None:
        """Put the clips into their order, and write which of them cannot be read."""
        self.summaries = {name: self.summaries[name] for name in self.plan.clips if name in self.summaries}
        place = {entry.address: number for number, entry in enumerate(self.entries)}
        self.unreadable.sort(key=lambda clip: place[clip.uri])
        if self.folder is None:
            return
        address = self.folder.address
        unreadable = [clip.with_(uri=address(Path(clip.uri))) for clip in self.unreadable]
        read = {address(clip.entry.path) for name, clip in self.plan.clips.items() if name in self.summaries}
        listed = {address(Path(entry.address)) for entry in self.entries} if self.is_whole else None
        self.folder.write_unreadable(unreadable, read, listed)


@contextmanager
def open_run(
    entries: Sequence[ManifestEntry],
    setup: RunSetup,
    options: RunOptions | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    root: Path | None = None,
    models: Models | None = None,
    answers: AnswerStore | None = None,
    is_whole: bool = False,
) -> Iterator[ScoringRun]:
    """List the clips of a run and hold its folder; nothing is scored yet.

    `root` is the folder from which clips are named when they are sampled or divided into shards, by default the
    working directory. `models` are open models that are asked instead of those of the setup, and `answers` is their
    cache; the caller closes both. `is_whole` says that the entries are all the clips of the run.

    Raises OptionError for options that do not fit, InputError for clips that do not, and RunError for a folder that is
    in use or holds another run.
    """
    options = options or RunOptions()
    options.check(setup)
    root = root or Path()
    if options.limit is not None:
        entries = sample(entries, options.limit, options.seed, root)
    if options.shard is not None:
        entries = options.shard.of(entries, root)
    is_whole = is_whole and options.limit is None
    with ExitStack() as stack:
        folder = _open_folder(setup, options, stack)
        plan = make_plan(entries, folder, retry_failed=options.retry_failed, seed=options.seed)
        run = ScoringRun(
            entries, setup, options, plan, folder, environ or {}, models, answers, is_whole and options.limit is None
        )
        run.summaries.update(plan.finished)
        run.unreadable.extend(plan.unreadable)
        yield run


def _open_folder(setup: RunSetup, options: RunOptions, stack: ExitStack) -> RunFolder | None:
    if options.out is None or options.folder is None:
        return None
    configuration = setup.configuration
    if options.shard is not None:
        check_count(options.out, options.shard.count)
        configuration["shard"] = str(options.shard)
    return stack.enter_context(RunFolder(options.folder, configuration))
