"""`robogaze bench`: a run over many clips, which can be stopped, resumed and split."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import runs, tracking

if TYPE_CHECKING:
    from robogaze.bench import Job, Outcome
    from robogaze.bench.estimate import Estimate
    from robogaze.bench.stock import Stock
    from robogaze.core.digest import Digest
    from robogaze.datasets import Entry
    from robogaze.engines.base import Engine, Task
    from robogaze.reporting.trackers import Tracker
    from robogaze.store import RunFolder


_PASSED_ON = {
    "out": "--out",
    "domain": "--domain",
    "pipeline": "--pipeline",
    "model": "--model",
    "concurrency": "--concurrency",
    "decoder": "--decoder",
    "retry_failed": "--retry-failed",
    "seed": "--seed",
    "outage": "--outage",
}
"""The options that a shard is given as its run was."""


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path), metavar="MANIFEST")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="RUN", help="The run's folder.")
@runs.choosing
@click.option("--shard", metavar="I/N", help="Do part I of N; robogaze merge joins them.")
@click.option("--engine", type=click.Choice(["local", "ray", "datatrove"]), default="local", show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes of an engine that has several.")
@click.option("--address", help="Of a Ray cluster.  [default: RAY_ADDRESS, or a cluster of this machine]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random order in which clips are done.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Say what the run will take, and stop.")
@click.option("--max-calls", type=click.IntRange(min=1), help="The most calls of all starts of the run together.")
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="The most it may cost.")
@click.option(
    "--outage",
    type=click.FloatRange(min=0),
    default=30,
    show_default=True,
    metavar="MINUTES",
    help="How long to wait for a server that goes away.",
)
@click.option("--no-page", is_flag=True, help="Write no page; robogaze report RUN writes it.")
@tracking.option
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def bench(
    manifest: Path,
    out: Path,
    domain: str | None,
    pipeline: str | None,
    model: str | None,
    concurrency: int | None,
    decoder: str,
    shard: str | None,
    engine: str,
    workers: int | None,
    as_json: bool,
    only_estimate: bool,
    no_page: bool,
    track: str | None,
    **rest: Any,
) -> int:
    """Score the clips of a checkpoint: many clips, one run.

    MANIFEST lists clips (.jsonl), or is anything that robogaze dataset import reads. The same command goes on where
    a run was stopped or killed. Clips are done in random order, so a run that is stopped early is a fair sample.
    """
    plan = runs.plan(domain, pipeline, model, concurrency, decoder)
    part = _shard(shard)
    tracker = _tracker(track, shard, engine)
    if engine == "datatrove" and not only_estimate:
        return _in_shards(manifest, out, workers or os.cpu_count() or 1)
    in_flight = concurrency or runs.CLIPS_AT_ONCE
    start = Start(manifest, out, part, plan, in_flight, engine, workers, only_estimate=only_estimate, **rest)
    outcome = start.run()
    if only_estimate:
        return 0
    current = not outcome.diagnosed and (start.folder / "index.html").is_file()
    if not no_page and not current and (outcome.digests or outcome.unreadable):
        from robogaze.cli.report import write_page

        click.echo(f"report: {write_page(start.folder, plan.domain)}", err=True)
    _show(outcome, plan, as_json, start.folder)
    runs.tell(outcome, out)
    if tracker is not None and (outcome.digests or outcome.unreadable):
        _track(tracker, outcome, plan, out)
    return runs.exit_code(outcome)


def _shard(text: str | None) -> Any:
    from robogaze.bench.shards import Shard

    try:
        return None if text is None else Shard.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--shard") from error


def _tracker(text: str | None, shard: str | None, engine: str) -> Tracker | None:
    """What --track names; the numbers of a part would pass for those of the run."""
    if text is not None and (shard is not None or engine == "datatrove"):
        raise click.UsageError("--track is for a run in one piece; robogaze compare RUN --track does it when it is one")
    return tracking.opened(text)


def _track(tracker: Tracker, outcome: Outcome, plan: runs.Plan, out: Path) -> None:
    from robogaze.reporting.trackers import run_numbers

    numbers = run_numbers(list(outcome.digests.values()), outcome.unreadable, plan.domain)
    made = {"domain": plan.domain.id, "domain_version": plan.domain.file.version, "pipeline": plan.pipeline.name}
    tracking.track(tracker, out.resolve().name, made, numbers)


@dataclass(frozen=True)
class Start:
    """One start of a run."""

    manifest: Path
    out: Path
    shard: Any
    plan: runs.Plan
    in_flight: int
    engine: str
    workers: int | None
    address: str | None
    retry_failed: bool
    seed: int
    only_estimate: bool
    max_calls: int | None
    max_cost: float | None
    outage: float

    @property
    def folder(self) -> Path:
        """Where it is written."""
        folder: Path = self.out if self.shard is None else self.shard.folder(self.out)
        return folder

    def run(self) -> Outcome:
        """Do what is not done."""
        from robogaze.backends.purse import Purse
        from robogaze.bench import run_clips
        from robogaze.cli.shared.progress import showing

        self._check_caps()
        entries = self._entries()
        with ExitStack() as stack:
            folder = self._open(stack)
            told = stack.enter_context(showing(len(entries)))
            job = self._job(folder)
            job = replace(job, on_settled=told)
            if self.engine != "local":
                return asyncio.run(run_clips(entries, job))
            door = runs.Door(Purse(self.max_calls, self.max_cost), self.outage * 60)
            return asyncio.run(
                runs.in_this_process(
                    entries, lambda engine: replace(job, engine=engine), self.plan, self.in_flight, door
                )
            )

    def _entries(self) -> tuple[Entry, ...]:
        entries = read_entries(self.manifest)
        return entries if self.shard is None else self.shard.of(entries, self.manifest.parent)

    def _open(self, stack: ExitStack) -> RunFolder | None:
        """The run's folder; an estimate claims none."""
        from robogaze.store import RunFolder

        if self.only_estimate and not (self.folder / "run.json").is_file():
            return None
        shard = {} if self.shard is None else {"shard": str(self.shard)}
        run = stack.enter_context(RunFolder(self.folder, {**self.plan.configuration, **shard}, flat=True))
        if self.shard is not None:
            run.claim()  # a part without clips is a part, too, and must not be missed
        return run

    def _job(self, folder: RunFolder | None) -> Job:
        from robogaze.bench import Job
        from robogaze.bench.shards import random_order

        def look(stock: Stock) -> None:
            if folder is not None:
                _tell_changes(stock, folder)

        return Job(
            engine=self._engine(),
            run=folder,
            retry_failed=self.retry_failed,
            order=random_order(self.seed),
            on_stock=look,
            before=self._before,
        )

    def _engine(self) -> Engine:
        """The engine where it is another machine's; of this process it comes with its models."""
        from robogaze.engines.base import Unit
        from robogaze.engines.local import Local

        if self.engine == "local":
            return Local(Unit(self.plan.pipeline, None, self.plan.decoder), self.in_flight)
        from robogaze.engines.ray import Ray

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        return Ray(runs.recipe(self.plan, self.in_flight), self.workers, self.address)

    def _check_caps(self) -> None:
        capped = self.max_calls is not None or self.max_cost is not None
        if capped and self.engine != "local":
            raise click.UsageError(f"--max-calls and --max-cost count in one process, not with --engine {self.engine}")
        config = self.plan.models
        if self.max_cost is not None and config is not None:
            for name in config.roles.values():
                if config.models[name].price is None:
                    raise click.UsageError(
                        f"--max-cost needs the price of {name} in the models file; see docs/models.md"
                    )

    async def _before(self, tasks: Sequence[Task], done: Mapping[str, Digest]) -> bool:
        """Say what is to come; whether to go on."""
        from robogaze.bench.estimate import estimate
        from robogaze.reporting.wording import count

        click.echo(f"{count(len(tasks), 'clip')} to do, {len(done):,} done before", err=True)
        if self.plan.models is not None and tasks:
            found = await estimate(tasks, done, self.plan.pipeline, self.plan.models, self.plan.decoder)
            if found is not None:
                click.echo(said(found), err=not self.only_estimate)
                _tell_cap(found, self.max_calls, self.max_cost)
        return not self.only_estimate


