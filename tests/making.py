"""Made-up clips, pictures and models for tests."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from robogaze.backends import ModelConfig, Models, ModelsConfig
from robogaze.backends.base import Backend
from robogaze.backends.scripted import ScriptedBackend
from robogaze.backends.scripted import ScriptedReply as Line
from robogaze.core.clip import Clip
from robogaze.core.coverage import Coverage, CoverageState
from robogaze.core.pictures import PictureSettings
from robogaze.core.report import Report
from robogaze.datasets import ManifestEntry
from robogaze.media import DecodedClip
from robogaze.run.execute import open_run
from robogaze.run.setup import RunSetup
from robogaze.stages.context import Context
from robogaze.stages.pipeline import Pipeline

FPS = 16


def make_clip(seconds: float = 4.0, **fields: Any) -> Clip:
    """A clip record without a file."""
    count = round(seconds * FPS)
    known = {
        "id": "clip",
        "uri": "clip.mp4",
        "sha256": sha256(b"").hexdigest(),
        "frame_count": count,
        "frame_times_s": tuple(number / FPS for number in range(count)),
        "duration_s": count / FPS,
        "fps": float(FPS),
        "width": 64,
        "height": 48,
        "instruction": "Put the cup into the pot",
    }
    return Clip(**{**known, **fields})


def make_footage(clip: Clip) -> DecodedClip:
    """Pictures for a clip record: flat ones whose grey tells the frame."""
    footage = DecodedClip(clip.layout, PictureSettings())
    for number, time_s in enumerate(clip.frame_times_s):
        image = np.full((48, 64, 3), number % 256, dtype=np.uint8)
        footage.add_frame(time_s, tuple(image for _ in clip.layout.active))
    footage.duration_s = clip.duration_s
    return footage


def scripted(*lines: dict[str, Any], config: ModelConfig | None = None) -> tuple[Models, ScriptedBackend]:
    """Models that answer from lines of a script, and the backend that keeps what was asked."""
    backend = ScriptedBackend([Line(**line) for line in lines])
    return models_of(backend, config), backend


async def reports_of(
    entries: Sequence[ManifestEntry], pipeline: Pipeline, models: Models | None = None
) -> list[Report]:
    """The reports of clips that can all be read, made without a run folder, in the order of the clips."""
    with open_run(entries, RunSetup("", pipeline), models=models) as run:
        async for result in run.execute():
            assert result.report is not None, "every clip is scored"
        assert run.unreadable == []
        return list(run.reports())


def models_of(backend: Backend, config: ModelConfig | None = None) -> Models:
    """One backend for every role."""
    chosen = config or ModelConfig(kind="scripted")
    return Models(ModelsConfig(models={"model": chosen}, roles={"vlm": "model"}), {"model": backend})


def coverage(
    *examined: str, ruled_out: Sequence[str] = (), partial: Sequence[str] = (), not_examined: Sequence[str] = ()
) -> dict[str, Coverage]:
    """The coverage of a report, from the dimensions in each state."""
    named: dict[CoverageState, Sequence[str]] = {
        "examined": examined, "ruled_out": ruled_out, "partial": partial, "not_examined": not_examined
    }  # fmt: skip
    return {name: Coverage(state=state, reason=f"made {state}") for state, names in named.items() for name in names}


def examined(context: Context) -> set[str]:
    """The dimensions that some stage has examined."""
    return {name for name, each in context.coverage.items() if each.state == "examined"}
