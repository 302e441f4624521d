"""`robogaze forge simulate` on the command line."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.cli.forge_simulate import simulate
from robogaze.errors import InputError, MissingExtra


def test_one_clip_is_made_and_told_as_json(tmp_path: Path, player: object) -> None:
    words = ["--out", str(tmp_path), "--clips", "1", "--seed", "5", "--types", "blur", "--clean-share", "0"]
    done = CliRunner().invoke(simulate, [*words, "--size", "64x64", "--json"], catch_exceptions=False)
    told = json.loads(done.stdout)
    assert (told["clips"], told["clean"], told["types"]) == (1, 0, {"blur": 1})
    assert told == json.loads((tmp_path / "simulated.json").read_text())


def test_a_size_that_cannot_be_encoded_is_refused() -> None:
    for size in ("640", "641x480", "9999x9999", "16x16"):
        done = CliRunner().invoke(simulate, ["--out", "x", "--clips", "1", "--size", size])
        assert done.exit_code == 2
        assert "a size is WIDTHxHEIGHT" in done.stderr


def test_tasks_are_chosen_and_one_that_is_not_there_is_refused(tmp_path: Path, player: object) -> None:
    words = ["--clips", "1", "--clean-share", "1", "--size", "64x64", "--json"]
    out = ["--out", str(tmp_path / "made"), "--tasks", "press", "--tasks", "open"]
    done = CliRunner().invoke(simulate, [*words, *out], catch_exceptions=False)
    assert json.loads(done.stdout)["settings"]["tasks"] == ["open", "press"]
    (report,) = (tmp_path / "made" / "annotations.jsonl").read_text().splitlines()
    assert json.loads(report)["clip"]["task_family"] in ("open a drawer", "press a button")
    with pytest.raises(InputError, match="there is no task 'fold'"):
        CliRunner().invoke(simulate, [*words, "--out", str(tmp_path / "x"), "--tasks", "fold"], catch_exceptions=False)
    refused = ["--out", str(tmp_path / "x"), "--tasks", "press", "--types", "wrong_effector"]
    with pytest.raises(InputError, match="'wrong_effector' cannot be simulated in press; these types can: "):
        CliRunner().invoke(simulate, [*words, *refused], catch_exceptions=False)
    assert not (tmp_path / "x").exists()


def test_an_unknown_type_is_told_the_known_ones(tmp_path: Path) -> None:
    words = ["--out", str(tmp_path), "--clips", "1", "--types", "wobble"]
    with pytest.raises(InputError, match="'wobble' cannot be simulated"):
        CliRunner().invoke(simulate, words, catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_without_the_simulator_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"pip install 'robogaze\[forge\]'"):
        CliRunner().invoke(simulate, ["--out", str(tmp_path), "--clips", "1"], catch_exceptions=False)
