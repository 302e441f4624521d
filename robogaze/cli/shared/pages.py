"""Writes the pages of run folders, and prints what is missing from a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.domains import Domain
    from robogaze.reporting.pages.bundles import WrittenPage
    from robogaze.run.execute import ScoringRun


def write_page_of(run: ScoringRun) -> Path | None:
    """Write the page of a run, unless it is up to date; None if there is nothing to show."""
    from robogaze.store import StoredRun

    if run.folder is None or StoredRun(run.folder.root).is_empty:
        return None
    path = run.folder.root / "index.html"
    return path if _is_current(path) else write_page(run.folder.root, run.setup.domain)


def _is_current(page: Path) -> bool:
    """Whether a run folder's page is newer than its clips, its unreadable clips and its reports."""
    if not page.is_file():
        return False
    shown = [page.with_name(name) for name in ("manifest.jsonl", "unreadable.json", "reports")]
    return all(path.stat().st_mtime_ns <= page.stat().st_mtime_ns for path in shown if path.exists())


def write_page(root: Path, domain: Domain) -> Path:
    """Write the page of a run folder and return its path. Print on stderr what is missing from the page."""
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