def read_entries(manifest: Path) -> tuple[Entry, ...]:
    """The clips of a manifest, or of anything that can be imported without unpacking."""
    from robogaze.datasets import find_entries
    from robogaze.datasets.importers.read import import_clips

    if manifest.suffix == ".jsonl":
        return find_entries([manifest])
    found = import_clips(manifest)
    if found.packed:
        raise click.UsageError(f"{manifest} holds archives; unpack them first: robogaze dataset import {manifest}")
    left = f", {len(found.ignored):,} files left out (robogaze dataset import says why)" if found.ignored else ""
    click.echo(f"{len(found.entries):,} clips in the layout {found.layout}{left}", err=True)
    return found.entries


def _tell_changes(stock: Stock, folder: RunFolder) -> None:
    from robogaze.bench.changes import changes
    from robogaze.reporting.wording import count

    found = changes(stock, folder)
    if found.new:
        click.echo(f"the manifest changed since {folder.root} began: {count(len(found.new), 'clip')} new", err=True)
    if found.gone:
        what = f"{count(len(found.gone), 'clip')} of {folder.root} no longer in the manifest ({found.gone[0]}, ...)"
        click.echo(f"{what}; what is known of them stays in the run", err=True)


def said(found: Estimate) -> str:
    """An estimate in a sentence."""
    parts = [f"{'about' if found.measured else 'up to'} {found.calls:,.0f} calls"]
    if found.prompt_tokens is not None:
        parts.append(f"{_tokens(found.prompt_tokens)} tokens sent")
    if found.completion_tokens is not None:
        parts.append(f"{_between(*map(_tokens, found.completion_tokens))} received")
    cost = found.cost_usd
    parts.append("cost not known (no price)" if cost is None else f"{_between(*(f'{one:,.2f}' for one in cost))} USD")
    if found.measured:
        basis = f"as the {found.sample:,} clips done took"
    else:
        basis = f"rehearsed on {found.sample} of them: every dimension is asked about, nothing is asked twice"
    return f"{', '.join(parts)}; {basis}"


