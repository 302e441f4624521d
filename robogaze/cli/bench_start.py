"""One start of `robogaze bench`: list the clips, print the estimate, score what is not finished."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.shared import runs
from robogaze.cli.shared.clips import entries_of

if TYPE_CHECKING:
    from robogaze.backends import AnswerStore, Models
    from robogaze.bench import ClipResult, RunOptions, RunResult
    from robogaze.bench.estimate import CostEstimate
    from robogaze.bench.plan import RunPlan
    from robogaze.bench.shards import Shard
    from robogaze.core.report_summary import ReportSummary
    from robogaze.datasets import ManifestEntry
    from robogaze.engines.base import Engine, Task
    from robogaze.store import RunFolder


@dataclass(frozen=True)
class RunConfig:
    """One start of a run."""

    manifest: Path
    out: Path
    shard: Shard | None
    plan: runs.ScoringPlan
    in_flight: int
    engine: str
    workers: int | None
    address: str | None
    retry_failed: bool
    seed: int
    limit: int | None
    only_estimate: bool
    max_calls: int | None
    max_cost: float | None
    outage: float

    @property
    def folder(self) -> Path:
        """Where it is written."""
        return self.out if self.shard is None else self.shard.folder(self.out)

    def run(self) -> RunResult:
        """Do what is not done."""
        from robogaze.backends.middleware.budget import Budget
        from robogaze.bench import run_clips
        from robogaze.cli.shared.progress import showing

        entries = self._entries()
        with ExitStack() as stack:
            folder = self._open(stack)
            show = stack.enter_context(showing(len(entries)))
            job = self._job(folder, show.take)
            if self.only_estimate:  # which neither a server nor a key is needed for
                return asyncio.run(run_clips(entries, runs.here(self.plan, self.in_flight)(None, None), job))
            interrupt.keeps_clips(self.folder)
            door = runs.ModelOptions(Budget(self.max_calls, self.max_cost), self.outage * 60)
            here = runs.here(self.plan, self.in_flight, show.decoded)
            engine = self._on_ray if self.engine == "ray" else here
            return asyncio.run(runs.run(entries, job, self.plan, engine, door))

    def _entries(self) -> tuple[ManifestEntry, ...]:
        from robogaze.bench.shards import some

        entries = entries_of([self.manifest])
        if self.limit is not None:
            entries = some(entries, self.limit, self.seed, self.manifest.parent)
        return entries if self.shard is None else self.shard.of(entries, self.manifest.parent)

    def _open(self, stack: ExitStack) -> RunFolder | None:
        """The run's folder; an estimate claims none."""
        from robogaze.bench.shards import check_count
        from robogaze.store import RunFolder

        if self.shard is not None:
            check_count(self.out, self.shard.count)
        if self.only_estimate and not (self.folder / "run.json").is_file():
            return None
        shard = {} if self.shard is None else {"shard": str(self.shard)}
        run = stack.enter_context(RunFolder(self.folder, {**self.plan.configuration, **shard}, flat=True))
        if self.shard is not None:
            run.claim()  # a part without clips is a part, too, and must not be missed
        return run

    def _job(self, folder: RunFolder | None, on_settled: Callable[[ClipResult], None]) -> RunOptions:
        from robogaze.bench import RunOptions
        from robogaze.bench.shards import random_order

        def look(stock: RunPlan) -> None:
            if folder is not None and self.limit is None:
                _tell_changes(stock, folder)

        return RunOptions(
            run=folder,
            retry_failed=self.retry_failed,
            whole=self.limit is None,
            order=random_order(self.seed),
            on_stock=look,
            before=self._before,
            on_settled=on_settled,
        )

    def _on_ray(self, models: Models | None, answers: AnswerStore | None) -> Engine:
        """A Ray cluster, whose workers open models of their own."""
        from robogaze.engines.ray import Ray

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        recipe = runs.recipe(self.plan, self.in_flight, self.outage * 60)
        if answers is None:
            return Ray(recipe, self.workers, self.address)
        return Ray(recipe, self.workers, self.address, answers.first_name)

    def check_caps(self) -> None:
        """Raise UsageError for a cap that could not be kept."""
        config = self.plan.models
        models = [] if config is None else [config.models[name] for name in dict.fromkeys(config.roles.values())]
        limited = any(one.limits.calls is not None or one.limits.cost_usd is not None for one in models)
        capped = self.max_calls is not None or self.max_cost is not None
        if self.engine != "local" and (capped or (limited and self.engine == "ray")):
            raise click.UsageError(
                "--max-calls, --max-cost and limits of calls and cost in the models file count in one process, not "
                f"with --engine {self.engine}"
            )
        if self.max_cost is not None and any(one.price is None for one in models):
            raise click.UsageError("--max-cost needs the price of every model in the models file; see docs/models.md")
        if self.max_cost is not None and any(one.kind == "batch" for one in models):
            raise click.UsageError("--max-cost is not for a batch, which is paid when it is answered; use --max-calls")

    def _tell_cap(self, found: CostEstimate) -> None:
        """Say how far a cap will let a run come, if not to its end."""
        from robogaze.reporting.wording import count

        calls, cost_usd = self._spent()
        shares = []
        if self.max_calls is not None and found.calls:
            shares.append((self.max_calls - calls) / found.calls)
        if self.max_cost is not None and found.cost_usd is not None and found.cost_usd[0]:
            shares.append((self.max_cost - cost_usd) / found.cost_usd[0])
        if shares and min(shares) < 1:
            clips = int(max(0.0, min(shares)) * found.clips)
            click.echo(f"the cap will end the run after about {count(clips, 'more clip')}", err=True)

    def _spent(self) -> tuple[int, float]:
        """The calls and the cost of earlier starts."""
        from robogaze.backends import AnswerStore

        path = self.folder / "calls.sqlite"
        if self.plan.models is None or not path.is_file():
            return 0, 0.0
        answers = AnswerStore(path)
        spent = [answers.usage(name) for name in self.plan.models.models]
        answers.close()
        return sum(one.calls for one in spent), sum(one.cost_usd for one in spent)

    async def _before(self, tasks: Sequence[Task], done: Mapping[str, ReportSummary]) -> bool:
        """Say what is to come; whether to go on."""
        from robogaze.bench.estimate import estimate
        from robogaze.reporting.wording import count

        click.echo(f"{count(len(tasks), 'clip')} to do, {len(done):,} done before", err=True)
        if self.plan.models is not None and tasks:
            found = await estimate(tasks, done, self.plan.pipeline, self.plan.models, self.plan.decoder)
            if found is not None:
                click.echo(said(found), err=not self.only_estimate)
                self._tell_cap(found)
        elif self.only_estimate:
            click.echo("no call: " + ("nothing is left to do" if self.plan.models else "no model is asked"))
        return not self.only_estimate


