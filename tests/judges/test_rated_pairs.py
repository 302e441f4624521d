"""Rated pairs: what a line may say, and what is refused and where."""

import json
from pathlib import Path
from typing import Any

import pytest

from robogaze.errors import InputError
from robogaze.judges.rated_pairs import RatedPair, read_rated_pairs
from robogaze.judges.rubric import read_rubric

AXES = {"event_faithfulness": 5, "specificity": 4, "causal_correctness": 3}


def read(folder: Path, *lines: dict[str, Any], split: str | None = None) -> tuple[RatedPair, ...]:
    path = folder / "pairs.jsonl"
    path.write_text(
        "\n".join(json.dumps({"reference": "It falls.", "prediction": "It drops.", **pair}) for pair in lines)
    )
    return read_rated_pairs(path, read_rubric("robogaze"), split)


def test_a_pair_is_rated_by_a_similarity_or_by_axes(tmp_path: Path) -> None:
    one, other = read(tmp_path, {"similarity": 0.25}, {"axes": AXES})
    assert (one.similarity, one.axes) == (0.25, {})
    assert (other.similarity, other.axes) == (0.8, AXES)


def test_without_ids_the_line_number_is_used(tmp_path: Path) -> None:
    one, other = read(tmp_path, {"similarity": 1}, {"similarity": 1, "clip_id": "c", "reference_id": "r"})
    assert (one.pair.clip_id, one.pair.reference_id, one.pair.prediction_id) == ("", "1", "1")
    assert (other.pair.clip_id, other.pair.reference_id, other.pair.prediction_id) == ("c", "r", "2")


def test_what_was_rated_together_is_its_event_else_its_clip_else_itself(tmp_path: Path) -> None:
    lines = [{"event": "e", "clip_id": "c"}, {"clip_id": "c"}, {}]
    assert [rated.unit for rated in read(tmp_path, *({"similarity": 0, **pair} for pair in lines))] == ["e", "c", "3"]


def test_one_split_can_be_read_alone(tmp_path: Path) -> None:
    lines = [{"similarity": number / 10, "split": "ab"[number % 2]} for number in range(4)]
    assert [pair.similarity for pair in read(tmp_path, *lines, split="b")] == [0.1, 0.3]
    with pytest.raises(InputError, match=r"pairs\.jsonl holds no pair of the split 'c' \(a, b\)"):
        read(tmp_path, *lines, split="c")
    with pytest.raises(InputError, match=r"pairs\.jsonl holds no pair$"):
        read(tmp_path)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({}, "pairs.jsonl:2: a pair is rated either by 'similarity' or by 'axes'"),
    ({"similarity": 1.5}, "pairs.jsonl:2: similarity: Input should be less than or equal to 1"),
    ({"similarity": 1, "rating": 5}, "pairs.jsonl:2: rating: unknown key; a line has: reference, prediction, "),
    ({"similarity": 1, "reference": ""}, "pairs.jsonl:2: reference: String should have at least 1 character"),
    ({"axes": {"specificity": 5}}, "pairs.jsonl:2: axes: the rubric robogaze has event_faithfulness, specificity, "),
    ({"axes": AXES | {"specificity": 6}}, "pairs.jsonl:2: axes.specificity: 6 is not on the scale from 0 to 5"),
]


@pytest.mark.parametrize(("line", "message"), FAULTS)
def test_a_fault_is_named_with_line_and_key(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, {"similarity": 1}, line)
    assert message in str(raised.value)
