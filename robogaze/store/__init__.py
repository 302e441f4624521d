"""A run folder: the configuration of a run, its clips, reports, frames and answers.

    run.json                   the resolved configuration, without secrets
    manifest.jsonl             the clips, in order: path, hash, and everything that a report depends on
    reports/<clip id>.json     a report for each scored clip
    frames/<clip id>/*.jpg     the frames that a report shows, and other pictures that are evidence
    unreadable.json            the clips whose file could not be read, including those of earlier starts
    calls.sqlite               every answer, and the calls and cost so far (see `robogaze.backends.middleware.cache`)
    index.html                 the page
    run.lock, run.holder       the lock of the process that uses the folder, and its process id

A file is written completely or not at all, so a run that is killed at any moment can be resumed: a clip with a report
is finished. The next process removes the temporary files (`.part-...`) of a killed write. Only one process at a time
uses a folder. Paths to files outside the folder are relative to the folder, not to the working directory.
"""

from robogaze.store.files import file_name, write_whole
from robogaze.store.folder import RunFolder
from robogaze.store.manifest import ManifestLine
from robogaze.store.stored import StoredRun, configuration_of

__all__ = [
    "ManifestLine",
    "RunFolder",
    "StoredRun",
    "configuration_of",
    "file_name",
    "write_whole",
]
