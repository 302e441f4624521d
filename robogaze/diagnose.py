"""From a clip to a report.

    clip -> frames -> evidence -> context -> hypotheses -> verdicts -> events -> report

`open_clip` decodes a clip once and measures it on the way; `diagnose` runs a pipeline over it and writes down what
was found, what was not examined, and what every model was shown.
"""

import math
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from robogaze import __version__
from robogaze.backends import Models
from robogaze.core.clip import Clip
from robogaze.core.report import Provenance, Report
from robogaze.core.time import runs
from robogaze.datasets import ManifestEntry, file_sha256
from robogaze.evidence import ClipSignals, SignalRecorder, load_extractors
from robogaze.media import DecodedClip, check_whole, decode_clip
from robogaze.media.decode_pyav import length_s
from robogaze.media.decoded_clip import Observer
from robogaze.stages import Context, ModelClient, Pipeline

_LIBRARIES = ("av", "httpx2", "numpy", "opencv-python-headless", "pydantic")


@dataclass(frozen=True)
class OpenClip:
    """A decoded clip: its facts, its pictures and, if measured, its evidence."""

    clip: Clip
    footage: DecodedClip
    evidence: ClipSignals | None
    media: dict[str, Any]


Watch = Callable[[float], None]
"""Is given how much of a clip is decoded: a share, NaN where the file does not say how long it is."""


@contextmanager
def open_clip(
    entry: ManifestEntry, pipeline: Pipeline, models: Models | None, decoder: str = "pyav", watch: Watch | None = None
) -> Iterator[OpenClip]:
    """Decode a clip once, to its end; its pictures are freed on leaving. Raises VideoError.

    `watch` is called after each frame, in the thread that decodes.
    """
    gauge = SignalRecorder(load_extractors()) if pipeline.measures else None
    observers: list[Observer] = [] if gauge is None else [gauge]
    if watch is not None:
        observers.append(_watching(entry, watch))
    footage = decode_clip(
        entry.path,
        layout=entry.layout,
        initial_frame=entry.initial_frame,
        settings=None if models is None else models.config.pictures,
        decoder=decoder,
        observers=observers,
        start_s=entry.start_s,
        end_s=entry.end_s,
    )
    try:
        clip = _clip(entry, footage)
        evidence = None if gauge is None else gauge.evidence(clip.layout.active, clip.duration_s)
        media = {"decoder": decoder, "layout": "given" if entry.layout else "recognised"}
        yield OpenClip(clip, footage, evidence, {**media, **footage.settings.model_dump()})
    finally:
        footage.close()


def _watching(entry: ManifestEntry, watch: Watch) -> Observer:
    """Tells `watch` how far the decoding is. Raises VideoError as `decode_clip` does."""
    check_whole(entry.path)
    start_s = entry.start_s or 0.0
    whole_s = (length_s(entry.path) if entry.end_s is None else entry.end_s) - start_s

    def observe(_number: int, time_s: float, _views: object) -> None:
        watch(min(1.0, time_s / whole_s) if whole_s > 0 else math.nan)

    return observe


def content_sha256(entry: ManifestEntry) -> str:
    """SHA-256 of a clip's file. Raises VideoError when it is not there, is not a whole video, or another than said."""
    check_whole(entry.path)
    content = file_sha256(entry.path)
    entry.check_content(content)
    return content


def _clip(entry: ManifestEntry, footage: DecodedClip) -> Clip:
    content, times_s = content_sha256(entry), tuple(footage.times_s)
    is_part = entry.start_s is not None or entry.end_s is not None
    return Clip(
        id=entry.id_for(content),
        uri=entry.path.as_posix(),
        sha256=content,
        start_s=footage.start_s if is_part else None,
        end_s=round(footage.start_s + footage.duration_s, 6) if is_part else None,
        frame_count=len(times_s),
        frame_times_s=times_s,
        duration_s=round(footage.duration_s, 6),
        fps=round(len(times_s) / footage.duration_s, 6),
        width=footage.width,
        height=footage.height,
        instruction=entry.instruction,
        prompt_id=entry.prompt_id,
        initial_frame=None if entry.initial_frame is None else entry.initial_frame.as_posix(),
        checkpoint=entry.checkpoint,
        split=entry.split,
        task_family=entry.task_family,
        embodiment=entry.embodiment,
        layout=footage.layout,
    )


async def diagnose(opened: OpenClip, pipeline: Pipeline, models: Models | None = None) -> Report:
    """Run a pipeline over a clip.

    Whatever a model does, a report comes of it: what was not examined is in `coverage`, and why, in `failures`.
    Raises RunStopped when the run ends here on purpose, and errors that are the program's or the domain's own.
    """
    clip = opened.clip
    desk = ModelClient(pipeline.domain, clip, opened.footage, models)
    end = await pipeline.run(pipeline.start(clip, opened.evidence), desk)
    unseen = _unseen(pipeline, desk)
    return Report(
        clip=clip,
        domain=pipeline.domain.ref,
        pipeline=pipeline.name,
        author=f"robogaze {__version__}",
        coverage=dict(end.coverage),
        events=end.events or (),
        hypotheses=end.hypotheses or (),
        failures=end.failures,
        unseen=unseen,
        notes=tuple(_notes(pipeline, end, opened, unseen)),
        usage=desk.usage(),
        provenance=Provenance(
            versions=versions(),
            models=_models(pipeline, models),
            media=opened.media,
            pictures=tuple(sorted(desk.pictures.values(), key=lambda picture: (picture.frames, picture.id))),
            calls=desk.ledger(),
        ),
    )


def _unseen(pipeline: Pipeline, desk: ModelClient) -> tuple[tuple[int, int], ...]:
    """The frames that no stage which looks for faults was shown; measuring stages see every frame."""
    if any(stage.examines() and stage.role() is None for _, stage in pipeline.stages):
        return ()
    shown = {
        frame
        for call in desk.calls
        if call.stage in pipeline.examiners and call.outcome == "answered"
        for name in call.pictures
        for frame in desk.pictures[name].frames
    }
    return runs(set(range(desk.clip.frame_count)) - shown)


def _notes(
    pipeline: Pipeline, context: Context, opened: OpenClip, unseen: tuple[tuple[int, int], ...]
) -> Iterator[str]:
    yield from (note for _, stage in pipeline.stages for note in stage.notes(pipeline.domain, context.evidence))
    count, total = sum(end - start for start, end in unseen), opened.clip.frame_count
    if count == total and any(each.state == "ruled_out" for each in context.coverage.values()):
        yield "No specialist was called: this report rests on the observations and the routing alone."
    elif count:
        yield (f"{count} of {total} frames were shown to no specialist. A fault that only these frames show is missed.")
    if opened.media["layout"] == "recognised" and len(opened.clip.layout.active) > 1:
        views = _listed(list(opened.clip.layout.active))
        yield f"The picture was recognised as a grid of the views {views}. If that is wrong, pass --layout."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@cache
def versions() -> dict[str, str]:
    """The versions a result depends on."""
    return {
        "robogaze": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _models(pipeline: Pipeline, models: Models | None) -> dict[str, dict[str, Any]]:
    """By role: what the model is and how it was asked; and what follows things, where that is a model."""
    if models is None:
        return {}
    tracker = {} if models.tracker is None else {"tracker": {"identity": dict(models.tracker.identity)}}
    return tracker | {
        role: {
            "model": models[role].name,
            "identity": dict(models[role].backend.identity),
            "decoding": models[role].config.decoding.model_dump(),
            "frames": str(models[role].config.frames),
            "present": models[role].config.present,
        }
        for role in pipeline.roles
    }
