"""`robogaze evaluate`, as its users run it."""

import csv
import json
import re
from pathlib import Path

import pytest

from .running import Shell

GOLD = """clip_id,split,fps,frame_count,event_id,dimension,type,start_s,end_s,severity,description
a,sim,10,100,1,visual_quality,blur,1,3,2,The picture is blurred while the arm reaches for the cup.
a,sim,10,100,2,physical_plausibility,object_floating,5,6,4,The cup hangs in the air above the table.
b,sim,10,100,,,,,,,
c,real,10,100,1,task_progress,failed_grasp,2,4,4,The gripper closes beside the red cube.
"""
OURS = """clip_id,fps,frame_count,event_id,dimension,type,start_s,end_s,severity,description
a,10,100,1,visual_quality,blur,1,3,2,The picture is blurred while the arm reaches for the cup.
b,10,100,1,visual_quality,blur,1,3,2,The picture is blurred.
c,10,100,1,task_progress,failed_grasp,2,4,4,The gripper misses the red cube.
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, ours = tmp_path / "gold.csv", tmp_path / "ours.csv"
    gold.write_text(GOLD)
    ours.write_text(OURS)
    return gold, ours


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "similarities.jsonl"
    rated = {("a", "1", "1"): 1.0, ("a", "2", "1"): 0.0, ("c", "1", "1"): 0.8}
    lines = [
        {"clip_id": clip, "reference_id": reference, "prediction_id": prediction, "similarity": similarity}
        for (clip, reference, prediction), similarity in rated.items()
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return f"table:{path}"


def evaluate(robogaze: Shell, files: tuple[Path, Path], *more: object) -> tuple[int, str, str]:
    gold, ours = files
    ran = robogaze("evaluate", "--reference", gold, "--prediction", ours, "--resamples", 50, *more)
    return ran.code, ran.out, ran.err


def test_the_numbers_can_be_counted(robogaze: Shell, files: tuple[Path, Path], table: str) -> None:
    code, out, _ = evaluate(robogaze, files, "--judge", table, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["macro"]["desc_f1"]["value"] == pytest.approx((2 / 3 + 0.8) / 2)
    assert found["micro"]["desc_f1"]["value"] == pytest.approx(2 * 1.8 / 6)
    assert found["macro"]["clean_accuracy"] == {
        "value": 0.0,
        "low": 0.0,
        "high": pytest.approx(0.793, abs=1e-3),
        "n": 1,
    }
    assert found["counts"]["clips"] == 3


def test_the_terminal_shows_scores_controls_and_what_they_rest_on(
    robogaze: Shell, files: tuple[Path, Path], table: str
) -> None:
    code, out, _ = evaluate(robogaze, files, "--judge", table)
    assert code == 0
    for words in ("Scores, mean over clips", "ours", "floor: always_clean", "floor of ours",
                  "upper bound: whole_clip, S = 1", "3 clips with a reference",
                  "the cost of each kind of"):  # fmt: skip
        assert words in out


def test_a_breakdown_that_is_asked_for_is_on_the_terminal_and_so_is_the_papers_headline(
    robogaze: Shell, files: tuple[Path, Path], table: str
) -> None:
    _, plain, _ = evaluate(robogaze, files, "--judge", table)
    _, out, _ = evaluate(robogaze, files, "--judge", table, "--by", "split")
    assert "By split, mean over clips" in out
    assert "By split" not in plain
    assert "Scores, mean over 2 data sets (split): the headline of the RoboGaze paper" in plain


def test_a_wide_table_is_not_broken_across_lines(robogaze: Shell, files: tuple[Path, Path]) -> None:
    gold, ours = files
    systems = ("--prediction", f"a system with a long name={ours}", "--prediction", f"the reference itself={gold}")
    ran = robogaze("evaluate", "--reference", gold, *systems, "--baseline", "the reference itself", "--by", "duration")
    table = ran.out.partition("By duration")[2].splitlines()
    gain = next(line for line in table if "a system with a long name - the reference itself" in line)
    assert gain.count("[") == gain.count("]") == gain.count("n=") == len(re.findall(r"\[[^]]*\] n=\d", gain)) == 6


def test_an_unknown_baseline_is_refused_before_anything_is_read(robogaze: Shell, files: tuple[Path, Path]) -> None:
    gold, ours = files
    gold.write_text("not a file of annotations")
    systems = ("--prediction", f"old={ours}", "--prediction", f"new={ours}")
    ran = robogaze("evaluate", "--reference", gold, *systems, "--baseline", "odl")
    assert ran.code == 2
    assert "--baseline: odl is not one of the predictions: old, new" in ran.err


def test_controls_can_be_left_out(robogaze: Shell, files: tuple[Path, Path], table: str) -> None:
    _, out, _ = evaluate(robogaze, files, "--judge", "offline", "--json", "--no-floors")
    found = json.loads(out)
    assert (found["floors"], found["floor"], "type_prior" in found["controls"]) == (False, None, False)
    _, out, _ = evaluate(robogaze, files, "--judge", "offline", "--json")
    found = json.loads(out)
    assert found["controls"]["type_prior"]["macro"]["desc_f1"]["n"] == 2
    assert found["floor"]["macro"]["desc_f1"]["value"] < found["macro"]["desc_f1"]["value"]
    assert {name: control["bound"] for name, control in found["controls"].items()} == {
        "always_clean": "floor", "whole_clip": "upper", "last_30_percent": "upper", "constant_severity": "upper",
        "type_prior": "floor",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "sign"), [("csv", "system,Description F1"), ("markdown", "| --- |"), ("latex", r"\toprule")]
)
def test_tables_come_in_every_form(robogaze: Shell, files: tuple[Path, Path], table: str, form: str, sign: str) -> None:
    code, out, _ = evaluate(robogaze, files, "--judge", table, "--as", form)
    assert code == 0
    assert sign in out


def test_out_holds_every_table_and_a_page_with_the_figures(
    robogaze: Shell, files: tuple[Path, Path], table: str, tmp_path: Path
) -> None:
    code, _, err = evaluate(robogaze, files, "--judge", table, "--out", tmp_path / "out", "--by", "split")
    assert code == 0
    assert "page: " in err
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"evaluation.json", "index.html", "scores.csv", "tables.md", "tables.tex"} <= names
    assert {"by-split.csv", "losses.csv", "confusion.csv"} <= names
    page = (tmp_path / "out" / "index.html").read_text()
    assert "<svg" in page
    assert page.count("Judge table similarities.jsonl: ") == 1


def test_the_number_of_files_does_not_grow_with_the_number_of_systems(
    robogaze: Shell, files: tuple[Path, Path], table: str, tmp_path: Path
) -> None:
    gold, ours = files
    for count in (2, 8):
        named = [word for number in range(count) for word in ("--prediction", f"s{number}={ours}")]
        ran = robogaze("evaluate", "--reference", gold, *named, "--judge", table, "--out", tmp_path / f"{count}",
                       "--resamples", 10, "--by", "split")  # fmt: skip
        assert ran.code == 0
    two, eight = ({path.name for path in (tmp_path / name).iterdir()} for name in ("2", "8"))
    assert two == eight
    assert len(eight) < 20
    with (tmp_path / "8" / "losses.csv").open(newline="") as file:
        assert {row["system"] for row in csv.DictReader(file)} == {f"s{number}" for number in range(8)}
    with (tmp_path / "8" / "pairs.csv").open(newline="") as file:
        assert len([row for row in csv.DictReader(file) if row["metric"] == "desc_f1"]) == 28


def test_systems_are_named_and_compared(robogaze: Shell, files: tuple[Path, Path], table: str) -> None:
    gold, ours = files
    ran = robogaze("evaluate", "--reference", gold, "--prediction", f"A={ours}", "--prediction", f"B={gold}",
                   "--judge", "offline", "--resamples", 50, "--json")  # fmt: skip
    found = json.loads(ran.out)
    assert [system["name"] for system in found["systems"]] == ["A", "B"]
    assert found["pairs"]["desc_f1"]["differences"][0]["first"] == "A"
    assert "verdict" in found["pairs"]["desc_f1"]["differences"][0]


@pytest.mark.parametrize("convention", ["robogaze-released", "glide-released"])
def test_a_released_evaluator_runs_says_its_name_and_has_no_options(
    robogaze: Shell, files: tuple[Path, Path], table: str, convention: str, tmp_path: Path
) -> None:
    gold, ours = files
    plain = ("evaluate", "--reference", gold, "--prediction", ours, "--judge", table, "--convention", convention)
    ran = robogaze(*plain, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "desc_f1" in ran.out
    assert f"Convention {convention}." in ran.out
    assert json.loads((tmp_path / "out" / "evaluation.json").read_text())["convention"] == convention
    refused = robogaze(*plain, "--by", "split")
    assert (refused.code, "--by cannot be used with the convention" in refused.err) == (2, True)


@pytest.mark.parametrize("convention", ["glide-paper", "descriptions"])
def test_every_convention_says_its_name(robogaze: Shell, files: tuple[Path, Path], table: str, convention: str) -> None:
    code, out, err = evaluate(robogaze, files, "--judge", table, "--convention", convention)
    assert code == 0, err
    assert f"Convention {convention}" in out


@pytest.mark.parametrize(
    ("option", "known"), [("--by", "duration, split"), ("--units", "split"), ("--strata", "split")]
)
def test_a_field_that_no_clip_has_is_refused(
    option: str, known: str, robogaze: Shell, files: tuple[Path, Path], table: str
) -> None:
    code, _, err = evaluate(robogaze, files, "--judge", table, option, "typo")
    assert (code, f"no clip with a reference has the field typo; fields: {known}" in err) == (1, True)


def test_events_without_times_need_a_convention_that_asks_for_none(
    robogaze: Shell, files: tuple[Path, Path], table: str
) -> None:
    for path in files:
        path.write_text(re.sub(r",\d+,\d+,(?=\d,[A-Z])", ",,,", path.read_text()))
    code, _, err = evaluate(robogaze, files, "--judge", table)
    assert (code, "no reference event has a time" in err) == (1, True)
    code, out, _ = evaluate(robogaze, files, "--judge", table, "--convention", "descriptions", "--json")
    assert json.loads(out)["macro"]["desc_recall"]["value"] == pytest.approx((0.5 + 0.8) / 2)


def test_the_clips_that_are_missing_are_named(robogaze: Shell, files: tuple[Path, Path], table: str) -> None:
    files[1].write_text("\n".join(line for line in OURS.splitlines() if not line.startswith("c,")))
    _, out, _ = evaluate(robogaze, files, "--judge", table, "--json")
    assert json.loads(out)["absent"]["missing"] == ["c"]
    _, out, _ = evaluate(robogaze, files, "--judge", table)
    assert "1 clip without a prediction (their events count as missed): c." in out


def test_a_second_judge_is_compared_with_the_first(robogaze: Shell, files: tuple[Path, Path], table: str) -> None:
    code, out, _ = evaluate(robogaze, files, "--judge", table, "--second-judge", "offline")
    assert code == 0
    assert "Spearman over systems" in out


def test_a_judgement_the_table_lacks_is_bounded_and_not_0(
    robogaze: Shell, files: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "few.jsonl").write_text(
        '{"clip_id": "a", "reference_id": "1", "prediction_id": "1", "similarity": 1.0}\n'
        '{"clip_id": "a", "reference_id": "2", "prediction_id": "1", "similarity": 0.0}\n'
    )
    code, out, _ = evaluate(robogaze, files, "--judge", f"table:{tmp_path / 'few.jsonl'}", "--json")
    found = json.loads(out)
    assert code == 4
    assert (found["counts"]["unjudged"], found["bounds"]["clips"]) == (1, 1)
    assert found["bounds"]["worst"]["desc_f1"]["value"] < found["bounds"]["best"]["desc_f1"]["value"]


def test_pairs_without_a_similarity_are_listed_to_be_judged_blind_and_the_list_completes_the_table(
    robogaze: Shell, files: tuple[Path, Path], tmp_path: Path
) -> None:
    gold, ours = files
    theirs, ratings = tmp_path / "theirs.csv", tmp_path / "ratings"
    theirs.write_text(OURS.replace("The gripper misses the red cube.", "The gripper drops the cube."))
    ratings.mkdir()
    words = ("evaluate", "--reference", gold, "--prediction", f"A={ours}", "--prediction", f"B={theirs}", "--json",
             "--judge", f"table:{ratings}", "--no-floors", "--out", tmp_path / "out")  # fmt: skip
    first = robogaze(*words)
    listed = tmp_path / "out" / "unjudged.jsonl"
    # Both systems say the same of clip a, so its pair is listed once; a pair without overlap in time is not needed.
    assert (first.code, f"3 pairs of descriptions without a similarity: {listed}" in first.err) == (4, True)
    lines = [json.loads(line) for line in listed.read_text().splitlines()]
    assert [line["clip_id"] for line in lines] == ["a", "c", "c"]
    text = "".join(
        json.dumps({**line, "similarity": 0.0 if "air" in line["reference"] else 0.8}) + "\n" for line in lines
    )
    listed.write_text(text)
    # Another run keeps the similarities that were filled in.
    assert "unjudged-2.jsonl" in robogaze(*words).err
    assert listed.read_text() == text
    (ratings / "viewer.jsonl").write_text(text)
    last = robogaze(*words)
    assert (last.code, "without a similarity" in last.err) == (0, False)
    assert [system["counts"]["matched"] for system in json.loads(last.out)["systems"]] == [2, 2]


def test_a_table_that_does_not_exist_is_a_usage_error(robogaze: Shell, files: tuple[Path, Path]) -> None:
    code, _, err = evaluate(robogaze, files, "--judge", "table:nowhere")
    assert (code, "nowhere does not exist" in err) == (2, True)


def test_a_malformed_file_is_an_error_with_file_line_and_key(robogaze: Shell, files: tuple[Path, Path]) -> None:
    files[1].write_text(OURS.replace(",2,4,4,The gripper misses", ",2,4,9,The gripper misses"))
    code, out, err = evaluate(robogaze, files)
    assert (code, out) == (1, "")
    assert "ours.csv:4" in err
    assert "severity" in err
    code, out, err = evaluate(robogaze, files, "--lenient", "--json")
    assert code == 0
    assert "skipped: " in err
    assert json.loads(out)["counts"]["missing"] == 1
    assert len(json.loads(out)["left_out"]) == 1


def test_usage_faults_exit_with_2(robogaze: Shell, files: tuple[Path, Path]) -> None:
    gold, ours = files
    assert robogaze("evaluate", "--reference", gold, "--prediction", "nowhere.csv").code == 2
    twice = robogaze("evaluate", "--reference", gold, "--prediction", ours, "--prediction", ours)
    assert twice.code == 2
    assert "NAME=PATH" in twice.err
    assert evaluate(robogaze, files, "--level", "1.5")[0] == 2
