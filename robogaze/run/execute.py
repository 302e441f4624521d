"""A run, from its clips to its reports.

    with open_run(entries, setup, options, environ) as run:   # plan the run and lock its folder
        async for result in run.execute():                    # each report is stored, then yielded
            ...
    run.summaries, run.unreadable, run.stopped                # the result

A clip with a report in the run folder is finished. It is scored again only if one of its requests got no answer. A clip
that cannot be read is counted, and the other clips are scored. A clip on which a model fails gets a report with the
status partial or unscored. A run ends early only if it raises RunStopped. If the budget is exhausted, it stops at once.
If answers of a batch are pending, it stops after all clips have written their requests.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

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


@dataclass(frozen=True)
class ClipResult:
    """The result of a clip. `summary` and `report` are None for an unreadable clip; `report` is also None for a clip
    that was finished before.
    """

    clip_id: str
    entry: ManifestEntry
    summary: ReportSummary | None
    report: Report | None = None


@dataclass
class ScoringRun:
    """A run over clips, made by `open_run`; as a context manager it unlocks its folder at the end.

    `summaries` maps clip ids to the summaries of their reports. After the end of the run, it is in the order of the
    clips. `scored` are the ids of the clips that this start scored. `stopped` is the reason why the run ended early;
    None if the run did not end early. `environ` holds the API keys of servers. `models`, if given, replace the models
    of the setup, and `answers` is their cache. If `is_whole`, the entries are all clips of the run. Clips that earlier
    starts could not read, and clips that they did not score and whose file is deleted, are then dropped if they are no
    longer among the entries.

    Before clips are scored, the page of the run folder is removed; with `keeps_page`, it stays, and the caller keeps
    it up to date.
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
    keeps_page: bool = False
    summaries: dict[str, ReportSummary] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)
    unreadable: list[Unreadable] = field(default_factory=list)
    stopped: RunStopped | None = None
    _reports: dict[str, Report] = field(default_factory=dict, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.close()

    async def execute(self, on_decoded: Decoded | None = None) -> AsyncGenerator[ClipResult, None]:
        """Score the clips that are not finished. Yields the finished clips first, and then each other clip as soon as
        its report is stored.

        `on_decoded` is called in the thread that decodes a clip, with the clip's id and the share that is decoded so
        far. Raises Unreachable if no server answers before the first clip. Errors of the program, the disk or the
        domain are also raised.
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

    @property
    def pending(self) -> int:
        """The number of clips that have no report yet, and that could be read so far."""
        bad = {(clip.uri, clip.clip_id) for clip in self.unreadable}
        addresses = {name: clip.entry.address for name, clip in self.plan.clips.items() if name not in self.summaries}
        return sum(not bad & {(at, name), (at, None)} for name, at in addresses.items())

    def reports(self) -> Iterator[Report]:
        """The reports, in the order of the clips; with a run folder, each report is read from the folder when it is
        needed.
        """
        for clip_id in self.summaries:
            report = self._reports.get(clip_id) if self.folder is None else self.folder.stored.report(clip_id)
            if report is not None:
                yield report

    @asynccontextmanager
    async def _engine_context(self, on_decoded: Decoded | None) -> AsyncIterator[EngineContext]:
        """Open the models and the stored answers; without a run folder, answers are in the user's cache."""
        if self.models is not None or self.setup.models is None:
            yield EngineContext(self.setup, self.options, self.environ, self.models, self.answers, on_decoded)
            return
        path = user_cache_path("robogaze") / "answers.sqlite" if self.folder is None else self.folder.answers
        with closing(AnswerStore(path)) as answers:
            models = Models.open(
                self.setup.models,
                answers,
                self.environ,
                # Usage is counted per run folder; the user's cache belongs to no run.
                usage=None if self.folder is None else answers,
                budget=Budget(self.options.max_calls, self.options.max_cost_usd),
                outage_s=self.options.outage_s,
            )
            try:
                await models.ready()
                yield EngineContext(self.setup, self.options, self.environ, models, answers, on_decoded)
            finally:
                await models.close()

    def _enter_clips(self) -> None:
        """Add the clips to the run folder's manifest, the first thing that a start writes."""
        if self.folder is None:
            return
        if self.options.part is not None:
            self.folder.claim()  # so that a shard without clips does not count as missing
        if self.is_whole:
            self.folder.drop(self.plan.never_scored)
        if self.plan.tasks and not self.keeps_page:
            self.folder.remove_page()
        clips = self.plan.clips.values()
        self.folder.add(*(clip.line.with_(path=self.folder.address(clip.entry.path)) for clip in clips), replace=True)
        self._store_unreadable(self.plan.clips)  # also a run that is killed counts no clip twice

    def _forget_failed(self, answers: AnswerStore | None) -> None:
        """Delete from the cache the invalid answers of clips that are scored again; otherwise the cache would return
        them.
        """
        if self.options.retry_failed and self.folder is not None and answers is not None:
            for task in self.plan.tasks:
                if (report := self.folder.stored.report(task.clip_id)) is not None:
                    forget_answers(report, answers)

    def _keep(self, result: Result, answers: AnswerStore | None) -> ClipResult:
        """Store the result of a clip."""
        entry, report = self.plan.clips[result.clip_id].entry, result.report
        if report is None:
            reason = result.unreadable or ""
            self.unreadable.append(Unreadable(uri=entry.address, reason=reason, clip_id=result.clip_id))
            return ClipResult(result.clip_id, entry, None)
        if self.folder is not None:
            self.folder.write(report, result.frames, result.pictures)
        else:
            self._reports[result.clip_id] = report
            if report.status != "complete" and answers is not None:
                # Without a run folder there is no --retry-failed: the next command must not find invalid answers.
                forget_answers(report, answers)
        self.scored.add(result.clip_id)
        self.summaries[result.clip_id] = summary = ReportSummary.of(report)
        return ClipResult(result.clip_id, entry, summary, report)

    def _finish(self) -> None:
        """Sort the results by the order of the clips, and store the unreadable clips."""
        self.summaries = {name: self.summaries[name] for name in self.plan.clips if name in self.summaries}
        place = {entry.address: number for number, entry in enumerate(self.entries)}
        self.unreadable.sort(key=lambda clip: place[clip.uri])
        self._store_unreadable(self.summaries)

    def _store_unreadable(self, readable: Iterable[str]) -> None:
        """Store the unreadable clips; the clips with these ids are no longer among them."""
        if self.folder is None:
            return
        address = self.folder.address
        unreadable = [clip.with_(uri=address(Path(clip.uri))) for clip in self.unreadable]
        read = {address(Path(self.plan.clips[name].entry.address)) for name in readable}
        listed = {address(Path(entry.address)) for entry in self.entries} if self.is_whole else None
        self.folder.write_unreadable(unreadable, read, listed)


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
    is_estimate: bool = False,
    keeps_page: bool = False,
) -> ScoringRun:
    """Plan a run over clips and lock its folder; nothing is scored yet. Use the run as a context manager.

    Samples and shards identify clips by their paths relative to `root`, by default the working directory. `models` are
    open models that replace the models of the setup, and `answers` is their cache; the caller closes both. `is_whole`
    says that the entries are all clips of the run. For `keeps_page`, see `ScoringRun`. With `is_estimate`, the run is
    only planned, so its folder is not created if it does not exist.

    Raises OptionError for invalid options, InputError for invalid clips, and RunError for a folder that is in use or
    contains another run.
    """
    options = options or RunOptions()
    options.check(setup)
    root = root or Path()
    if options.limit is not None:
        entries = sample(entries, options.limit, options.seed, root)
    if (part := options.part) is not None:
        entries = part.of(entries, root)
    is_whole = is_whole and options.limit is None
    with ExitStack() as on_failure:
        exists = options.folder is not None and (options.folder / "run.json").is_file()
        folder = None if is_estimate and not exists else _open_folder(setup, options)
        if folder is not None:
            on_failure.callback(folder.close)
        plan = make_plan(entries, folder, retry_failed=options.retry_failed, seed=options.seed)
        on_failure.pop_all()
    run = ScoringRun(entries, setup, options, plan, folder, environ or {}, models, answers, is_whole, keeps_page)
    run.summaries.update(plan.finished)
    run.unreadable.extend(plan.unreadable)
    return run


def _open_folder(setup: RunSetup, options: RunOptions) -> RunFolder | None:
    if options.run_folder is None or options.folder is None:
        return None
    configuration = setup.configuration
    if (part := options.part) is not None:
        check_count(options.run_folder, part.count)
        configuration["shard"] = str(part)
    return RunFolder(options.folder, configuration)
