"""`robogaze bench`: score several checkpoints on the same prompts and compare them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import click

from robogaze.cli import EXIT_ERROR, EXIT_UNREACHABLE
from robogaze.cli.compare import compare
from robogaze.cli.shared import clips, runs
from robogaze.cli.shared.pages import write_page_of
from robogaze.cli.shared.types import GivenPath, GivenSource


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
    path; to set another name, write NAME=PATH. The run of a checkpoint is written to DIR/NAME. The comparison is
    written to DIR. Run the same command again to resume. To score a checkpoint in shards, use `robogaze score` and then
    `robogaze compare`.
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
    found = asyncio.run(_score(named, out, options, page=not no_page))
    codes, empty = [code for code, _ in found.values()], [name for name, (_, reports) in found.items() if not reports]
    if EXIT_UNREACHABLE in codes:
        return EXIT_UNREACHABLE
    if empty:
        click.echo(f"not compared, because these checkpoints have no report: {', '.join(empty)}", err=True)
        return max(found[name][0] for name in empty) or EXIT_ERROR
    shown = [f"{name}={out / name}" for name in named]
    compared: int = context.invoke(compare, paths=tuple(shown), out=out, baseline=baseline, as_json=as_json)
    return compared or max(codes)


async def _score(
    named: Mapping[str, Path], out: Path, options: runs.GivenOptions, *, page: bool
) -> dict[str, tuple[int, int]]:
    """Score the checkpoints; return the exit code and the number of reports of each. If no server is reached, the
    checkpoints after it would not reach it either, and are left out.
    """
    from robogaze.run.bench import open_runs

    found = {}
    async with aclosing(open_runs(named, out, options.setup(), options.run_options(None), os.environ)) as opened:
        async for name, run in opened:
            click.echo(f"{name}: {named[name]}", err=True)
            await runs.execute(run)
            if page:
                write_page_of(run)
            runs.say_result(run)
            _say_earlier_clips(out / name, len(run.plan.removed))
            found[name] = runs.exit_code(run), len(run.summaries)
            if found[name][0] == EXIT_UNREACHABLE:
                break
    return found


def _say_earlier_clips(out: Path, earlier: int) -> None:
    """Say that a run folder holds more clips than this command was given, because all of them are compared."""
    from robogaze.reporting.wording import count
    from robogaze.store import StoredRun

    if earlier:
        stored = len(StoredRun(out).lines)
        click.echo(
            f"{out} also contains {count(earlier, 'clip')} from earlier commands; all {stored} clips are compared",
            err=True,
        )
