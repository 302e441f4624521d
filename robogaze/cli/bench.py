"""`robogaze bench`: a run over many clips, which can be stopped, resumed and split."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED, interrupt
from robogaze.cli.bench_start import RunConfig
from robogaze.cli.shared import runs, tracking
from robogaze.cli.shared.clips import check_there

if TYPE_CHECKING:
    from robogaze.bench import RunResult
    from robogaze.bench.shards import Shard
    from robogaze.reporting.trackers import Tracker


_PASSED_ON = {
    "out": "--out",
    "domain": "--domain",
    "pipeline": "--pipeline",
    "model": "--model",
    "concurrency": "--concurrency",
    "decoder": "--decoder",
    "retry_failed": "--retry-failed",
    "seed": "--seed",
    "limit": "--limit",
    "outage": "--outage",
}
"""The options that a shard is given as its run was."""


@click.command()
@click.argument("manifest", type=click.Path(path_type=Path), metavar="MANIFEST")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="RUN", help="The run's folder.")
@runs.choosing
@click.option("--shard", metavar="I/N", help="Score part I of N; robogaze merge joins the parts.")
@click.option("--engine", type=click.Choice(["local", "ray", "datatrove"]), default="local", show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Processes of an engine that has several.")
@click.option("--address", envvar="RAY_ADDRESS", help="Of a Ray cluster.  [default: a new cluster on this machine]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random order of the clips.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Score a random sample of N clips only.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Print what the run will cost, and stop.")
@click.option("--max-calls", type=click.IntRange(min=1), help="Maximum calls, across restarts.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Maximum cost, across restarts."
)
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

    MANIFEST lists clips (.jsonl), or is a folder of videos, a video, or anything else that robogaze dataset import
    reads. The same command resumes a run that was stopped or killed. Clips are scored in random order, so a stopped
    run holds a random sample of them.
    """
    check_there(manifest)
    plan = runs.plan(domain, pipeline, model, concurrency, decoder)
    part = _shard(shard)
    tracker = _tracker(track, shard, engine)
    in_flight = concurrency or runs.CLIPS_AT_ONCE
    start = RunConfig(manifest, out, part, plan, in_flight, engine, workers, only_estimate=only_estimate, **rest)
    start.check_caps()
    if engine == "datatrove" and not only_estimate:
        return _in_shards(manifest, out, workers or os.cpu_count() or 1)
    outcome = start.run()
    if only_estimate:
        return 0
    changed = outcome.diagnosed or outcome.unreadable
    current = not changed and (start.folder / "index.html").is_file()
    page = None
    if not no_page and not current and (outcome.digests or outcome.unreadable):
        from robogaze.cli.report import write_page

        page = write_page(start.folder, plan.domain)
    _show(outcome, plan, as_json, start.folder)
    runs.tell(outcome, out)
    if tracker is not None and (outcome.digests or outcome.unreadable):
        _track(tracker, outcome, plan, out)
    if page is not None:
        click.echo(f"report: {page}", err=True)
    code = runs.exit_code(outcome)
    # A part of which no clip can be read is done all the same, and its scheduler must not take it for failed.
    return EXIT_UNFINISHED if code == EXIT_ERROR and part is not None else code


def _shard(text: str | None) -> Shard | None:
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


def _track(tracker: Tracker, outcome: RunResult, plan: runs.ScoringPlan, out: Path) -> None:
    from robogaze.reporting.trackers import run_numbers

    numbers = run_numbers(list(outcome.digests.values()), outcome.unreadable, plan.domain)
    made = {"domain": plan.domain.id, "domain_version": plan.domain.file.version, "pipeline": plan.pipeline.name}
    tracking.track(tracker, out.resolve().name, made, numbers)


def _in_shards(manifest: Path, out: Path, workers: int) -> int:
    """Every worker does a shard; then they are joined."""
    from robogaze.bench.shards import check_count, shards_of, written_shards
    from robogaze.cli.merge import join
    from robogaze.engines.datatrove import run_here

    given = click.get_current_context().params
    if given["shard"] is not None:
        raise click.UsageError("--engine datatrove makes the shards itself; --shard is for other schedulers")
    if given["as_json"]:
        raise click.UsageError("--json is not for --engine datatrove; robogaze bench prints the joined run as JSON")
    check_count(out, workers)
    interrupt.keeps_clips(shards_of(out))
    run_here(_arguments(given), workers, shards_of(out) / "datatrove")
    return join(written_shards(out), out, "shard")


def _arguments(given: Mapping[str, Any]) -> list[str]:
    """The command line of a shard: that of the run, less what is the engine's."""
    told = ["bench", str(given["manifest"]), "--no-page"]
    for name, flag in _PASSED_ON.items():
        if given[name] is True:
            told.append(flag)
        elif given[name] is not None and given[name] is not False:
            told += [flag, str(given[name])]
    return told


def _show(outcome: RunResult, plan: runs.ScoringPlan, as_json: bool, folder: Path) -> None:
    from robogaze.reporting.tables.clips import counts_as_json, event_table, summary_lines

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
