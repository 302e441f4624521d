"""Requests for tests of backends."""

from typing import Any

from robogaze.backends import ClipTiming, Decoding, Request
from robogaze.core.pictures import FrameImage, Picture
from robogaze.media.compose import encode_jpeg

SCHEMA = {
    "type": "object",
    "properties": {"cup": {"type": "boolean"}, "word": {"type": "string", "pattern": "^[a-z]{1,8}$"}},
    "required": ["cup", "word"],
    "additionalProperties": False,
}


def shot(number: int | None, value: int = 128) -> FrameImage:
    """A flat picture of a frame (None: of no frame)."""
    import numpy as np

    jpeg = encode_jpeg(np.full((32, 48, 3), value, dtype=np.uint8), 90)
    frames = () if number is None else (number,)
    name = "I0" if number is None else f"F{number}"
    digest = f"{value:064d}"
    picture = Picture(
        id=name,
        frames=frames,
        times_s=tuple(f / 16 for f in frames),
        views=("main",),
        width=48,
        height=32,
        sha256=digest,
    )
    return FrameImage(picture, f"frame {number}", jpeg)


def request(*parts: Any, **fields: Any) -> Request:
    """A request with two frames and a question."""
    known: dict[str, Any] = {
        "stage": "look",
        "subject": "cup",
        "clip": "clip",
        "attempt": 1,
        "system": "Answer in JSON.",
        "parts": parts or (shot(0), shot(4), "Is there a cup?"),
        "schema": SCHEMA,
        "decoding": Decoding(max_tokens=64),
        "source": ClipTiming(16.0, 64, 4.0),
    }
    return Request(**{**known, **fields})
