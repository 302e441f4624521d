"""Replies of a server as data: what is a completion, what is left out, and what is a fault of that one call."""

import copy
import json
import time
from dataclasses import asdict, replace
from typing import Any

import pytest

from robogaze.backends import Completion
from robogaze.backends.reply import check, check_ended, completion, is_answer, parse, stored
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


def test_a_good_reply_is_read_whole() -> None:
    read = completion(GOOD, 0.25)
    assert read == Completion("{}", "m", "stop", None, 9, 4, 2, None, 0.25, {"system_fingerprint": "fp"})
    check(read)
    assert is_answer(read)


ODD = (None, True, False, 5, 1.5, float("nan"), float("inf"), "", "text", "\ud800", [], [1], [[]], {}, {"a": 1})
PLACES = (
    "", "choices", "choices.0", "choices.0.message", "choices.0.message.content", "choices.0.finish_reason",
    "choices.0.message.refusal", "choices.0.error", "error", "usage", "usage.prompt_tokens",
    "usage.completion_tokens", "usage.prompt_tokens_details", "usage.prompt_tokens_details.cached_tokens", "model",
    "system_fingerprint", "choices.0.message.reasoning", "choices.0.message.reasoning_content",
)  # fmt: skip


@pytest.mark.parametrize("path", PLACES)
def test_anything_anywhere_is_a_completion_or_a_fault_of_the_call(path: str) -> None:
    for value in (*ODD, 10**400, -1, "x" * 5000):
        read = read_or_fault(changed(path, value))
        if isinstance(read, ServerFault):
            assert len(str(read)) < 400
            assert str(read).isprintable()
            continue
        check(read)
        json.dumps(asdict(read), ensure_ascii=False).encode()
        assert read.text in ("{}", "", "text", "x" * 5000)


def read_or_fault(reply: Any) -> Completion | ServerFault:
    try:
        return completion(reply)
    except ServerFault as error:
        return error


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", {}),
        ("", []),
        ("choices", []),
        ("choices", {"0": {}}),
        ("choices.0.message", None),
        ("choices.0.message.content", 5),
        ("choices.0.message.content", {"text": "{}"}),
        ("choices.0.message.content", ["{}"]),
        ("choices.0.message.content", [{"type": "image_url"}]),
        ("choices.0.message.content", [{"type": "text", "text": 5}]),
        ("choices.0.message.content", "\ud800"),
        ("choices.0.message.refusal", True),
        ("choices.0.finish_reason", 5),
        ("error", {"message": "overloaded"}),
        ("choices.0.error", {"message": "overloaded"}),
    ],
)
def test_what_is_no_completion_is_a_fault_of_the_server(path: str, value: Any) -> None:
    with pytest.raises(ServerFault, match="no chat completion"):
        completion(changed(path, value))


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{}]}, {"type": "text", "text": '{"a"'}, {"type": "text", "text": ": 1}"}]
    assert completion(changed("choices.0.message.content", parts)).text == '{"a": 1}'


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_no_answer_is_read_out_of_reasoning(field: str) -> None:
    message = {"content": None, field: '{"hypotheses": []}'}
    read = completion(changed("choices.0.message", message))
    assert (read.text, read.facts["reasoning_only"]) == ("", "yes")


@pytest.mark.parametrize("count", [1.5, 9.0, "9", [1], {}, True, -1, float("nan"), 1e308, 10**30, None])
def test_a_count_that_is_none_is_not_known(count: Any) -> None:
    for name in ("prompt_tokens", "completion_tokens"):
        assert getattr(completion(changed(f"usage.{name}", count)), name) is None
    assert completion(changed("usage.prompt_tokens_details.cached_tokens", count)).cached_tokens is None


def test_no_more_tokens_come_from_a_cache_than_there_are() -> None:
    assert completion(changed("usage.prompt_tokens_details.cached_tokens", 10)).cached_tokens is None


@pytest.mark.parametrize("name", [5, "\ud800", "a\nb", "x" * 201, ["m"]])
def test_a_name_that_is_none_is_left_out(name: Any) -> None:
    assert completion(changed("model", name)).model == ""
    assert "system_fingerprint" not in completion(changed("system_fingerprint", name)).facts


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [
        ("choices.0.message.refusal", "I cannot", RequestRefused),
        ("choices.0.message.content", [{"type": "refusal", "refusal": "I cannot"}], RequestRefused),
        ("choices.0.message.content", [{"type": "refusal"}, {"type": "text", "text": "{}"}], RequestRefused),
        ("choices.0.finish_reason", "content_filter", RequestRefused),
        ("choices.0.finish_reason", "error", ServerFault),
        ("choices.0.finish_reason", "abort", ServerFault),
        ("choices.0.finish_reason", "", ServerFault),
        ("choices.0.finish_reason", "tool_calls", ServerFault),
    ],
)
def test_only_an_answer_that_ended_by_itself_is_one(path: str, value: Any, kind: type[Exception]) -> None:
    read = completion(changed(path, value))
    assert not is_answer(read)
    with pytest.raises(kind):
        check_ended(read)


def test_an_answer_cut_off_is_not_kept_and_without_a_reason_it_is() -> None:
    cut = completion(changed("choices.0.finish_reason", "length"))
    check_ended(cut)
    assert not is_answer(cut)
    assert is_answer(completion(changed("choices.0.finish_reason", None)))


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe{", "decode"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "nested deeper than 100 levels"),
        (b"[" * 3000 + b"]" * 3000, "nested deeper"),
        (b'"' + b"x" * 2**24 + b'"', "larger than 16 MiB"),
        (b"[]," * 2_000_001, "lists and records"),
        (b"1" * 5000, "digits"),
    ],
)
def test_json_is_bounded(raw: bytes, says: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match=says):
        parse(raw)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("text", ["[{" * 500, '\\"[' * 500, "\\[" * 500, "[\\\\"])
def test_brackets_in_texts_are_no_nesting(text: str) -> None:
    value = {"a": [text] * 80, "b": [[text]] * 80}
    assert parse(json.dumps(value)) == value


FIELDS = {
    "text": 5, "model": None, "finish_reason": 3, "refusal": [], "prompt_tokens": 1.5, "cached_tokens": [1],
    "completion_tokens": float("nan"), "cost_usd": float("inf"), "latency_s": "1", "facts": {"a": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_a_completion_of_other_types_is_not_kept_and_not_believed(name: str) -> None:
    good = completion(GOOD)
    odd = replace(good, **{name: FIELDS[name]})
    assert not is_answer(odd)
    with pytest.raises(ValueError, match="no "):
        check(odd)
    assert stored(json.dumps(asdict(good))) == good
    assert stored(json.dumps(asdict(odd))) is None


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"text": "a"}', '{"text": "a", "model": "m", "x": 1}', None, 5])
def test_what_is_no_completion_on_the_disk_is_asked_again(kept: Any) -> None:
    assert stored(kept) is None
