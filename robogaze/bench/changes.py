"""What became of a manifest since its run began."""

from collections.abc import Sequence
from dataclasses import dataclass

from robogaze.bench.plan import RunPlan
from robogaze.errors import RunError
from robogaze.store import RunFolder


@dataclass(frozen=True)
class Changes:
    """The clips (by id) that are new, and those of the run that the manifest no longer lists."""

    new: Sequence[str] = ()
    gone: Sequence[str] = ()


def changes(stock: RunPlan, run: RunFolder) -> Changes:
    """What differs between the clips there are and the run's own list; nothing for a run that begins.

    Raises RunError when a clip that is done was replaced by another file under its name: the run would hold what was
    found of both.
    """
    known = {line.clip_id: line for line in run.lines}
    if not known:
        return Changes()
    gone = [clip_id for clip_id in known if clip_id not in stock.clips]
    there = {run.address(clip.entry.path): clip.line for clip in stock.clips.values()}
    for clip_id in gone:
        line = known[clip_id]
        now = there.get(line.path)
        if now is not None and now.sha256 != line.sha256 and run.stored.has_report(clip_id):
            raise RunError(
                f"{now.path} was replaced since {run.root} began, which holds a report of the old file; choose "
                "another --out"
            )
    return Changes([clip_id for clip_id in stock.clips if clip_id not in known], gone)
