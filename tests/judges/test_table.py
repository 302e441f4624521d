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


TEXTS = '{"clip_id": "c", "reference": "The cup falls.", "prediction": "The mug drops.", "similarity": 0.5}\n'


def test_a_pair_is_found_by_its_three_ids(tmp_path: Path) -> None:
    judge = table(tmp_path, LINE + LINE.replace('"p"', '"q"').replace("0.25", "1"))
    asked = [pair(clip_id="c", prediction_id="q"), pair(clip_id="c")]
    assert [judgement.similarity for judgement in rate(judge, asked)] == [1.0, 0.25]


def test_a_pair_is_found_by_its_descriptions_whatever_the_ids_of_its_events(tmp_path: Path) -> None:
    judge = table(tmp_path, TEXTS + TEXTS.replace("drops", "breaks").replace("0.5", "0"))
    asked = [pair(clip_id="c"), pair(clip_id="c", prediction_id="q"), pair(prediction="The mug breaks.", clip_id="c")]
    assert [judgement.similarity for judgement in rate(judge, asked)] == [0.5, 0.5, 0.0]
    assert rate(judge, [pair(clip_id="d")])[0].similarity is None


def test_ids_that_two_systems_use_for_different_events_are_refused(tmp_path: Path) -> None:
    judge = table(tmp_path, LINE)
    assert rate(judge, [pair(clip_id="c"), pair(clip_id="c")])[1].similarity == 0.25
    with pytest.raises(InputError, match=r"two systems use the same ids for different events \(clip "):
        rate(judge, [pair(prediction="The lid opens.", clip_id="c")])


def test_a_line_without_a_similarity_is_not_judged_yet(tmp_path: Path) -> None:
    judge = table(tmp_path, TEXTS.replace("0.5", "null"))
    assert rate(judge, [pair(clip_id="c")])[0].similarity is None


def test_a_folder_holds_the_lines_of_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "ratings").mkdir()
    assert TableJudge.read(tmp_path / "ratings").similarities == {}
    (tmp_path / "ratings" / "1.jsonl").write_text(TEXTS)
    (tmp_path / "ratings" / "2.jsonl").write_text(TEXTS.replace('"c"', '"d"'))
    judge = TableJudge.read(tmp_path / "ratings")
    assert [judgement.similarity for judgement in rate(judge, [pair(clip_id="c"), pair(clip_id="d")])] == [0.5, 0.5]
    (tmp_path / "ratings" / "3.jsonl").write_text(TEXTS)
    with pytest.raises(InputError, match=r"3\.jsonl:1: this pair is listed twice"):
        TableJudge.read(tmp_path / "ratings")


def test_a_pair_that_is_not_there_is_unscored_and_named(tmp_path: Path) -> None:
    missing = rate(table(tmp_path, LINE), [pair(clip_id="c", reference_id="other")])[0]
    assert missing.similarity is None
    named = "(clip 'c', reference 'The cup falls.', prediction 'The mug drops.')"
    assert missing.rationale == f"own.jsonl does not hold the pair {named}"


def test_a_prediction_without_a_description_scores_0_if_the_table_does_not_hold_it(tmp_path: Path) -> None:
    assert rate(table(tmp_path, LINE), [pair(prediction=" ", prediction_id="q")])[0].similarity == 0.0


def test_empty_lines_and_a_byte_order_mark_are_no_matter(tmp_path: Path) -> None:
    assert rate(table(tmp_path, "\ufeff\n" + LINE + "\n\n"), [pair(clip_id="c")])[0].similarity == 0.25


def test_its_identity_is_its_content(tmp_path: Path) -> None:
    first = TableJudge.read(write_table(tmp_path / "a.jsonl", [pair()]))
    same = TableJudge.read(write_table(tmp_path / "b.jsonl", [pair()]))
    other = TableJudge.read(write_table(tmp_path / "c.jsonl", [pair()], similarity=0.6))
    assert first.identity == same.identity != other.identity


FAULTS = [
    (LINE + LINE, "own.jsonl:2: this pair is listed twice (clip 'c', reference 'r', prediction 'p')"),
    (LINE.replace("0.25", "1.25"), "own.jsonl:1: similarity: Input should be less than or equal to 1"),
    ("\n" + LINE.replace("0.25", "NaN"), "own.jsonl:2: similarity: "),
    (LINE.replace("0.25", '"0.25"'), "own.jsonl:1: similarity: Input should be a valid number"),
    (LINE.replace("_id", "", 2).replace("clip", "clip_id"), "own.jsonl:1: a line has either 'reference' and "),
    (LINE.replace('"reference_id": "r", ', ""), "own.jsonl:1: a line has either 'reference' and 'prediction', or "),
    (LINE.replace("clip_id", "clip"), "own.jsonl:1: clip: unknown key; a line has: clip_id, reference, "),
    (LINE[:40], "own.jsonl:1: Invalid JSON"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_is_named_with_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        table(tmp_path, text)
    assert message in str(raised.value)


def test_a_file_that_is_not_there_or_is_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: No such file"):
        TableJudge.read(tmp_path / "none.jsonl")
    (tmp_path / "raw.jsonl").write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match=r"raw\.jsonl is not UTF-8 text"):
        TableJudge.read(tmp_path / "raw.jsonl")
