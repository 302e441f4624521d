"""Reading a model's answer: what is accepted, and what is sent back with which words."""

import pytest

from robogaze.domains.contract import Answer, Text
from robogaze.stages.answers import UnreadableAnswer, read_answer


class Verdict(Answer):
    faulty: bool
    level: int
    share: float
    words: Text


GOOD = '{"faulty": true, "level": 3, "share": 0.5, "words": "the cup melts"}'


def read(text: str, finish_reason: str | None = "stop") -> Verdict:
    return read_answer(text, finish_reason, Verdict)


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
def test_one_object_is_read_wherever_it_stands(written: str) -> None:
    assert read(written).level == 3


def test_a_whole_number_is_a_number() -> None:
    assert read(GOOD.replace("0.5", "1")).share == 1.0


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "empty"),
        ("<think>hm</think>", "empty"),
        ("I see no fault.", "one JSON object, not none"),
        (GOOD + GOOD, "one JSON object, not 2"),
        (GOOD[:-5], "not valid JSON"),
        (GOOD.replace("true", '"true"'), "faulty: Input should be a valid boolean"),
        (GOOD.replace("3", '"3"'), "level: Input should be a valid integer"),
        (GOOD.replace("3", "3.7"), "level: Input should be a valid integer"),
        (GOOD.replace("0.5", "NaN"), "share"),
        (GOOD.replace("0.5", "1e999"), "share"),
        (GOOD.replace('"level": 3', '"level": null'), "level"),
        (GOOD.replace('"level": 3, ', ""), "level: Field required"),
        (GOOD.replace("{", '{"extra": 1, ', 1), "extra: Extra inputs are not permitted"),
        (GOOD.replace("{", '{"level": 1, ', 1), "'level' stands twice"),
        (GOOD.replace("the cup melts", ""), "words"),
        ("[1, 2]", "one JSON object"),
    ],
)
def test_anything_else_is_sent_back_with_the_reason(written: str, says: str) -> None:
    with pytest.raises(UnreadableAnswer, match=says.replace("(", r"\(")):
        read(written)


def test_an_answer_cut_at_the_token_limit_is_not_read_even_if_it_parses() -> None:
    with pytest.raises(UnreadableAnswer, match="token limit"):
        read(GOOD, "length")


def test_many_faults_are_cut_to_what_a_model_can_mend() -> None:
    with pytest.raises(UnreadableAnswer) as error:
        read("{" + ", ".join(f'"k{n}": 1' for n in range(20)) + "}")
    assert "more" in str(error.value)
    assert len(str(error.value)) < 600
