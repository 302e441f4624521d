"""`robogaze score`: clips in, reports out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.shared import clips, runs

if TYPE_CHECKING:
    from robogaze.bench import ClipResult, RunResult
    from robogaze.core.report import Report
    from robogaze.datasets import ManifestEntry
    from robogaze.domains import Domain


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CLIP...")
@click.option(
    "-i", "--instruction", help="What the clip was generated for. For many clips, use sidecars or a manifest."
)
@click.option(
    "--initial-frame",
    type=click.Path(path_type=Path),
    help="A picture of the scene before the clip starts.",
)
@click.option("--layout", help=clips.LAYOUT)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Score the first N clips only.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for reports, answers and the page; needed to resume."
)
@runs.choosing
@click.option("--json", "as_json", is_flag=True, help="Print the reports as one JSON object.")
def score(
    paths: tuple[Path, ...],
    instruction: str | None,
    initial_frame: Path | None,
    layout: str | None,
    limit: int | None,
    out: Path | None,
    domain: str | None,
    pipeline: str | None,
    model: str | None,
    concurrency: int | None,
    decoder: str,
    retry_failed: bool,
    as_json: bool,
) -> int:
    """Score clips: say what failed in each, when, why and how badly.

    CLIP is a video, a folder of videos, or a manifest (.jsonl) that lists videos. A sidecar beside a video gives its
    instruction: cup.txt, or cup.json with any field of a manifest line.

    Without --model, RoboGaze reports what it can measure in the frames, and which dimensions it did not examine. For
    hundreds of clips, use robogaze bench.
    """
    clips.check_there(*paths)
    if initial_frame is not None:
        from robogaze.media.picture_files import open_picture

        open_picture(initial_frame, f"the initial frame {initial_frame}")  # it is given for every clip
    given = {"instruction": instruction, "initial_frame": initial_frame, "layout": clips.layout_of(layout)}
    entries = clips.entries_of(paths, **given)[:limit]
    plan = runs.plan(domain, pipeline, model, concurrency, decoder)
    outcome, reports = _run(entries, plan, out, retry_failed, concurrency)
    page = None
    if out is not None and (reports or outcome.unreadable):
        from robogaze.cli.report import write_page

        page = write_page(out, plan.domain)
    _show(reports, outcome, plan.domain, as_json)
    _tell_needs(reports, plan)
    runs.tell(outcome, out)
    if page is not None:
        click.echo(f"report: {page}", err=True)
    return runs.exit_code(outcome)


def _run(
    entries: Sequence[ManifestEntry],
    plan: runs.ScoringPlan,
    out: Path | None,
    retry_failed: bool,
    concurrency: int | None,
) -> tuple[RunResult, list[Report]]:
    """What became of the clips, and the reports of all of them, those done before as well."""
    import asyncio

    from robogaze.bench import RunOptions
    from robogaze.cli.shared.progress import showing
    from robogaze.store import RunFolder

    found: dict[str, Report] = {}
    with ExitStack() as stack:
        if out is None:
            interrupt.keeps("no report is kept without --out; with --out FOLDER a run can be resumed")
        else:
            interrupt.keeps_clips(out)
        run = None if out is None else stack.enter_context(RunFolder(out, plan.configuration))
        show = stack.enter_context(showing(len(entries)))

        def settle(settled: ClipResult) -> None:
            before = None if run is None else run.stored.report(settled.clip_id)
            if (report := settled.report or before) is not None:
                found[settled.clip_id] = report
            show.take(settled)

        job = RunOptions(run, retry_failed=retry_failed, on_settled=settle)
        engine = runs.here(plan, concurrency or runs.CLIPS_AT_ONCE, show.decoded)
        outcome = asyncio.run(runs.run(entries, job, plan, engine))
    return outcome, [found[clip_id] for clip_id in outcome.digests]


def _tell_needs(reports: Sequence[Report], plan: runs.ScoringPlan) -> None:
    """Say which dimensions need an instruction that clips do not have; without a model none of them is examined."""
    from robogaze.reporting.wording import count, listed

    without = sum(report.clip.instruction is None for report in reports)
    dimensions = [plan.domain.dimensions[name] for name in plan.pipeline.dimensions]
    needing = [one.name for one in dimensions if "instruction" in one.needs]
    if without and needing and plan.pipeline.roles:
        what = f"{count(without, 'clip')} without an instruction: {listed(needing)} not examined"
        click.echo(f"{what}; give it with -i TEXT, a sidecar or a manifest", err=True)


def _show(reports: Sequence[Report], outcome: RunResult, domain: Domain, as_json: bool) -> None:
    if as_json:
        found = [report.model_dump(mode="json") for report in reports]
        click.echo(json.dumps({"schema_version": runs.SCHEMA_VERSION, "reports": found, **runs.as_told(outcome)}))
    elif reports or outcome.unreadable:
        from rich.console import Console

        from robogaze.reporting.tables.clips import clip_table, summary_lines

        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(clip_table(reports, outcome.unreadable, domain))
        for line in summary_lines(reports, outcome.unreadable, domain):
            console.print(line, highlight=False, markup=False)
