"""The pairs that a judge leaves out, and the file in which a viewer judges them blind."""

import json
from pathlib import Path

from judges.cases import pair, rate
from robogaze.judges.table import TableJudge
from robogaze.judges.unjudged import RecordingJudge, unjudged_lines

KNOWN = '{"clip_id": "a", "reference": "The cup falls.", "prediction": "The mug drops.", "similarity": 0.5}\n'


def recording(folder: Path) -> RecordingJudge:
    (folder / "table.jsonl").write_text(KNOWN)
    return RecordingJudge(TableJudge.read(folder / "table.jsonl"))


def test_what_a_judge_leaves_out_is_kept_once_and_its_answers_are_passed_on(tmp_path: Path) -> None:
    judge = recording(tmp_path)
    lost = pair("The cup falls.", "The lid opens.", clip_id="a", prediction_id="1")
    again = pair("The cup falls.", "The lid opens.", clip_id="a", prediction_id="2")
    answers = rate(judge, [pair(clip_id="a"), lost]) + rate(judge, [again, pair(prediction="", clip_id="a")])
    assert [answer.similarity for answer in answers] == [0.5, None, None, 0.0]
    assert judge.unjudged == (lost,)
    assert judge.name == "table table.jsonl"


def test_the_order_and_the_lines_say_nothing_of_the_systems(tmp_path: Path) -> None:
    texts = ["The lid opens.", "The arm stops.", "The cup is blue."]
    pairs = [pair(prediction=text, clip_id=clip, prediction_id=f"{at}", prediction_type="secret", instruction="Lift it")
             for at, text in enumerate(texts) for clip in "ba"]  # fmt: skip
    forward, backward = recording(tmp_path), recording(tmp_path)
    rate(forward, pairs)
    rate(backward, pairs[::-1])
    listed = unjudged_lines(forward.unjudged)
    assert listed == unjudged_lines(backward.unjudged)
    lines = [json.loads(line) for line in listed.splitlines()]
    assert [line["clip_id"] for line in lines] == ["a", "a", "a", "b", "b", "b"]
    assert {tuple(line) for line in lines} == {("clip_id", "instruction", "reference", "prediction", "similarity")}
    assert "secret" not in listed


def test_a_list_with_similarities_is_a_table(tmp_path: Path) -> None:
    judge = recording(tmp_path)
    asked = [pair(prediction="The lid opens.", clip_id="a"), pair(prediction="The arm\nstops.", clip_id="b")]
    rate(judge, asked)
    filled = tmp_path / "filled.jsonl"
    filled.write_text(unjudged_lines(judge.unjudged).replace("null}", "0.25}"))
    assert [answer.similarity for answer in rate(TableJudge.read(filled), asked)] == [0.25, 0.25]
