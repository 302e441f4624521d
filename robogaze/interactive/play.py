"""A run of plays: several environments and sessions side by side, in one run folder.

    plays/<play id>/trace.jsonl       the steps of a play
    memory/<environment>.json         the notes that sessions in an environment leave for later sessions
    reports/<play id>.json            the report on a play, as for a clip
    plays/<play id>/report.json, .md  the report in GBQA's form

A play with a report is finished. It is played again only if a request to a model or to the environment got no answer.
With cross-session memory, the sessions in one environment are played one after the other.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from robogaze.backends import AnswerStore, Models, ModelsConfig
from robogaze.backends.middleware.budget import Budget
from robogaze.core.context import Memory
from robogaze.core.report import Report, Unreadable
from robogaze.datasets.formats.gbqa import play_files
from robogaze.datasets.formats.gbqa_trace import played_steps
from robogaze.domains import Domain
from robogaze.domains.model import AgentSpec
from robogaze.errors import RunStopped
from robogaze.interactive.environments import Environment, EnvironmentFault, open_environment
from robogaze.interactive.memory import read_memory, write_memory
from robogaze.interactive.play_client import PlayClient
from robogaze.interactive.play_options import PlayOptions, check_plays, configuration_of
from robogaze.interactive.play_report import PlayId, play_report
from robogaze.interactive.session import PlaySession
from robogaze.paths import given_path
from robogaze.store import ManifestLine, RunFolder, file_name, write_whole
from robogaze.sync import synchronous


@dataclass(frozen=True)
class UnplayedPlay:
    """A play whose environment could not be started; `fault` says why."""

    id: str
    fault: EnvironmentFault

    @property
    def entry(self) -> Unreadable:
        """The entry of the play in unreadable.json."""
        return Unreadable(uri=self.id, reason=str(self.fault))


@dataclass(frozen=True)
class PlayResult:
    """The reports of a run, in the order of its plays. `stopped` is the reason why the run ended early, else None."""

    reports: tuple[Report, ...]
    unplayed: tuple[UnplayedPlay, ...]
    stopped: RunStopped | None
    folder: Path


@dataclass
class PlayRun:
    """A run of plays in an open run folder. `open_environment` opens an environment by its spec."""

    environments: tuple[str, ...]
    options: PlayOptions
    domain: Domain
    models: Models
    folder: RunFolder
    answers: AnswerStore
    open_environment: Callable[[str], Environment]
    on_report: Callable[[Report], None] = lambda report: None
    unplayed: list[UnplayedPlay] = field(default_factory=list)
    stopped: RunStopped | None = None
    in_progress: dict[str, PlaySession] = field(default_factory=dict)
    """The plays that have begun and not ended, by their ids."""

    @property
    def agent(self) -> AgentSpec:
        """The agent of the run. If the options set a memory, it replaces the agent's own setting."""
        spec = self.domain.agents[self.options.agent]
        return spec if self.options.memory is None else spec.with_(memory=self.options.memory)

    @property
    def plays(self) -> tuple[PlayId, ...]:
        """The plays of the run, in order."""
        numbers = range(1, self.options.sessions + 1)
        return tuple(PlayId(name, number) for name in self.environments for number in numbers)

    async def execute(self) -> None:
        """Play the plays that are not finished. A RunStopped is kept in `stopped`; other errors are raised."""
        free = asyncio.Semaphore(self.options.at_once)
        waiting = [play for play in self.plays if not self._is_finished(play)]
        if waiting:
            self.folder.remove_page()
        tasks = [asyncio.create_task(self._play_all(group, free)) for group in self._groups(waiting)]
        try:
            for task in asyncio.as_completed(tasks):
                try:
                    await task
                except RunStopped as stop:
                    self.stopped = stop
                    if stop.at_once:
                        break
        finally:
            for started in tasks:
                started.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        entries = [play.entry for play in self.unplayed]
        self.folder.write_unreadable(entries, listed=[entry.uri for entry in entries])

    def _groups(self, plays: Sequence[PlayId]) -> Iterator[list[PlayId]]:
        """The plays in groups; the plays of a group are played one after the other."""
        if not self.agent.across_sessions:
            yield from ([play] for play in plays)
            return
        for name in self.environments:
            if group := [play for play in plays if play.environment == name]:
                yield group

    def _is_finished(self, play: PlayId) -> bool:
        """Whether a play has a final report. The invalid answers of a play that is retried are forgotten."""
        report = self.folder.stored.report(str(play))
        if report is None or any(failure.kind.unanswered for failure in report.failures):
            return False
        if not self.options.retry_failed or not any(failure.kind.retried_on_request for failure in report.failures):
            return True
        self.answers.forget(call.key for call in report.provenance.calls if call.outcome == "invalid")
        return False

    async def _play_all(self, plays: Sequence[PlayId], free: asyncio.Semaphore) -> None:
        for play in plays:
            async with free:
                await self._play(play)

    async def _play(self, play: PlayId) -> None:
        """Play once, and store the report. A play whose environment cannot be started is kept in `unplayed`."""
        try:
            async with self._session(play) as session:
                self.in_progress[str(play)] = session
                await session.play()
                await session.reproduce_reports()
                if self.agent.across_sessions and session.can_distil:
                    await self._remember(play, session)
        except EnvironmentFault as fault:
            self.unplayed.append(UnplayedPlay(str(play), fault))
        else:
            self._store(play, session)
        finally:
            self.in_progress.pop(str(play), None)

    @asynccontextmanager
    async def _session(self, play: PlayId) -> AsyncIterator[PlaySession]:
        seed = self.options.seed
        client = PlayClient(self.domain, self.models, str(play), None if seed is None else seed + play.session - 1)
        earlier: list[Memory] = []
        if self.agent.across_sessions:
            left = read_memory(self.folder.root, play.environment).sessions
            earlier = [left[session] for session in sorted(left) if session < play.session]
        environment, fresh = self.open_environment(play.environment), self.open_environment(play.environment)
        try:
            yield PlaySession(
                number=play.session,
                options=self.options,
                agent=self.agent,
                earlier=tuple(earlier),
                domain=self.domain,
                client=client,
                environment=environment,
                fresh=fresh,
            )
        finally:
            await environment.close()
            await fresh.close()

    async def _remember(self, play: PlayId, session: PlaySession) -> None:
        """Store the notes that a session leaves to the next session."""
        notes = await session.distil()
        if notes is not None:
            memory = read_memory(self.folder.root, play.environment)
            sessions = {**memory.sessions, play.session: dict(notes)}
            write_memory(self.folder.root, memory.with_(sessions=sessions))

    def _store(self, play: PlayId, session: PlaySession) -> None:
        """Write the trace, GBQA's files, and finally the report, because a play without a report is played again."""
        path, text = self.folder.root / "plays" / file_name(str(play)) / "trace.jsonl", session.trace.text()
        write_whole(path, text)
        report = play_report(play, session, path.relative_to(self.folder.root).as_posix(), self._facts(play))
        files = play_files(report, played_steps(path))
        for name in ("report.json", "report.md"):
            write_whole(path.with_name(name), files[name])
        line = ManifestLine(
            clip_id=str(play),
            path=report.clip.uri,
            sha256=sha256(text.encode()).hexdigest(),
            prompt_id=play.environment,
        )
        self.folder.add(line, replace=True)
        self.folder.write(report, {step: screen.jpeg for step, screen in session.screens.items()})
        self.on_report(report)

    def _facts(self, play: PlayId) -> dict[str, Any]:
        """What a report says about how the play was made."""
        return {
            "environment": play.environment,
            "mode": self.options.mode,
            "budget": self.options.budget,
            "session": play.session,
            "agent": self.options.agent,
            "memory": self.agent.memory,
            "seed": self.options.seed,
        }

    def result(self) -> PlayResult:
        """The result of a run that was executed."""
        found = (self.folder.stored.report(str(play)) for play in self.plays)
        return PlayResult(
            tuple(report for report in found if report is not None),
            tuple(self.unplayed),
            self.stopped,
            self.folder.root,
        )


