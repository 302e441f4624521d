"""`robogaze forge simulate` on the command line."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

import mujoco

from robogaze.cli.forge_simulate import simulate
from robogaze.errors import InputError, MissingExtra, RobogazeError
from robogaze.forge.simulate.playback import Renderer


@pytest.fixture(scope="module")
def renderer() -> None:
    """Skips a test where nothing can be rendered."""
    try:
        with Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), (64, 64)):
            pass
    except RobogazeError as error:
        pytest.skip(str(error))


def test_a_clip_is_simulated_and_summarised_as_json(tmp_path: Path, renderer: None) -> None:
    args = ["--out", str(tmp_path), "--clips", "1", "--seed", "5", "--types", "blur", "--clean-share", "0"]
    done = CliRunner().invoke(simulate, [*args, "--size", "64x64", "--fps", "8", "--json"], catch_exceptions=False)
    summary = json.loads(done.stdout)
    assert (summary["clips"], summary["clean"], summary["types"]) == (1, 0, {"blur": 1})
    assert summary == json.loads((tmp_path / "simulated.json").read_text())


def test_a_size_that_cannot_be_encoded_is_refused() -> None:
    for size in ("640", "641x480", "9999x9999", "16x16"):
        done = CliRunner().invoke(simulate, ["--out", "x", "--clips", "1", "--size", size])
        assert done.exit_code == 2
        assert "give WIDTHxHEIGHT" in done.stderr


def test_tasks_are_selected_and_an_unknown_one_is_refused(tmp_path: Path, renderer: None) -> None:
    args = ["--clips", "1", "--clean-share", "1", "--size", "64x64", "--fps", "8", "--json"]
    out = ["--out", str(tmp_path / "made"), "--tasks", "press", "--tasks", "open"]
    done = CliRunner().invoke(simulate, [*args, *out], catch_exceptions=False)
    assert json.loads(done.stdout)["settings"]["tasks"] == ["open", "press"]
    (report,) = (tmp_path / "made" / "annotations.jsonl").read_text().splitlines()
    assert json.loads(report)["clip"]["task_family"] in ("open a drawer", "press a button")
    with pytest.raises(InputError, match="unknown task 'fold'"):
        CliRunner().invoke(simulate, [*args, "--out", str(tmp_path / "x"), "--tasks", "fold"], catch_exceptions=False)
    refused = ["--out", str(tmp_path / "x"), "--tasks", "press", "--types", "wrong_effector"]
    with pytest.raises(InputError, match="'wrong_effector' cannot be simulated in press; these types can: "):
        CliRunner().invoke(simulate, [*args, *refused], catch_exceptions=False)
    assert not (tmp_path / "x").exists()


def test_a_fault_is_selected_by_its_name_and_an_unknown_one_is_refused(tmp_path: Path, renderer: None) -> None:
    args = ["--clips", "1", "--clean-share", "0", "--size", "64x64", "--fps", "8", "--only", "smear", "--json"]
    done = CliRunner().invoke(simulate, [*args, "--out", str(tmp_path / "made")], catch_exceptions=False)
    assert json.loads(done.stdout)["types"] == {"blur": 1}
    (truth,) = (tmp_path / "made" / "truth.jsonl").read_text().splitlines()
    assert [fault["make"] for fault in json.loads(truth)["faults"]] == ["smear"]
    refused = ["--out", str(tmp_path / "x"), "--tasks", "press", "--only", "miss"]
    with pytest.raises(InputError, match="no fault 'miss' can be simulated in press; these faults can: give_up, "):
        CliRunner().invoke(simulate, [*args, *refused], catch_exceptions=False)
    assert not (tmp_path / "x").exists()


def test_a_missing_simulator_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"pip install 'robogaze\[forge\]'"):
        CliRunner().invoke(simulate, ["--out", str(tmp_path), "--clips", "1"], catch_exceptions=False)
