"""`robogaze report`: a run, or a comparison of runs, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from robogaze.domains import Domain
    from robogaze.reporting.compared import ComparisonPageData

COMPARISON = "comparison.json"
"""The file by which a comparison's folder is told from a run's."""


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN|COMPARISON")
@click.option("--domain", help="The folder of the reports' domain, if it is not a built-in one.")
def report(folder: Path, domain: str | None) -> int:
    """Write index.html again: of a run, from the reports in RUN; of a comparison, from what `compare --out` left.

    The page needs no network and no server. A large one keeps clips in the folder `page` beside it.
    """
    click.echo(_comparison(folder, domain) if (folder / COMPARISON).is_file() else _run(folder, domain))
    return 0


def _run(root: Path, domain: str | None) -> Path:
    from robogaze.domains import default_domain, load_domain
    from robogaze.errors import InputError
    from robogaze.store import StoredRun

    run = StoredRun(root)
    first = next((found for line in run.lines if (found := run.report(line.clip_id)) is not None), None)
    if first is None and not run.unreadable:
        raise InputError(
            f"{root} holds no report and no comparison; a run writes reports, `robogaze compare --out` a {COMPARISON}"
        )
    spoken = default_domain() if first is None else first.domain.id
    return write_page(root, load_domain(domain or spoken))


def _comparison(root: Path, domain: str | None) -> Path:
    from pydantic_core import from_json

    from robogaze.errors import InputError
    from robogaze.reporting.compared import FILE, read_shown

    shown = read_shown(root / FILE)
    try:
        told = from_json((root / COMPARISON).read_bytes())
    except ValueError as error:
        raise InputError(f"{root / COMPARISON} is damaged: {error}; write the comparison again") from error
    names = [run.get("name") for run in told.get("runs", [])] if isinstance(told, dict) else []
    if names != [run.name for run in shown.runs]:
        raise InputError(f"{root / COMPARISON} and {FILE} do not hold the same runs; write the comparison again")
    return write_comparison(root, told, shown, domain)


def write_page(root: Path, domain: Domain) -> Path:
    """Write a run's page and return its path; what the page lacks is said on stderr."""
    from robogaze.reporting.html import Page, run_files
    from robogaze.reporting.videos import video_sources
    from robogaze.store import StoredRun

    run = StoredRun(root)
    done = [line for line in run.lines if run.has_report(line.clip_id)]
    paths = {line.clip_id: root.resolve() / line.path for line in done}
    videos = video_sources(paths, root, {line.clip_id: line.sha256 for line in done})
    reports = (found for line in done if (found := run.report(line.clip_id)) is not None)
    pages = (Page(one, videos[one.clip.id], run.frames(one.clip.id)) for one in reports)
    path = _written(root, run_files(pages, run.unreadable, domain, title=root.resolve().name))
    _tell(videos, paths)
    return path


def write_comparison(root: Path, told: Mapping[str, Any], shown: ComparisonPageData, domain: str | None) -> Path:
    """Write a comparison's page and return its path; what the page lacks is said on stderr."""
    from robogaze.reporting.comparison_page import clip_key, comparison_files
    from robogaze.reporting.videos import video_sources

    clips = {clip_key(place, clip.id): clip for place, run in enumerate(shown.runs) for clip in run.clips.values()}
    paths = {key: root / clip.video for key, clip in clips.items() if clip.video is not None}
    videos = video_sources(paths, root, {key: clip.video_sha256 for key, clip in clips.items()})
    title = root.resolve().name
    path = _written(root, comparison_files(told, shown, videos, _words(shown, domain), title))
    _tell(videos, paths)
    return path


def _words(shown: ComparisonPageData, domain: str | None) -> Domain | None:
    """The domain whose words the runs speak in: the one that was named, or the built-in one of the same taxonomy."""
    from robogaze.domains import domain_folders, load_domain

    if domain is not None:
        return load_domain(domain)
    known = (load_domain(name) for name in domain_folders())
    return next((one for one in known if shown.taxonomies == {one.ref.taxonomy}), None)


def _written(root: Path, files: Iterable[tuple[str, str]]) -> Path:
    """Write the files of a page and return the last, which is the page; what an earlier one left beside it goes."""
    from robogaze.reporting.bundles import FOLDER
    from robogaze.store import write_whole

    written = []
    for name, text in files:
        write_whole(root / name, text)
        written.append(root / name)
    for old in (root / FOLDER).glob("*.js"):
        if old not in written:
            old.unlink()
    return written[-1]


def _tell(sources: Mapping[str, str | None], videos: Mapping[str, Path]) -> None:
    from robogaze.reporting.videos import EMBED_LIMIT_BYTES, is_linked
    from robogaze.reporting.wording import count

    if linked := sum(is_linked(source) for source in sources.values()):
        why = f"together they are larger than {EMBED_LIMIT_BYTES / 2**20:.0f} MiB"
        click.echo(f"the page links to {count(linked, 'video')} and does not carry them: {why}", err=True)
    if missing := [name for name, source in sources.items() if source is None]:
        which = f"{videos[missing[0]].name}{', ...' if len(missing) > 1 else ''}"
        why = "no file is there now, another one, or none that browsers play"
        click.echo(f"the page is without the video of {count(len(missing), 'clip')} ({which}): {why}", err=True)
