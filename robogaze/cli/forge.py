"""`robogaze forge`: glitches whose truth is known, and what an evaluator sees of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli import interrupt
from robogaze.cli.forge_simulate import simulate
from robogaze.cli.shared import clips, options
from robogaze.cli.shared.tables import as_text, print_tables, write_files

if TYPE_CHECKING:
    from robogaze.forge.plant.folder import Planted
    from robogaze.forge.sensitivity import Group, Sensitivity, Share
    from robogaze.reporting.result_tables import Cell, ResultTable

SCHEMA_VERSION = 1


@click.group()
def forge() -> None:
    """The forge: clips with known glitches, to find out how much of them an evaluator sees."""


forge.add_command(simulate)


@forge.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CLIP...")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The data set's folder.")
@click.option("-i", "--instruction", help="What the clips show. For different ones, use sidecars or a manifest.")
@click.option("--layout", help=clips.LAYOUT)
@click.option("--domain", help="Whose glitches, a built-in domain or a folder.  [default: the built-in default]")
@click.option("--only", multiple=True, metavar="NAME", help="Plant this and no other; may be given several times.")
@click.option("--each", type=click.IntRange(min=1), default=1, show_default=True, help="How many of each in a clip.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was planted as one JSON object.")
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
    """Plant known glitches into clips that have none, one in each copy, and write a data set of them.

    CLIP is a video, a folder of videos, or a manifest (.jsonl). An untouched copy of every clip is the control. The
    same command resumes one that was killed; the same seed gives the same pixels and annotations.
    """
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.domains import default_domain
    from robogaze.errors import InputError
    from robogaze.forge.plant.folder import PlantingOrder, plant_clips
    from robogaze.forge.plant.recipe import read_recipe
    from robogaze.run.clips import list_clips

    clips.check_exist(*paths)
    recipe = read_recipe(domain or default_domain())
    entries = list_clips(paths, instruction=instruction, layout=clips.parse_layout(layout)).entries
    order = PlantingOrder(recipe, recipe.chosen(only), each, seed)
    interrupt.keeps_clips(out)
    with click.progressbar(length=len(entries), label="planting", file=sys.stderr) as bar:
        planted = plant_clips(entries, order, out, lambda source: bar.update(1))
    for reason in planted.unreadable:
        click.echo(f"error: {reason}", err=True)
    if not planted.sources:
        raise InputError("no clip could be read, so nothing was planted")
    _tell(planted)
    click.echo(f"data set: {out}", err=True)
    if as_json:
        click.echo(json.dumps(planted.as_json(), ensure_ascii=False))
    else:
        print_tables([_planted_sheet(planted)], "terminal")
    return EXIT_UNFINISHED if planted.unreadable else 0


def _tell(planted: Planted) -> None:
    """Say what was left out and why, by reason."""
    from collections import Counter

    from robogaze.reporting.wording import count

    reasons = Counter((one.plant, one.reason) for source in planted.sources for one in source.left_out)
    for (name, reason), number in reasons.items():
        click.echo(f"left out: {name} {count(number, 'time')}, because {reason}", err=True)


def _planted_sheet(planted: Planted) -> ResultTable:
    from robogaze.reporting.result_tables import ResultTable
    from robogaze.reporting.wording import count

    rows = tuple(
        (name, one["planted"], one["left_out"], sum(one["refused_draws"].values()))
        for name, one in planted.by_plant.items()
    )
    return ResultTable(
        name="planted",
        title=f"Planted in {count(len(planted.sources), 'clip')}, besides an untouched copy of each",
        columns=("plant", "planted", "left out", "draws refused"),
        rows=rows,
        notes=("planted.json says why draws were refused and plants left out",),
    )


@forge.command()
@click.argument("run", type=click.Path(file_okay=False, path_type=Path))
@click.option("--reference", required=True, type=click.Path(file_okay=False, path_type=Path),
              help="The data set that forge plant wrote.")  # fmt: skip
@options.resampling
@options.printing("every table and report.json")
def report(
    run: Path, reference: Path, resamples: int, level: float, seed: int, form: str, as_json: bool, out: Path | None
) -> int:
    """Measure an evaluator's sensitivity: which of the planted glitches a RUN over planted clips found.

    RUN is a folder of `robogaze score` or `robogaze bench` over the data set's clips.jsonl.
    """
    from robogaze.cli import EXIT_UNFINISHED
    from robogaze.errors import InputError
    from robogaze.forge.sensitivity import measure, read_planted
    from robogaze.store import read_run

    references = read_planted(reference)
    found = read_run(run)
    if not found.reports:
        raise InputError(f"{run} holds no report; make some with: robogaze score {reference}/clips.jsonl --out {run}")
    result = measure(references, found.reports, run.name, level=level, resamples=resamples, seed=seed)
    tables = list(_sheets(result))
    told = as_text(_as_json(result, run, level))
    if out is not None:
        from robogaze.reporting.result_tables import files

        write_files(out, (("report.json", f"{told}\n"), *files(tables)), f"{len(tables)} tables and report.json")
    if as_json:
        click.echo(told)
    else:
        print_tables(tables, form)
    if result.unreported:
        click.echo(f"without a report: {len(result.unreported)} of {len(references)} clips", err=True)
    return EXIT_UNFINISHED if result.unreported or result.total.found.open or result.alarms.clips.open else 0


def _as_json(result: Sensitivity, run: Path, level: float) -> dict[str, Any]:
    from robogaze.forge.sensitivity import RULE

    return {
        "schema_version": SCHEMA_VERSION,
        "run": str(run),
        "rule": RULE,
        "level": level,
        "total": result.total.as_json(),
        "by": {field: {name: one.as_json() for name, one in groups.items()} for field, groups in result.by.items()},
        "untouched": result.alarms.as_json(),
        "unreported": list(result.unreported),
    }


_COLUMNS = ("planted", "found", "open", "bounds", "noticed", "untouched", "onset error (s)", "tIoU", "not looked for")


def _sheets(result: Sensitivity) -> Iterator[ResultTable]:
    from robogaze.forge.sensitivity import RULE
    from robogaze.reporting.result_tables import ResultTable

    notes = (
        f"{RULE}.",
        "Shares have Wilson intervals, as if glitches in one clip were independent; means are resampled by source.",
        "Untouched: the same found in the report of the untouched clip, where it is not.",
        "Open: no report, or one that leaves the glitch's dimension unjudged; the bounds are the share if none of "
        "these or all were found. What is not looked for at all is missed.",
        "Glitches in the instruction last the whole clip: any event counts as noticing them, and they have no onset "
        "error and no tIoU. Where frames are left out the span is a single one, of which tIoU says little.",
    )
    for field, groups in (("all", {"all": result.total}), *result.by.items()):
        yield ResultTable(
            name=f"sensitivity-{field}",
            title="What was found" if field == "all" else f"By {field}",
            columns=("" if field == "all" else field, *_COLUMNS),
            rows=tuple((name, *_cells(one)) for name, one in groups.items()),
            notes=notes,
        )
    alarms = result.alarms
    yield ResultTable(
        name="sensitivity-untouched",
        title=f"Alarms on the {alarms.untouched} untouched clips",
        columns=("", "value"),
        rows=(
            ("clips with an alarm", alarms.clips.value),
            *((("... open", alarms.clips.open), ("... bounds", _bounds(alarms.clips))) if alarms.clips.open else ()),
            ("partial clips", alarms.partial),
            ("alarms a clip", alarms.per_clip),
            ("alarms a minute", alarms.per_minute),
            *((f"of type {name}", number) for name, number in alarms.types.items()),
        ),
        notes=("An alarm is false only if the clip was clean before anything was planted.",),
    )


def _cells(one: Group) -> tuple[Cell, ...]:
    return (
        one.planted,
        one.found.value,
        one.found.open,
        _bounds(one.found),
        one.noticed.value,
        one.found_untouched.value,
        one.onset_error_s,
        one.tiou,
        one.not_looked_for,
    )


def _bounds(share: Share) -> str | None:
    return f"{share.worst:.3f} to {share.best:.3f}" if share.open else None
