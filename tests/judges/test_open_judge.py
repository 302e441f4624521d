"""Which judge a name opens."""

from pathlib import Path

import pytest

from judges.cases import pair, write_table
from robogaze.errors import InputError
from robogaze.judges import open_judge
from robogaze.judges.llm import ModelJudge
from robogaze.judges.offline import OfflineJudge
from robogaze.judges.table import TableJudge


def test_each_name_opens_its_judge(tmp_path: Path) -> None:
    assert isinstance(open_judge("offline", "robogaze", {}), OfflineJudge)
    table = write_table(tmp_path / "t.jsonl", [pair()])
    assert isinstance(open_judge(f"table:{table}", "robogaze", {}), TableJudge)
    model = open_judge("openai:gpt@http://127.0.0.1:9/v1", "glide", {}, sample=2)
    assert isinstance(model, ModelJudge)
    assert (model.rubric.id, model.sample) == ("glide", 2)
    assert model.name == "openai:gpt by glide"


def test_a_models_file_binds_the_judge(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text("models: {a: {kind: scripted, name: a}, b: {kind: scripted, name: b}}\nroles: {vlm: a, judge: b}\n")
    assert open_judge(str(path), "robogaze", {}).name == "scripted:b by robogaze"


def test_an_unknown_judge_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"a judge must be 'offline', 'table:FILE' or a model; a model is KIND:NAME"):
        open_judge("ofline", "robogaze", {})
    with pytest.raises(InputError, match=r"nothing\.jsonl cannot be read"):
        open_judge("table:nothing.jsonl", "robogaze", {})
    with pytest.raises(InputError, match="neither a rubric"):
        open_judge("scripted:x", "robogase", {})


def test_answers_are_stored_in_the_given_file(tmp_path: Path) -> None:
    judge = open_judge("scripted:x", "robogaze", {}, answers=tmp_path / "here.sqlite")
    assert isinstance(judge, ModelJudge)
    assert judge.answers == tmp_path / "here.sqlite"


def test_two_models_are_two_judges() -> None:
    one, other = (open_judge(f"openai:{name}@http://127.0.0.1:9/v1", "robogaze", {}) for name in "ab")
    again = open_judge("openai:a@http://127.0.0.1:9/v1", "robogaze", {})
    assert one.identity == again.identity != other.identity
    assert one.identity != open_judge("openai:a@http://127.0.0.1:9/v1", "glide", {}).identity


def test_a_judge_is_passed_through_and_the_offline_judge_takes_no_value() -> None:
    judge = open_judge("offline")
    assert open_judge(judge) is judge
    with pytest.raises(InputError, match="the offline judge takes no value"):
        open_judge("offline:fast")
