"""`robogaze agree`: several annotators' reports of the same clips."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from robogaze.agree import Agreement, AgreeTerms
    from robogaze.core.account import Account
    from robogaze.reporting.sheets import Sheet

_SHOWN = 10
"""How many events of the queue a terminal shows; --out and --json hold all."""


@click.command()
@click.argument("paths", nargs=-1, metavar="[NAME=]PATH...")
@click.option("--ratings", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Instead of PATHs: a table of ratings (unit, annotator, label).")  # fmt: skip
@click.option("--format", "file_format", default="auto", show_default=True, help="The format of the files.")
@click.option("--fps", type=float, help="Frames a second, for formats that count in frames and do not say.")
@click.option("--first-frame", type=click.IntRange(0, 1), help="The number of the first frame in such formats.")
@click.option("--lenient", is_flag=True, help="Leave out what does not fit, and count it.")
@click.option("--mixed", is_flag=True, help="Compare labels of different taxonomies anyway.")
@click.option("--domain", help="Whose labels are used, a name or a folder.  [default: the built-in default]")
@click.option("--judge", default="offline", show_default=True, help="offline, table:FILE, or KIND:NAME[@URL], a model.")
@click.option("--rubric", help="What the judge is asked, a name in judges/.  [default: the domain's]")
@click.option("--match", type=click.Choice(["iou*similarity", "iou"]), default="iou*similarity", show_default=True,
              help="By what the events of two annotators are matched.")  # fmt: skip
@click.option("--iou", type=click.Choice(["frames", "exact"]), default="frames", show_default=True)
@click.option("--by", default="split", show_default=True, metavar="FIELD", help="The clip field that names datasets.")
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--as", "form", type=click.Choice(["terminal", "csv", "markdown", "latex"]), default="terminal",
              show_default=True, help="How tables are printed.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
              help="A folder for every table, the queue, and the settled events as consensus.csv.")  # fmt: skip
def agree(
    paths: tuple[str, ...],
    ratings: Path | None,
    mixed: bool,
    domain: str | None,
    judge: str,
    rubric: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
    **options: Any,
) -> int:
    """Say how far annotators agree, what a human scores where a model is scored, and what a person must settle.

    PATH holds one annotator's reports, or those of several. An annotator goes by the name in the file, else by that of
    the file; NAME=PATH gives another. Reads reports and annotations only: no video, no model library.
    """
    from robogaze.agree import AgreeTerms

    if bool(paths) == (ratings is not None):
        raise click.UsageError("give the annotators' files, or --ratings FILE")
    terms = AgreeTerms(**{name: options[name] for name in AgreeTerms.model_fields})
    if ratings is not None:
        _ratings(ratings, terms, form, as_json, out)
        return 0
    result = _agreement(paths, terms, mixed, domain, judge, rubric, options)
    _show(result, form, as_json, out)
    from robogaze.cli import EXIT_UNFINISHED

    return EXIT_UNFINISHED if result.failed or result.ceiling.failed else 0


def _agreement(
    paths: Sequence[str], terms: AgreeTerms, mixed: bool, domain: str | None, judge: str, rubric: str | None,
    options: Mapping[str, Any],
) -> Agreement:  # fmt: skip
    from robogaze.agree import Panel
    from robogaze.agree import agree as agreement
    from robogaze.datasets.adapters import load_labels
    from robogaze.domains import default_domain, load_domain
    from robogaze.judges.opening import open_judge

    loaded = load_domain(domain or default_domain())
    reading = {name: options[name] for name in ("fps", "first_frame", "lenient")}
    reading |= {"format": options["file_format"], "labels": load_labels(domain or default_domain())}
    accounts = [one for path in paths for one in _read(path, reading)]
    panel = Panel.of(accounts, terms.by, mixed=mixed)
    return asyncio.run(agreement(panel, open_judge(judge, rubric or loaded.file.judge, os.environ), terms))


def _read(named: str, reading: Mapping[str, Any]) -> list[Account]:
    """The accounts of a path; what was left out or understood in a certain way is told on stderr."""
    from robogaze.datasets.adapters import read_accounts

    name, sign, rest = named.partition("=")
    path = Path(rest) if sign and not Path(named).exists() else Path(named)
    found = read_accounts(path, **reading)
    for said in (*(f"{path}: {one}" for one in found.warnings), *(f"left out: {one}" for one in found.skipped)):
        click.echo(said, err=True)
    if path == Path(named):
        return list(found.accounts)
    authors = sorted({one.author for one in found.accounts})
    if len(authors) > 1:
        raise click.BadParameter(f"{path} holds accounts by {', '.join(authors)}; one name cannot stand for them")
    return [replace(one, author=name) for one in found.accounts]


def _ratings(path: Path, terms: AgreeTerms, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.agree import Ratings, agree_on_ratings
    from robogaze.reporting.agreement import rating_sheet
    from robogaze.reporting.agreement_json import ratings_json

    drawing = {"resamples": terms.resamples, "seed": terms.seed}
    result = agree_on_ratings(Ratings.read(path), level=terms.level, **drawing)
    table = rating_sheet(result, terms.level, **drawing)
    told = _json({**ratings_json(result), **drawing, "level": terms.level})
    _write(out, {"ratings.json": told}, [table])
    _print([table], form, told if as_json else None)


def _show(result: Agreement, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.agreement import queue_in_brief, sheets
    from robogaze.reporting.agreement_json import accounts_csv, agreement_json

    tables, told = list(sheets(result)), _json(agreement_json(result))
    _write(out, {"agreement.json": told, "consensus.csv": accounts_csv(result.adjudication.accounts)}, tables)
    shown = tables
    if form == "terminal":
        shown = [queue_in_brief(result, _SHOWN) if one.name == "queue" else one for one in tables]
    _print(shown, form, told if as_json else None)


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, indent=1)


def _write(out: Path | None, texts: Mapping[str, str], tables: Sequence[Sheet]) -> None:
    from robogaze.reporting.sheets import files
    from robogaze.store import write_whole

    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (*texts.items(), *files(tables)):
        write_whole(out / name, text)
    click.echo(f"{len(tables)} tables, {' and '.join(texts)}: {out}", err=True)


def _print(tables: Iterable[Sheet], form: str, told: str | None) -> None:
    """The JSON, if there is one, else the tables."""
    from rich.console import Console

    from robogaze.reporting.sheets import FORMS, as_terminal

    if told is not None:
        click.echo(told)
        return
    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in tables:
        if form != "terminal":
            click.echo(FORMS[form][1](table))
            continue
        console.print(as_terminal(table))
        for note in table.notes:
            console.print(f"  {note}", markup=False, highlight=False, style="dim")
        console.print()
