"""A table of similarities: what it answers, what it refuses and where."""

from pathlib import Path

import pytest

from judges.cases import pair, rate, write_table
from robogaze.errors import InputError
from robogaze.judges.table import TableJudge

LINE = '{"clip_id": "c", "reference_id": "r", "prediction_id": "p", "similarity": 0.25}\n'


def table(folder: Path, text: str) -> TableJudge:
    path = folder / "own.jsonl"
    path.write_text(text)
    return TableJudge.read(path)


def test_a_pair_is_found_by_its_three_ids(tmp_path: Path) -> None:
    judge = table(tmp_path, LINE + LINE.replace('"p"', '"q"').replace("0.25", "1"))
    asked = [pair(clip_id="c", prediction_id="q"), pair(clip_id="c")]
    assert [one.similarity for one in rate(judge, asked)] == [1.0, 0.25]


def test_a_pair_that_is_not_there_is_unscored_and_named(tmp_path: Path) -> None:
    missing = rate(table(tmp_path, LINE), [pair(clip_id="c", reference_id="other")])[0]
    assert missing.similarity is None
    assert missing.rationale == "own.jsonl does not hold the pair (clip 'c', reference 'other', prediction 'p')"


def test_empty_lines_and_a_byte_order_mark_are_no_matter(tmp_path: Path) -> None:
    assert rate(table(tmp_path, "\ufeff\n" + LINE + "\n\n"), [pair(clip_id="c")])[0].similarity == 0.25


def test_its_identity_is_its_content(tmp_path: Path) -> None:
    first = TableJudge.read(write_table(tmp_path / "a.jsonl", [pair()]))
    same = TableJudge.read(write_table(tmp_path / "b.jsonl", [pair()]))
    other = TableJudge.read(write_table(tmp_path / "c.jsonl", [pair()], similarity=0.6))
    assert first.identity == same.identity != other.identity


FAULTS = [
    (LINE + LINE, "own.jsonl:2: prediction_id: this pair is listed twice (clip 'c', reference 'r', prediction 'p')"),
    (LINE.replace("0.25", "1.25"), "own.jsonl:1: similarity: Input should be less than or equal to 1"),
    (LINE.replace("0.25", "-0.1"), "own.jsonl:1: similarity: Input should be greater than or equal to 0"),
    ("\n" + LINE.replace("0.25", "NaN"), "own.jsonl:2: similarity: "),
    (LINE.replace("0.25", '"0.25"'), "own.jsonl:1: similarity: Input should be a valid number"),
    (LINE.replace("0.25", "true"), "own.jsonl:1: similarity: Input should be a valid number"),
    (LINE.replace("0.25", "null"), "own.jsonl:1: similarity: Input should be a valid number"),
    (LINE.replace("clip_id", "clip"), "own.jsonl:1: clip: unknown key; a line has: clip_id, reference_id, "),
    (LINE.replace('"clip_id": "c", ', ""), "own.jsonl:1: clip_id: Field required"),
    (LINE.replace('"c"', "3"), "own.jsonl:1: clip_id: Input should be a valid string"),
    (LINE[:40], "own.jsonl:1: Invalid JSON"),
    ("[1]\n", "own.jsonl:1: Input should be an object"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_named_with_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        table(tmp_path, text)
    assert message in str(raised.value)


def test_a_file_that_is_not_there_or_is_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read as UTF-8 text"):
        TableJudge.read(tmp_path / "none.jsonl")
    (tmp_path / "raw.jsonl").write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match=r"raw\.jsonl cannot be read as UTF-8 text"):
        TableJudge.read(tmp_path / "raw.jsonl")
