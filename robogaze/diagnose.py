"""From a clip to a report.

    clip -> frames -> evidence -> context -> hypotheses -> verdicts -> events -> report

`open_clip` decodes a clip once and measures its signals at the same time; `diagnose` runs a pipeline over it. The
report holds what was found, what was not examined, and what every model was shown.
"""

import math
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from robogaze.backends import Models
from robogaze.core.clip import Clip
from robogaze.core.report import Provenance, Report
from robogaze.core.time import Span, runs
from robogaze.datasets import ManifestEntry, file_sha256
from robogaze.evidence import ClipSignals, SignalRecorder, load_extractors
from robogaze.media import DecodedClip, check_whole, decode_clip
from robogaze.media.decode_pyav import length_s
from robogaze.media.decoded_clip import Observer
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context
from robogaze.stages.pipeline import Pipeline
from robogaze.version import VERSION

_LIBRARIES = ("av", "httpx2", "numpy", "opencv-python-headless", "pydantic")


@dataclass(frozen=True)
class OpenClip:
    """A decoded clip: its record, its frames and, if the pipeline measures signals, its signals."""

    clip: Clip
    decoded: DecodedClip
    evidence: ClipSignals | None
    media: dict[str, Any]


OnDecoded = Callable[[float], None]
"""Gets the share of a clip that is decoded, NaN where the file does not say how long it is."""


@contextmanager
def open_clip(
    entry: ManifestEntry,
    pipeline: Pipeline,
    models: Models | None,
    decoder: str = "pyav",
    on_decoded: OnDecoded | None = None,
) -> Iterator[OpenClip]:
    """Decode a clip once, to its end; its frames are freed on exit. Raises VideoError.

    `on_decoded` is called after each frame, in the thread that decodes.
    """
    recorder = SignalRecorder(load_extractors()) if pipeline.measures else None
    observers: list[Observer] = [] if recorder is None else [recorder]
    if on_decoded is not None:
        observers.append(_progress_observer(entry, on_decoded))
    decoded = decode_clip(
        entry.path,
        layout=entry.layout,
        initial_frame=entry.initial_frame,
        settings=None if models is None else models.config.pictures,
        decoder=decoder,
        observers=observers,
        start_s=entry.start_s,
        end_s=entry.end_s,
        pictures_fps=_pictures_fps(pipeline, models),
    )
    try:
        clip = _clip_record(entry, decoded)
        evidence = None if recorder is None else recorder.evidence(clip.layout.active, clip.duration_s)
        media = {
            "decoder": decoder,
            "layout": "given" if entry.layout else "recognised",
            **decoded.settings.model_dump(),
            "picture_size": list(decoded.picture_size),
        }
        yield OpenClip(clip, decoded, evidence, media)
    finally:
        decoded.close()


def _pictures_fps(pipeline: Pipeline, models: Models | None) -> float | None:
    """The rate at which a pipeline shows frames, 0 without a model; None if it may show every frame."""
    if any(stage.shows_any_frame() for _, stage in pipeline.stages):
        return None
    rates = [] if models is None else [models[role].config.frames.rate_fps for role in pipeline.roles]
    return None if None in rates else max((rate for rate in rates if rate is not None), default=0.0)


def _progress_observer(entry: ManifestEntry, on_decoded: OnDecoded) -> Observer:
    """Reports to `on_decoded` after each frame. Raises VideoError in the same cases as `decode_clip`."""
    check_whole(entry.path)
    start_s = entry.start_s or 0.0
    duration_s = (length_s(entry.path) if entry.end_s is None else entry.end_s) - start_s

    def observe(_number: int, time_s: float, _views: object) -> None:
        on_decoded(min(1.0, time_s / duration_s) if duration_s > 0 else math.nan)

    return observe


def content_sha256(entry: ManifestEntry) -> str:
    """SHA-256 of a clip's file.

    Raises VideoError when the file is missing, is not a whole video, or differs from the sha256 of the entry.
    """
    check_whole(entry.path)
    content = file_sha256(entry.path)
    entry.check_content(content)
    return content


