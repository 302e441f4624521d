"""Parsing answers: what is accepted, and the message for what is sent back to the model."""

import json
import time

import pytest

from robogaze.backends import Completion
from robogaze.backends.answer_parsing import UnreadableAnswer, read_answer, read_completion
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.errors import RequestRefused, ServerFault
from robogaze.stages.answers import narrowed, one_of


class Verdict(Answer):
    faulty: bool
    level: int
    share: float
    words: Text


class Found(Answer):
    hypotheses: list[int]


class Ruling(Verdict):
    stands_alone = True


GOOD = '{"faulty": true, "level": 3, "share": 0.5, "words": "the cup melts"}'
NOTHING = '{"hypotheses": []}'


@pytest.mark.parametrize(
    "written",
    [
        GOOD,
        f"  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here is my answer: {GOOD} I hope it helps.",
        f"<think>level 5? no: {{3}}</think>{GOOD}",
    ],
)
def test_only_object_is_read_wherever_it_is(written: str) -> None:
    assert read_answer(written, Verdict).level == 3


def test_integer_is_accepted_as_a_number() -> None:
    assert read_answer(GOOD.replace("0.5", "1"), Verdict).share == 1.0


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "empty"),
        ("<think>hm</think>", "empty"),
        ("I see no fault.", "one JSON object, not none"),
        (GOOD + GOOD, "one JSON object, not several"),
        (GOOD[:-5], "not valid JSON"),
        (GOOD.replace("true", '"true"'), "faulty: Input should be a valid boolean"),
        (GOOD.replace("3", '"3"'), "level: Input should be a valid integer"),
        (GOOD.replace("3", "3.7"), "level: Input should be a valid integer"),
        (GOOD.replace("0.5", "NaN"), "share"),
        (GOOD.replace("0.5", "1e999"), "share"),
        (GOOD.replace('"level": 3', '"level": null'), "level"),
        (GOOD.replace('"level": 3, ', ""), "level: Field required"),
        (GOOD.replace("{", '{"extra": 1, ', 1), "extra: Extra inputs are not permitted"),
        (GOOD.replace("{", '{"level": 1, ', 1), "'level' appears twice"),
        (GOOD.replace("the cup melts", ""), "words"),
        (GOOD.replace("cup", "\\ud800"), "JSON"),
        ("[1, 2]", "one JSON object"),
        (GOOD.replace("3", "[" * 3000 + "]" * 3000), "nested too deeply"),
        (GOOD.replace("cup", "x" * 2_000_000), "longer than 1,048,576 characters"),
        (GOOD.replace("3", "3" * 5000), "not valid JSON"),
        (f"<think>{GOOD}", "not closed"),
        (GOOD.replace("the cup", "<think>the cup</think>") + " <think>", None),
    ],
)
def test_invalid_answer_is_refused_with_the_reason(written: str, says: str | None) -> None:
    if says is None:
        assert read_answer(written, Verdict).words == "<think>the cup</think> melts", "nothing is cut out of JSON"
        return
    with pytest.raises(UnreadableAnswer, match=says.replace("(", r"\(")) as error:
        read_answer(written, Verdict)
    assert len(str(error.value)) < 5000


@pytest.mark.parametrize(
    "written",
    [
        f"I cannot see any picture. The form would be {NOTHING}",
        f"{NOTHING} but I saw nothing",
        f"```json\n{NOTHING}\n```\nNo picture came with the question.",
        f"a draft </think> {NOTHING}",
        f"<think>one</think> so {NOTHING}",
        '{"hypo<think>theses": [1], "x": "</think>theses": []}',
    ],
)
def test_object_without_findings_in_text_is_refused(written: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(written, Found)


@pytest.mark.parametrize("written", [NOTHING, f"```json\n{NOTHING}\n```", f"<think>none</think>\n{NOTHING}\n"])
def test_object_without_findings_alone_is_an_answer(written: str) -> None:
    assert read_answer(written, Found).hypotheses == []


def test_contract_can_require_the_object_alone() -> None:
    assert read_answer(GOOD, Ruling).level == 3
    with pytest.raises(UnreadableAnswer, match="alone"):
        read_answer(f"The form would be {GOOD}", Ruling)


@pytest.mark.parametrize(
    ("completion", "says"),
    [
        (Completion(GOOD, "m", finish_reason="length"), "token limit"),
        (Completion("", "m", finish_reason="stop", facts={"reasoning_only": "yes"}), "only reasoning came"),
        (Completion("", "m", finish_reason="stop"), "empty"),
    ],
)
def test_empty_or_cut_off_answer_is_sent_back(completion: Completion, says: str) -> None:
    with pytest.raises(UnreadableAnswer, match=says):
        read_completion(completion, Verdict)


def test_refused_or_unfinished_completion_is_an_error_even_if_it_parses() -> None:
    with pytest.raises(RequestRefused, match="refuses: I cannot help"):
        read_completion(Completion(GOOD, "m", finish_reason="stop", refusal="I cannot help"), Verdict)
    with pytest.raises(RequestRefused, match="content filter"):
        read_completion(Completion(GOOD, "m", finish_reason="content_filter"), Verdict)
    for reason in ("error", "", "STOP"):
        with pytest.raises(ServerFault, match="finish_reason"):
            read_completion(Completion(GOOD, "m", finish_reason=reason), Verdict)
    assert read_completion(Completion(GOOD, "m"), Verdict).level == 3


@pytest.mark.parametrize("frame", ["true", "false", "1.0", '"1"', "2"])
def test_frame_numbers_are_integers(frame: str) -> None:
    contract = narrowed(Found, hypotheses=list_of(one_of([0, 1]), 8))
    text = f'{{"hypotheses": [{frame}]}}'
    assert read_answer('{"hypotheses": [1]}', contract).hypotheses == [1]
    with pytest.raises(UnreadableAnswer, match=r"hypotheses\.0"):
        read_answer(text, contract)


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 200_000,
        "<think>" * 100_000 + "</think>" + "<think>" * 100_000,
        "{" * 1_000_000,
        '{"a":' * 90 + '"' + '\\"' * 400_000,
        "{}" * 500_000,
        json.dumps({"words": "[{" * 300_000}),
    ],
)
def test_parsing_takes_linear_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(UnreadableAnswer):
        read_answer(text, Verdict)
    assert time.process_time() - started < 3


def test_long_lists_of_errors_are_shortened() -> None:
    with pytest.raises(UnreadableAnswer) as error:
        read_answer("{" + ", ".join(f'"k{n}": 1' for n in range(20)) + "}", Verdict)
    assert "more" in str(error.value)
    assert len(str(error.value)) < 600
