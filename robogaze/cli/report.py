"""`robogaze report`: the page of a run."""

from __future__ import annotations

from pathlib import Path

import click

from robogaze.cli.shared.pages import write_page
from robogaze.cli.shared.types import GivenPath


@click.command()
@click.argument("run", type=GivenPath(exists=True, file_okay=False))
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
