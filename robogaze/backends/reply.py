"""Parses the reply of a server into JSON and then into a completion, and checks whether the completion is an answer.

Replies are untrusted data. A reply that cannot be parsed is an error of that one call: ServerFault, which is retried,
or RequestRefused, which is not. Invalid token counts, names and facts are ignored; any other invalid value is an error.
"""

import reprlib
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from robogaze.backends.base import MAX_BYTES, Completion
from robogaze.errors import RequestRefused, ServerFault

_MAX_COUNT = 10**9
_MAX_NAME = 200
_MAX_QUOTED = 200
_TEXT_PARTS = ("text", "output_text")
_REASONING_PARTS = ("thinking", "reasoning", "redacted_thinking")
_ENDED = (None, "stop")
CUT_OFF = "length"
_COMPLETION = TypeAdapter(Completion)


def parse_json(content: bytes) -> Any:
    """Parse JSON. Raises ValueError for invalid JSON or UTF-8, and for text that is too large or nested too deeply."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 2**20} MiB")
    return from_json(content)


def parse_completion(reply: Any, latency_s: float = 0.0) -> Completion:
    """The completion in a parsed chat completion reply; it may be unfinished. Raises ServerFault if the reply is not a
    chat completion.
    """
    record = _object(reply, "the reply", reply)
    _check_error(record, reply)
    choices = record.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _fault("without choices", reply)
    choice = _object(choices[0], "without choices: the first", reply)
    _check_error(choice, reply)
    message = _object(choice.get("message"), "without choices: the message", reply)
    text, refusal = _content(message.get("content"), reply)
    usage = _part(record, "usage")
    prompt = _count(usage.get("prompt_tokens"))
    cached = _count(_part(usage, "prompt_tokens_details").get("cached_tokens"))
    try:
        return Completion(
            text=text,
            model=server_name(record.get("model")),
            finish_reason=choice.get("finish_reason"),
            refusal=refusal or message.get("refusal") or None,
            prompt_tokens=prompt,
            cached_tokens=None if cached is None or cached > (prompt or 0) else cached,
            completion_tokens=_count(usage.get("completion_tokens")),
            latency_s=round(latency_s, 3),
            facts=_facts(record, message, text),
        )
    except ValidationError as error:
        raise _fault(f"with an invalid {error.errors()[0]['loc'][0]}", reply) from error


def check_finished(completion: Completion) -> None:
    """Raise RequestRefused if the model or a content filter refused, and ServerFault for an unknown finish reason.

    A completion that was cut off at the token limit passes: the caller can request a shorter answer.
    """
    reason = completion.finish_reason
    if completion.refusal:
        raise RequestRefused(f"the model refuses: {quoted(completion.refusal)}")
    if reason == "content_filter":
        raise RequestRefused("a content filter of the server stopped the answer")
    if reason not in (*_ENDED, CUT_OFF):
        raise ServerFault(f"the answer ended with the finish_reason {quoted(reason or '')!r}, not 'stop'")


def is_answer(completion: Completion) -> bool:
    """Whether a completion is finished and not a refusal. Only such completions are stored."""
    return completion.finish_reason in _ENDED and not completion.refusal


def read_stored(text: str) -> Completion | None:
    """A completion that was stored as JSON, or None if it is not a valid answer."""
    try:
        completion = _COMPLETION.validate_json(text)
    except ValidationError:
        return None
    return completion if is_answer(completion) else None


def server_name(value: Any) -> str:
    """A name that a server sends, or an empty text if the value is not a short printable text."""
    return value if isinstance(value, str) and len(value) <= _MAX_NAME and value.isprintable() else ""


def quoted(text: str) -> str:
    """A text from a server, shortened for a message to one printable line of at most 200 characters."""
    line = " ".join(text.split())[:_MAX_QUOTED]
    return "".join(character if character.isprintable() else "�" for character in line)


def _object(value: Any, what: str, reply: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _fault(f"{what} is not an object", reply)
    return value


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name)
    return part if isinstance(part, dict) else {}


def _fault(how: str, reply: Any) -> ServerFault:
    return ServerFault(f"the server sent a reply that is not a chat completion ({how}): {quoted(reprlib.repr(reply))}")


def _check_error(record: Mapping[str, Any], reply: Any) -> None:
    if record.get("error"):
        raise _fault("with an error", reply)


def _content(content: Any, reply: Any) -> tuple[str, str | None]:
    """The text of a message's content, and the refusal if a part of the content is a refusal."""
    if content is None or isinstance(content, str):
        return content or "", None
    if not isinstance(content, list):
        raise _fault("with content that is not text", reply)
    texts, refusals = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "refusal":
            refusals.append(part.get("refusal") or "refused")
        elif kind not in _REASONING_PARTS:
            raise _fault("with a content part that is not text", reply)
    return "".join(texts), refusals[0] if refusals else None


def _count(value: Any) -> int | None:
    """A token count; None for anything else."""
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else None


def _facts(record: Mapping[str, Any], message: Mapping[str, Any], text: str) -> dict[str, str]:
    fingerprint = server_name(record.get("system_fingerprint"))
    facts = {"system_fingerprint": fingerprint} if fingerprint else {}
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    if not text and isinstance(reasoning, str):
        facts["reasoning_only"] = "yes"
    return facts
