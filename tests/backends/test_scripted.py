"""Replies from a file."""

from pathlib import Path

import pytest

from backends.samples import request
from robogaze.backends.rehearsal import plainest
from robogaze.backends.scripted import ScriptedBackend, ScriptedReply
from robogaze.errors import InputError, RateLimited, RequestRefused

SCRIPT = """
- when: {stage: verify}
  reply: {decisions: []}
- when: {stage: look, subject: cup}
  text: "I think"
- error: {kind: rate_limited, retry_after_s: 2}
- when: {stage: look}
  reply: {cup: true}
  repeat: true
"""


async def test_first_matching_entry_answers(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCRIPT)
    backend = ScriptedBackend.read(tmp_path / "s.yaml")
    assert (await backend.complete(request())).text == "I think"
    with pytest.raises(RateLimited) as error:
        await backend.complete(request())
    assert error.value.retry_after_s == 2
    assert [(await backend.complete(request())).text for _ in range(2)] == ['{"cup": true}'] * 2


async def test_request_without_a_matching_entry_is_refused() -> None:
    with pytest.raises(RequestRefused, match="no reply left for stage look, subject cup, clip clip, attempt 1"):
        await ScriptedBackend([]).complete(request())


@pytest.mark.parametrize(
    "text",
    [
        "- when: {stage: a}",
        "- {reply: 1, text: a}",
        "reply: 1",
        "- {reply: 1, wen: {}}",
        "- [",
        "- when: {stge: a}\n  reply: 1",
    ],
)
def test_invalid_script_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(InputError, match=r"s\.yaml:\d: "):
        ScriptedBackend.read(tmp_path / "s.yaml")


def test_only_errors_of_backends_can_be_scripted() -> None:
    with pytest.raises(ValueError, match="no backend raises undecided; use one of rate_limited, refused, "):
        ScriptedReply.model_validate({"error": {"kind": "undecided"}})


def test_edited_script_is_another_model(tmp_path: Path) -> None:
    """Otherwise the stored answers of the former script would be used."""
    (tmp_path / "s.yaml").write_text("- {reply: 1}")
    before = ScriptedBackend.read(tmp_path / "s.yaml").identity
    assert ScriptedBackend.read(tmp_path / "s.yaml").identity == before
    (tmp_path / "s.yaml").write_text("- {reply: 2}")
    assert ScriptedBackend.read(tmp_path / "s.yaml").identity != before


def test_entry_needs_a_reply() -> None:
    with pytest.raises(ValueError, match="exactly one of 'reply', 'text' and 'error'"):
        ScriptedReply()


def test_plainest_answer_fills_required_values() -> None:
    item = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "windows": {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2},
            "note": {"type": "string"},
            "next": {"anyOf": [{"enum": [1]}, {"type": "null"}]},
            "share": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": item, "maxItems": 2}}}
    item_value = {"kind": "a", "windows": [1, 2], "note": "rehearsed", "next": None, "share": 0.5}
    assert plainest(schema) == {"all": [item_value]}
