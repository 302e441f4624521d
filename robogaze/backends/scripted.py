"""Replies from a file: for tests and demonstrations, and to replay a conversation.

The file is YAML, a list of entries. A request is answered by the first entry that matches; the entry is then removed:

    - when: {stage: propose, subject: blur}     matches requests with this stage and subject
      reply: {hypotheses: []}                   the answer, as data
    - when: {stage: verify, clip: cup}
      text: "I think that"                      the answer, as text
    - error: {kind: rate_limited, message: slow down, retry_after_s: 0.1}
                                                an error instead of an answer
    - when: {stage: observe}
      reply: {...}
      repeat: true                              the entry is not removed
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from pydantic import field_validator, model_validator

from robogaze.backends.base import Completion, Request
from robogaze.backends.config import ModelConfig
from robogaze.core.data import Data
from robogaze.domains.yaml_files import parse_yaml, read_text
from robogaze.errors import BackendError, FailureKind, RateLimited, RequestRefused

_ERRORS: dict[FailureKind, type[BackendError]] = {error.kind: error for error in BackendError.__subclasses__()}


class When(Data):
    """The values that a request must have to match an entry; None matches any value."""

    stage: str | None = None
    subject: str | None = None
    clip: str | None = None
    attempt: int | None = None
    sample: int | None = None

    def matches(self, request: Request) -> bool:
        """Whether the request has all the given values."""
        return all(value in (None, getattr(request, name)) for name, value in self)


class ScriptedError(Data):
    """An error to raise instead of a reply; `retry_after_s` applies only to rate_limited."""

    kind: FailureKind
    message: str = "scripted"
    retry_after_s: float | None = None

    @field_validator("kind")
    @classmethod
    def _is_raised_by_backends(cls, kind: FailureKind) -> FailureKind:
        if kind not in _ERRORS:
            raise ValueError(f"no backend raises {kind}; use one of {', '.join(sorted(_ERRORS))}")
        return kind

    def exception(self) -> BackendError:
        if self.kind is FailureKind.RATE_LIMITED:
            return RateLimited(self.message, self.retry_after_s)
        return _ERRORS[self.kind](self.message)


class ScriptedReply(Data):
    """An entry of a script."""

    when: When = When()
    reply: Any = None
    text: str | None = None
    error: ScriptedError | None = None
    repeat: bool = False

    @model_validator(mode="after")
    def _has_one_reply(self) -> Self:
        if sum(value is not None for value in (self.reply, self.text, self.error)) != 1:
            raise ValueError("an entry needs exactly one of 'reply', 'text' and 'error'")
        return self


def open_backend(config: ModelConfig, environ: Mapping[str, str]) -> "ScriptedBackend":
    """The backend of a model, whose name is the path of the script. Raises InputError for an invalid script."""
    return ScriptedBackend.read(Path(config.name))


class ScriptedBackend:
    """Answers from a list of entries. `asked` holds every request, in order."""

    def __init__(self, entries: list[ScriptedReply], name: str = "script", content: str | None = None) -> None:
        self.name = name
        self.asked: list[Request] = []
        self._entries = list(entries)
        self._content = content

    @classmethod
    def read(cls, path: Path) -> "ScriptedBackend":
        """Read a script. Raises InputError that names the file, the line and the key."""
        text = read_text(path)
        entries = parse_yaml(text, path).parse(list[ScriptedReply])
        return cls(entries, path.stem, sha256(text.encode()).hexdigest())

    @property
    def identity(self) -> dict[str, Any]:
        # An edited script is another model, so that no stored answer of the former script is used.
        return {"kind": "scripted", "name": self.name, "sha256": self._content}

    async def complete(self, request: Request) -> Completion:
        """Answer with the first entry that matches. Raises RequestRefused when no entry matches."""
        self.asked.append(request)
        for entry in self._entries:
            if entry.when.matches(request):
                if not entry.repeat:
                    self._entries.remove(entry)
                return self._completion(entry)
        wanted = f"stage {request.stage}, subject {request.subject}, clip {request.clip}, attempt {request.attempt}"
        raise RequestRefused(f"the script {self.name} has no reply left for {wanted}")

    def _completion(self, entry: ScriptedReply) -> Completion:
        if entry.error is not None:
            raise entry.error.exception()
        text = entry.text if entry.text is not None else json.dumps(entry.reply, ensure_ascii=False)
        return Completion(text, model=self.name, finish_reason="stop", prompt_tokens=0, completion_tokens=0)

    async def ready(self) -> None:
        """Always ready."""

    async def close(self) -> None:
        """Nothing to release."""
