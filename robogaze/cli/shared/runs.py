"""Shared parts of the commands that score clips: their options, the run itself, and the messages about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.flags import with_flags
from robogaze.cli.shared.options import Command, with_options
from robogaze.cli.shared.parts import PartOption, decoders, engines, model_kinds, part_option
from robogaze.cli.shared.types import FiniteRange

if TYPE_CHECKING:
    from robogaze.run.estimate import CostEstimate
    from robogaze.run.execute import ScoringRun
    from robogaze.run.options import RunOptions
    from robogaze.run.plan import RunPlan
    from robogaze.run.setup import RunSetup

_MANY_CLIPS = 20
"""The number of clips from which a run prints an estimate first; for fewer clips the rehearsal is not worth its time.
"""

_NAMED_CLIPS = 5
"""The most clips that a message names."""


def model_option(*, required: bool = False) -> Callable[[Command], Command]:
    """--model."""
    what = "Model KIND:NAME[@URL] (kinds: {names}), or a YAML file of models."
    return click.option("--model", cls=PartOption, names=model_kinds, required=required, help=what)


def setup_options(command: Command) -> Command:
    """--domain, --pipeline, --model, --concurrency and --decoder."""
    return with_options(
        command,
        click.option(
            "--domain",
            help="Name of a built-in domain, or the folder of a domain.  [default: the default built-in domain]",
        ),
        click.option("--pipeline", help="Pipeline of the domain.  [default: depends on --model]"),
        model_option(),
        click.option(
            "--concurrency",
            type=click.IntRange(min=1),
            help="Maximum number of requests to one model at a time; also the maximum number of clips at a time.",
        ),
        part_option(
            "--decoder",
            decoders,
            default="pyav",
            help="Video decoder: {names}.",
        ),
    )


def run_options(command: Command) -> Command:
    """--limit, --seed, --retry-failed, --engine, --workers, --address, --max-calls, --max-cost and --outage."""
    usd = FiniteRange(min=0, min_open=True)
    retry = "Score clips again if they had invalid answers. Unanswered requests are always sent again."
    return with_options(
        command,
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Score only a random sample of N clips."),
        click.option("--seed", type=int, default=0, show_default=True, help="Random seed for the order of the clips."),
        click.option("--retry-failed", is_flag=True, help=retry),
        part_option(
            "--engine",
            engines,
            default="local",
            help="Engine that scores the clips: {names}. local is this process, ray is a cluster, and datatrove is "
            "several processes.",
        ),
        click.option(
            "--workers", type=click.IntRange(min=1), help="Number of processes for --engine ray or datatrove."
        ),
        click.option(
            "--address",
            envvar="RAY_ADDRESS",
            help="Address of a Ray cluster.  [default: a new cluster on this machine]",
        ),
        click.option(
            "--max-calls",
            type=click.IntRange(min=1),
            help="Maximum number of calls to models, counted across restarts.",
        ),
        click.option("--max-cost", type=usd, metavar="USD", help="Maximum total cost, counted across restarts."),
        click.option(
            "--outage",
            type=FiniteRange(min=0),
            default=30,
            show_default=True,
            metavar="MINUTES",
            help="Minutes to wait for a server that becomes unreachable.",
        ),
    )


@dataclass(frozen=True)
class GivenOptions:
    """The values that the command line gives for `setup_options` and `run_options`."""

    domain: str | None
    pipeline: str | None
    model: str | None
    concurrency: int | None
    decoder: str
    limit: int | None
    seed: int
    retry_failed: bool
    engine: str
    workers: int | None
    address: str | None
    max_calls: int | None
    max_cost: float | None
    outage: float

    def check_domain(self) -> None:
        """Raise InputError for a domain that does not exist, before anything heavy is loaded."""
        if self.domain is not None:
            from robogaze.domains.load import find_domain

            find_domain(self.domain)

    def setup(self) -> RunSetup:
        """Load the settings with which each clip is scored."""
        from robogaze.run.setup import make_setup

        return make_setup(self.domain, self.pipeline, self.model, concurrency=self.concurrency, decoder=self.decoder)

    def run_options(self, out: Path | None, shard: str | None = None) -> RunOptions:
        """The options of the run."""
        from robogaze.run.options import RunOptions

        return RunOptions(
            out=out,
            shard=shard,
            limit=self.limit,
            seed=self.seed,
            retry_failed=self.retry_failed,
            engine=self.engine,
            clips_at_once=self.concurrency or RunOptions.clips_at_once,
            workers=self.workers,
            address=self.address,
            max_calls=self.max_calls,
            max_cost_usd=self.max_cost,
            outage_s=self.outage * 60,
        )


async def execute(run: ScoringRun) -> None:
    """Print what a run will do, and execute it with a progress bar."""
    from robogaze.cli import quiet_retries
    from robogaze.cli.shared.progress import showing

    quiet_retries()
    if run.options.engine == "ray":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    say_what_is_kept(run.options.folder)
    await _announce(run)
    with showing(len(run.entries)) as progress:
        async with aclosing(run.execute(progress.decoded)) as results:
            async for result in results:
                progress.add(result)


def say_what_is_kept(folder: Path | None) -> None:
    """Set the message that is printed if the command is interrupted."""
    if folder is None:
        interrupt.keeps("without --out no report is kept; with --out FOLDER a run can be resumed")
    else:
        interrupt.keeps_clips(folder)


async def _announce(run: ScoringRun) -> None:
    """Print clips, changes of the manifest and, for many clips, the cost."""
    from robogaze.reporting.wording import count

    plan = run.plan
    if plan.finished or len(plan.tasks) >= _MANY_CLIPS:
        click.echo(f"{count(len(plan.tasks), 'clip')} to score, {len(plan.finished):,} finished before", err=True)
    if run.folder is not None and run.is_whole:
        _say_changes(plan, run.folder.root)
    is_capped = run.options.max_calls is not None or run.options.max_cost_usd is not None
    if (is_capped or len(plan.tasks) >= _MANY_CLIPS) and (found := await _estimate(run)) is not None:
        click.echo(in_words(found), err=True)


def _say_changes(plan: RunPlan, root: Path) -> None:
    """Print which clips are new since the first start of a run, and which clips are no longer given."""
    from robogaze.reporting.wording import count

    if plan.added:
        click.echo(f"{count(len(plan.added), 'new clip')} since the first start of {root}", err=True)
    for what, clip_ids in (
        ("no longer given, with a report that is kept", plan.removed),
        ("deleted or renamed and never scored, so not counted any more", plan.never_scored),
    ):
        if clip_ids:
            named = ", ".join([*clip_ids[:_NAMED_CLIPS], *(["..."] if len(clip_ids) > _NAMED_CLIPS else [])])
            click.echo(f"{what}: {count(len(clip_ids), 'clip')} of {root} ({named})", err=True)


async def _estimate(run: ScoringRun) -> CostEstimate | None:
    """The estimate of a run; None if no model is queried or nothing is known."""
    from robogaze.run.estimate import estimate

    setup = run.setup
    if setup.models is None:
        return None
    return await estimate(run.plan.tasks, run.plan.finished, setup.pipeline, setup.models, setup.decoder)


def say_estimate(run: ScoringRun) -> None:
    """Print the estimate of a run."""
    from robogaze.reporting.wording import count

    plan = run.plan
    click.echo(f"{count(len(plan.tasks), 'clip')} to score, {len(plan.finished):,} finished before", err=True)
    if (found := asyncio.run(_estimate(run))) is not None:
        click.echo(in_words(found))
    else:
        click.echo(
            "no calls: " + ("the pipeline uses no model" if run.setup.models is None else "all clips are scored")
        )


def in_words(found: CostEstimate) -> str:
    """An estimate as a sentence."""
    from robogaze.reporting.wording import count

    parts = [f"about {count(round(found.calls), 'call')}"]
    if found.prompt_tokens is not None:
        parts.append(f"{_tokens(found.prompt_tokens)} tokens sent")
    if found.completion_tokens is not None:
        parts.append(f"{_range(*map(_tokens, found.completion_tokens))} received")
    cost = found.cost_usd
    parts.append("cost unknown (no price)" if cost is None else f"{_range(*(f'{usd:,.2f}' for usd in cost))} USD")
    if found.measured:
        basis = f"based on the mean of the {count(found.sample, 'clip')} finished before"
    else:
        basis = (
            f"estimated from {count(found.sample, 'clip')}, assuming that every dimension is examined and "
            f"nothing is retried"
        )
    return f"{', '.join(parts)}; {basis}"


def _tokens(number: float) -> str:
    return f"{number / 1e6:,.1f} M" if number >= 1e6 else f"{number:,.0f}"


def _range(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def say_result(run: ScoringRun) -> None:
    """Print on stderr what went wrong and what to do about it."""
    from robogaze.reporting.wording import count
    from robogaze.run.retry import awaits_answer, has_invalid_answers

    for clip in run.unreadable:
        click.echo(f"error: {clip.reason}", err=True)
    for path in run.plan.repeated:
        click.echo(f"{path} is a duplicate of another clip, so it was not scored again", err=True)
    for clip_id, changed in run.plan.replaced.items():
        click.echo(
            f"{clip_id} changed since it was scored ({changed.replace('_', ' ')}); its report is replaced",
            err=True,
        )
    if run.stopped is not None:
        click.echo(f"stopped: {with_flags(str(run.stopped))}", err=True)
    summaries = run.summaries.values()
    if unanswered := sum(awaits_answer(summary) for summary in summaries):
        what = f"{count(unanswered, 'clip')} incomplete because the server did not answer"
        click.echo(f"{what}; run the same command again to resume", err=True)
    if invalid := sum(has_invalid_answers(summary) and not awaits_answer(summary) for summary in summaries):
        what = f"{count(invalid, 'clip')} incomplete because the model's answers were invalid"
        way_out = "run the same command again" if run.folder is None else "add --retry-failed"
        click.echo(f"{what}; {way_out} to request new answers", err=True)


def exit_code(run: ScoringRun) -> int:
    """The exit code of a command that scored clips."""
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE
    from robogaze.run.retry import found_no_server

    scored = [run.summaries[clip_id] for clip_id in run.scored]
    if scored and all(found_no_server(summary) for summary in scored):
        return EXIT_UNREACHABLE
    if not run.summaries and run.unreadable and run.stopped is None:
        # A shard without a readable clip is finished, and its scheduler must not count it as failed.
        return EXIT_ERROR if run.options.shard is None else EXIT_UNFINISHED
    complete = all(summary.status == "complete" for summary in run.summaries.values())
    return 0 if run.stopped is None and not run.unreadable and complete else EXIT_UNFINISHED
