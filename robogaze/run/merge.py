"""Merges runs, such as the shards of a run.

Runs are merged only if their configurations are equal. If a clip is in several runs, only its most complete report is
kept. Of equally complete reports, the first is kept. The merged runs are not changed.
"""

import os
from collections.abc import Sequence
from contextlib import closing
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
    """Counts of a merge.

    `repeated` counts the clips with a report in several runs, `incomplete` the reports that are partial or unscored.
    `missing` are the missing shards, as `3/8`.
    """

    runs: int
    clips: int
    reports: int
    repeated: int
    unreadable: int
    missing: tuple[str, ...]
    incomplete: int


def merge(sources: Sequence[Path], out: Path) -> MergeResult:
    """Merge runs into `out`, which may contain an earlier merge. The clips of an earlier merge are kept. However, if
    the runs are all shards of a run, clips without a report that no shard lists any more leave `out`.

    Raises RunError if a folder contains no run, if runs differ in their configuration or in their number of shards, or
    if two different clips have the same id.
    """
    if any(source.resolve() == out.resolve() for source in sources):
        raise RunError(f"{out} cannot be merged into itself; choose another `out`")
    configurations = [_configuration(source) for source in sources]
    shards = [configuration.pop(_SHARD, None) for configuration in configurations]
    first = configurations[0]
    for source, other in zip(sources, configurations, strict=True):
        if differing := [key for key in sorted({*first, *other}) if first.get(key) != other.get(key)]:
            raise RunError(
                f"{sources[0]} and {source} have different configurations ({', '.join(differing)} in run.json)"
            )
    missing = _missing(shards)
    with RunFolder(out, first) as run:
        run.remove_page()
        repeated = sum(_merge_clips(StoredRun(source), run) for source in sources)
        _merge_answers([source / "calls.sqlite" for source in sources], run.answers)
        _merge_unreadable(sources, run)
        if any(shards) and not missing:
            listed = {line.clip_id for source in sources for line in StoredRun(source).lines}
            run.drop([line.clip_id for line in run.lines if line.clip_id not in listed])
        merged = StoredRun(out)
        summaries = [found for line in merged.scored if (found := merged.summary(line.clip_id)) is not None]
    reports, incomplete = len(summaries), sum(summary.status != "complete" for summary in summaries)
    return MergeResult(len(sources), len(run.lines), reports, repeated, len(merged.unreadable), missing, incomplete)


def _configuration(source: Path) -> dict[str, Any]:
    found = configuration_of(source)
    if not found:
        raise RunError(f"{source} is not a run folder: it has no run.json")
    return found


def _missing(shards: Sequence[str | None]) -> tuple[str, ...]:
    """The missing shards, as `3/8`; none if whole runs are merged."""
    counts = {shard.partition("/")[2] for shard in shards if shard is not None}
    if not counts:
        return ()
    if len(counts) > 1 or None in shards:
        raise RunError(
            "cannot merge shards with different counts, or shards together with whole runs, because they share "
            "clips; give only shards with the same count, or only whole runs"
        )
    count = int(counts.pop())
    return tuple(name for number in range(1, count + 1) if (name := f"{number}/{count}") not in shards)


def _merge_clips(source: StoredRun, run: RunFolder) -> int:
    """Add the clips of a run to another run; return the number of clips with a report in both."""
    repeated, lines = 0, [_moved(line, source.root, run) for line in source.lines]
    run.add(*lines)
    for line in source.scored:
        mine, theirs = run.stored.summary(line.clip_id), source.summary(line.clip_id)
        repeated += int(mine is not None and theirs is not None)
        if theirs is not None and (mine is None or _FURTHER.index(theirs.status) > _FURTHER.index(mine.status)):
            report, shown = source.report_path(line.clip_id).read_bytes(), source.frames(line.clip_id)
            run.write_bytes(line.clip_id, report, shown, source.pictures(line.clip_id))
    return repeated


def _merge_unreadable(sources: Sequence[Path], run: RunFolder) -> None:
    """Store the clips that no run could read; the list of an earlier merge is dropped."""
    scored = {
        (_moved(line, source, run).address, clip_id)
        for source in sources
        for line in StoredRun(source).scored
        for clip_id in (line.clip_id, None)
    }
    found = [_readdressed(clip, source, run) for source in sources for clip in StoredRun(source).unreadable]
    lost = [clip for clip in found if (clip.uri, clip.clip_id) not in scored]
    run.write_unreadable(lost, listed=())


def _moved(line: ManifestLine, source: Path, run: RunFolder) -> ManifestLine:
    return line.with_(path=run.address(Path(os.path.normpath(source / line.path))))


def _readdressed(clip: Unreadable, source: Path, run: RunFolder) -> Unreadable:
    return clip.with_(uri=run.address(Path(os.path.normpath(source / clip.uri))))


def _merge_answers(sources: Sequence[Path], into: Path) -> None:
    """Copy the answers of runs and their calls and cost, so that the merged run can be resumed."""
    present = [path for path in sources if path.is_file()]
    if present:
        with closing(AnswerStore(into)) as store:
            for path in present:
                store.merge(path)
