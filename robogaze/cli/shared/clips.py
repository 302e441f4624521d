"""Clips that a command line names: videos, folders of videos, manifests."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from os.path import isdir, isfile, lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.core.clip import Layout
    from robogaze.datasets import ManifestEntry

LAYOUT = "'single', or 'ROWSxCOLUMNS:name,name,...' for views in a grid, - for an empty panel."
"""The help of --layout."""

_LOOKED_AT = 10_000
"""How many names of a folder are compared with a mistyped one."""


def check_there(*paths: Path) -> None:
    """Raise InputError when none of the paths exists: before anything is loaded or written."""
    from robogaze.errors import InputError

    if not any(lexists(path) for path in paths):
        raise InputError("; ".join(f"{path} does not exist{_meant(path)}" for path in paths[:3]))


def _meant(path: Path) -> str:
    """The name in the same folder that was probably meant; empty without one."""
    try:
        names = [other.name for other in islice(path.parent.iterdir(), _LOOKED_AT)]
    except OSError:
        return ""
    close = get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.with_name(close[0])}?" if close else ""


def layout_of(text: str | None) -> Layout | None:
    """What --layout says. Raises BadParameter with one sentence."""
    from pydantic import ValidationError

    from robogaze.core.clip import Layout
    from robogaze.core.data import first_fault

    try:
        return None if text is None else Layout.parse(text)
    except ValidationError as error:
        raise click.BadParameter(first_fault(error)[1], param_hint="--layout") from error
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--layout") from error


def entries_of(paths: Sequence[Path], **given: Any) -> tuple[ManifestEntry, ...]:
    """The clips of videos, manifests (.jsonl), and what else `dataset import` reads, such as folders of videos.

    What is `given` holds for all. A folder without clips among several paths is left to be reported as unreadable.
    """
    from robogaze.datasets import find_entries
    from robogaze.datasets.layouts.base import OTHER_VIDEOS, VIDEOS
    from robogaze.datasets.layouts.importer import NoClips
    from robogaze.datasets.manifest import with_given, with_ids

    found: list[ManifestEntry] = []
    for path in paths:
        video = path.suffix.lower() in (".jsonl", *VIDEOS, *OTHER_VIDEOS)
        if not (isdir(path) or (len(paths) == 1 and isfile(path) and not video)):
            found += find_entries([path])
            continue
        try:
            found += _imported(path)
        except NoClips:
            if len(paths) == 1:
                raise
            found += find_entries([path])
    return with_ids(with_given(found, **given))


def _imported(path: Path) -> tuple[ManifestEntry, ...]:
    from robogaze.datasets.layouts.importer import import_clips
    from robogaze.reporting.wording import count

    found = import_clips(path)
    if found.packed:
        raise click.UsageError(f"{path} holds archives; unpack them first: robogaze dataset import {path}")
    left = f", {count(len(found.ignored), 'file')} ignored (robogaze dataset import says why)" if found.ignored else ""
    click.echo(f"{count(len(found.entries), 'clip')} in {path}, layout {found.layout}{left}", err=True)
    return found.entries
