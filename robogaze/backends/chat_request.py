"""The body of a request in OpenAI's chat completions format.

Images are data URLs in the request, each after its label. With `send: video`, consecutive frames are sent as one
JPEG-sequence video, which vLLM reads. For a video, the request states the time of every frame, because vLLM would
otherwise keep 32 frames and assume one per second.

Instead of sending a picture, a request can refer to it (`PictureReferences`): by the address of its file or, if the
server already has the picture, by its SHA-256.

The pictures of one request take megabytes of memory, and many requests wait for their answers at the same time.
Therefore a body is sent in chunks, and each picture is read and encoded when its chunk is sent.
"""

import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from robogaze.backends.base import ClipTiming, Request
from robogaze.backends.config import ModelConfig, Send
from robogaze.core.pictures import FrameImage


@dataclass(frozen=True)
class PictureReferences:
    """How to refer to pictures instead of sending them. The pictures are identified by SHA-256.

    `files` maps pictures to the addresses of their files. If `known` is not None, a picture is sent with its SHA-256 as
    `uuid` (a field of vLLM). `known` contains the pictures that the server already has; for these, only the `uuid` is
    sent.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] | None = None


SEND_ALL = PictureReferences()

_CHUNK_BYTES = 2**18

Encoded = Callable[[FrameImage], str]
"""The text of an image in a data URL."""


def _base64(image: FrameImage) -> str:
    return b64encode(image.jpeg).decode()


def request_body(
    request: Request, model: ModelConfig, encoded: Encoded = _base64, references: PictureReferences = SEND_ALL
) -> dict[str, Any]:
    """The body of a chat completion request; an empty model name is left out."""
    decoding = request.decoding
    settings = {"temperature": decoding.temperature, "top_p": decoding.top_p, "seed": decoding.seed}
    body: dict[str, Any] = {
        **({"model": model.name} if model.name else {}),
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": list(_content(request, model.send, encoded, references))},
        ],
        model.token_limit_field: decoding.max_tokens,
        **{key: value for key, value in settings.items() if value is not None},
    }
    if request.schema is not None and model.structured == "json_schema":
        schema = {"name": request.stage, "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and model.structured == "json_object":
        body["response_format"] = {"type": "json_object"}
    if model.send == "video" and request.timing is not None and (frames := _video_frames(request)):
        body["media_io_kwargs"] = {"video": _video_facts(frames, request.timing)}
    return {**body, **model.extra_body}


@dataclass(frozen=True)
class StreamedBody:
    """A body as JSON, split into texts and the images between them; `len` is its size in bytes."""

    parts: tuple[bytes | FrameImage, ...]

    @classmethod
    def of(cls, request: Request, model: ModelConfig, references: PictureReferences = SEND_ALL) -> "StreamedBody":
        """The body of a request; see `request_body`."""
        images: list[FrameImage] = []
        mark = token_hex(16)  # no text of a request contains it

        def marked(image: FrameImage) -> str:
            images.append(image)
            return mark

        body = request_body(request, model, marked, references)
        texts = json.dumps(body).encode().split(mark.encode())
        between = (part for pair in zip(images, texts[1:], strict=True) for part in pair)
        return cls((texts[0], *between))

    def __len__(self) -> int:
        return sum(len(part) if isinstance(part, bytes) else -(-len(part.content) // 3) * 4 for part in self.parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body in chunks."""
        chunk = bytearray()
        for part in self.parts:
            chunk += part if isinstance(part, bytes) else b64encode(part.jpeg)
            if len(chunk) >= _CHUNK_BYTES:
                yield bytes(chunk)
                chunk.clear()
        if chunk:
            yield bytes(chunk)


def _content(request: Request, send: Send, encoded: Encoded, references: PictureReferences) -> Iterator[dict[str, Any]]:
    frames = _video_frames(request) if send == "video" else ()
    for part in request.parts:
        if frames and part is frames[0]:
            yield _text("\n".join(["A video of these frames:", *(frame.label for frame in frames)]))
            yield {
                "type": "video_url",
                "video_url": {"url": "data:video/jpeg;base64," + ",".join(map(encoded, frames))},
            }
        if isinstance(part, str):
            yield _text(part)
        elif not any(part is frame for frame in frames):
            yield _text(part.label)
            yield _picture(part, encoded, references)


def _picture(image: FrameImage, encoded: Encoded, references: PictureReferences) -> dict[str, Any]:
    name = image.picture.sha256
    uuid = {} if references.known is None else {"uuid": name}
    if name in (references.known or ()):
        return {"type": "image_url", "image_url": None, **uuid}
    url = references.files.get(name) or "data:image/jpeg;base64," + encoded(image)
    return {"type": "image_url", "image_url": {"url": url}, **uuid}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _video_frames(request: Request) -> tuple[FrameImage, ...]:
    """The first consecutive images that each show one frame, in ascending order; a request can describe only one
    video.
    """
    frames: list[FrameImage] = []
    for part in request.parts:
        if isinstance(part, FrameImage) and len(part.picture.frames) == 1:
            if frames and part.picture.frames[0] <= frames[-1].picture.frames[0]:
                break
            frames.append(part)
        elif frames:
            break
    return tuple(frames)


def _video_facts(frames: tuple[FrameImage, ...], timing: ClipTiming) -> dict[str, Any]:
    return {
        "num_frames": -1,
        "fps": timing.fps,
        "frames_indices": [frame.picture.frames[0] for frame in frames],
        "total_num_frames": timing.frame_count,
        "duration": timing.duration_s,
        "do_sample_frames": False,
    }
