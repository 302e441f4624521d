"""`robogaze agree`: several annotators' reports of the same clips."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import options
from robogaze.cli.shared.accounts import named_path, read
from robogaze.cli.shared.judges import opened
from robogaze.cli.shared.tables import as_text, print_tables, write_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robogaze.agree import AgreementResult, AgreeTerms
    from robogaze.core.annotation import ClipAnnotation
    from robogaze.datasets.formats.labels import Labels
    from robogaze.reporting.result_tables import ResultTable

_SHOWN = 10
"""How many events of the queue a terminal shows; --out and --json hold all."""


@click.command()
@click.argument("paths", nargs=-1, metavar="[NAME=]PATH...")
@click.option("--ratings", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Instead of PATHs: a table of ratings (unit, annotator, label).")  # fmt: skip
@options.reading
@options.judging
@click.option("--match", type=click.Choice(["iou*similarity", "iou"]), default="iou*similarity", show_default=True,
              help="By what the events of two annotators are matched.")  # fmt: skip
@click.option("--iou", type=click.Choice(["frames", "exact"]), default="frames", show_default=True)
@click.option("--by", default="split", show_default=True, metavar="FIELD", help="The clip field that names datasets.")
@click.option("--units", default="prompt_id", show_default=True, metavar="FIELD",
              help="Clips with one value of it are resampled together.")  # fmt: skip
@options.resampling
@options.printing("every table, the queue, and the settled events as consensus.csv")
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
    **rest: Any,
) -> int:
    """Measure how far annotators agree, how a human scores as a model would, and list what needs adjudication.

    PATH holds one annotator's reports, or those of several. An annotator goes by the name in the file, else by that of
    the file; NAME=PATH gives another. Reads reports and annotations only: no video, no model library.
    """
    from robogaze.agree import AgreeTerms

    if bool(paths) == (ratings is not None):
        raise click.UsageError("give the annotators' files, or --ratings FILE")
    terms = AgreeTerms(**{name: rest[name] for name in AgreeTerms.model_fields})
    if ratings is not None:
        return _computed(_ratings(ratings, terms, form, as_json, out))
    result = _agreement(paths, terms, mixed, domain, judge, rubric, rest)
    _show(result, form, as_json, out)
    if not result.panel.cases:
        return _computed("no clip was completed by two annotators")
    from robogaze.cli import EXIT_UNFINISHED

    return EXIT_UNFINISHED if result.failed or result.ceiling.failed else 0


def _computed(why_not: str) -> int:
    """The exit code: 1, with the reason on stderr, where nothing could be computed."""
    from robogaze.cli import EXIT_ERROR

    if why_not:
        click.echo(f"nothing could be computed: {why_not}", err=True)
    return EXIT_ERROR if why_not else 0


def _agreement(
    paths: Sequence[str], terms: AgreeTerms, mixed: bool, domain: str | None, judge: str, rubric: str | None,
    rest: Mapping[str, Any],
) -> AgreementResult:  # fmt: skip
    from robogaze.agree import AnnotationSet
    from robogaze.agree import agree as agreement
    from robogaze.datasets.formats.labels import load_labels
    from robogaze.datasets.pairing import match_clip_ids
    from robogaze.domains import default_domain, load_domain

    loaded = load_domain(domain or default_domain())
    labels = load_labels(domain or default_domain())
    reading = {name: rest[name] for name in ("file_format", "fps", "first_frame", "lenient")}
    accounts: list[ClipAnnotation] = []
    for path in paths:
        found = match_clip_ids(accounts, _accounts(path, labels, reading))
        if found.by["sha256"] or found.by["stem"]:
            click.echo(f"{path}: clips paired {found}", err=True)
        accounts += found.annotations
    panel = AnnotationSet.of(accounts, terms.by, mixed=mixed)
    return asyncio.run(agreement(panel, opened(judge, rubric or loaded.file.judge), terms))


def _accounts(named: str, labels: Labels, reading: Mapping[str, Any]) -> list[ClipAnnotation]:
    """The accounts of a path, under the name given with it, if any."""
    name, path = named_path(named, "PATH")
    accounts = read(path, labels, **reading)
    if name is None:
        return accounts
    authors = sorted({one.author for one in accounts})
    if len(authors) > 1:
        raise click.BadParameter(f"{path} holds accounts by {', '.join(authors)}; one name cannot stand for them")
    return [replace(one, author=name) for one in accounts]


def _ratings(path: Path, terms: AgreeTerms, form: str, as_json: bool, out: Path | None) -> str:
    """Print the agreement on labels; why there is none, empty where there is."""
    from robogaze.agree import Ratings, agree_on_ratings
    from robogaze.reporting.agreement import rating_sheet
    from robogaze.reporting.agreement_json import ratings_json

    drawing = {"resamples": terms.resamples, "seed": terms.seed}
    result = agree_on_ratings(Ratings.read(path), level=terms.level, **drawing)
    table = rating_sheet(result, terms.level, **drawing)
    told = as_text({**ratings_json(result), **drawing, "level": terms.level})
    _told({"ratings.json": told}, [table], [table], form, as_json, out)
    return "" if result.overall.n else result.overall.why


def _show(result: AgreementResult, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.agreement import queue_in_brief, sheets
    from robogaze.reporting.agreement_json import accounts_csv, agreement_json

    tables, settled = list(sheets(result)), accounts_csv(result.adjudication.accounts)
    shown = tables
    if form == "terminal":
        shown = [queue_in_brief(result, _SHOWN) if one.name == "queue" else one for one in tables]
    _told(
        {"agreement.json": as_text(agreement_json(result)), "consensus.csv": settled}, tables, shown, form, as_json, out
    )


def _told(
    texts: Mapping[str, str],
    tables: Sequence[ResultTable],
    shown: Sequence[ResultTable],
    form: str,
    as_json: bool,
    out: Path | None,
) -> None:
    """Write the files, if a folder is given; print the first of the texts, which is the JSON, or tables."""
    from robogaze.reporting.result_tables import files

    if out is not None:
        write_files(out, (*texts.items(), *files(tables)), f"{len(tables)} tables and {' and '.join(texts)}")
    if as_json:
        click.echo(next(iter(texts.values())))
    else:
        print_tables(shown, form)
