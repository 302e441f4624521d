"""`robogaze bench`: score several checkpoints on the same prompts and compare them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli import EXIT_ERROR, EXIT_UNREACHABLE
from robogaze.cli.compare import compare
from robogaze.cli.shared import clips, runs
from robogaze.cli.shared.pages import write_page_of
from robogaze.cli.shared.types import GivenPath, GivenSource

if TYPE_CHECKING:
    from robogaze.run.clips import ClipList
    from robogaze.run.setup import RunSetup


@click.command()
@click.argument("checkpoints", nargs=-1, required=True, type=GivenSource(), metavar="[NAME=]PATH...")
@click.option(
    "--out",
    type=GivenPath(),
    required=True,
    metavar="DIR",
    help="Folder for the runs and the comparison.",
)
@click.option(
    "--baseline", metavar="NAME", help="The checkpoint to compare all others with.  [default: compare all pairs]"
)
@runs.setup_options
@runs.run_options
@click.option("--no-page", is_flag=True, help="Do not write a page for each run.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
@click.pass_context
def bench(
    context: click.Context,
    /,
    checkpoints: tuple[str, ...],
    out: Path,
    baseline: str | None,
    no_page: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Score checkpoints on the same prompts, compare the checkpoints, and show which one is better.

    PATH holds the clips of one checkpoint, in any form that `robogaze score` reads. A checkpoint is named after its
    path; NAME=PATH sets another name. The run of a checkpoint is written to DIR/NAME. The comparison is written to DIR.
    Run the same command again to resume. To score a checkpoint in shards, use `robogaze score` and then `robogaze
    compare`.
    """
    from robogaze.run.checkpoints import named_checkpoints

    named = named_checkpoints(checkpoints)
    for path in named.values():
        clips.check_exist(path)
    if baseline is not None and baseline not in named:
        raise click.BadParameter(f"{baseline} is not one of {', '.join(named)}", param_hint="--baseline")
    options = runs.GivenOptions(**given)
    options.check_domain()
    if options.engine == "datatrove":
        raise click.UsageError(
            "robogaze bench cannot use --engine datatrove; run robogaze score for each checkpoint, then robogaze "
            "compare"
        )
    from robogaze.run.clips import list_clips

    setup = options.setup()
    codes = []
    empty = {}
    listed = {name: list_clips([path]) for name, path in named.items()}  # before anything is scored
    for name, found in listed.items():
        click.echo(f"{name}: {named[name]}", err=True)
        code, reports = _score(found, setup, options, out / name, no_page)
        if code == EXIT_UNREACHABLE:  # the next checkpoint would not reach it either
            return EXIT_UNREACHABLE
        codes.append(code)
        if not reports:
            empty[name] = code
    if empty:
        click.echo(f"not compared, because these checkpoints have no report: {', '.join(empty)}", err=True)
        return max(empty.values()) or EXIT_ERROR
    shown = [f"{name}={out / name}" for name in named]
    compared: int = context.invoke(compare, paths=tuple(shown), out=out, baseline=baseline, as_json=as_json)
    return compared or max(codes)


def _score(found: ClipList, setup: RunSetup, options: runs.GivenOptions, out: Path, no_page: bool) -> tuple[int, int]:
    """Score one checkpoint; return the exit code and the number of its reports."""
    from robogaze.run.execute import open_run

    run_options = options.run_options(out)
    run_options.check(setup)
    with open_run(found.entries, setup, run_options, os.environ, root=found.root, is_whole=found.is_whole) as run:
        runs.announce(run)
        runs.execute(run)
        if not no_page:
            write_page_of(run)
    runs.say_result(run)
    _say_earlier_clips(out, len(run.plan.removed))
    return runs.exit_code(run), len(run.summaries)


def _say_earlier_clips(out: Path, earlier: int) -> None:
    """Say that a run folder holds more clips than this command was given, because all of them are compared."""
    from robogaze.store import StoredRun

    if earlier:
        stored = len(StoredRun(out).lines)
        click.echo(
            f"{out} also contains {earlier} clips from earlier commands; all {stored} clips are compared", err=True
        )
