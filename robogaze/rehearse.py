"""A rehearsal: a pipeline run through without a model and without a clip.

What only shows when a prompt is rendered with real values (an attribute that does not exist, a contract that a stage
cannot use), for a clip without an instruction, or in the report is found here, and not in the middle of a paid run.
"""

from hashlib import sha256

import numpy as np
from pydantic import ValidationError

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.clip import Clip
from robogaze.core.data import first_fault
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Provenance, Report
from robogaze.errors import DomainError
from robogaze.evidence import ClipSignals, SignalRecorder, load_extractors
from robogaze.media import DecodedClip
from robogaze.stages import Context, ModelClient, Pipeline

_SECONDS, _FPS, _SIDE_PX = 4, 8, 64


async def rehearse(pipeline: Pipeline) -> None:
    """Run a pipeline over a clip of noise with the plainest answers, with an instruction and without one.

    Raises DomainError for what does not fit, and for what is found but cannot be written into a report.
    """
    clip, footage, evidence = _noise(pipeline.measures)
    config = ModelsConfig(models={"rehearsal": ModelConfig(kind="scripted")}, roles={"vlm": "rehearsal"})
    models = Models(config, {"rehearsal": RehearsalBackend()})
    try:
        for one in (clip, clip.with_(instruction=None)):
            desk = ModelClient(pipeline.domain, one, footage, models)
            end = await pipeline.run(pipeline.start(one, evidence), desk)
            _check_failures(pipeline, end)
            _check_report(pipeline, end, desk)
    finally:
        footage.close()


def _check_failures(pipeline: Pipeline, end: Context) -> None:
    """Raise DomainError for a stage that failed, unless it could not do otherwise."""
    # A stage that lets a model reason before it answers sends no schema, so the rehearsal cannot answer it; and what
    # cannot be measured in noise, or is left undecided by a judge who is half sure, says nothing against a pipeline.
    unconstrained = {
        name for name, stage in pipeline.stages if getattr(stage, "reasoning", False) or stage.role() is None
    }
    spec = pipeline.domain.pipelines[pipeline.name]
    for failure in end.failures if end.dimensions else ():
        if failure.stage not in unconstrained and failure.kind != "Undecided":
            line = next(stage.line for stage in spec.stages if stage.name == failure.stage)
            raise DomainError(f"{failure.stage} fails in a rehearsal: {failure.message}", spec.path, line)


def _check_report(pipeline: Pipeline, end: Context, desk: ModelClient) -> None:
    """Raise DomainError when what was found contradicts itself."""
    try:
        Report(
            clip=end.clip,
            domain=pipeline.domain.ref,
            pipeline=pipeline.name,
            author="rehearsal",
            coverage=dict(end.coverage),
            events=end.events or (),
            hypotheses=end.hypotheses or (),
            failures=end.failures,
            usage=desk.usage(),
            provenance=Provenance(pictures=tuple(desk.pictures.values()), calls=desk.ledger()),
        )
    except ValidationError as error:
        _, found = first_fault(error)
        path = pipeline.domain.pipelines[pipeline.name].path
        raise DomainError(f"no report can be made of what a rehearsal finds: {found}", path) from error


def _noise(measured: bool) -> tuple[Clip, DecodedClip, ClipSignals | None]:
    """A clip of noise with its pictures and, if wanted, what is measured in them."""
    rng = np.random.default_rng(0)
    gauge = SignalRecorder(load_extractors()) if measured else None
    count = _SECONDS * _FPS
    clip = Clip(
        id="rehearsal",
        uri="rehearsal",
        sha256=sha256(b"").hexdigest(),
        frame_count=count,
        frame_times_s=tuple(number / _FPS for number in range(count)),
        duration_s=float(_SECONDS),
        fps=float(_FPS),
        width=_SIDE_PX,
        height=_SIDE_PX,
        instruction="rehearse",
    )
    footage = DecodedClip(clip.layout, PictureSettings())
    for number, time_s in enumerate(clip.frame_times_s):
        image = rng.integers(0, 255, (_SIDE_PX, _SIDE_PX, 3), dtype=np.uint8)
        footage.keep(time_s, (image,))
        if gauge is not None:
            gauge(number, time_s, (image,))
    return clip, footage, None if gauge is None else gauge.evidence(clip.layout.active, clip.duration_s)