def _clip_record(entry: ManifestEntry, decoded: DecodedClip) -> Clip:
    """The record of a decoded clip. Raises VideoError in the same cases as `content_sha256`."""
    content, times_s = content_sha256(entry), tuple(decoded.times_s)
    is_part = entry.start_s is not None or entry.end_s is not None
    return Clip(
        id=entry.id_for(content),
        uri=entry.path.as_posix(),
        sha256=content,
        start_s=decoded.start_s if is_part else None,
        end_s=round(decoded.start_s + decoded.duration_s, 6) if is_part else None,
        frame_count=len(times_s),
        frame_times_s=times_s,
        duration_s=round(decoded.duration_s, 6),
        fps=round(len(times_s) / decoded.duration_s, 6),
        width=decoded.width,
        height=decoded.height,
        instruction=entry.instruction,
        prompt_id=entry.prompt_id,
        initial_frame=None if entry.initial_frame is None else entry.initial_frame.as_posix(),
        checkpoint=entry.checkpoint,
        split=entry.split,
        task_family=entry.task_family,
        embodiment=entry.embodiment,
        layout=decoded.layout,
    )


async def diagnose(opened: OpenClip, pipeline: Pipeline, models: Models | None = None) -> Report:
    """Run a pipeline over a clip.

    Whatever a model answers, `diagnose` returns a report: `coverage` says what was not examined, and `failures` says
    why. Raises RunStopped when the run must stop. Errors that the program or the domain causes are also raised.
    """
    clip = opened.clip
    client = ModelClient(pipeline.domain, clip, opened.decoded, models)
    context = await pipeline.run(pipeline.start(clip, opened.evidence), client)
    unseen = _unseen(pipeline, client)
    return Report(
        clip=clip,
        domain=pipeline.domain.ref,
        pipeline=pipeline.name,
        author=f"robogaze {VERSION}",
        coverage=dict(context.coverage),
        events=context.events or (),
        hypotheses=context.hypotheses or (),
        failures=context.failures,
        unseen=unseen,
        notes=tuple(_notes(pipeline, context, opened, unseen)),
        usage=client.usage(),
        provenance=Provenance(
            versions=versions(),
            models=_models(pipeline, models),
            media=opened.media,
            pictures=tuple(sorted(client.pictures.values(), key=lambda picture: (picture.frames, picture.id))),
            calls=client.ledger(),
        ),
    )


def _unseen(pipeline: Pipeline, client: ModelClient) -> tuple[tuple[int, int], ...]:
    """Ranges of frames that were not shown to any stage that examines; a stage that measures sees every frame."""
    if any(stage.examines() and stage.role() is None for _, stage in pipeline.stages):
        return ()
    shown = {
        frame
        for call in client.calls
        if call.stage in pipeline.examiners and call.outcome == "answered"
        for name in call.pictures
        for frame in client.pictures[name].frames
    }
    return runs(set(range(client.clip.frame_count)) - shown)


def _notes(
    pipeline: Pipeline, context: Context, opened: OpenClip, unseen: tuple[tuple[int, int], ...]
) -> Iterator[str]:
    yield from (note for _, stage in pipeline.stages for note in stage.notes(pipeline.domain, context.evidence))
    yield from context.notes
    count, total = sum(end - start for start, end in unseen), opened.clip.frame_count
    if count == total and any(coverage.state == "ruled_out" for coverage in context.coverage.values()):
        yield "No specialist was called, so this report is based only on the observations and the routing."
    elif count:
        times_s = (*opened.clip.frame_times_s, opened.clip.duration_s)
        longest = max((Span(times_s[first], times_s[end]) for first, end in unseen), key=lambda span: span.length)
        yield (
            f"{count} of {total} frames were shown to no specialist. The longest gap is {longest.length:.2f} s "
            f"({longest.start:.2f} to {longest.end:.2f} s). A fault that only these frames show is missed."
        )
    if opened.media["layout"] == "recognised" and len(opened.clip.layout.active) > 1:
        views = _listed(list(opened.clip.layout.active))
        yield f"The picture was recognised as a grid of the views {views}. If that is wrong, pass --layout."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@cache
def versions() -> dict[str, str]:
    """Versions of the package, of Python and of the libraries that a result depends on."""
    return {
        "robogaze": VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _models(pipeline: Pipeline, models: Models | None) -> dict[str, dict[str, Any]]:
    """Identity and decoding of the model of each role, and of the learned tracker if there is one."""
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
