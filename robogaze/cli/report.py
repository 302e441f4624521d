"""`robogaze report`: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.domains import Domain


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN")
@click.option("--domain", help="The folder of the run's domain, if it is not a built-in one.")
def report(run: Path, domain: str | None) -> int:
    """Write RUN/index.html again from the reports in RUN: one file that needs no network and no server."""
    from robogaze.domains import load_domain
    from robogaze.errors import InputError
    from robogaze.store import read_run

    found = read_run(run)
    if not found.reports:
        raise InputError(f"{run} holds no report; a run writes <clip id>/report.json")
    click.echo(write_page(run, load_domain(domain or found.reports[0].domain.id)))
    return 0


def write_page(root: Path, domain: Domain) -> Path:
    """Write a run's page and return its path."""
    from robogaze.reporting.html import Page, render_html
    from robogaze.reporting.videos import video_sources
    from robogaze.store import read_run, write_whole

    found = read_run(root)
    videos = video_sources(found.reports, root)
    pages = [Page(one, videos[one.clip.id], found.frames(one.clip.id)) for one in found.reports]
    path = root / "index.html"
    write_whole(path, render_html(pages, found.unreadable, domain, title=root.resolve().name))
    return path
