"""Shards, samples and the order of a run.

Shards, samples and the order follow from a hash of the clip; they do not depend on the machine or on other clips. When
clips are added, the other clips stay in their shards. If a run is stopped early, the clips that it has scored are a
random sample.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from robogaze.datasets import ManifestEntry
from robogaze.errors import OptionError, RunError

_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True)
class Shard:
    """Shard `number` (from 1) of `count`."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `3/8`. Raises OptionError for any other text, and for a number that is not between 1 and the count."""
        found = _SHARD.fullmatch(text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise OptionError(f"a shard is NUMBER/COUNT with NUMBER from 1 to COUNT, such as 3/8, not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def folder(self, run: Path) -> Path:
        """The folder of the shard. It is not inside the run folder but next to it, so that no clip is found twice in
        the run folder.
        """
        width = len(str(self.count))
        return shards_of(run) / f"{self.number:0{width}}-of-{self.count}"

    def of(self, entries: Sequence[ManifestEntry], root: Path) -> tuple[ManifestEntry, ...]:
        """The entries of this shard.

        An entry without clip_id is identified by its instruction and its path relative to `root`.
        """
        return tuple(entry for entry in entries if _number(_name(entry, root)) % self.count == self.number - 1)


def shards_of(run: Path) -> Path:
    """The folder of the shards of a run."""
    run = Path(os.path.abspath(run))  # the path `.` has no name
    return run.with_name(f"{run.name}.shards")


def written_shards(run: Path) -> tuple[Path, ...]:
    """The folders of those shards of a run whose scoring has started, in sorted order."""
    return tuple(sorted(path for path in shards_of(run).glob("*-of-*") if (path / "run.json").is_file()))


def check_count(run: Path, count: int) -> None:
    """Raise RunError if the run was already divided into a different number of shards; clips would be scored twice."""
    for path in written_shards(run):
        before = path.name.rpartition("-")[2]
        if before != f"{count}":
            raise RunError(
                f"{path.parent} contains {before} shards; either use {before} shards again, or remove the folder to "
                f"start over with {count} shards"
            )


def random_order(seed: int) -> Callable[[str], str]:
    """A sort key that puts clip ids in a random order, which depends only on the seed."""
    return lambda clip_id: sha256(f"{seed}\0{clip_id}".encode()).hexdigest()


def sample(entries: Sequence[ManifestEntry], limit: int, seed: int, root: Path) -> tuple[ManifestEntry, ...]:
    """A random sample of `limit` entries, in the order of `entries`. With the same seed, a larger sample contains every
    smaller sample.
    """
    order = random_order(seed)
    chosen = {id(entry) for entry in sorted(entries, key=lambda entry: order(_name(entry, root)))[:limit]}
    return tuple(entry for entry in entries if id(entry) in chosen)


def _name(entry: ManifestEntry, root: Path) -> str:
    return entry.clip_id or f"{Path(os.path.relpath(entry.path, root)).as_posix()}\0{entry.instruction or ''}"


def _number(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest()[:8])
