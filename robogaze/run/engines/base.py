"""The protocol of an engine, and the work that every engine does with a clip."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from robogaze.backends import AnswerStore, Models
from robogaze.core.key_frames import frames_to_show, pictures_to_show
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, diagnose, open_clip
from robogaze.errors import VideoError
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline
from robogaze.threads import on_core

_THUMBNAIL_PX, _THUMBNAIL_VIEW_PX = 480, 320
"""The longer side of a stored frame with one view, and of each view of a stored frame with several views."""

Decoded = Callable[[str, float], None]
"""Takes a clip's id and its decoded share (NaN if the file does not state its length)."""


@dataclass(frozen=True)
class ClipTask:
    """A clip to diagnose."""

    clip_id: str
    entry: ManifestEntry


@dataclass(frozen=True)
class Result:
    """The report of a clip, or why the clip is unreadable.

    `frames`, keyed by frame number, and `pictures`, keyed by id, are JPEG images of its events and hypotheses.
    """

    clip_id: str
    report: Report | None = None
    frames: Mapping[int, bytes] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    unreadable: str | None = None


@dataclass(frozen=True)
class EngineContext:
    """Everything that an engine needs. `models` and `answers` are None if the pipeline uses no model."""

    setup: RunSetup
    options: RunOptions
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    models: Models | None = None
    answers: AnswerStore | None = None
    on_decoded: Decoded | None = None


class Engine(Protocol):
    """Diagnoses clips in one or several processes. Made from an `EngineContext`; nothing is started before `run`."""

    def run(self, tasks: Sequence[ClipTask]) -> AsyncGenerator[Result, None]:
        """Diagnose clips, roughly in their order, and yield each result as soon as it is known.

        If the run must stop early, RunStopped is raised at the end; the next start scores the clips without a result.
        Errors of the program, the disk or the domain are raised at once.
        """


@dataclass(frozen=True)
class ClipWorker:
    """Diagnoses a clip. With the same answers, a clip has the same result on every engine."""

    pipeline: Pipeline
    models: Models | None = None
    decoder: str = "pyav"
    on_decoded: Decoded | None = None

    async def __call__(self, task: ClipTask, decoding: asyncio.Semaphore) -> Result:
        """Diagnose a clip; `decoding` limits the number of clips that are decoded at the same time. Raises RunStopped
        if the run must stop.
        """
        with ExitStack() as stack:
            try:
                async with decoding:
                    watch = None if self.on_decoded is None else partial(self.on_decoded, task.clip_id)
                    entry = task.entry.with_(clip_id=task.clip_id)
                    opening = open_clip(entry, self.pipeline, self.models, self.decoder, watch)
                    opened = await on_core(stack.enter_context, opening)
                report = await diagnose(opened, self.pipeline, self.models)
                frames = await on_core(_thumbnails, opened, frames_to_show(report))
            except VideoError as error:
                return Result(task.clip_id, unreadable=str(error))
            pictures = _evidence_pictures(opened, pictures_to_show(report))
            return Result(task.clip_id, report, frames, pictures)


def _thumbnails(opened: OpenClip, frames: Sequence[int]) -> dict[int, bytes]:
    side = _THUMBNAIL_PX if len(opened.clip.layout.active) == 1 else _THUMBNAIL_VIEW_PX
    opened.decoded.make_pictures(frames)
    return {number: opened.decoded.thumbnail(number, side) for number in frames}


def _evidence_pictures(opened: OpenClip, names: Sequence[str]) -> dict[str, bytes]:
    made = opened.decoded.evidence_pictures
    return {name: bytes(made[name]) for name in names if name in made}
