"""`robogaze forge plant` and `robogaze forge report`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from domains.folders import change, make_folder
from forge.plant.sample_clips import scenery, write

from cli.running import Shell
from robogaze.core.report import Report
from robogaze.datasets.manifest import ManifestEntry
from robogaze.forge.plant.planted_dataset import PlantingOptions, plant_clips
from robogaze.forge.plant.planting_config import load_planting_config
from robogaze.store import ManifestLine, RunFolder


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write(tmp_path_factory.mktemp("clips") / "take.mp4", scenery(1))
    path.with_suffix(".txt").write_text("Push the red cube with the left hand")
    return path


@pytest.fixture(scope="module")
def smeared(clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with one planted glitch."""
    config = load_planting_config("robot")
    folder = tmp_path_factory.mktemp("smeared")
    plant_clips([ManifestEntry(path=clip)], PlantingOptions(config, config.select(("smear",)), 1, 0), folder)
    return folder


def a_run(root: Path, planted: Path, keep: Callable[[Report], bool] = lambda report: True) -> Path:
    """The run of an evaluator that knows the annotations."""
    with RunFolder(root, {"evaluator": "oracle"}) as run:
        for report in map(Report.model_validate_json, (planted / "annotations.jsonl").read_text().splitlines()):
            if keep(report):
                address = run.address(planted / report.clip.uri)
                run.add(ManifestLine(clip_id=report.clip.id, path=address, sha256=report.clip.sha256))
                run.write(report, {})
    return root


def test_glitches_are_planted_and_their_recall_is_measured(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    only = [word for name in ("smear", "shake", "other_hand") for word in ("--only", name)]
    done = robogaze("forge", "plant", clip, "--out", tmp_path / "set", *only, "--json")
    assert done.code == 0
    planted = {name: counts["planted"] for name, counts in json.loads(done.out)["glitches"].items()}
    assert planted == {"smear": 1, "shake": 1, "other_hand": 1}
    run = a_run(tmp_path / "run", tmp_path / "set")
    found = robogaze("forge", "report", run, "--reference", tmp_path / "set", "--json")
    result = json.loads(found.out)
    assert (found.code, result["schema_version"], result["total"]["planted"]) == (0, 1, 3)
    assert {name: group["found"]["value"] for name, group in result["by"]["glitch"].items()} == dict.fromkeys(
        ("other_hand", "shake", "smear"), 1
    )
    assert (result["total"]["tiou"]["value"], result["total"]["tiou"]["n"]) == (1, 2)
    assert (result["untouched"]["untouched"], result["untouched"]["clips"]["value"]) == (1, 0)


def test_the_report_has_tables_and_notes(robogaze: Shell, smeared: Path, tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", smeared)
    done = robogaze("forge", "report", run, "--reference", smeared, "--out", tmp_path / "tables")
    assert "Found glitches by severity" in done.out
    assert "Found: an event of the same type" in done.out
    assert "alarms per minute" in done.out
    assert "share that it notices" in (tmp_path / "tables" / "index.html").read_text()
    assert json.loads((tmp_path / "tables" / "report.json").read_text())["total"]["planted"] == 1
    assert (tmp_path / "tables" / "sensitivity-type.csv").is_file()


def test_clips_without_a_report_are_reported_and_set_the_exit_code(
    robogaze: Shell, smeared: Path, tmp_path: Path
) -> None:
    run = a_run(tmp_path / "run", smeared, keep=lambda report: bool(report.events))
    done = robogaze("forge", "report", run, "--reference", smeared, "--json")
    result = json.loads(done.out)
    assert (done.code, len(result["unreported"])) == (4, 1)
    assert result["untouched"]["clips"] == {
        "value": None, "low": None, "high": None, "n": 0, "why": "there are no cases to compute a share from",
        "open": 1, "worst": 0, "best": 1,
    }  # fmt: skip
    assert "without a report: 1 of 2 clips" in done.err


def test_a_run_without_reports_is_an_error_with_the_command(robogaze: Shell, smeared: Path, tmp_path: Path) -> None:
    done = robogaze("forge", "report", tmp_path / "run", "--reference", smeared)
    assert done.code == 1
    assert f"robogaze score {smeared}/clips.jsonl --out {tmp_path / 'run'}" in done.err


def test_glitches_left_out_are_on_stderr_with_the_reason(robogaze: Shell, clip: Path, tmp_path: Path) -> None:
    done = robogaze("forge", "plant", clip, "--out", tmp_path / "set", "--only", "other_order", "--only", "smear")
    assert done.code == 0
    assert "left out: other_order 1 time, because the glitch's pattern matches no words of the instruction" in done.err
    assert "other_order" in done.out


def test_a_clip_that_cannot_be_read_is_an_error_and_the_others_are_planted(
    robogaze: Shell, clip: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone.mp4"
    some = robogaze("forge", "plant", gone, clip, "--out", tmp_path / "a", "--only", "smear")
    none = robogaze("forge", "plant", gone, "--out", tmp_path / "b", "--only", "smear")
    assert (some.code, none.code) == (4, 1)
    assert f"error: {gone} does not exist" in some.err
    assert json.loads((tmp_path / "a" / "planted.json").read_text())["unreadable"] == [f"{gone} does not exist"]
    assert f"error: {gone} does not exist" in none.err


def test_other_settings_in_the_same_folder_are_refused(robogaze: Shell, clip: Path, smeared: Path) -> None:
    done = robogaze("forge", "plant", clip, "--out", smeared, "--only", "shake")
    assert done.code == 1
    assert "was planted with other settings" in done.err


def test_a_domain_s_glitches_are_checked_with_it(robogaze: Shell, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    path = folder / "forge.yaml"
    path.write_text(
        "schema_version: 1\n"
        "glitches:\n"
        "  - planter: erase\n"
        "    type: disappearance\n"
        "    severity: {4: 0.0}\n"
        "    description: It is gone.\n"
    )
    whole = robogaze("domain", "check", folder)
    assert (whole.code, whole.out.endswith(", 1 kind of glitch\n")) == (0, True)
    change(path, "disappearance", "disapearance")
    broken = robogaze("domain", "check", folder)
    assert broken.code == 1
    assert f"{path}:4: glitches.0.type: 'disapearance' is not in the taxonomy" in broken.err


def test_a_domain_s_simulated_faults_are_checked_with_it(robogaze: Shell, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder / "simulate.yaml").write_text("schema_version: 1\nfalts: []\n")
    broken = robogaze("domain", "check", folder)
    assert broken.code == 1
    assert f"{folder / 'simulate.yaml'}:2: falts: unknown key" in broken.err