@asynccontextmanager
async def open_plays(
    environments: Sequence[str],
    out: Path,
    models: ModelsConfig,
    options: PlayOptions | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    open_environment: Callable[..., Environment] = open_environment,
) -> AsyncIterator[PlayRun]:
    """Open a run folder and the models of a run; nothing is played yet.

    `open_environment` takes the arguments of `robogaze.interactive.environments.open_environment`.

    Raises the errors of `check_plays`, InputError if an environment is unknown, RunError if the folder is in use or
    contains another run, and Unreachable if no model can be reached.
    """
    options = options or PlayOptions()
    domain = check_plays(environments, options)
    if options.max_cost_usd is not None:
        models.check_cost_is_limited()
    opening = partial(open_environment, mode=options.mode, timeout_s=options.timeout_s)
    for name in environments:
        await opening(name).close()
    budget = Budget(options.max_calls, options.max_cost_usd)
    with (
        RunFolder(out, configuration_of(options, domain, models)) as folder,
        closing(AnswerStore(folder.answers)) as answers,
    ):
        opened = Models.open(models, answers, environ or {}, usage=answers, budget=budget, outage_s=options.outage_s)
        try:
            await opened.ready()
            yield PlayRun(tuple(environments), options, domain, opened, folder, answers, opening)
        finally:
            await opened.close()


async def play_async(
    environments: str | Path | Sequence[str | Path],
    *,
    model: str | Path,
    out: str | Path,
    options: PlayOptions | None = None,
    environ: Mapping[str, str] = os.environ,
) -> PlayResult:
    """Let an agent play environments, and report the faults it finds with the commands that reproduce them.

    Args:
        environments: Names of environments (with a build after a colon, such as castle:clean), paths of folders, or
            addresses of hubs.
        model: `KIND:NAME[@URL]`, or a YAML file of models.
        out: The run folder; the same call resumes a run.
        options: Mode, budget, sessions, agent, memory, seed and limits.
        environ: The environment variables that hold the API keys of servers.

    Returns:
        The reports. A play that breaks off is partial or unscored.

    Raises:
        InputError: An environment or agent does not exist, or a file is invalid.
        OptionError: An option is out of its range.
        RunError: The folder `out` is in use, holds a run with other settings, or cannot be written.
        Unreachable: No server of a model answers.
    """
    names = (environments,) if isinstance(environments, str | Path) else tuple(environments)
    folder = given_path(out, "`out`")
    async with open_plays(tuple(map(str, names)), folder, ModelsConfig.read(model), options, environ) as run:
        await run.execute()
        return run.result()


play = synchronous(play_async)
