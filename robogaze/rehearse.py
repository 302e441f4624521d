"""A rehearsal: a dry run of a pipeline without a model and without a video.

It renders every prompt with real values, with and without an instruction, and makes a report, so that errors in a
domain are found before a run is paid for.
"""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256

import numpy as np
from pydantic import ValidationError

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.clip import Clip, Layout
from robogaze.core.data import first_fault
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Provenance, Report
from robogaze.errors import DomainError, FailureKind
from robogaze.evidence import ClipSignals, SignalExtractor, SignalRecorder, load_extractors
from robogaze.media import DecodedClip
from robogaze.media.decode import Image
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context
from robogaze.stages.pipeline import Pipeline

_DURATION_S, _FPS, _SIDE_PX = 4, 8, 64


async def rehearse(pipeline: Pipeline) -> None:
    """Run a pipeline on a clip of noise with the simplest answers, with and without an instruction.

    Raises DomainError for a stage that fails, and for results of which no valid report can be made.
    """
    clip, decoded, signals = noise_clip(pipeline.measures)
    config = ModelsConfig(models={"rehearsal": ModelConfig(kind="scripted")}, roles={"vlm": "rehearsal"})
    models = Models(config, {"rehearsal": RehearsalBackend()})
    try:
        for variant in (clip, clip.with_(instruction=None)):
            client = ModelClient(pipeline.domain, variant, decoded, models)
            context = await pipeline.run(pipeline.start(variant, signals), client)
            _check_failures(pipeline, context)
            _check_report(pipeline, context, client)
    finally:
        decoded.close()


def _check_failures(pipeline: Pipeline, context: Context) -> None:
    """Raise DomainError for a stage that failed, unless a rehearsal cannot avoid it."""
    # A stage that lets the model reason first sends no schema, so the rehearsal has no answer for it. Signals that
    # cannot be measured in noise and hypotheses that stay undecided are not errors of the pipeline.
    unconstrained = {
        name for name, stage in pipeline.stages if getattr(stage, "reasoning", False) or stage.role() is None
    }
    spec = pipeline.domain.pipelines[pipeline.name]
    for failure in context.failures if context.dimensions else ():
        if failure.stage not in unconstrained and failure.kind is not FailureKind.UNDECIDED:
            line = next(stage.line for stage in spec.stages if stage.name == failure.stage)
            raise DomainError(f"{failure.stage} fails in a rehearsal: {failure.message}", spec.path, line)


def _check_report(pipeline: Pipeline, context: Context, client: ModelClient) -> None:
    """Raise DomainError when the results do not make a valid report."""
    try:
        Report(
            clip=context.clip,
            domain=pipeline.domain.ref,
            pipeline=pipeline.name,
            author="rehearsal",
            coverage=dict(context.coverage),
            events=context.events or (),
            hypotheses=context.hypotheses or (),
            failures=context.failures,
            usage=client.usage(),
            provenance=Provenance(pictures=tuple(client.pictures.values()), calls=client.ledger()),
        )
    except ValidationError as error:
        _, message = first_fault(error)
        path = pipeline.domain.pipelines[pipeline.name].path
        raise DomainError(f"the results of a rehearsal do not make a valid report: {message}", path) from error


def noise_clip(measured: bool) -> tuple[Clip, DecodedClip, ClipSignals | None]:
    """A clip of noise, decoded, with its signals if `measured`."""
    count = _DURATION_S * _FPS
    clip = Clip(
        id="rehearsal",
        uri="rehearsal",
        sha256=sha256(b"").hexdigest(),
        frame_count=count,
        frame_times_s=tuple(frame / _FPS for frame in range(count)),
        duration_s=float(_DURATION_S),
        fps=float(_FPS),
        width=_SIDE_PX,
        height=_SIDE_PX,
        instruction="rehearse",
    )
    decoded = DecodedClip(clip.layout, PictureSettings())
    for time_s, image in zip(clip.frame_times_s, _noise(), strict=True):
        decoded.add_frame(time_s, (image,))
    return clip, decoded, _signals_of_noise(tuple(load_extractors().items())) if measured else None


def _noise() -> Iterator[Image]:
    """The frames of the clip; the same every time."""
    rng = np.random.default_rng(0)
    for _ in range(_DURATION_S * _FPS):
        yield rng.integers(0, 255, (_SIDE_PX, _SIDE_PX, 3), dtype=np.uint8)


@cache
def _signals_of_noise(extractors: tuple[tuple[str, type[SignalExtractor]], ...]) -> ClipSignals:
    """Measured once, however many pipelines are rehearsed."""
    recorder = SignalRecorder(dict(extractors))
    for frame, image in enumerate(_noise()):
        recorder(frame, frame / _FPS, (image,))
    return recorder.evidence(Layout().active, float(_DURATION_S))
