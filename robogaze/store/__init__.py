"""A run folder: the configuration of a run, its clips, reports, frames and answers.

    run.json                   the resolved configuration, without secrets
    manifest.jsonl             the clips, in order: path, fingerprint, and what a report depends on
    reports/<clip id>.json     a report for each scored clip
    frames/<clip id>/*.jpg     the frames that a report shows, and other pictures that are evidence
    unreadable.json            the clips whose file could not be read, of every start
    calls.sqlite               every answer, and what was spent (see `robogaze.backends.middleware.cache`)
    index.html                 the page
    run.lock, run.holder       held while a process works on the folder, and its process id

Files are written whole or not at all, so a run that is killed at any moment can be resumed: a clip with a report is
finished. What a killed write leaves behind (`.part-...`) is removed by the next process. Two processes never work on
the same folder. Paths of files outside are relative to the folder, whatever the working directory.
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
