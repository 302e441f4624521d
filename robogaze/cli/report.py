"""`robogaze report`: the page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.domains import Domain
    from robogaze.reporting.pages.bundles import WrittenPage


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--domain", help="Domain folder of the reports; needed only if the domain is not built in.")
def report(run: Path, domain: str | None) -> int:
    """Write the page index.html of a run again.

    The page needs no network and no server. A large page also needs the files in the folder `page` next to index.html.
    """
    from robogaze.domains import default_domain, load_domain
    from robogaze.errors import InputError
    from robogaze.store import StoredRun

    stored = StoredRun(run)
    first = next((found for line in stored.lines if (found := stored.report(line.clip_id)) is not None), None)
    if first is None and not stored.unreadable:
        raise InputError(f"{run} has no report; give the --out folder of `robogaze score`")
    click.echo(write_page(run, load_domain(domain or (default_domain() if first is None else first.domain.id))))
    return 0


def write_page(root: Path, domain: Domain) -> Path:
    """Write the page of a run and return its path. Print on stderr what is missing from the page."""
    from robogaze.reporting.pages.plays import has_plays, write_plays_page
    from robogaze.reporting.pages.run import write_run_page

    if has_plays(root):
        return show_notes(write_plays_page(root, domain))
    return show_notes(write_run_page(root, domain))


def show_notes(page: WrittenPage) -> Path:
    """Print on stderr what is missing from a page, and return the path of the page."""
    for note in page.notes:
        click.echo(note, err=True)
    return page.path
