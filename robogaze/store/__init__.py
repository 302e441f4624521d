"""A run folder: what a run was, what it asked, what it found.

    run.json              the resolved configuration, without secrets, from the first clip on
    manifest.jsonl        the clips, in the order they came: where each lies, its fingerprint, what was given of it
    <clip id>/report.json one report a clip; with its evidence frames in <clip id>/frames/
    reports/<clip id>.json, frames/<clip id>/    the same in a flat run, which is made for many clips
    unreadable.json       the clips whose file could not be read, of every start
    calls.sqlite          every answer, and what the asking took (see `robogaze.backends.middleware.cache`)
    index.html            the report to look at
    run.lock, run.holder  held while a process works on the folder, and which process that is

A file is there whole or not at all, so a run that is killed at any moment is taken up where it was: a clip with a
report is done. What a killed write leaves behind (`.part-...`) is swept away by the next process. Two processes never
work on one folder. Files outside are named as seen from the folder, so that it does not matter where a command runs.
"""

from robogaze.store.files import file_name, write_whole
from robogaze.store.folder import RunFolder
from robogaze.store.manifest import ManifestLine
from robogaze.store.stored import FinishedRun, StoredRun, configuration_of, read_report, read_run

__all__ = [
    "FinishedRun",
    "ManifestLine",
    "RunFolder",
    "StoredRun",
    "configuration_of",
    "file_name",
    "read_report",
    "read_run",
    "write_whole",
]
