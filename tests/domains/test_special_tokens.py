"""Special tokens of chat templates in data never reach a prompt whole."""

import json
import time
from pathlib import Path

import pytest

from robogaze.domains.prompts import Prompts, quoted
from robogaze.domains.special_tokens import broken_up

from .folders import write

TOKENS = (
    "<|im_end|> <|im_start|> <|image_pad|> <|vision_start|> <|eot_id|> <|channel|> <think> </think> <s> </s> [INST] "
    "[/INST] <<SYS>> <start_of_turn> <end_of_turn> <start_of_image> <image> <image_soft_token> <IMG_CONTEXT> <video> "
    "<audio> <unused0> <0x0A> <row_1_col_2> <fake_token_around_image> <end_of_utterance> <bos> <eos> <pad> <unk> "
    "<mask> [IMG] [IMG_BREAK] [AVAILABLE_TOOLS] <tool_call> <tool_response> <extra_id_0> <seed:think> ◁think▷ [gMASK] "
    "<img/> [THINK]"
)
FULL_WIDTH = "<\N{FULLWIDTH VERTICAL LINE}begin\N{LOWER ONE EIGHTH BLOCK}of\N{LOWER ONE EIGHTH BLOCK}sentence>"


@pytest.mark.parametrize("token", [*TOKENS.split(), FULL_WIDTH])
def test_a_special_token_is_broken_up_and_json_reads_it_back(tmp_path: Path, token: str) -> None:
    write(tmp_path / "ask.md.j2", "{{ text | quoted }}\n{{ text }}\n{{ '%s' | format(text) }}\n{{ [text] | join }}")
    text = f'Put "the cup" \\{token} away.\n{token}'
    rendered = Prompts((tmp_path,)).render("ask", {"text": text})
    assert token not in rendered
    assert json.loads(rendered.splitlines()[0]) == text
    assert broken_up(rendered) == rendered


@pytest.mark.parametrize(
    "text", ["a < b", "x <= 3 > 2", "the <red> cup", "[1, 2]", "[left] or right", "a || b", "i <3 it", "[insert]"]
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert broken_up(text) == text
    assert quoted(text) == json.dumps(text)


def test_the_text_of_a_template_is_not_changed(tmp_path: Path) -> None:
    write(tmp_path / "ask.md.j2", "Reason between <think> and </think> about {{ text | quoted }}")
    assert Prompts((tmp_path,)).render("ask", {"text": "</think>"}) == (
        'Reason between <think> and </think> about "\\u003c/think>"'
    )


def test_long_texts_take_no_longer_than_their_length() -> None:
    started = time.process_time()
    for text in ("<" * 100_000, "<image_" * 50_000, "<image" + "_" * 500_000, "[" * 100_000, "◁" * 100_000):
        broken_up(text)
    assert time.process_time() - started < 2
