"""Replies of a server: which are completions, which parts are ignored, and which are errors of the call."""

import copy
import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from pydantic import ValidationError

from robogaze.backends import Completion
from robogaze.backends.reply import check_finished, is_answer, parse_completion, parse_json, read_stored
from robogaze.errors import RequestRefused, ServerFault

GOOD: dict[str, Any] = {
    "model": "m",
    "system_fingerprint": "fp",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
}


def changed(path: str, value: Any) -> Any:
    """A good reply with something else at a place, as in `choices.0.message`; '' for the whole."""
    reply: Any = copy.deepcopy(GOOD)
    if not path:
        return value
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    part = reply
    for step in steps:
        part = part[step]
    part[last] = value
    return reply


def test_valid_reply_is_parsed() -> None:
    read = parse_completion(GOOD, 0.25)
    assert read == Completion("{}", "m", "stop", None, 9, 4, 2, None, 0.25, {"system_fingerprint": "fp"})
    assert is_answer(read)


ODD = (None, True, False, 5, 1.5, float("nan"), float("inf"), "", "text", "\ud800", [], [1], [[]], {}, {"a": 1})
PLACES = (
    "", "choices", "choices.0", "choices.0.message", "choices.0.message.content", "choices.0.finish_reason",
    "choices.0.message.refusal", "choices.0.error", "error", "usage", "usage.prompt_tokens",
    "usage.completion_tokens", "usage.prompt_tokens_details", "usage.prompt_tokens_details.cached_tokens", "model",
    "system_fingerprint", "choices.0.message.reasoning", "choices.0.message.reasoning_content",
)  # fmt: skip


@pytest.mark.parametrize("path", PLACES)
def test_any_value_anywhere_gives_a_completion_or_a_server_fault(path: str) -> None:
    for value in (*ODD, 10**400, -1, "x" * 5000):
        read = completion_or_fault(changed(path, value))
        if isinstance(read, ServerFault):
            assert len(str(read)) < 400
            assert str(read).isprintable()
            continue
        json.dumps(asdict(read), ensure_ascii=False).encode()
        assert read.text in ("{}", "", "text", "x" * 5000)


def completion_or_fault(reply: Any) -> Completion | ServerFault:
    try:
        return parse_completion(reply)
    except ServerFault as error:
        return error


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", {}),
        ("", []),
        ("choices", []),
        ("choices.0.message", None),
        ("choices.0.message.content", 5),
        ("choices.0.message.content", [{"type": "image_url"}]),
        ("choices.0.message.content", [{"type": "text", "text": 5}]),
        ("choices.0.message.content", "\ud800"),
        ("choices.0.message.refusal", True),
        ("choices.0.finish_reason", 5),
        ("error", {"message": "overloaded"}),
        ("choices.0.error", {"message": "overloaded"}),
    ],
)
def test_other_json_is_a_server_fault(path: str, value: Any) -> None:
    with pytest.raises(ServerFault, match="not a chat completion"):
        parse_completion(changed(path, value))


def test_content_can_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{}]}, {"type": "text", "text": '{"a"'}, {"type": "text", "text": ": 1}"}]
    assert parse_completion(changed("choices.0.message.content", parts)).text == '{"a": 1}'


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_not_read_as_an_answer(field: str) -> None:
    message = {"content": None, field: '{"hypotheses": []}'}
    read = parse_completion(changed("choices.0.message", message))
    assert (read.text, read.facts["reasoning_only"]) == ("", "yes")


@pytest.mark.parametrize("count", [1.5, 9.0, "9", [1], {}, True, -1, float("nan"), 1e308, 10**30, None])
def test_invalid_token_counts_are_unknown(count: Any) -> None:
    for name in ("prompt_tokens", "completion_tokens"):
        assert getattr(parse_completion(changed(f"usage.{name}", count)), name) is None
    assert parse_completion(changed("usage.prompt_tokens_details.cached_tokens", count)).cached_tokens is None


def test_cached_tokens_beyond_the_prompt_are_unknown() -> None:
    assert parse_completion(changed("usage.prompt_tokens_details.cached_tokens", 10)).cached_tokens is None


@pytest.mark.parametrize("name", [5, "\ud800", "a\nb", "x" * 201, ["m"]])
def test_invalid_names_are_ignored(name: Any) -> None:
    assert parse_completion(changed("model", name)).model == ""
    assert "system_fingerprint" not in parse_completion(changed("system_fingerprint", name)).facts


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("choices.0.message.refusal", "I cannot", RequestRefused),
        ("choices.0.message.content", [{"type": "refusal", "refusal": "I cannot"}], RequestRefused),
        ("choices.0.message.content", [{"type": "refusal"}, {"type": "text", "text": "{}"}], RequestRefused),
        ("choices.0.finish_reason", "content_filter", RequestRefused),
        ("choices.0.finish_reason", "error", ServerFault),
        ("choices.0.finish_reason", "", ServerFault),
        ("choices.0.finish_reason", "tool_calls", ServerFault),
    ],
)
def test_refused_or_unfinished_completion_is_not_an_answer(path: str, value: Any, kind: type[Exception]) -> None:
    read = parse_completion(changed(path, value))
    assert not is_answer(read)
    with pytest.raises(kind):
        check_finished(read)


def test_cut_off_answer_is_not_stored_and_one_without_a_finish_reason_is() -> None:
    cut = parse_completion(changed("choices.0.finish_reason", "length"))
    check_finished(cut)
    assert not is_answer(cut)
    assert is_answer(parse_completion(changed("choices.0.finish_reason", None)))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "EOF"),
        (b"\xff\xfe{", "expected"),
        (b"[" * 3000 + b"]" * 3000, "recursion limit"),
        (b'"' + b"x" * 2**24 + b'"', "larger than 16 MiB"),
        (b"1" * 5000, "out of range"),
    ],
)
def test_json_has_limits(raw: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_json(raw)


FIELDS = {
    "text": 5, "model": None, "finish_reason": 3, "refusal": [], "prompt_tokens": 1.5, "cached_tokens": [1],
    "completion_tokens": float("nan"), "cost_usd": float("inf"), "latency_s": "1", "facts": {"a": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_completion_with_a_field_of_the_wrong_type_is_not_made_or_read(name: str) -> None:
    good = parse_completion(GOOD)
    with pytest.raises(ValidationError, match=name):
        replace(good, **{name: FIELDS[name]})
    assert read_stored(json.dumps(asdict(good))) == good
    assert read_stored(json.dumps({**asdict(good), name: FIELDS[name]})) is None


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"text": "a"}', '{"text": "a", "model": "m", "x": 1}'])
def test_invalid_stored_completion_is_ignored(kept: str) -> None:
    assert read_stored(kept) is None
