"""Parts of a run, and its order: both by a digest of the clip, so that neither depends on who asks or on the rest.

A clip belongs to one shard however many clips are added later, and a run that is stopped early has done a random
sample of its clips.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from robogaze.datasets import ManifestEntry
from robogaze.errors import RunError

_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `count` parts."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `3/8`. ValueError for another text, or a number that is not from 1 to the count."""
        found = _SHARD.fullmatch(text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"a shard is NUMBER/COUNT with NUMBER from 1 to COUNT, such as 3/8, not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def folder(self, run: Path) -> Path:
        """Where the shard of a run is written: beside the run, so that whoever reads the run meets no clip twice."""
        width = len(str(self.count))
        return shards_of(run) / f"{self.number:0{width}}-of-{self.count}"

    def of(self, entries: Sequence[ManifestEntry], root: Path) -> tuple[ManifestEntry, ...]:
        """The entries of this part; without a clip_id an entry goes by its instruction and its path from `root`."""
        return tuple(one for one in entries if _number(_name(one, root)) % self.count == self.number - 1)


def shards_of(run: Path) -> Path:
    """The folder that holds the shards of a run."""
    run = Path(os.path.abspath(run))  # `.` has no name of its own
    return run.with_name(f"{run.name}.shards")


def written_shards(run: Path) -> tuple[Path, ...]:
    """The shards of a run that were begun."""
    return tuple(sorted(path for path in shards_of(run).glob("*-of-*") if (path / "run.json").is_file()))


def check_count(run: Path, count: int) -> None:
    """Raise RunError when a run was cut into another number of parts before: its clips would be done twice."""
    for path in written_shards(run):
        before = path.name.rpartition("-")[2]
        if before != f"{count}":
            raise RunError(
                f"{path.parent} holds parts of {before}; go on with as many, or remove it to begin with {count}"
            )


def random_order(seed: int) -> Callable[[str], str]:
    """A key by which clip ids are in a random order, another one for every seed."""
    return lambda clip_id: sha256(f"{seed}\0{clip_id}".encode()).hexdigest()


def some(entries: Sequence[ManifestEntry], limit: int, seed: int, root: Path) -> tuple[ManifestEntry, ...]:
    """A random sample of so many entries, in their order; a larger one holds a smaller one of the same seed."""
    order = random_order(seed)
    chosen = {id(entry) for entry in sorted(entries, key=lambda entry: order(_name(entry, root)))[:limit]}
    return tuple(entry for entry in entries if id(entry) in chosen)


def _name(entry: ManifestEntry, root: Path) -> str:
    return entry.clip_id or f"{Path(os.path.relpath(entry.path, root)).as_posix()}\0{entry.instruction or ''}"


def _number(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:8])
