"""The backend protocol: a request in, a completion or a BackendError out.

Middleware (cache, retry, limits) wraps a backend and is a backend itself, so callers only ever call `complete`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as validated_dataclass

from robogaze.core.data import Data
from robogaze.core.pictures import FrameImage


class Decoding(Data):
    """Decoding parameters. If a parameter is None, the server's default applies."""

    temperature: float | None = Field(default=0.0, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    max_tokens: int = Field(default=4096, ge=1)


@dataclass(frozen=True)
class ClipTiming:
    """Frame rate, number of frames and duration of the clip that the images of a request come from."""

    fps: float
    frame_count: int
    duration_s: float


@dataclass(frozen=True)
class Request:
    """One request to a model.

    `stage`, `subject`, `clip` and `attempt` (counted from 1) identify the request in the ledger and in files of
    scripted replies. They are not sent to the model. `parts` are text and images in the order in which the model sees
    them. `schema` is the JSON schema of the answer, None for free text. `timing` is needed to send the images as a
    video. `sample` numbers independent samples of the same request, from 0.
    """

    stage: str
    subject: str
    clip: str
    attempt: int
    system: str
    parts: tuple[str | FrameImage, ...]
    schema: Mapping[str, Any] | None
    decoding: Decoding
    timing: ClipTiming | None = None
    sample: int = 0

    @property
    def images(self) -> tuple[FrameImage, ...]:
        """The images, in order."""
        return tuple(part for part in self.parts if isinstance(part, FrameImage))

    @property
    def prompt_sha256(self) -> str:
        """A hash of the system prompt, the text and the images."""
        parts = [part if isinstance(part, str) else [part.label, part.picture.sha256] for part in self.parts]
        return _sha256([self.system, parts])

    def key(self, identity: Mapping[str, Any]) -> str:
        """The cache key: a hash of the model's identity and of everything in the request that affects the answer."""
        content = [self.prompt_sha256, self.schema, self.decoding.model_dump(), self.sample]
        return _sha256([dict(identity), content])


def _sha256(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


MAX_BYTES = 16 * 2**20
"""Maximum size of a reply, decompressed."""

ReplyText = Annotated[str, Field(max_length=MAX_BYTES)]
TokenCount = Annotated[int, Field(ge=0, le=10**9)]
Amount = Annotated[float, Field(ge=0)]


@validated_dataclass(frozen=True, config=ConfigDict(strict=True, allow_inf_nan=False, extra="forbid"))
class Completion:
    """A model's reply.

    `model` is the server's own name for the model, empty when it sends none. `finish_reason` is the reason that the
    server gives ("stop", "length", ...); `refusal` is the model's text if the model refused. Token counts and
    `cost_usd` are None when the server does not count tokens or no price is configured. `facts` contains further data
    about the reply for the ledger. Raises ValidationError for a field of the wrong type.
    """

    text: ReplyText
    model: ReplyText
    finish_reason: ReplyText | None = None
    refusal: ReplyText | None = None
    prompt_tokens: TokenCount | None = None
    cached_tokens: TokenCount | None = None
    completion_tokens: TokenCount | None = None
    cost_usd: Amount | None = None
    latency_s: Amount = 0.0
    facts: Mapping[str, str] = field(default_factory=dict)


class Backend(Protocol):
    """A model that answers requests."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind, name, server and every setting that affects an answer, as JSON values: part of the cache key."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises BackendError when there is no answer."""

    async def ready(self) -> str | None:
        """Check that requests can be sent, and return the name of the served model, or None if it is not known.

        Raises BackendError, for example Unreachable, when requests cannot be sent.
        """

    async def close(self) -> None:
        """Release connections and memory."""


@dataclass
class Middleware:
    """A backend that wraps another backend. Subclasses change `complete`."""

    inner: Backend

    @property
    def identity(self) -> Mapping[str, Any]:
        return self.inner.identity

    async def ready(self) -> str | None:
        return await self.inner.ready()

    async def close(self) -> None:
        await self.inner.close()