def _tokens(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else f"{number:,.0f}"


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _tell_cap(found: Estimate, calls: int | None, cost: float | None) -> None:
    """Say how far a cap will let a run come, if not to its end."""
    shares = [calls / found.calls] if calls is not None and found.calls else []
    if cost is not None and found.cost_usd is not None and found.cost_usd[0]:
        shares.append(cost / found.cost_usd[0])
    if shares and min(shares) < 1:
        clips = int(min(shares) * found.clips)
        click.echo(f"the cap will end the run after about {clips:,} clips, a random sample of all", err=True)


def _in_shards(manifest: Path, out: Path, workers: int) -> int:
    """Every worker does a shard; then they are joined.

    What is completed is known for one content of the manifest: when that changes, every shard is looked at again.
    """
    from hashlib import sha256

    from robogaze.bench.shards import shards_of
    from robogaze.cli.merge import join
    from robogaze.engines.datatrove import run_here

    given = click.get_current_context().params
    if given["shard"] is not None:
        raise click.UsageError("--engine datatrove makes the shards itself; --shard is for other schedulers")
    known = sha256(manifest.read_bytes() if manifest.is_file() else b"").hexdigest()[:12]
    again = "-again" if given["retry_failed"] else ""
    logs = shards_of(out) / f"datatrove-{workers}-{known}{again}"
    run_here(_arguments(given), workers, logs)
    shards = sorted(path for path in shards_of(out).glob("*") if (path / "run.json").is_file())
    return join(shards, out)


def _arguments(given: Mapping[str, Any]) -> list[str]:
    """The command line of a shard: that of the run, less what is the engine's."""
    told = ["bench", str(given["manifest"])]
    for name, flag in _PASSED_ON.items():
        if given[name] is True:
            told.append(flag)
        elif given[name] is not None and given[name] is not False:
            told += [flag, str(given[name])]
    return told


def _show(outcome: Outcome, plan: runs.Plan, as_json: bool, folder: Path) -> None:
    from robogaze.reporting.run import counts_as_json, event_table
    from robogaze.reporting.tables import summary_lines

    digests = list(outcome.digests.values())
    if as_json:
        told = counts_as_json(digests, outcome.unreadable, plan.domain)
        stopped = None if outcome.stopped is None else str(outcome.stopped)
        click.echo(json.dumps({"schema_version": runs.SCHEMA_VERSION, "run": str(folder), "stopped": stopped, **told}))
    elif digests or outcome.unreadable:
        from rich.console import Console

        console = Console(width=None if sys.stdout.isatty() else 160)
        if any(one.events for one in digests):
            console.print(event_table(digests, plan.domain))
        for line in summary_lines(digests, outcome.unreadable, plan.domain):
            console.print(line, highlight=False, markup=False)
