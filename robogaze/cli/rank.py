"""`robogaze rank`: ranks the candidates of each prompt by usability."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robogaze.cli.shared import options
from robogaze.cli.shared.pages import show_notes
from robogaze.cli.shared.sources import check_sources
from robogaze.cli.shared.tables import as_text, print_tables, write_files
from robogaze.cli.shared.types import FiniteRange, GivenPath, GivenSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robogaze.ranking import Ranking
    from robogaze.reporting.tables import ResultTable

_SHOWN = 24
"""The number of rows of a table that a terminal shows; --out and --json contain all."""

KEPT, EPISODES = "kept.jsonl", "episodes"


def _keep(context: click.Context, parameter: click.Parameter, text: str | None) -> int | float | None:
    """A number of candidates, or a share with a decimal point."""
    if text is None:
        return None
    try:
        keep: int | float = float(text) if "." in text else int(text)
    except ValueError:
        keep = 0
    if keep <= 0 or (isinstance(keep, float) and keep > 1):
        raise click.BadParameter("give a share of the candidates such as 0.5, or a number such as 2")
    return keep


_FILE = GivenPath(dir_okay=False)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=GivenSource(), metavar="[NAME=]RUN...")
@click.option(
    "--keep",
    callback=_keep,
    metavar="SHARE|NUMBER",
    help="Write kept.jsonl, a manifest of the best candidates of each prompt. 0.5 keeps the better half; 2 keeps "
    "the best two.",
)
@click.option("--episodes", is_flag=True, help="Also write lists of the kept episodes of LeRobot data sets.")
@click.option(
    "--prompts",
    type=_FILE,
    help="Manifest, or table with clip_id and prompt_id.  [default: the prompts in the reports]",
)
@click.option(
    "--weights",
    default="default",
    show_default=True,
    help="Weights of the ranking: a name in judges/ranking/ or a file.",
)
@click.option("--labels", type=_FILE,
              help="CSV or JSONL file of people's labels. Columns: clip_id, usable and, if known, severe.")  # fmt: skip
@click.option("--scores", type=_FILE,
              help="CSV or JSONL file of other tools' scores: clip_id and a column per tool. A higher score is "
              "better.")  # fmt: skip
@click.option("--baseline", metavar="MEASURE", default="random", show_default=True,
              help="The measure to compare all other measures with.")  # fmt: skip
@click.option("--level", type=FiniteRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Confidence level of intervals.")  # fmt: skip
@click.option("--mixed", is_flag=True, help="Allow reports of different domains or pipelines.")
@click.option(
    "--domain",
    help="Domain whose names for types and dimensions the page shows.  [default: the domain of the reports]",
)
@options.printing("all tables, ranking.json, a page and, with --keep, the manifest of kept clips")
def rank(
    paths: tuple[str, ...],
    keep: int | float | None,
    episodes: bool,
    prompts: Path | None,
    weights: str,
    labels: Path | None,
    scores: Path | None,
    baseline: str,
    level: float,
    mixed: bool,
    domain: str | None,
    form: str,
    as_json: bool,
    out: Path | None,
) -> int:
    """Rank the candidates of each prompt by usability, and keep the best. The ranking uses only reports.

    RUN is a run folder, another folder of reports, or a JSONL file of reports. Candidates of a prompt have the same
    `prompt_id`. Without `prompt_id`, they have the same instruction and first frame. With --labels, the command also
    measures the share of kept candidates that are usable, and compares it with random selection and with other
    measures. A clip without a report is listed and never kept, and the exit code is then 4. The command loads no video
    and no model library.
    """
    _check_usage(keep, episodes, labels, scores, out)
    check_sources(paths, "RUN")
    for option, file in (("--prompts", prompts), ("--labels", labels), ("--scores", scores)):
        check_sources(() if file is None else (str(file),), option)
    from robogaze.cli import EXIT_ERROR, EXIT_UNFINISHED
    from robogaze.ranking import rank as rank_candidates

    result = rank_candidates(
        paths,
        keep=0.5 if keep is None else keep,
        prompts=prompts,
        weights=weights,
        labels=labels,
        scores=scores,
        baseline=baseline,
        level=level,
        mixed=mixed,
    )
    if out is not None:
        _write(result, out, domain, keep=keep is not None, episodes=episodes)
    _show(result, form, as_json)
    for clip in result.unranked:
        click.echo(f"no rank: {clip.id}: {clip.reason}", err=True)
    if result.screening is not None and not result.screening.prompts:
        click.echo("nothing could be measured: no prompt has labels for all its candidates", err=True)
        return EXIT_ERROR
    return EXIT_UNFINISHED if result.unranked else 0


def _check_usage(
    keep: int | float | None,
    episodes: bool,
    labels: Path | None,
    scores: Path | None,
    out: Path | None,
) -> None:
    """Refuse options that cannot be combined, before anything is loaded."""
    if keep is not None and out is None:
        raise click.UsageError("--keep writes a manifest and needs --out")
    if episodes and keep is None:
        raise click.UsageError("--episodes needs --keep")
    if labels is None and scores is not None:
        raise click.UsageError("--scores needs --labels")
    if out is not None and (out / "run.json").is_file():
        raise click.UsageError(f"{out} is a run folder, and its page would be overwritten; choose another --out")


def _show(result: Ranking, form: str, as_json: bool) -> None:
    from robogaze.reporting.serialize import ranking_json
    from robogaze.reporting.tables.ranking import ranking_tables

    tables = list(ranking_tables(result))
    if as_json:
        click.echo(as_text(ranking_json(result)))
    else:
        print_tables(tables if form != "terminal" else map(_cut, tables), form)


def _cut(table: ResultTable) -> ResultTable:
    """The first rows of a long table, with a note that says how many rows there are in total."""
    if len(table.rows) <= _SHOWN:
        return table
    note = f"The first {_SHOWN} of {len(table.rows)} rows; --out and --json contain all rows."
    return replace(table, rows=table.rows[:_SHOWN], notes=(*table.notes, note))


def _write(result: Ranking, out: Path, domain: str | None, *, keep: bool, episodes: bool) -> None:
    from robogaze.reporting.pages.ranking import write_ranking_page
    from robogaze.reporting.serialize import ranking_json
    from robogaze.reporting.tables import table_files
    from robogaze.reporting.tables.ranking import ranking_tables

    tables = list(ranking_tables(result))
    files = [("ranking.json", f"{as_text(ranking_json(result))}\n"), *table_files(tables)]
    if keep:
        files += _kept_files(result, out, episodes=episodes)
    write_files(out, files, f"{len(tables)} tables, ranking.json{f', {KEPT}' if keep else ''}")
    click.echo(f"page: {show_notes(write_ranking_page(result, out, domain))}", err=True)


def _kept_files(result: Ranking, out: Path, *, episodes: bool) -> Iterator[tuple[str, str]]:
    from robogaze.datasets.clean_clips import chosen_episodes
    from robogaze.datasets.manifest import manifest_text
    from robogaze.errors import InputError
    from robogaze.reporting.wording import count
    from robogaze.store import file_name

    yield KEPT, manifest_text(result.kept_entries(), out)
    if not episodes:
        return
    data_sets = chosen_episodes(result.clips())
    if not data_sets:
        raise InputError("no clip is an episode of a LeRobot data set; use --keep without --episodes")
    for data_set in data_sets:
        scored = count(data_set.scored, "episode")
        click.echo(f"kept: {len(data_set.chosen)} of {scored} of {data_set.root}", err=True)
        named = "" if len(data_sets) == 1 else f" of {file_name(data_set.root.as_posix())}"
        yield f"{EPISODES}{named}.json", json.dumps(data_set.chosen) + "\n"
