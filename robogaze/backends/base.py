"""The contract of a backend: a request in, a completion out, or an error that says whether to ask again.

Backends are wrapped by one another (cache, retries, limits), so everything that asks a model sees one `complete`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from pydantic import Field

from robogaze.core.data import Data
from robogaze.core.pictures import FrameImage


class Decoding(Data):
    """How a model decodes. None leaves a parameter to the server."""

    temperature: float | None = Field(default=0.0, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    max_tokens: int = Field(default=4096, ge=1)


@dataclass(frozen=True)
class ClipTiming:
    """What pictures of a clip need to be placed in time: its rate, length and number of frames."""

    fps: float
    frame_count: int
    duration_s: float


@dataclass(frozen=True)
class Request:
    """One question to a model.

    `stage`, `subject`, `clip` and `attempt` say what the question is about; they are for ledgers and scripts and
    are not sent. `parts` alternate text and pictures in the order the model sees them. `sample` tells apart
    independent answers to one question.
    """

    stage: str
    subject: str
    clip: str
    attempt: int
    system: str
    parts: tuple[str | FrameImage, ...]
    schema: Mapping[str, Any] | None
    decoding: Decoding
    source: ClipTiming | None = None
    sample: int = 0

    @property
    def shots(self) -> tuple[FrameImage, ...]:
        """The pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, FrameImage))

    @property
    def prompt_sha256(self) -> str:
        """A fingerprint of everything the model is given to read and to look at."""
        shown = [part if isinstance(part, str) else [part.label, part.picture.sha256] for part in self.parts]
        return _digest([self.system, shown])

    def key(self, identity: Mapping[str, Any]) -> str:
        """A fingerprint of everything the answer depends on: the model's identity and the whole request."""
        asked = [self.prompt_sha256, self.schema, self.decoding.model_dump(), self.sample]
        return _digest([dict(identity), asked])


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class Completion:
    """An answer; counts and cost are None where the server or the price list does not say."""

    text: str
    model: str
    finish_reason: str | None = None
    refusal: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float = 0.0
    facts: Mapping[str, str] = field(default_factory=dict)


class Backend(Protocol):
    """Something that answers requests."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from another: kind, name, server and every setting that changes an answer."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises BackendError when no answer comes."""

    async def ready(self) -> str | None:
        """Return if requests can be sent: what the server says it serves, None where it does not say.

        Raises BackendError (Unreachable) if not.
        """

    async def close(self) -> None:
        """Free what the backend holds."""


@dataclass(frozen=True)
class Wrapper:
    """A backend around a backend; it changes `complete` and hands on the rest."""

    inner: Backend

    @property
    def identity(self) -> Mapping[str, Any]:
        """The inner backend's."""
        return self.inner.identity

    async def ready(self) -> str | None:
        """The inner backend's."""
        return await self.inner.ready()

    async def close(self) -> None:
        """Close the inner backend."""
        await self.inner.close()
