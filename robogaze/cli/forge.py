"""`robogaze forge`: clips with known glitches, and which of them an evaluator detects."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli import interrupt
from robogaze.cli.forge_simulate import simulate
from robogaze.cli.shared import clips, options
from robogaze.cli.shared.pages import show_notes
from robogaze.cli.shared.tables import as_text, print_tables, write_files
from robogaze.cli.shared.types import GivenPath

if TYPE_CHECKING:
    from robogaze.forge.plant.planted_dataset import PlantedDataset
    from robogaze.reporting.tables import ResultTable


@click.group()
def forge() -> None:
    """Make clips with known glitches, and measure which glitches an evaluator detects."""


forge.add_command(simulate)


@forge.command()
@click.argument("paths", nargs=-1, required=True, type=GivenPath(), metavar="CLIP...")
@click.option("--out", required=True, type=GivenPath(file_okay=False), help="Folder for the data set.")
@click.option(
    "-i",
    "--instruction",
    help="One instruction for all clips. If clips have different instructions, use sidecars or a manifest.",
)
@click.option("--layout", help=clips.LAYOUT)
@click.option(
    "--domain", help="Name of a built-in domain, or the folder of a domain.  [default: the default built-in domain]"
)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Plant only this glitch. Repeat the option to plant several glitches."
)
@click.option("--each", type=click.IntRange(min=1), default=1, show_default=True,
              help="Number of copies per clip and glitch.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a summary as one JSON object.")
def plant(
    paths: tuple[Path, ...],
    out: Path,
    instruction: str | None,
    layout: str | None,
    domain: str | None,
    only: tuple[str, ...],
    each: int,
    seed: int,
    as_json: bool,
) -> int:
    """Copy clips that have no glitches, plant one known glitch into each copy, and write a data set.

    CLIP is a video, a folder of videos, or a manifest (.jsonl). An untouched copy of every clip serves as the control.
    Run the same command again to resume. The same seed gives the same pixels and annotations.
    """
    clips.check_exist(*paths)
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.domains import default_domain
    from robogaze.errors import InputError
    from robogaze.forge.plant.planting_config import load_planting_config
    from robogaze.run.clips import list_clips

    config = load_planting_config(domain or default_domain())
    glitches = config.select(only)
    entries = list_clips(paths, instruction=instruction, layout=clips.parse_layout(layout)).entries

    from robogaze.forge.plant.planted_dataset import PlantingOptions, plant_clips

    planting = PlantingOptions(config, glitches, each, seed)
    interrupt.keeps_clips(out)
    with click.progressbar(length=len(entries), label="planting", file=sys.stderr) as bar:
        planted = plant_clips(entries, planting, out, lambda source: bar.update(1))
    for reason in planted.unreadable:
        click.echo(f"error: {reason}", err=True)
    if not planted.sources:
        raise InputError("no clip could be read, so nothing was planted")
    _print_left_out(planted)
    click.echo(f"data set: {out}", err=True)
    if as_json:
        click.echo(json.dumps(planted.as_json(), ensure_ascii=False))
    else:
        print_tables([_planted_table(planted)], "terminal")
    return EXIT_UNFINISHED if planted.unreadable else 0


def _print_left_out(planted: PlantedDataset) -> None:
    from collections import Counter

    from robogaze.reporting.wording import count

    reasons = Counter((skipped.glitch, skipped.reason) for source in planted.sources for skipped in source.left_out)
    for (name, reason), number in reasons.items():
        click.echo(f"left out: {name} {count(number, 'time')}, because {reason}", err=True)


def _planted_table(planted: PlantedDataset) -> ResultTable:
    from robogaze.reporting.tables import ResultTable
    from robogaze.reporting.wording import count

    rows = tuple(
        (name, counts["planted"], counts["left_out"], sum(counts["refused_draws"].values()))
        for name, counts in planted.by_glitch.items()
    )
    return ResultTable(
        name="planted",
        title=f"Glitches planted in copies of {count(len(planted.sources), 'clip')}; one copy of each clip is "
        f"untouched",
        columns=("glitch", "planted", "left out", "refused draws"),
        rows=rows,
        notes=("planted.json gives the reasons for refused draws and omitted glitches",),
    )


@forge.command()
@click.argument("run", type=GivenPath(file_okay=False))
@click.option("--reference", required=True, type=GivenPath(file_okay=False),
              help="Data set that `robogaze forge plant` wrote.")  # fmt: skip
@options.resampling
@options.printing("every table and report.json")
def report(
    run: Path, reference: Path, resamples: int, level: float, seed: int, form: str, as_json: bool, out: Path | None
) -> int:
    """Measure which planted glitches the evaluator of RUN found.

    RUN is the run folder that `robogaze score` wrote for clips.jsonl of the data set.
    """
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.errors import InputError
    from robogaze.store import StoredRun

    found = StoredRun(run)
    if not found.reports:
        raise InputError(f"{run} has no report; make reports with: robogaze score {reference}/clips.jsonl --out {run}")

    from robogaze.forge.sensitivity import measure, read_planted
    from robogaze.reporting.serialize import sensitivity_json
    from robogaze.reporting.tables.sensitivity import sensitivity_tables

    references = read_planted(reference)
    result = measure(references, found.reports, run.name, level=level, resamples=resamples, seed=seed)
    tables = list(sensitivity_tables(result))
    text = as_text(sensitivity_json(result, str(run), level))
    if out is not None:
        from robogaze.reporting.pages.results import domain_of, write_result_page
        from robogaze.reporting.pages.sensitivity import sensitivity_page
        from robogaze.reporting.tables import table_files

        write_files(out, (("report.json", f"{text}\n"), *table_files(tables)), f"{len(tables)} tables and report.json")
        domain = domain_of({reference.domain.taxonomy for reference in references})
        page = write_result_page(sensitivity_page(result, references, found.reports, run, out, domain), out, domain)
        click.echo(f"page: {show_notes(page)}", err=True)
    if as_json:
        click.echo(text)
    else:
        print_tables(tables, form)
    if result.unreported:
        click.echo(f"without a report: {len(result.unreported)} of {len(references)} clips", err=True)
    return EXIT_UNFINISHED if result.unreported or result.total.found.open or result.alarms.clips.open else 0
