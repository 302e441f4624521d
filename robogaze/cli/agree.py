"""`robogaze agree`: how well annotators agree."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robogaze.cli.shared import options
from robogaze.cli.shared.pages import show_notes
from robogaze.cli.shared.sources import check_judge, check_sources
from robogaze.cli.shared.tables import as_text, list_unjudged, print_tables, write_files
from robogaze.cli.shared.types import GivenPath, GivenSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robogaze.agreement import AgreementConfig, AgreementResult
    from robogaze.reporting.tables import ResultTable

_SHOWN = 10
"""The number of events of the queue that a terminal shows; --out and --json contain all."""


@click.command()
@click.argument("paths", nargs=-1, type=GivenSource(), metavar="[NAME=]PATH...")
@click.option(
    "--ratings",
    type=GivenPath(dir_okay=False),
    metavar="FILE",
    help="Table of ratings to measure instead of PATHs, with the columns unit, annotator and label.",
)
@options.reading
@options.judging
@click.option("--match", type=click.Choice(["iou*similarity", "iou"]), default="iou*similarity", show_default=True,
              help="Measure used to match the events of two annotators.")  # fmt: skip
@click.option("--iou", type=click.Choice(["frames", "exact"]), default="frames", show_default=True,
              help="How to measure the overlap of events: in whole frames (frames) or in seconds (exact).")  # fmt: skip
@click.option(
    "--by",
    default="split",
    show_default=True,
    metavar="FIELD",
    help="Clip field that contains the name of the data set.",
)
@click.option("--units", default="prompt_id", show_default=True, metavar="FIELD",
              help="Clip field whose values define units; clips of the same unit are resampled together.")  # fmt: skip
@options.resampling
@options.printing(
    "all tables, the queue of events to adjudicate, and consensus.csv with the events that need no adjudication"
)
def agree(
    paths: tuple[str, ...],
    ratings: Path | None,
    judge: str,
    rubric: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
    **rest: Any,
) -> int:
    """Measure how well annotators agree, score each annotator like a system, and list events that need adjudication.

    PATH holds the annotations of one or several annotators. If a file does not name its annotator, the annotator gets
    the name of the file. To set another name, write NAME=PATH. The command reads only reports and annotations: it loads
    no video and no model library.
    """
    if bool(paths) == (ratings is not None):
        raise click.UsageError("give the annotators' files, or --ratings FILE")
    check_sources(paths, "PATH")
    check_sources(() if ratings is None else (str(ratings),), "--ratings")
    check_judge(judge)

    from robogaze.agreement import AgreementConfig
    from robogaze.agreement import agree as measure
    from robogaze.annotations import ReadOptions
    from robogaze.cli import EXIT_UNFINISHED, quiet_retries

    config = AgreementConfig(**{name: rest[name] for name in AgreementConfig.model_fields})
    if ratings is not None:
        return _exit_code(_show_ratings(ratings, config, form, as_json, out))
    quiet_retries()
    reading = ReadOptions(**{name: rest[name] for name in options.READING})
    result = measure(paths, config, judge=judge, rubric=rubric, environ=os.environ, reading=reading)
    _show(result, reading.domain, form, as_json, out)
    list_unjudged(result.unjudged, judge, out)
    if not result.annotation_set.clips:
        return _exit_code(_why_nothing(result))
    return EXIT_UNFINISHED if result.failed or result.ceiling.failed else 0


def _why_nothing(result: AgreementResult) -> str:
    annotators = result.annotation_set.annotators
    if len(annotators) == 1:
        return f"all annotations are by {annotators[0]}; give a second file with annotations by another annotator"
    return "no clip has complete annotations by two annotators"


def _exit_code(why_not: str) -> int:
    """Print the reason on stderr and return 1 if nothing could be computed; return 0 if the reason is empty."""
    from robogaze.cli import EXIT_ERROR

    if why_not:
        click.echo(f"nothing could be computed: {why_not}", err=True)
    return EXIT_ERROR if why_not else 0


def _show_ratings(path: Path, config: AgreementConfig, form: str, as_json: bool, out: Path | None) -> str:
    """Print the agreement on labels; return the reason if it is undefined, otherwise an empty text."""
    from robogaze.agreement import Ratings, agree_on_ratings
    from robogaze.reporting.serialize import ratings_json
    from robogaze.reporting.tables.agreement import ratings_table

    resampling = {"resamples": config.resamples, "seed": config.seed}
    result = agree_on_ratings(Ratings.read(path), level=config.level, **resampling)
    table = ratings_table(result, config.level, **resampling)
    text = as_text({**ratings_json(result), **resampling, "level": config.level})
    _print({"ratings.json": text}, [table], [table], form, as_json, out)
    return "" if result.overall.n else result.overall.why


def _show(result: AgreementResult, domain: str | None, form: str, as_json: bool, out: Path | None) -> None:
    from robogaze.reporting.serialize import agreement_json, annotations_csv
    from robogaze.reporting.tables.agreement import agreement_tables, short_queue

    tables = list(agreement_tables(result))
    shown = tables
    if form == "terminal":
        shown = [short_queue(result, _SHOWN) if table.name == "queue" else table for table in tables]
    texts = {
        "agreement.json": as_text(agreement_json(result)),
        "consensus.csv": annotations_csv(result.adjudication.annotations),
    }
    _print(texts, tables, shown, form, as_json, out)
    if out is not None:
        from robogaze.domains import default_domain, load_domain
        from robogaze.reporting.pages.agreement import agreement_page
        from robogaze.reporting.pages.results import write_result_page

        words = load_domain(domain or default_domain())
        page = write_result_page(agreement_page(result, out, words), out, words)
        click.echo(f"page: {show_notes(page)}", err=True)


def _print(
    texts: Mapping[str, str],
    tables: Sequence[ResultTable],
    shown: Sequence[ResultTable],
    form: str,
    as_json: bool,
    out: Path | None,
) -> None:
    """Write the files if a folder is given. Print tables, or the JSON, which is the first of the texts."""
    from robogaze.reporting.tables import table_files

    if out is not None:
        write_files(out, (*texts.items(), *table_files(tables)), f"{len(tables)} tables and {' and '.join(texts)}")
    if as_json:
        click.echo(next(iter(texts.values())))
    else:
        print_tables(shown, form)
