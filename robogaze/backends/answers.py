"""Reading an answer: from a completion's text to a checked record.

An answer is a JSON object. Reasoning before it, in closed <think> tags, is set aside. Prose around it is forgiven only
where the object says something: an object that reports nothing may be a form that the model shows, not its answer.
Nothing is converted or guessed; whatever else comes is sent back to the model with what is wrong.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from robogaze.backends.base import Completion
from robogaze.backends.reply import CUT_OFF, check_ended, check_nesting

A = TypeVar("A", bound=BaseModel)

MAX_CHARACTERS = 2**20
"""The longest text that is read for an answer, without the reasoning before it."""

_OPEN, _CLOSE = "<think>", "</think>"
_FENCE = re.compile(r"\A```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)
_FAULTS_SHOWN, _FAULT_CHARACTERS = 6, 600


class UnreadableAnswer(Exception):
    """An answer that breaks its contract; the message says how, for the model to mend it."""


def read_completion(completion: Completion, contract: type[A]) -> A:
    """The answer in a completion.

    Raises UnreadableAnswer where another try with the reason may help, BackendError where the completion is no answer.
    """
    check_ended(completion)
    if completion.finish_reason == CUT_OFF:
        raise UnreadableAnswer("the answer was cut off at the token limit; answer more briefly")
    if not completion.text.strip() and "reasoning_only" in completion.facts:
        raise UnreadableAnswer("the answer is empty, all that came is reasoning; write the JSON object as the answer")
    return read_answer(completion.text, contract)


def read_answer(text: str, contract: type[A]) -> A:
    """The answer in a text. Raises UnreadableAnswer for anything but one JSON object that keeps the contract."""
    content = _without_reasoning(text).strip()
    if not content:
        raise UnreadableAnswer("the answer is empty")
    if len(content) > MAX_CHARACTERS:
        raise UnreadableAnswer(f"the answer is longer than {MAX_CHARACTERS:,} characters")
    written, value = _object(content)
    fenced = _FENCE.match(content)
    alone = written == (fenced.group(1).strip() if fenced else content)
    if not alone and (_reports_nothing(value) or getattr(contract, "stands_alone", False)):
        raise UnreadableAnswer("the answer must be the JSON object alone, without a word before or after it")
    try:
        return contract.model_validate_json(written)
    except ValidationError as error:
        raise UnreadableAnswer(_faults(error)) from error


def _without_reasoning(text: str) -> str:
    content = text.lstrip()
    if not content.startswith(_OPEN):
        return content
    end = content.find(_CLOSE)
    if end < 0:
        raise UnreadableAnswer("the reasoning after <think> is not closed, so there is no answer after it")
    return content[end + len(_CLOSE) :]


def _object(content: str) -> tuple[str, Any]:
    """The one JSON object of a text, as it is written and as data."""
    try:
        check_nesting(content)
    except ValueError as error:
        raise UnreadableAnswer(f"the answer cannot be read: {error}") from error
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
        return json.JSONDecoder(object_pairs_hook=_no_key_twice).raw_decode(content, start)
    except ValueError as error:
        raise UnreadableAnswer(f"the answer is not valid JSON: {error}"[:_FAULT_CHARACTERS]) from error


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} is there twice")
    return record


def _reports_nothing(value: Any) -> bool:
    """Whether data has lists, and all of them are empty."""
    lists = list(_lists(value))
    return bool(lists) and not any(lists)


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inside:
        yield from _lists(part)


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(str(step) for step in fault['loc']) or 'answer'}: {fault['msg']}" for fault in faults]
    more = [f"and {len(lines) - _FAULTS_SHOWN} more"] if len(lines) > _FAULTS_SHOWN else []
    return "; ".join([*(line[:_FAULT_CHARACTERS] for line in lines[:_FAULTS_SHOWN]), *more])