def _tell_changes(stock: RunPlan, folder: RunFolder) -> None:
    from robogaze.bench.changes import changes
    from robogaze.reporting.wording import count

    found = changes(stock, folder)
    if found.new:
        click.echo(f"the manifest changed since {folder.root} began: {count(len(found.new), 'clip')} new", err=True)
    if found.gone:
        what = f"{count(len(found.gone), 'clip')} of {folder.root} no longer in the manifest ({found.gone[0]}, ...)"
        click.echo(f"{what}; their reports stay in the run", err=True)


def said(found: CostEstimate) -> str:
    """An estimate in a sentence."""
    from robogaze.reporting.wording import count

    parts = [f"about {count(round(found.calls), 'call')}"]
    if found.prompt_tokens is not None:
        parts.append(f"{_tokens(found.prompt_tokens)} tokens sent")
    if found.completion_tokens is not None:
        parts.append(f"{_between(*map(_tokens, found.completion_tokens))} received")
    cost = found.cost_usd
    parts.append("cost not known (no price)" if cost is None else f"{_between(*(f'{one:,.2f}' for one in cost))} USD")
    if found.measured:
        basis = f"as the {count(found.sample, 'clip')} done took"
    else:
        basis = f"rehearsed on {found.sample} of them, as if every dimension were asked about and nothing twice"
    return f"{', '.join(parts)}; {basis}"


def _tokens(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else f"{number:,.0f}"


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"
