"""`robogaze play`: an agent plays environments and reports their faults."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli import interrupt
from robogaze.cli.shared.flags import with_flags
from robogaze.cli.shared.runs import model_option
from robogaze.cli.shared.tables import as_text, print_tables
from robogaze.cli.shared.types import FiniteRange, GivenPath

if TYPE_CHECKING:
    from robogaze.core.report import Report
    from robogaze.interactive.play import PlayResult, PlayRun
    from robogaze.interactive.play_options import PlayOptions

SCHEMA_VERSION = 1
"""The version of the JSON that --json prints."""

_LOGGED_S = 15.0
"""The time between two lines of progress, in seconds."""


@click.command()
@click.argument("environments", nargs=-1, required=True, metavar="ENVIRONMENT...")
@model_option(required=True)
@click.option("--out", required=True, type=GivenPath(file_okay=False), help="Run folder; needed to resume.")
@click.option(
    "--mode",
    type=click.Choice(["qa", "player"]),
    default="qa",
    show_default=True,
    help="What the agent sees: only the replies of the environment (player), or also its documents and source (qa).",
)
@click.option(
    "--budget", type=click.IntRange(min=1), default=200, show_default=True, help="Number of steps in each play."
)
@click.option("--sessions", type=click.IntRange(min=1), default=1, show_default=True,
              help="Number of plays in each environment.")  # fmt: skip
@click.option(
    "--agent",
    default="full",
    show_default=True,
    help="Agent: full or plain; plain has no reflection and no verification.",
)
@click.option("--domain", default="interactive", show_default=True,
              help="Domain that defines the agents: the name of a built-in domain, or a folder.")  # fmt: skip
@click.option("--memory", type=click.Choice(["none", "in_session", "cross_session", "both"]),
              help="What the agent remembers. [default: from the agent's settings]")  # fmt: skip
@click.option(
    "--seed",
    type=int,
    help="Seed of the first session; it increases by 1 per session.  [default: from the model's settings]",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Number of plays that run at the same time.",
)
@click.option("--timeout", type=FiniteRange(min=0, min_open=True), default=30, show_default=True,
              metavar="SECONDS", help="Seconds to wait for a reply from an environment.")  # fmt: skip
@click.option(
    "--max-calls", type=click.IntRange(min=1), help="Maximum number of calls to models, counted across restarts."
)
@click.option("--max-cost", type=FiniteRange(min=0, min_open=True), metavar="USD",
              help="Maximum total cost, counted across restarts.")  # fmt: skip
@click.option("--outage", type=FiniteRange(min=0), default=30, show_default=True, metavar="MINUTES",
              help="Minutes to wait for a model server that becomes unreachable.")  # fmt: skip
@click.option("--retry-failed", is_flag=True,
              help="Repeat plays that had invalid answers. Unanswered requests are always sent again.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def play(environments: tuple[str, ...], model: str, out: Path, as_json: bool, **given: Any) -> int:
    """Let an agent play environments, then report which faults it found and which commands reproduce them.

    ENVIRONMENT is a name that `robogaze env list` shows, a folder, or the address of a server. A name or a folder can
    be followed by the name of a build, for example castle:clean. The model decides each step. Run the same command
    again to resume a run that was stopped or killed.
    """
    _check_environments(environments)
    from robogaze.backends.config import ModelsConfig
    from robogaze.interactive.play_options import PlayOptions

    options = PlayOptions(
        at_once=given.pop("concurrency"),
        timeout_s=given.pop("timeout"),
        max_cost_usd=given.pop("max_cost"),
        outage_s=given.pop("outage") * 60,
        **given,
    )
    config = ModelsConfig.read(model)
    interrupt.keeps(f"answers and finished plays are kept in {out}; run the same command again to resume")
    result = asyncio.run(_play(environments, out, config, options))
    _show(result, as_json)
    if result.reports:
        _write_page(out, options)
    for failed in result.unplayed:
        click.echo(f"error: {failed.id} was not played: {failed.fault}", err=True)
    if result.stopped is not None:
        click.echo(f"stopped: {with_flags(str(result.stopped))}", err=True)
    return _exit_code(result)


def _check_environments(environments: tuple[str, ...]) -> None:
    """Raise InputError for an unknown environment, before large libraries are loaded."""
    from robogaze.datasets.builds import is_address
    from robogaze.interactive.environments import load_folder

    for spec in environments:
        if not is_address(spec):
            load_folder(spec.partition(":")[0])


async def _play(environments: tuple[str, ...], out: Path, config: Any, options: PlayOptions) -> PlayResult:
    from robogaze.cli import quiet_retries
    from robogaze.interactive.play import open_plays

    quiet_retries()
    async with open_plays(environments, out, config, options, os.environ) as run:
        run.on_report = _say_report
        logged = asyncio.create_task(_log(run))
        try:
            await run.execute()
        finally:
            logged.cancel()
        return run.result()


def _say_report(report: Report) -> None:
    from robogaze.reporting.wording import count

    facts = report.provenance.media
    steps = f"{facts['steps']} of {facts['budget']} steps"
    click.echo(f"{report.clip.id}: {steps}, {count(len(report.events), 'report')}, {report.status}", err=True)


async def _log(run: PlayRun) -> None:
    """Print the steps of the plays in progress every _LOGGED_S seconds."""
    while True:
        await asyncio.sleep(_LOGGED_S)
        steps = ", ".join(f"{play} at step {session.trace.steps}" for play, session in run.in_progress.items())
        click.echo(f"{steps or 'no step yet'} (of {run.options.budget} steps)", err=True)


def _write_page(out: Path, options: PlayOptions) -> None:
    from robogaze.cli.shared.pages import write_page
    from robogaze.domains import load_domain

    click.echo(f"report: {write_page(out, load_domain(options.domain))}", err=True)


def _show(result: PlayResult, as_json: bool) -> None:
    from robogaze.reporting.tables.plays import play_tables

    if as_json:
        reports = [report.model_dump(mode="json") for report in result.reports]
        unplayed = [{"id": play.id, "kind": play.fault.kind, "reason": str(play.fault)} for play in result.unplayed]
        stopped = None if result.stopped is None else str(result.stopped)
        head = {"schema_version": SCHEMA_VERSION, "run": str(result.folder), "stopped": stopped}
        click.echo(as_text({**head, "unplayed": unplayed, "reports": reports}))
    elif result.reports or result.unplayed:
        print_tables(play_tables(result.reports, [play.entry for play in result.unplayed]), "terminal")


def _exit_code(result: PlayResult) -> int:
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED, EXIT_UNREACHABLE

    lost = [report for report in result.reports if report.status == "unscored"]
    kinds: set[str] = {play.fault.kind for play in result.unplayed}
    kinds |= {str(failure.kind) for report in lost for failure in report.failures}
    if result.stopped is None and kinds and len(lost) == len(result.reports):
        return EXIT_UNREACHABLE if kinds == {"unreachable"} else EXIT_ERROR
    complete = all(report.status == "complete" for report in result.reports)
    return 0 if result.stopped is None and not result.unplayed and complete else EXIT_UNFINISHED
