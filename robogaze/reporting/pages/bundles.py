"""Where the data of a page's clips lies: in the page while that is small, in files beside it from then on.

A browser reads a page from its first sign to its last before the list can be used. What is shown of a clip only when
it is opened would make it wait; so beyond a limit it goes into files, several clips in each, which the page loads when
they are wanted. A page from disk may not read files, but may run scripts; so such a file is a script: one call, with
the data as one text.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

IN_PAGE_SIGNS = 24 * 2**20
"""The most data that a page holds itself: see `scripts/bench/page.py` for what more of it costs."""

BUNDLE_SIGNS = 4 * 2**20
"""How much a file beside the page holds, in whole clips."""

FOLDER = "page"
"""The folder of these files, beside the page."""


@dataclass(frozen=True)
class Bundle:
    """JSON texts by key; `file` is the address of the file they lie in, None for the page itself."""

    file: str | None
    data: Mapping[str, str]

    @property
    def text(self) -> str:
        """What stands in the file."""
        members = ",".join(f"{json.dumps(key)}:{text}" for key, text in self.data.items())
        whole = f"{{{members}}}"
        return f"bundleArrived({json.dumps(self.file)}, {json.dumps(whole, ensure_ascii=False)});\n"


def bundles(data: Iterable[tuple[str, str]]) -> Iterator[Bundle]:
    """Keys and JSON texts in bundles: one in the page, or as many files as it takes.

    No more than the limit and a bundle are held at a time.
    """
    held: dict[str, str] = {}
    rest = iter(data)
    size = 0
    for key, text in rest:
        held[key] = text
        size += len(text)
        if size > IN_PAGE_SIGNS:
            break
    if size <= IN_PAGE_SIGNS:
        yield Bundle(None, held)
        return
    yield from _files(_both(held, rest))


def _both(held: dict[str, str], rest: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    while held:
        key = next(iter(held))
        yield key, held.pop(key)
    yield from rest


def _files(data: Iterable[tuple[str, str]]) -> Iterator[Bundle]:
    held: dict[str, str] = {}
    size = number = 0
    for key, text in data:
        if held and size + len(text) > BUNDLE_SIGNS:
            yield Bundle(f"{FOLDER}/{number:03}.js", held)
            held, size, number = {}, 0, number + 1
        held[key] = text
        size += len(text)
    yield Bundle(f"{FOLDER}/{number:03}.js", held)
