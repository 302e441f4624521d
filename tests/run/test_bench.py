"""`robogaze.bench`: what the command does, from Python."""

import json
from pathlib import Path

import pytest
from synthetic import write_clip

import robogaze
from robogaze.errors import InputError, OptionError
from robogaze.run.checkpoints import named_checkpoints


@pytest.fixture
def checkpoints(tmp_path: Path) -> dict[str, Path]:
    """Two checkpoints with a clip for each of the same two prompts."""
    folders = {}
    for name in ("old", "new"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        for number in range(2):
            write_clip(folders[name] / f"{number}.mp4", frames=16 if name == "old" else 20, width=64, height=48)
            (folders[name] / f"{number}.txt").write_text(f"Move bar {number}")
    return folders


def test_checkpoints_are_scored_and_compared(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    result = robogaze.bench(checkpoints, baseline="old", out=tmp_path / "out")
    assert {name: len(run) for name, run in result.runs.items()} == {"old": 2, "new": 2}
    assert result.comparison is not None
    assert result.comparison.names == ("old", "new")
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["verdict"] == result.comparison.verdict
    assert (tmp_path / "out" / "index.html").is_file()
    assert (tmp_path / "out" / "new" / "index.html").is_file()


def test_names_of_checkpoints_may_be_training_steps(tmp_path: Path) -> None:
    assert named_checkpoints({1000: tmp_path}) == {"1000": tmp_path}  # type: ignore[dict-item]


def test_a_checkpoint_without_a_report_is_not_compared(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    for path in checkpoints["new"].glob("*.mp4"):
        path.write_bytes(b"no video")
    result = robogaze.bench([f"a={checkpoints['old']}", checkpoints["new"]], out=tmp_path / "out")
    assert {name: len(run.unreadable) for name, run in result.runs.items()} == {"a": 0, "new": 2}
    assert result.comparison is None


def test_wrong_arguments_are_refused_before_anything_is_scored(checkpoints: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="missing does not exist"):
        robogaze.bench({**checkpoints, "third": tmp_path / "missing"}, out=out)
    with pytest.raises(OptionError, match="old is the name of two checkpoints"):
        robogaze.bench([checkpoints["old"], checkpoints["old"]], out=out)
    with pytest.raises(OptionError, match="the baseline third is not one of old, new"):
        robogaze.bench(checkpoints, baseline="third", out=out)
    with pytest.raises(OptionError, match="does not accept `options` with `out` or `shard`"):
        robogaze.bench(checkpoints, out=out, options=robogaze.RunOptions(shard="1/2"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty has no video"):
        robogaze.bench({**checkpoints, "third": tmp_path / "empty"}, out=out)
    assert not out.exists()
