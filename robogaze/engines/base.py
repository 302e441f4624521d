"""What an engine is, and the one thing all engines do with a clip."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from robogaze.backends import Models
from robogaze.core.key_frames import frames_to_show
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, diagnose, open_clip
from robogaze.errors import RunStopped, VideoError
from robogaze.stages.pipeline import Pipeline
from robogaze.threads import in_thread

_THUMBNAIL_PX, _THUMBNAIL_VIEW_PX, _THUMBNAIL_MOST_PX = 480, 320, 1280
"""The longer side of a frame kept beside a report; of several views side by side, for each of them; and the most."""


@dataclass(frozen=True)
class Task:
    """A clip to diagnose."""

    clip_id: str
    entry: ManifestEntry


@dataclass(frozen=True)
class Result:
    """What became of a clip: its report with the frames that show it (JPEG, by number), or why it cannot be read."""

    clip_id: str
    report: Report | None = None
    frames: Mapping[int, bytes] = field(default_factory=dict)
    unreadable: str | None = None


class Engine(Protocol):
    """Where clips are diagnosed."""

    async def run(self, tasks: Sequence[Task], keep: Callable[[Result], None]) -> RunStopped | None:
        """Diagnose clips, about in their order, and give each to `keep` as soon as it is done.

        Returns why it stopped before the end, None when it did not: a clip that was not kept is left to the next
        start. What is the program's, the disk's or the domain's own fault is raised.
        """


@dataclass(frozen=True)
class ClipWorker:
    """What is done with each clip; the same clip and the same answers give the same result wherever it is done.

    `on_decoded` is given a clip's id with the share of it that is decoded (NaN: the file does not say how long it is),
    in the thread that decodes.
    """

    pipeline: Pipeline
    models: Models | None = None
    decoder: str = "pyav"
    on_decoded: Callable[[str, float], None] | None = None

    async def __call__(self, task: Task, decoding: asyncio.Semaphore) -> Result:
        """Diagnose a clip; one of those `decoding` at a time is decoded. Raises RunStopped when the run ends here."""
        with ExitStack() as stack:
            try:
                async with decoding:
                    watch = None if self.on_decoded is None else partial(self.on_decoded, task.clip_id)
                    opening = open_clip(
                        task.entry.with_(clip_id=task.clip_id), self.pipeline, self.models, self.decoder, watch
                    )
                    opened = await in_thread(stack.enter_context, opening)
            except VideoError as error:
                return Result(task.clip_id, unreadable=str(error))
            report = await diagnose(opened, self.pipeline, self.models)
            frames = await in_thread(_thumbnails, opened, frames_to_show(report))
            return Result(task.clip_id, report, frames)


def _thumbnails(opened: OpenClip, frames: Sequence[int]) -> dict[int, bytes]:
    side = min(max(_THUMBNAIL_PX, _THUMBNAIL_VIEW_PX * len(opened.clip.layout.active)), _THUMBNAIL_MOST_PX)
    return {number: opened.footage.thumbnail(number, side) for number in frames}
