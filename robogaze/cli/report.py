"""`robogaze report`: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robogaze.domains import Domain


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN")
@click.option("--domain", help="The folder of the run's domain, if it is not a built-in one.")
def report(run: Path, domain: str | None) -> int:
    """Write RUN/index.html again from the reports in RUN: one file that needs no network and no server."""
    from robogaze.domains import default_domain, load_domain
    from robogaze.errors import InputError
    from robogaze.store import read_run

    found = read_run(run)
    if not found.reports and not found.unreadable:
        raise InputError(f"{run} holds no report; a run writes <clip id>/report.json")
    spoken = found.reports[0].domain.id if found.reports else default_domain()
    click.echo(write_page(run, load_domain(domain or spoken)))
    return 0


def write_page(root: Path, domain: Domain) -> Path:
    """Write a run's page and return its path; what the page lacks is said on stderr."""
    from robogaze.reporting.html import Page, render_html
    from robogaze.reporting.videos import video_sources
    from robogaze.store import read_run, write_whole

    found = read_run(root)
    videos = video_sources({one.clip.id: found.videos[one.clip.id] for one in found.reports}, root)
    pages = [Page(one, videos[one.clip.id], found.frames(one.clip.id)) for one in found.reports]
    path = root / "index.html"
    write_whole(path, render_html(pages, found.unreadable, domain, title=root.resolve().name))
    _tell(videos, found.videos)
    return path


def _tell(sources: Mapping[str, str | None], videos: Mapping[str, Path]) -> None:
    from robogaze.reporting.videos import EMBED_LIMIT_BYTES, is_linked
    from robogaze.reporting.wording import count

    if linked := sum(is_linked(source) for source in sources.values()):
        why = f"together they are larger than {EMBED_LIMIT_BYTES / 2**20:.0f} MiB"
        click.echo(f"the page links to {count(linked, 'video')} and does not carry them: {why}", err=True)
    if missing := [name for name, source in sources.items() if source is None]:
        which = f"{videos[missing[0]].name}{', ...' if len(missing) > 1 else ''}"
        why = "no file is there now, or none that browsers play"
        click.echo(f"the page is without the video of {count(len(missing), 'clip')} ({which}): {why}", err=True)
