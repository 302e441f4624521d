"""A rehearsal: a pipeline run through without a model and without a clip.

What only shows when a prompt is rendered with real values (an attribute that does not exist, a contract that a stage
cannot use) is found here, with file and line, and not in the middle of a paid run.
"""

from hashlib import sha256

import numpy as np

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.clip import Clip
from robogaze.core.pictures import PictureSettings
from robogaze.errors import DomainError
from robogaze.evidence import METERS, Gauge
from robogaze.media import Footage
from robogaze.stages import Context, Desk, Pipeline

_SECONDS, _FPS, _SIDE_PX = 4, 8, 64


async def rehearse(pipeline: Pipeline) -> None:
    """Run a pipeline over a clip of noise with the plainest answers. Raises DomainError for what does not fit."""
    clip, footage, gauge = _noise()
    config = ModelsConfig(models={"rehearsal": ModelConfig(kind="scripted")}, roles={"vlm": "rehearsal"})
    models = Models(config, {"rehearsal": RehearsalBackend()})
    desk = Desk(pipeline.domain, clip, footage, models)
    start = Context(
        clip=clip, assessed=pipeline.assessed(clip), evidence=gauge.evidence(clip.layout.active, clip.duration_s)
    )
    try:
        end = await pipeline.run(start, desk)
    finally:
        footage.close()
    # A stage that lets a model reason before it answers sends no schema, so the rehearsal cannot answer it.
    unconstrained = {name for name, stage in pipeline.stages if getattr(stage, "reasoning", False)}
    for failure in end.failures:
        if failure.stage not in unconstrained:
            path = pipeline.domain.pipelines[pipeline.name].path
            raise DomainError(f"{failure.stage} fails in a rehearsal: {failure.message}", path)


def _noise() -> tuple[Clip, Footage, Gauge]:
    rng = np.random.default_rng(0)
    gauge = Gauge(METERS)
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
    footage = Footage(clip.layout, PictureSettings())
    for number, time_s in enumerate(clip.frame_times_s):
        image = rng.integers(0, 255, (_SIDE_PX, _SIDE_PX, 3), dtype=np.uint8)
        footage.keep(time_s, (image,))
        gauge(number, time_s, (image,))
    return clip, footage, gauge
