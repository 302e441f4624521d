"""`robogaze evaluate`: predictions against references."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robogaze.core.account import Account
    from robogaze.datasets.adapters import Labels
    from robogaze.evaluate import Evaluation
    from robogaze.judges.base import Judge
    from robogaze.reporting.sheets import Sheet
    from robogaze.scoring.released import Released
    from robogaze.scoring.terms import Terms

_CONVENTIONS = ("robogaze", "glide-paper", "robogaze-released", "glide-released")
_BRIEF = ("scores", "judges", "-by-dimension", "-losses", "-operating", "-bounds", "pairs-desc_f1", "ranks-desc_f1")
"""The tables that a terminal shows; --out writes all."""


@click.command()
@click.option("--reference", required=True, type=click.Path(exists=True, path_type=Path), help="What counts as true.")
@click.option(
    "--prediction", "predictions", required=True, multiple=True, metavar="[NAME=]PATH",
    help="A system's reports; several are compared with one another.",
)  # fmt: skip
@click.option("--author", help="Of references by several authors, the one to take.")
@click.option("--format", "file_format", default="auto", show_default=True, help="The format of both sides.")
@click.option("--fps", type=float, help="Frames a second, for formats that count in frames and do not say.")
@click.option("--first-frame", type=click.IntRange(0, 1), help="The number of the first frame in such formats.")
@click.option("--lenient", is_flag=True, help="Leave out what does not fit, and count it.")
@click.option("--mixed", is_flag=True, help="Compare labels of different taxonomies or versions anyway.")
@click.option("--domain", help="Whose labels are used, a name or a folder.  [default: the built-in default]")
@click.option("--judge", default="offline", show_default=True, help="offline, table:FILE, or KIND:NAME[@URL], a model.")
@click.option("--second-judge", metavar="SPEC", help="Judge again with another one, and compare the two.")
@click.option("--rubric", help="What the judge is asked, a name in judges/.  [default: the domain's]")
@click.option("--convention", type=click.Choice(_CONVENTIONS), default="robogaze", show_default=True)
@click.option("--normalise", "normalisation", type=click.Choice(["loose", "strict"]), default="loose",
              show_default=True, help="By all events, or by those that share time with any.")  # fmt: skip
@click.option(
    "--iou", type=click.Choice(["frames", "exact"]), help="On frames or in time.  [default: the convention's]"
)
@click.option("--lambda", "dimension_bonus", type=click.FloatRange(min=0), help="The bonus for a shared dimension.")
@click.option("--by", multiple=True, metavar="FIELD", help="Break results down by a clip field, such as task_family.")
@click.option("--strata", default="split", show_default=True, metavar="FIELD", help="Clips are resampled within these.")
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--as", "form", type=click.Choice(["terminal", "csv", "markdown", "latex"]), default="terminal",
              show_default=True, help="How tables are printed.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="A folder for every table and figure.")
def evaluate(
    reference: Path,
    predictions: tuple[str, ...],
    author: str | None,
    file_format: str,
    fps: float | None,
    first_frame: int | None,
    lenient: bool,
    mixed: bool,
    domain: str | None,
    judge: str,
    second_judge: str | None,
    rubric: str | None,
    convention: str,
    by: tuple[str, ...],
    form: str,
    as_json: bool,
    out: Path | None,
    **terms: Any,
) -> int:
    """Score predictions against references: what was found, missed and made up, with intervals.

    Reads reports and annotations only: no video, no model library. PATH is a report, a folder of reports, JSONL, or
    any format that is recognised (see docs/formats.md).
    """
    from robogaze.datasets.adapters import load_labels
    from robogaze.datasets.pairing import System, pair
    from robogaze.domains import default_domain, load_domain
    from robogaze.evaluate import evaluate as scored
    from robogaze.judges.opening import open_judge
    from robogaze.reporting.evaluation import robustness_sheet, sheets
    from robogaze.scoring.released import RELEASED, released

    loaded = load_domain(domain or default_domain())
    reader = _Reader(load_labels(domain or default_domain()), file_format, fps, first_frame, lenient)
    references = reader.read(reference)
    if author is not None:
        references = [one for one in references if one.author == author]
    reader.clips = {one.clip_id: one for one in references}
    systems = [System.of(name, reader.read(path)) for name, path in _named(predictions)]
    pairing = pair(references, systems, mixed=mixed)
    opened = open_judge(judge, rubric or loaded.file.judge, os.environ)
    if convention in RELEASED:
        taxonomy = {one.id: tuple(kind.id for kind in one.types) for one in loaded.dimensions.values()}
        _print_released(asyncio.run(released(pairing, opened, convention, taxonomy)), opened, form, as_json)
        return 0
    chosen = _terms(convention, {name: value for name, value in terms.items() if value is not None})
    result = asyncio.run(scored(pairing, opened, chosen, by))
    tables = list(sheets(result))
    if second_judge is not None:
        other = open_judge(second_judge, rubric or loaded.file.judge, os.environ)
        tables.insert(1, robustness_sheet(result, asyncio.run(scored(pairing, other, chosen, by))))
    _show(result, tables, form, as_json, out)
    return 0


class _Reader:
    """Reads both sides alike and says on stderr what was left out or understood in a certain way."""

    def __init__(
        self, labels: Labels, file_format: str, fps: float | None, first_frame: int | None, lenient: bool
    ) -> None:
        self._options: dict[str, Any] = {
            "labels": labels, "format": file_format, "fps": fps, "first_frame": first_frame, "lenient": lenient
        }  # fmt: skip
        self.clips: dict[str, Account] = {}

    def read(self, path: Path) -> list[Account]:
        from robogaze.datasets.adapters import read_accounts

        found = read_accounts(path, clips=self.clips, **self._options)
        for warning in found.warnings:
            click.echo(f"{path}: {warning}", err=True)
        for skipped in found.skipped:
            click.echo(f"left out: {skipped}", err=True)
        return list(found.accounts)


def _named(predictions: Iterable[str]) -> list[tuple[str, Path]]:
    """Names and paths; a path without a name goes by its own."""
    found = []
    for one in predictions:
        name, sign, rest = one.partition("=")
        path = Path(rest) if sign and not Path(one).exists() else Path(one)
        if not path.exists():
            raise click.BadParameter(f"{path} does not exist", param_hint="--prediction")
        found.append((name if path != Path(one) else path.resolve().stem, path))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise click.BadParameter(f"two have one name ({', '.join(names)}); write NAME=PATH", param_hint="--prediction")
    return found


def _terms(convention: str, changes: dict[str, Any]) -> Terms:
    from pydantic import ValidationError

    from robogaze.core.data import first_fault
    from robogaze.scoring.terms import Terms

    try:
        return Terms.of(convention, **changes)
    except ValidationError as error:
        raise click.UsageError(first_fault(error)[1]) from error


def _show(result: Evaluation, tables: list[Sheet], form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.evaluation_json import evaluation_json

    told = json.dumps(evaluation_json(result), ensure_ascii=False, indent=1)
    if out is not None:
        from robogaze.reporting.evaluation_page import files_of
        from robogaze.store import write_whole

        out.mkdir(parents=True, exist_ok=True)
        for name, text in (("evaluation.json", told + "\n"), *files_of(result, tables)):
            write_whole(out / name, text)
        click.echo(f"tables and figures: {out / 'index.html'}", err=True)
    if as_json:
        click.echo(told)
    else:
        _print([one for one in tables if form != "terminal" or one.name.endswith(_BRIEF)], form)


def _print(tables: Iterable[Sheet], form: str) -> None:
    from rich.console import Console

    from robogaze.reporting.sheets import FORMS, as_terminal

    console = Console(width=None if sys.stdout.isatty() else 200)
    for table in tables:
        if form != "terminal":
            click.echo(FORMS[form][1](table))
            continue
        console.print(as_terminal(table))
        for note in table.notes:
            console.print(f"  {note}", markup=False, highlight=False, style="dim")
        console.print()


def _print_released(found: Iterable[Released], judge: Judge, form: str, as_json: bool) -> None:
    from robogaze.reporting.released import released_json, released_sheets

    results = list(found)
    if as_json:
        click.echo(json.dumps(released_json(results, judge), ensure_ascii=False, indent=1))
    else:
        _print(released_sheets(results, judge), form)
