"""A rehearsal: a dry run of a pipeline without a model and without a video.

It renders every prompt with real values, with and without an instruction, and makes a report. Errors in a domain are
therefore found before a run costs money.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256

import numpy as np
from pydantic import ValidationError

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.clip import Clip, Layout
from robogaze.core.data import first_fault
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Failure
from robogaze.diagnose import OpenClip, diagnose
from robogaze.errors import DomainError, FailureKind
from robogaze.evidence import ClipSignals, SignalExtractor, SignalRecorder, load_extractors
from robogaze.media import DecodedClip
from robogaze.media.decode import Image
from robogaze.stages.pipeline import Pipeline

_DURATION_S, _FPS, _SIDE_PX = 4, 8, 64


async def rehearse(pipeline: Pipeline) -> None:
    """Run a pipeline on a clip of noise with the simplest answers, with and without an instruction.

    Raises DomainError if a stage fails, or if its results do not make a valid report.
    """
    clip, decoded, signals = noise_clip(pipeline.measures)
    config = ModelsConfig(models={"rehearsal": ModelConfig(kind="scripted")}, roles={"vlm": "rehearsal"})
    models = Models(config, {"rehearsal": RehearsalBackend()})
    with closing(decoded):
        for variant in (clip, clip.with_(instruction=None)):
            try:
                report = await diagnose(OpenClip(variant, decoded, signals, {"layout": "given"}), pipeline, models)
            except ValidationError as error:
                _, message = first_fault(error)
                path = pipeline.domain.pipelines[pipeline.name].path
                raise DomainError(f"the results of a rehearsal do not make a valid report: {message}", path) from error
            if pipeline.start(variant).dimensions:
                _check_failures(pipeline, report.failures)


def _check_failures(pipeline: Pipeline, failures: Sequence[Failure]) -> None:
    """Raise DomainError for a stage that failed; a failure that a rehearsal cannot avoid is allowed."""
    # A stage that lets the model reason first sends no schema, so the rehearsal has no answer for it. Signals that
    # cannot be measured in noise and hypotheses that stay undecided are not errors of the pipeline.
    unconstrained = {
        name for name, stage in pipeline.stages if getattr(stage, "reasoning", False) or stage.role() is None
    }
    spec = pipeline.domain.pipelines[pipeline.name]
    for failure in failures:
        if failure.stage not in unconstrained and failure.kind is not FailureKind.UNDECIDED:
            line = next(stage.line for stage in spec.stages if stage.name == failure.stage)
            raise DomainError(f"{failure.stage} fails in a rehearsal: {failure.message}", spec.path, line)


def noise_clip(measured: bool) -> tuple[Clip, DecodedClip, ClipSignals | None]:
    """A decoded clip of noise. If `measured`, its signals are returned, too."""
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
    """Measured once, even if several pipelines are rehearsed."""
    recorder = SignalRecorder(dict(extractors))
    for frame, image in enumerate(_noise()):
        recorder(frame, frame / _FPS, (image,))
    return recorder.evidence(Layout().active, float(_DURATION_S))
