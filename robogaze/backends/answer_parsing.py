"""Parses an answer: from a completion's text to a validated pydantic model.

An answer is a JSON object. Reasoning in closed <think> tags before the object is ignored. Text around the object is
accepted only if the object reports something. If all its lists are empty, the object may be an example that the model
gives, and not its answer. Nothing is converted or guessed. An invalid answer is sent back to the model with the error
message.
"""

import json
import re
from collections import Counter
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from robogaze.backends.base import Completion
from robogaze.backends.reply import CUT_OFF, check_finished

A = TypeVar("A", bound=BaseModel)

MAX_CHARACTERS = 2**20
"""Maximum length of an answer, without the reasoning before it."""

_OPEN, _CLOSE = "<think>", "</think>"
_FENCE = re.compile(r"\A```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)
_MAX_ERRORS, _MAX_ERROR_CHARACTERS = 6, 600


class UnreadableAnswer(Exception):
    """An answer that does not match its contract; the message tells the model what to correct."""


def read_completion(completion: Completion, contract: type[A]) -> A:
    """The answer in a completion.

    Raises UnreadableAnswer if another attempt may help, and BackendError for a refused or unfinished completion.
    """
    check_finished(completion)
    if completion.finish_reason == CUT_OFF:
        raise UnreadableAnswer("the answer was cut off at the token limit; answer more briefly")
    if not completion.text.strip() and "reasoning_only" in completion.facts:
        raise UnreadableAnswer("the answer is empty and only reasoning came; write the JSON object as the answer")
    return read_answer(completion.text, contract)


def read_answer(text: str, contract: type[A]) -> A:
    """The answer in a text. Raises UnreadableAnswer for anything but one JSON object that matches the contract."""
    content = _without_reasoning(text).strip()
    if not content:
        raise UnreadableAnswer("the answer is empty")
    if len(content) > MAX_CHARACTERS:
        raise UnreadableAnswer(f"the answer is longer than {MAX_CHARACTERS:,} characters")
    text_of_object, value = _object(content)
    fenced = _FENCE.match(content)
    alone = text_of_object == (fenced.group(1).strip() if fenced else content)
    if not alone and (_reports_nothing(value) or getattr(contract, "stands_alone", False)):
        raise UnreadableAnswer("the answer must be the JSON object alone, without a word before or after it")
    try:
        return contract.model_validate_json(text_of_object)
    except ValidationError as error:
        raise UnreadableAnswer(_errors(error)) from error


def _without_reasoning(text: str) -> str:
    content = text.lstrip()
    if not content.startswith(_OPEN):
        return content
    end = content.find(_CLOSE)
    if end < 0:
        raise UnreadableAnswer("the reasoning after <think> is not closed, so there is no answer after it")
    return content[end + len(_CLOSE) :]


def _object(content: str) -> tuple[str, Any]:
    """The only JSON object in a text, as text and as data."""
    found: list[tuple[str, Any]] = []
    position = content.find("{")
    while position >= 0 and len(found) < 2:
        value, end = _object_at(content, position)
        found.append((content[position:end], value))
        position = content.find("{", end)
    if len(found) != 1:
        raise UnreadableAnswer(f"the answer must be one JSON object, not {'several' if found else 'none'}")
    return found[0]


def _object_at(content: str, start: int) -> tuple[Any, int]:
    try:
        return json.JSONDecoder(object_pairs_hook=_without_duplicate_keys).raw_decode(content, start)
    except ValueError as error:
        raise UnreadableAnswer(f"the answer is not valid JSON: {error}"[:_MAX_ERROR_CHARACTERS]) from error
    except RecursionError as error:
        raise UnreadableAnswer("the answer is nested too deeply") from error


def _without_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key!r} appears twice")
    return record


def _reports_nothing(value: Any) -> bool:
    """Whether data holds lists and every list is empty."""
    lists, waiting = [], [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            lists.append(part)
            waiting += part
    return bool(lists) and not any(lists)


def _errors(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(str(key) for key in detail['loc']) or 'answer'}: {detail['msg']}" for detail in details]
    more = [f"and {len(lines) - _MAX_ERRORS} more"] if len(lines) > _MAX_ERRORS else []
    return "; ".join([*(line[:_MAX_ERROR_CHARACTERS] for line in lines[:_MAX_ERRORS]), *more])
