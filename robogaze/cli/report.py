"""`robogaze report`: the page of a run or of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.domains import Domain
    from robogaze.reporting.pages.bundles import WrittenPage

COMPARISON = "comparison.json"
"""The file that distinguishes a folder of `compare --out` from a run folder."""


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN|COMPARISON")
@click.option("--domain", help="Folder of the domain of the reports, if it is not a built-in domain.")
def report(folder: Path, domain: str | None) -> int:
    """Write index.html again: for a run, or for the folder that `robogaze compare --out` wrote.

    The page needs no network and no server. A large page has further files in the folder `page` next to index.html.
    """
    if (folder / COMPARISON).is_file():
        from robogaze.reporting.pages.comparison import rewrite_comparison_page

        click.echo(show_notes(rewrite_comparison_page(folder, domain)))
    else:
        click.echo(_run(folder, domain))
    return 0


def _run(root: Path, domain: str | None) -> Path:
    from robogaze.domains import default_domain, load_domain
    from robogaze.errors import InputError
    from robogaze.store import StoredRun

    run = StoredRun(root)
    first = next((found for line in run.lines if (found := run.report(line.clip_id)) is not None), None)
    if first is None and not run.unreadable:
        raise InputError(
            f"{root} has no report and no {COMPARISON}; name the --out folder of `robogaze score`, `bench` or `compare`"
        )
    return write_page(root, load_domain(domain or (default_domain() if first is None else first.domain.id)))


def write_page(root: Path, domain: Domain) -> Path:
    """Write the page of a run and return its path; print on stderr what the page lacks."""
    from robogaze.reporting.pages.plays import has_plays, write_plays_page
    from robogaze.reporting.pages.run import write_run_page

    if has_plays(root):
        return show_notes(write_plays_page(root, domain))
    return show_notes(write_run_page(root, domain))


def show_notes(page: WrittenPage) -> Path:
    """Print on stderr what a page lacks, and return its path."""
    for note in page.notes:
        click.echo(note, err=True)
    return page.path
