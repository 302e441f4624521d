"""`robogaze score`: clips in, reports out."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli import interrupt
from robogaze.cli.shared import clips, runs, tracking, watching
from robogaze.cli.shared.pages import write_page_of
from robogaze.cli.shared.types import GivenPath

if TYPE_CHECKING:
    from robogaze.reporting.trackers import Tracker
    from robogaze.run.clips import ClipList
    from robogaze.run.execute import ScoringRun
    from robogaze.run.options import RunOptions
    from robogaze.run.setup import RunSetup

SCHEMA_VERSION = 2
"""Of the JSON that --json prints."""

_TABLE_CLIPS = 50
"""The number of clips up to which the terminal shows a table of clips; for more, it shows a table of event types."""

_NOT_OF_A_SHARD = ("paths", "engine", "workers", "address", "no_page")
"""The parameters that a run does not pass on to its shards as they are."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=GivenPath(), metavar="PATH...")
@click.option(
    "-i",
    "--instruction",
    help="One instruction for all clips. If clips have different instructions, use sidecars or a manifest.",
)
@click.option("--initial-frame", type=GivenPath(), help="Image of the scene before the first frame, for all clips.")
@click.option("--layout", help=clips.LAYOUT)
@click.option("--out", type=GivenPath(), metavar="RUN", help="Run folder; needed to resume.")
@runs.setup_options
@runs.run_options
@click.option("--shard", metavar="I/N", help="Score shard I of N; robogaze merge joins the shards.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Print the estimated cost and exit.")
@watching.options
@click.option("--no-page", is_flag=True, help="Do not write index.html. To write it later, use robogaze report RUN.")
@tracking.option
@click.option("--json", "as_json", is_flag=True, help="Print the reports as one JSON object.")
def score(
    paths: tuple[Path, ...],
    instruction: str | None,
    initial_frame: Path | None,
    layout: str | None,
    out: Path | None,
    shard: str | None,
    only_estimate: bool,
    no_page: bool,
    track: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Score clips: report what failed in each clip, when, why and how badly.

    PATH is a video, a folder of videos, a manifest (.jsonl) that lists videos, or anything else that `robogaze dataset
    import` reads. A sidecar is a file next to a video that gives the video's instruction, such as cup.txt or cup.json.
    The JSON file can have any field of a manifest line.

    Without --model, RoboGaze reports what it can measure in the frames, and which dimensions it did not examine.

    With --out, run the same command again to resume a run that was stopped or killed. Clips are scored in random order,
    so the clips that a stopped run has scored are a random sample.

    With --watch, PATH is a folder or a manifest to which clips are added while a model is trained.
    """
    clips.check_exist(*paths)
    flags = watching.WatchFlags.taken_from(given)
    if initial_frame is not None:
        from robogaze.media.picture_files import open_picture

        open_picture(initial_frame, f"the initial frame {initial_frame}")  # it applies to every clip
    clip_options = {"instruction": instruction, "initial_frame": initial_frame, "layout": clips.parse_layout(layout)}
    options = runs.GivenOptions(**given)
    options.check_domain()
    runs.say_what_is_kept(out)
    tracker = _tracker(track, shard, options.engine)
    if flags.watch:
        if any(value is not None for value in (*clip_options.values(), shard)) or only_estimate:
            raise click.UsageError(
                "--watch cannot be used with --instruction, --initial-frame, --layout, --shard or --estimate"
            )
        return watching.watch(paths, flags, options, out, page=not no_page, tracker=tracker, as_json=as_json)
    if options.engine == "datatrove" and not only_estimate:
        return _score_in_shards(click.get_current_context())

    from robogaze.run.clips import list_clips

    setup, run_options = options.setup(), options.run_options(out, shard)
    run_options.check(setup)
    found = list_clips(paths, **clip_options)
    if only_estimate:
        return _estimate(found, setup, run_options)
    return _score(found, setup, run_options, page=not no_page, tracker=tracker, as_json=as_json)


def _estimate(found: ClipList, setup: RunSetup, options: RunOptions) -> int:
    from robogaze.run.execute import open_run

    whole = found.is_whole
    with open_run(found.entries, setup, options, root=found.root, is_whole=whole, is_estimate=True) as run:
        runs.say_estimate(run)
    return 0


def _score(
    found: ClipList, setup: RunSetup, options: RunOptions, *, page: bool, tracker: Tracker | None, as_json: bool
) -> int:
    """Score listed clips; return the exit code."""
    from robogaze.run.execute import open_run

    with open_run(found.entries, setup, options, os.environ, root=found.root, is_whole=found.is_whole) as run:
        asyncio.run(runs.execute(run))
        written = write_page_of(run) if page else None
        _show(run, as_json)
    _say_missing_instructions(run)
    runs.say_result(run)
    if tracker is not None and (run.summaries or run.unreadable):
        _track(tracker, run)
    if written is not None:
        click.echo(f"report: {written}", err=True)
    return runs.exit_code(run)


def _tracker(text: str | None, shard: str | None, engine: str) -> Tracker | None:
    """The tracker of --track. The option is refused for a shard, because the shard's numbers would look like the run's
    numbers.
    """
    if text is not None and (shard is not None or engine == "datatrove"):
        raise click.UsageError(
            "--track cannot be used with --shard or --engine datatrove; once the run is merged, use robogaze compare "
            "RUN --track"
        )
    return tracking.opened(text)


def _track(tracker: Tracker, run: ScoringRun) -> None:
    from robogaze.reporting.trackers import run_numbers

    numbers = run_numbers(list(run.summaries.values()), run.unreadable, run.setup.domain, run.pending)
    name = "score" if run.folder is None else run.folder.root.resolve().name
    tracking.track(tracker, name, run.setup.tracked, numbers)


def _score_in_shards(context: click.Context) -> int:
    """Every worker scores a shard; then the shards are merged."""
    from robogaze.cli.merge import join
    from robogaze.run.engines.datatrove import run_shards
    from robogaze.run.shards import check_count, shards_of, written_shards

    given = context.params
    out: Path | None = given["out"]
    if out is None:
        raise click.UsageError("--engine datatrove needs --out")
    if given["shard"] is not None:
        raise click.UsageError("--engine datatrove makes the shards itself; leave out --shard")
    if given["as_json"]:
        raise click.UsageError(
            "--json cannot be used with --engine datatrove; once the run is merged, use --json without --engine"
        )
    options = runs.GivenOptions(**{name: given[name] for name in runs.GivenOptions.__dataclass_fields__})
    options.run_options(out).check(options.setup())
    workers = options.workers or os.cpu_count() or 1
    check_count(out, workers)
    interrupt.keeps_clips(shards_of(out))
    run_shards(_shard_arguments(context), workers, shards_of(out) / "datatrove")
    return join(written_shards(out), out, "shard")


def _shard_arguments(context: click.Context) -> list[str]:
    """The command line of a shard: the command line of the run, without the engine."""
    arguments = ["score", *map(str, context.params["paths"]), "--no-page"]
    for parameter in context.command.params:
        if parameter.name is None or parameter.name in _NOT_OF_A_SHARD:
            continue
        value = context.params.get(parameter.name)
        if value is True:
            arguments.append(parameter.opts[-1])
        elif value is not None and value is not False:
            arguments += [parameter.opts[-1], str(value)]
    return arguments


def _say_missing_instructions(run: ScoringRun) -> None:
    """Print which dimensions need an instruction that clips do not have. Without a model, none of these dimensions is
    examined.
    """
    from robogaze.reporting.wording import count, listed

    without = sum(
        clip.entry.instruction is None for clip_id, clip in run.plan.clips.items() if clip_id in run.summaries
    )
    pipeline = run.setup.pipeline
    dimensions = [run.setup.domain.dimensions[name] for name in pipeline.dimensions]
    needing = [dimension.name for dimension in dimensions if "instruction" in dimension.needs]
    if without and needing and pipeline.roles:
        what = f"{count(without, 'clip')} without an instruction: {listed(needing)} not examined"
        click.echo(f"{what}; give the instruction with -i TEXT, a sidecar or a manifest", err=True)


def _show(run: ScoringRun, as_json: bool) -> None:
    if as_json:
        _print_json(run)
    elif run.summaries or run.unreadable or run.pending:
        from rich.console import Console

        from robogaze.reporting.tables.clips import clip_table, event_table, summary_lines

        console = Console(width=None if sys.stdout.isatty() else 160)
        summaries, domain = list(run.summaries.values()), run.setup.domain
        if 0 < len(summaries) + len(run.unreadable) <= _TABLE_CLIPS:
            console.print(clip_table(list(run.reports()), run.unreadable, domain))
        elif any(summary.events for summary in summaries):
            console.print(event_table(summaries, domain))
        for line in summary_lines(summaries, run.unreadable, domain, run.pending):
            console.print(line, highlight=False, markup=False)


def _print_json(run: ScoringRun) -> None:
    """Print counts and reports as one object. Reports are printed one by one, because a run may have more than fit in
    memory.
    """
    from robogaze.reporting.tables.clips import counts_as_json

    head = {
        "schema_version": SCHEMA_VERSION,
        "run": None if run.folder is None else str(run.folder.root),
        "stopped": None if run.stopped is None else str(run.stopped),
        **counts_as_json(list(run.summaries.values()), run.unreadable, run.setup.domain, run.pending),
    }
    click.echo(json.dumps(head)[:-1] + ', "reports": [', nl=False)
    for number, report in enumerate(run.reports()):
        click.echo((", " if number else "") + report.model_dump_json(), nl=False)
    click.echo("]}")
