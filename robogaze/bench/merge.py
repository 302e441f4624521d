"""Joining runs: the shards of one run become that run.

What is joined must have been done the same way. A clip that several have is kept once: the more complete report wins,
and of two that are equally complete the first. Nothing is taken away from where it was.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.backends import AnswerStore
from robogaze.core.report import Status, Unreadable
from robogaze.errors import RunError
from robogaze.store import ManifestLine, RunFolder, StoredRun, configuration_of

_SHARD = "shard"
_FURTHER: tuple[Status, ...] = ("unscored", "partial", "complete")


@dataclass(frozen=True)
class MergeResult:
    """What was joined: the runs, their clips with and without a report, those several had, and the shards that lack.

    `incomplete` are the clips with a report that is partial or unscored.
    """

    runs: int
    clips: int
    reports: int
    repeated: int
    unreadable: int
    missing: tuple[str, ...]
    incomplete: int


def merge(sources: Sequence[Path], out: Path) -> MergeResult:
    """Join runs into `out`, which may hold an earlier merge.

    Raises RunError for a folder without a run, for runs that were done differently, for shards of different counts, and
    for a clip id that stands for different clips.
    """
    if any(source.resolve() == out.resolve() for source in sources):
        raise RunError(f"{out} cannot be joined into itself; choose another --out")
    configurations = [_configuration(source) for source in sources]
    shards = [one.pop(_SHARD, None) for one in configurations]
    first = configurations[0]
    for source, other in zip(sources, configurations, strict=True):
        if differing := [key for key in sorted({*first, *other}) if first.get(key) != other.get(key)]:
            raise RunError(f"{sources[0]} and {source} were done differently ({', '.join(differing)} in run.json)")
    missing = _missing(shards)
    told = {key: value for key, value in first.items() if key != "layout"}
    with RunFolder(out, told, flat=True) as run:
        repeated = sum(_take(StoredRun.at(source), run) for source in sources)
        _join_answers([source / "calls.sqlite" for source in sources], run.answers)
        digests = [found for line in run.lines if (found := run.stored.digest(line.clip_id)) is not None]
        _join_unreadable(sources, run)
    reports, incomplete = len(digests), sum(one.status != "complete" for one in digests)
    return MergeResult(
        len(sources), len(run.lines), reports, repeated, len(StoredRun.at(out).unreadable), missing, incomplete
    )


def _configuration(source: Path) -> dict[str, Any]:
    found = configuration_of(source)
    if not found:
        raise RunError(f"{source} holds no run: it has no run.json")
    return found


def _missing(shards: Sequence[str | None]) -> tuple[str, ...]:
    """The shards that lack, as `3/8`; none where runs are joined that are no shards."""
    counts = {shard.partition("/")[2] for shard in shards if shard is not None}
    if not counts:
        return ()
    if len(counts) > 1 or None in shards:
        raise RunError("shards of different counts, or shards and whole runs, cannot be joined: they share clips")
    count = int(counts.pop())
    return tuple(name for number in range(1, count + 1) if (name := f"{number}/{count}") not in shards)


def _take(source: StoredRun, run: RunFolder) -> int:
    """Put the clips of a run into another; how many were there already."""
    repeated, lines = 0, [_moved(line, source.root, run) for line in source.lines]
    run.enter(*lines)
    for line in lines:
        mine, theirs = run.stored.digest(line.clip_id), source.digest(line.clip_id)
        repeated += int(mine is not None and theirs is not None)
        if theirs is not None and (mine is None or _FURTHER.index(theirs.status) > _FURTHER.index(mine.status)):
            run.keep_written(line.clip_id, source.report_path(line.clip_id).read_bytes(), source.frames(line.clip_id))
    return repeated


def _join_unreadable(sources: Sequence[Path], run: RunFolder) -> None:
    """What no run could read; an earlier join's list is forgotten."""
    read = {line.path for line in run.lines if run.stored.has_report(line.clip_id)}
    found = [_elsewhere(one, source, run) for source in sources for one in StoredRun.at(source).unreadable]
    run.keep_unreadable([one for one in found if one.uri not in read], listed=())


def _moved(line: ManifestLine, source: Path, run: RunFolder) -> ManifestLine:
    return line.with_(path=run.address(Path(os.path.normpath(source / line.path))))


def _elsewhere(one: Unreadable, source: Path, run: RunFolder) -> Unreadable:
    return one.with_(uri=run.address(Path(os.path.normpath(source / one.uri))))


def _join_answers(sources: Sequence[Path], into: Path) -> None:
    """Put the answers of runs together, and what was spent on them, so that the merged run can be gone on with."""
    there = [path for path in sources if path.is_file()]
    if there:
        store = AnswerStore(into)
        try:
            for path in there:
                store.merge(path)
        finally:
            store.close()
