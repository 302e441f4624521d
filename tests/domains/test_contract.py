"""Answer contracts: the schema a model is sent is bounded everywhere; the check is strict, and patient with lengths."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError, create_model

from robogaze.domains import domain_folders, load_domain
from robogaze.domains.contract import LIST_LIMIT, TEXT_LIMIT, Answer, Text, json_schema, list_of, record

MEMORY = {
    "goal": "text",
    "objects": ["text"],
    "steps": [{"name": "text", "signs": ["text"]}],
    "place": {"room": "text"},
}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema within a schema."""
    if isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            below = value.values() if key in ("properties", "$defs") else [value]
            for part in below:
                yield from parts(part)
    if isinstance(schema, list):
        for part in schema:
            yield from parts(part)


def assert_bounded(schema: dict[str, Any]) -> None:
    for part in parts(schema):
        kind = part.get("type")
        if kind == "string":
            assert re.fullmatch(r"\^\[.*\]\{1,\d+\}\$", part["pattern"]) or "enum" in part, part
        elif kind == "array":
            assert part["maxItems"] <= LIST_LIMIT, part
            assert "items" in part, part
        elif kind in ("integer", "number"):
            assert "minimum" in part, part
            assert "maximum" in part, part
        elif kind == "object":
            assert part["additionalProperties"] is False, part
            assert part["required"] == list(part["properties"]), part
        else:
            assert "$ref" in part or "enum" in part, part


names = st.from_regex(r"[a-z][a-z0-9]{0,5}_x", fullmatch=True)
kinds = st.recursive(
    st.sampled_from(["text", "phrase", "box"]),
    lambda below: st.lists(below, min_size=1, max_size=1) | st.dictionaries(names, below, min_size=1, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(names, kinds, min_size=1, max_size=3))
def test_every_schema_of_a_declaration_is_bounded(fields: dict[str, Any]) -> None:
    assert_bounded(json_schema(record("memory", fields)))


@pytest.mark.parametrize("name", domain_folders())
def test_the_schemas_of_the_built_in_prompts_are_bounded(name: str) -> None:
    prompts = load_domain(name).prompts
    declaring = [
        path.name.removesuffix(".md.j2")
        for folder in prompts.folders
        for path in folder.glob("*.md.j2")
        if path.read_text(encoding="utf-8").startswith("---\n")
    ]
    assert declaring
    for prompt in declaring:
        assert_bounded(json_schema(record(prompt, prompts.contract(prompt))))


def test_a_schema_contains_what_was_declared() -> None:
    text = {"type": "string", "pattern": r'^[^\u0000-\u001f"\\]{1,400}$'}
    assert json_schema(record("memory", {"goal": "text", "title": ["text"]})) == {
        "type": "object",
        "properties": {
            "goal": text,
            "title": {"type": "array", "items": text, "minItems": 0, "maxItems": LIST_LIMIT},  # a field, not a title
        },
        "required": ["goal", "title"],
        "additionalProperties": False,
    }


def test_two_records_of_one_name_stay_apart() -> None:
    made = record("memory", {"left": {"cup": {"colour": "text"}}, "right": {"cup": {"size": "text"}}})
    made.model_validate({"left": {"cup": {"colour": "red"}}, "right": {"cup": {"size": "big"}}})
    with pytest.raises(ValidationError):
        made.model_validate({"left": {"cup": {"size": "big"}}, "right": {"cup": {"colour": "red"}}})
    assert_bounded(json_schema(made))


def test_what_the_schema_lets_through_passes_the_check() -> None:
    made = record("memory", MEMORY)
    texts = ["x", "x" * TEXT_LIMIT]
    answer = {
        "goal": texts[1],
        "objects": texts * (LIST_LIMIT // 2),
        "steps": [{"name": texts[0], "signs": []}],
        "place": {"room": texts[0]},
    }
    assert made.model_validate_json(json.dumps(answer)).model_dump() == answer


def test_the_check_is_patient_with_lengths_up_to_four_times_the_schemas() -> None:
    made = record("memory", {"objects": ["text"]})
    made.model_validate({"objects": ["x" * 4 * TEXT_LIMIT] * 4 * LIST_LIMIT})
    with pytest.raises(ValidationError, match="at most 1600 characters"):
        made.model_validate({"objects": ["x" * (4 * TEXT_LIMIT + 1)]})
    with pytest.raises(ValidationError, match="at most 48 items"):
        made.model_validate({"objects": ["x"] * (4 * LIST_LIMIT + 1)})


def test_the_check_lets_a_server_without_grammars_use_any_sign() -> None:
    made = record("memory", {"goal": "text"})
    assert made.model_validate_json(r'{"goal": "the \"red\" cup\n\\ second line"}').model_dump() == {
        "goal": 'the "red" cup\n\\ second line'
    }


@pytest.mark.parametrize(
    "answer",
    [
        {"goal": "a"},  # objects is missing
        {"goal": "a", "objects": [], "more": 1},
        {"goal": "", "objects": []},
        {"goal": 1, "objects": []},
        {"goal": True, "objects": []},
        {"goal": None, "objects": []},
        {"goal": "a", "objects": "a"},
        {"goal": "a", "objects": [1]},
        {"goal": "a", "objects": None},
    ],
)
def test_an_answer_that_does_not_fit_is_refused_and_never_converted(answer: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        record("memory", {"goal": "text", "objects": ["text"]}).model_validate_json(json.dumps(answer))


def test_a_box_is_four_whole_numbers_in_thousandths() -> None:
    made = record("scene", {"cup": "box"})
    sides = {"type": "integer", "minimum": 0, "maximum": 1000}
    assert json_schema(made)["properties"]["cup"] == {"type": "array", "items": sides, "minItems": 4, "maxItems": 4}
    assert made.model_validate({"cup": [0, 250, 500, 1000]}).model_dump() == {"cup": [0, 250, 500, 1000]}


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([0, 0, 500], "at least 4 items"),
        ([0, 0, 500, 500, 500], "at most 4 items"),
        ([0, 0, 500, 1001], "less than or equal to 1000"),
        ([0.1, 0.1, 0.5, 0.5], "valid integer"),
        ([500, 0, 500, 500], r"\[500, 0, 500, 500\] is empty"),
        ([0, 500, 500, 400], "left < right and top < bottom"),
    ],
)
def test_a_box_that_is_none_is_refused(box: list[Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        record("scene", {"cup": "box"}).model_validate({"cup": box})


def test_a_list_may_ask_for_some_items() -> None:
    made = create_model("Cups", __base__=Answer, cups=(list_of(Text, 8, least=1), ...))
    schema = json_schema(made)
    with pytest.raises(ValidationError, match="at least 1 item"):
        made.model_validate({"cups": []})
    assert (schema["properties"]["cups"]["minItems"], schema["properties"]["cups"]["maxItems"]) == (1, 8)


def test_a_docstring_is_not_sent_to_a_model_and_a_fields_description_is() -> None:
    class Cup(Answer):
        """For developers."""

        colour: Text = Field(description="the main colour")

    class Cups(Answer):
        """For developers."""

        cups: list_of(Cup)  # type: ignore[valid-type]

    written = json.dumps(json_schema(Cups))
    assert "For developers" not in written
    assert "the main colour" in written
