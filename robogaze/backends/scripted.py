"""Replies from a file: for tests, for demonstrations, and to replay a conversation.

The file is YAML, a list of entries tried in order; each answers one request and is then used up:

    - when: {stage: propose, subject: blur}     which request it answers; every key given must agree
      reply: {hypotheses: []}                   the answer, as data
    - when: {stage: verify, clip: cup}
      text: "I think that"                      ... or as raw text
    - error: {kind: rate_limited, message: slow down, retry_after_s: 0.1}
                                                ... or a failure instead of one
    - when: {stage: observe}
      reply: {...}
      repeat: true                              not used up
"""

import json
from pathlib import Path
from typing import Any, Self

from pydantic import field_validator, model_validator

from robogaze.backends.base import Completion, Request
from robogaze.core.data import Data
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import BackendError, FailureKind, RateLimited, RequestRefused

_ERRORS: dict[FailureKind, type[BackendError]] = {error.kind: error for error in BackendError.__subclasses__()}


class When(Data):
    """Which request an entry answers; None matches any."""

    stage: str | None = None
    subject: str | None = None
    clip: str | None = None
    attempt: int | None = None
    sample: int | None = None

    def matches(self, request: Request) -> bool:
        """Whether every given key agrees with the request."""
        return all(wanted in (None, getattr(request, name)) for name, wanted in self)


class ScriptedError(Data):
    """An error to raise in place of a reply; `retry_after_s` is for rate_limited."""

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
    """One line of a script."""

    when: When = When()
    reply: Any = None
    text: str | None = None
    error: ScriptedError | None = None
    repeat: bool = False

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if sum(value is not None for value in (self.reply, self.text, self.error)) != 1:
            raise ValueError("an entry holds one of 'reply', 'text' and 'error'")
        return self


class ScriptedBackend:
    """Answers from a list of entries. `asked` keeps every request, in order."""

    def __init__(self, entries: list[ScriptedReply], name: str = "script") -> None:
        self.name = name
        self.asked: list[Request] = []
        self._entries = list(entries)

    @classmethod
    def read(cls, path: Path) -> "ScriptedBackend":
        """Read a script. Raises InputError that names the file and what does not fit."""
        return cls(read_yaml(path).parse(list[ScriptedReply]), path.stem)

    @property
    def identity(self) -> dict[str, Any]:
        """Kind and name."""
        return {"kind": "scripted", "name": self.name}

    async def complete(self, request: Request) -> Completion:
        """Answer from the first entry that matches. Raises RequestRefused when none does."""
        self.asked.append(request)
        for entry in self._entries:
            if entry.when.matches(request):
                if not entry.repeat:
                    self._entries.remove(entry)
                return self._play(entry)
        asked = f"stage {request.stage}, subject {request.subject}, clip {request.clip}, attempt {request.attempt}"
        raise RequestRefused(f"the script {self.name} has no reply left for {asked}")

    def _play(self, entry: ScriptedReply) -> Completion:
        if entry.error is not None:
            raise entry.error.exception()
        text = entry.text if entry.text is not None else json.dumps(entry.reply, ensure_ascii=False)
        return Completion(text, model=self.name, finish_reason="stop", prompt_tokens=0, completion_tokens=0)

    async def ready(self) -> None:
        """Always."""

    async def close(self) -> None:
        """Nothing to free."""
