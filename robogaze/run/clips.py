"""Lists the clips in the given paths: videos, folders of videos, manifests, and every layout that `datasets` reads."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import isdir, isfile  # the methods of Path raise an error for a name that is too long
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from robogaze.core.clip import Layout
from robogaze.core.data import first_fault
from robogaze.datasets import ManifestEntry, find_entries
from robogaze.datasets.layouts.base import OTHER_VIDEOS, VIDEOS
from robogaze.datasets.layouts.importer import NoClips, import_clips, lists_clips
from robogaze.datasets.manifest import UnusableEntry, with_given, with_ids
from robogaze.errors import OptionError
from robogaze.reporting.wording import count

_log = logging.getLogger("robogaze")


@dataclass(frozen=True)
class ClipList:
    """Clips in the order in which they were given.

    Samples and shards identify clips by their paths relative to `root`. `is_whole` is True if the clips come from a
    single folder or manifest. They are then all clips of the run.
    """

    entries: tuple[ManifestEntry, ...]
    root: Path
    is_whole: bool


def list_clips(paths: Sequence[Path], **given: Any) -> ClipList:
    """List the clips of videos, manifests (.jsonl), and folders or files in a layout that `dataset import` reads.

    The fields in `given` (instruction, initial_frame, layout) apply to all clips. Raises InputError for a single folder
    without clips. If several paths are given, a folder without clips counts as one unreadable clip, and so does a file
    that lists clips. Raises OptionError for a path with archives.
    """
    found: list[ManifestEntry] = []
    for path in paths:
        if not (isdir(path) or (len(paths) == 1 and _may_be_a_list(path))):
            found += _file_among_others(path)
            continue
        try:
            found += _imported(path)
        except NoClips:
            if len(paths) == 1:
                raise
            found += find_entries([path])
    is_whole = len(paths) == 1 and (isdir(paths[0]) or paths[0].suffix.lower() not in (*VIDEOS, *OTHER_VIDEOS))
    parents = [os.path.dirname(os.path.abspath(path)) for path in paths]
    return ClipList(with_ids(with_given(found, **given)), Path(os.path.commonpath(parents)), is_whole)


def _may_be_a_list(path: Path) -> bool:
    return isfile(path) and path.suffix.lower() not in (".jsonl", *VIDEOS, *OTHER_VIDEOS)


def _file_among_others(path: Path) -> tuple[ManifestEntry, ...]:
    # A sidecar may look like a table, so a file among other paths is not read as a list.
    if _may_be_a_list(path) and lists_clips(path):
        reason = "a list of clips must be the only PATH, or be imported first (robogaze dataset import)"
        return (UnusableEntry(path=path, fault=f"{path} is not a video; {reason}"),)
    return find_entries([path])


def parse_layout(text: str) -> Layout:
    """Read `single` or `ROWSxCOLUMNS:name,name,...`. Raises OptionError if the text has another form."""
    try:
        return Layout.parse(text)
    except ValidationError as error:
        raise OptionError(first_fault(error)[1]) from error
    except ValueError as error:
        raise OptionError(str(error)) from error


def _imported(path: Path) -> tuple[ManifestEntry, ...]:
    found = import_clips(path)
    if found.packed:
        raise OptionError(f"{path} contains archives; unpack them first: robogaze dataset import {path}")
    clips = count(len(found.entries), "clip")
    ignored = f", {count(len(found.ignored), 'file')} ignored (robogaze dataset import says why)"
    ignored = ignored if found.ignored else ""
    _log.info("%s: %s, layout %s%s", path, clips, found.layout, ignored)
    return found.entries
