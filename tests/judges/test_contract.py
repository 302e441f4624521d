"""What holds for every judge."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from judges.cases import model_judge, pair, rate, ratings, write_table
from robogaze.judges.base import Judge
from robogaze.judges.offline import OfflineJudge
from robogaze.judges.table import TableJudge

PAIRS = [
    pair(reference_id="1", prediction_id="a"),
    pair("The lid opens.", "The lid stays shut.", reference_id="2", prediction_id="b"),
    pair("The lid opens.", "The picture is dark.", reference_id="2", prediction_id="c", instruction="Open the lid"),
]


def offline(folder: Path) -> Judge:
    return OfflineJudge.read()


def table(folder: Path) -> Judge:
    return TableJudge.read(write_table(folder / "table.jsonl", PAIRS))


def model(folder: Path) -> Judge:
    return model_judge(folder, {"reply": ratings(), "repeat": True})


every_judge = pytest.mark.parametrize("make", [offline, table, model])
Make = Callable[[Path], Judge]


@every_judge
def test_each_pair_has_a_judgement_in_order_whatever_stands_beside_it(make: Make, tmp_path: Path) -> None:
    judge = make(tmp_path)
    together = rate(judge, PAIRS)
    assert len(together) == len(PAIRS)
    assert [rate(judge, [pair])[0] for pair in PAIRS] == together
    assert rate(judge, PAIRS[::-1]) == together[::-1]
    assert rate(judge, []) == []


@every_judge
def test_a_similarity_lies_between_0_and_1_and_needs_no_excuse(make: Make, tmp_path: Path) -> None:
    for judgement in rate(make(tmp_path), PAIRS):
        assert judgement.similarity is not None
        assert 0 <= judgement.similarity <= 1


@every_judge
def test_two_judges_of_one_making_are_one_judge(make: Make, tmp_path: Path) -> None:
    first, second = make(tmp_path), make(tmp_path)
    assert json.dumps(first.identity) == json.dumps(second.identity)
    assert rate(first, PAIRS) == rate(second, PAIRS)


@every_judge
def test_a_judge_describes_itself_in_a_sentence(make: Make, tmp_path: Path) -> None:
    judge = make(tmp_path)
    assert judge.name
    assert re.match(r"The .* gives the similarities", judge.note)
    assert judge.note.endswith(".")
    assert "\n" not in judge.note


@pytest.mark.parametrize("make", [offline, model])
def test_a_prediction_without_a_description_earns_nothing(make: Make, tmp_path: Path) -> None:
    (judgement,) = rate(make(tmp_path), [pair("The cup falls.", "  ")])
    assert (judgement.similarity, judgement.rationale) == (0.0, "the prediction has no description")


@pytest.mark.parametrize("make", [offline, model])
def test_a_reference_without_a_description_cannot_be_judged_by(make: Make, tmp_path: Path) -> None:
    for judgement in rate(make(tmp_path), [pair("", "The cup falls."), pair("", ""), PAIRS[0]])[:2]:
        assert (judgement.similarity, judgement.rationale) == (None, "the reference has no description")
