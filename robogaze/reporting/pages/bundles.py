"""The files of a page: a small page contains the data of its clips, a large page loads it from files next to it.

A browser parses a whole page before its list can be used. Beyond a limit, the data that is shown only when a clip is
opened therefore goes into files of several clips each, which the page loads on demand. A page opened from disk cannot
read files but can run scripts, so each file is a script: one call, with the data as a string.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from robogaze.store import write_whole

IN_PAGE_CHARACTERS = 24 * 2**20
"""The most data in the page itself; `scripts/bench/page.py` measures the cost of more."""

BUNDLE_CHARACTERS = 4 * 2**20
"""The size of a file next to the page, in whole clips."""

FOLDER = "page"
"""The folder of these files."""


@dataclass(frozen=True)
class Bundle:
    """JSON texts by key. `file` is the address of the file that contains them; it is None if the page itself contains
    them.
    """

    file: str | None
    data: Mapping[str, str]

    @property
    def text(self) -> str:
        """The content of the file."""
        members = ",".join(f"{json.dumps(key)}:{text}" for key, text in self.data.items())
        whole = f"{{{members}}}"
        return f"bundleArrived({json.dumps(self.file)}, {json.dumps(whole, ensure_ascii=False)});\n"


def bundles(data: Iterable[tuple[str, str]]) -> Iterator[Bundle]:
    """Group keys and JSON texts into bundles: a single bundle in the page itself, or as many files as needed.

    At any time, the texts in memory are not much larger than IN_PAGE_CHARACTERS and one bundle together.
    """
    held: dict[str, str] = {}
    rest = iter(data)
    size = 0
    for key, text in rest:
        held[key] = text
        size += len(text)
        if size > IN_PAGE_CHARACTERS:
            break
    if size <= IN_PAGE_CHARACTERS:
        yield Bundle(None, held)
        return
    yield from _files(chain(held.items(), rest))


def _files(data: Iterable[tuple[str, str]]) -> Iterator[Bundle]:
    held: dict[str, str] = {}
    size = number = 0
    for key, text in data:
        if held and size + len(text) > BUNDLE_CHARACTERS:
            yield Bundle(f"{FOLDER}/{number:03}.js", held)
            held, size, number = {}, 0, number + 1
        held[key] = text
        size += len(text)
    yield Bundle(f"{FOLDER}/{number:03}.js", held)


@dataclass(frozen=True)
class WrittenPage:
    """The path of a written page. `notes` are sentences that say what the page lacks."""

    path: Path
    notes: tuple[str, ...]


def write_files(folder: Path, files: Iterable[tuple[str, str]]) -> Path:
    """Write the files of a page and delete older bundles. The last file is the page itself; its path is returned."""
    written = []
    for name, text in files:
        write_whole(folder / name, text)
        written.append(folder / name)
    for path in (folder / FOLDER).glob("*.js"):
        if path not in written:
            path.unlink()
    return written[-1]
