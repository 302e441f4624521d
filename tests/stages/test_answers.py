"""Answers that several stages share: times within the clip, as the prompts write its length."""

import json
from typing import Any

import pytest
from making import make_clip, scripted
from pydantic import ValidationError, create_model

from robogaze.domains.contract import Answer, json_schema, list_of
from robogaze.stages.answers import FaultAnswer, narrowed, one_of, span_in
from robogaze.stages.baselines.direct import Direct


def answer_within(duration_s: float) -> type[Answer]:
    return create_model("Timed", __base__=Answer, span_s=(span_in(duration_s), ...))


@pytest.mark.parametrize(("duration_s", "written"), [(8.6875, 8.69), (5.8125, 5.81), (4.0, 4.0), (17.3125, 17.31)])
def test_the_schema_has_the_length_that_prompts_write(duration_s: float, written: float) -> None:
    assert f"{duration_s:.2f}" == f"{written:.2f}"
    schema = json_schema(answer_within(duration_s))
    assert schema["properties"]["span_s"]["items"]["maximum"] == written


@pytest.mark.parametrize("duration_s", [8.6875, 5.8125, 4.0])
def test_a_span_to_the_end_of_the_clip_may_be_exact_or_rounded(duration_s: float) -> None:
    made = answer_within(duration_s)
    for end_s in (duration_s, round(duration_s, 2)):
        assert made.model_validate_json(json.dumps({"span_s": [1.0, end_s]})).model_dump() == {"span_s": [1.0, end_s]}
    with pytest.raises(ValidationError, match="less than or equal"):
        made.model_validate({"span_s": [1.0, duration_s + 0.02]})


async def test_the_rounded_end_is_cut_to_the_clip(client_for: Any) -> None:
    """139 frames at 16 fps last 8.6875 s, which prompts write as 8.69 s."""
    fault = {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [0],
        "dimension": "visual_quality", "type": "blur", "span_s": [8.0, 8.69], "severity": 2,
    }  # fmt: skip
    models, backend = scripted({"reply": {"events": [fault]}})
    client, context = client_for(models, make_clip(139 / 16))
    context = await Direct(prompt="vanilla").run(context, client)
    assert "8.69 s" in "".join(part for part in backend.asked[0].parts if isinstance(part, str))
    assert [hypothesis.offset_s for hypothesis in context.hypotheses] == [8.6875]
    assert len(backend.asked) == 1


def test_equal_contracts_are_one_class_and_others_are_not() -> None:
    first, again, other = (
        narrowed(FaultAnswer, frames=list_of(one_of(frames), 8)) for frames in ((0, 4), (0, 4), (0, 8))
    )
    assert first is again
    assert first is not other
    assert narrowed(FaultAnswer, frames=list_of(one_of((0, 4)), 9)) is not first


def test_values_keep_their_order_whatever_was_asked_before() -> None:
    orders = [("lifted", "dropped"), ("dropped", "lifted")]
    answers = [narrowed(FaultAnswer, type=one_of(order)) for order in orders]
    assert [tuple(json_schema(answer)["properties"]["type"]["enum"]) for answer in answers] == orders
