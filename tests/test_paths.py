"""Paths that a caller of a function gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robogaze
from robogaze.errors import InputError

CALLS: dict[str, Callable[[], Any]] = {
    "load_reports": lambda: robogaze.load_reports(""),
    "compare": lambda: robogaze.compare({"a": ""}),
    "compare, with a name": lambda: robogaze.compare(["a="]),
    "rank": lambda: robogaze.rank({"a": ""}),
    "evaluate": lambda: robogaze.evaluate({"a": ""}, "."),
    "agree": lambda: robogaze.agree({"a": ""}),
    "score": lambda: robogaze.score(""),
    "score, out": lambda: robogaze.score(".", out=""),
    "bench": lambda: robogaze.bench({"a": ""}, out="out"),
    "bench, with a name": lambda: robogaze.bench(["a="], out="out"),
    "bench, without a name": lambda: robogaze.bench([""], out="out"),
    "bench, out": lambda: robogaze.bench({"a": "."}, out=""),
    "play, out": lambda: robogaze.play("castle", model="scripted:replies.yaml", out=""),
    "Monitor": lambda: robogaze.Monitor(""),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_empty_path_is_not_the_working_directory(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is empty; write \. for the working directory"):
        CALLS[call]()
    assert list(tmp_path.iterdir()) == []
