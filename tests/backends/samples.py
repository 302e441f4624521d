"""Requests and a fake backend for tests of backends."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robogaze.backends import ClipTiming, Completion, Decoding, ModelConfig, Request
from robogaze.backends.batch import BatchBackend
from robogaze.backends.openai import OpenAIBackend
from robogaze.core.pictures import FrameImage, Picture
from robogaze.errors import BackendError
from robogaze.media.compose import encode_jpeg

SCHEMA = {
    "type": "object",
    "properties": {"cup": {"type": "boolean"}, "word": {"type": "string", "pattern": "^[a-z]{1,8}$"}},
    "required": ["cup", "word"],
    "additionalProperties": False,
}


def image(frame: int | None, value: int = 128) -> FrameImage:
    """A flat grey image of a frame; None for an image that is not of the clip."""
    frames = () if frame is None else (frame,)
    picture = Picture(
        id="I0" if frame is None else f"F{frame}",
        frames=frames,
        times_s=tuple(number / 16 for number in frames),
        views=("main",),
        width=48,
        height=32,
        sha256=f"{value:064d}",
    )
    return FrameImage(picture, f"frame {frame}", encode_jpeg(np.full((32, 48, 3), value, dtype=np.uint8), 90))


def request(*parts: Any, **fields: Any) -> Request:
    """A request with two frames and a question."""
    defaults: dict[str, Any] = {
        "stage": "look",
        "subject": "cup",
        "clip": "clip",
        "attempt": 1,
        "system": "Answer in JSON.",
        "parts": parts or (image(0), image(4), "Is there a cup?"),
        "schema": SCHEMA,
        "decoding": Decoding(max_tokens=64),
        "timing": ClipTiming(16.0, 64, 4.0),
    }
    return Request(**{**defaults, **fields})


def openai_backend(url: str, key: str | None = "key", **settings: Any) -> OpenAIBackend:
    """A backend for the model "stub" of a server."""
    return OpenAIBackend(ModelConfig(kind="openai", name="stub", url=url, **{"timeout_s": 60, **settings}), url, key)


def batch_backend(folder: Path) -> BatchBackend:
    """A backend that writes the requests for the model "m" into a folder."""
    return BatchBackend(ModelConfig(kind="batch", name="m", url=str(folder)))


class FakeBackend:
    """Raises the given errors first, then answers "yes". It records what it is asked, and how many at once."""

    def __init__(self, *errors: BackendError, name: str = "m", seconds: float = 0.0, **fields: Any) -> None:
        self.errors = list(errors)
        self.name = name
        self.seconds = seconds
        self.fields = fields
        self.clips: list[str] = []
        self.running = self.most_running = 0
        self.identity: Mapping[str, Any] = {"kind": "test"}

    @property
    def calls(self) -> int:
        return len(self.clips)

    async def complete(self, request: Any) -> Completion:
        self.clips.append(request.clip)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(self.seconds)
        self.running -= 1
        if self.errors:
            raise self.errors.pop(0)
        return Completion("yes", model=self.name, **self.fields)

    async def ready(self) -> str | None:
        return self.name

    async def close(self) -> None: ...
