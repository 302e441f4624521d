"""`robogaze compare`."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from checkpoints import report, unscored, write_reports
from making import coverage

from cli.running import Ran, Shell
from robogaze.core.report import DomainRef, Usage

FEW = ("--resamples", 50)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """A base of ten prompts, half of them faulty, and a new checkpoint that has mended three and broken one badly."""
    base = [report(f"base-p{at}", {"colour_shift": 3} if at < 5 else {}) for at in range(10)]
    new = [report(f"new-p{at}", {"colour_shift": 3} if at < 2 else {}) for at in range(8)]
    new += [report("new-p8", {"shape_hole": 5}), unscored("new-p9")]
    return [write_reports(tmp_path / "base", base), write_reports(tmp_path / "new.jsonl", new)]


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    path = tmp_path / "gate.yaml"
    path.write_text("rules:\n  - no_new_types: {severity: 5}\n  - unscored: {at_most: 0.2}\n")
    return path


def printed(ran: Ran) -> Any:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_json_holds_runs_pairs_and_a_verdict(robogaze: Shell, runs: list[Path]) -> None:
    found = printed(robogaze("compare", *runs, *FEW, "--baseline", "base", "--json"))
    assert found["schema_version"] == 2
    assert found["rate"] == {"key": "clean_rate", "name": "clean rate", "dimensions": None}
    base, new = found["runs"]
    assert (base["name"], new["name"]) == ("base", "new")
    assert new["clips"] == {"complete": 9, "partial": 0, "unscored": 1, "unreadable": 0, "missing": 0}
    assert (base["undecided"], new["undecided"]) == (0, 0)
    assert (new["clean_rate"]["value"], new["clean_rate"]["n"]) == (0.6, 10)
    assert new["rate_bounds"] == {"worst": 0.6, "best": 0.7}
    assert new["events_per_clip"]["value"] == pytest.approx(3 / 9)
    assert new["per_type"]["shape_hole"]["n"] == 9
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"], pair["prompts"]) == ("new", "base", 10)
    assert pair["difference"]["value"] == pytest.approx(0.1)
    assert pair["difference"]["low"] < 0.1 < pair["difference"]["high"]
    assert found["paired_by"]["key"] == "instruction"
    assert "base" in found["verdict"]
    assert "NaN" not in json.dumps(found)


def test_without_a_model_there_is_a_nothing_found_rate_and_a_gate_on_the_clean_rate_fails(
    robogaze: Shell, tmp_path: Path
) -> None:
    pixels = coverage("colour", partial=["shape"])
    paths = [
        write_reports(tmp_path / f"{name}.jsonl", [report(f"{name}-p{at}", kinds if at < 2 else {}, coverage=pixels)
                                                   for at in range(4)])
        for name, kinds in (("base", {"shape_hole": 3}), ("new", {}))
    ]  # fmt: skip
    found = printed(robogaze("compare", *paths, *FEW, "--baseline", "base", "--json"))
    assert found["rate"] == {"key": "nothing_found_rate", "name": "nothing-found rate", "dimensions": ["colour"]}
    assert [run["nothing_found_rate"]["value"] for run in found["runs"]] == [0.5, 1.0]
    assert not any("clean_rate" in run for run in found["runs"])
    assert [(run["undecided"], run["rate_bounds"]["worst"]) for run in found["runs"]] == [(2, 0.5), (4, 1.0)]
    assert found["runs"][0]["per_dimension"]["shape"]["value"] == 0.5  # of all clips that cover it partially
    assert found["pairs"][0]["flips"]["fixed"] == 2
    said = " ".join(robogaze("compare", *paths, *FEW).out.split())
    assert "nothing-found rate" in said
    assert "clean rate" not in said
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - clean_rate: {not_below_baseline_by: 0.9, confidence: 0.6}\n")
    ran = robogaze("compare", *paths, *FEW, "--baseline", "base", "--gate", gate)
    assert (ran.code, ran.err) == (
        3,
        "gate: new: clean_rate: there is no clean rate, because a run has no clip that was examined in every dimension "
        "(dimensions examined in all complete clips: colour)\n",
    )


def test_runs_that_share_no_prompt_cannot_be_compared_and_the_exit_code_says_so(
    robogaze: Shell, tmp_path: Path
) -> None:
    paths = [write_reports(tmp_path / name, [report(f"{name}-{name}{at}") for at in range(3)]) for name in ("a", "b")]
    ran = robogaze("compare", *paths, *FEW, "--pair-by", "clip id", "--json")
    assert ran.code == 1
    assert "nothing could be compared: no two runs share a prompt" in ran.err
    assert json.loads(ran.out)["pairs"][0]["prompts"] == 0
    assert robogaze("compare", paths[0], *FEW, "--json").code == 0, "a single run has its numbers"


def test_the_most_severe_new_fault_is_the_first_flip(robogaze: Shell, runs: list[Path]) -> None:
    flips = printed(robogaze("compare", *runs, *FEW, "--json"))["pairs"][0]["flips"]
    assert {kind: flips[kind] for kind in ("new", "fixed", "same", "unknown")} == {
        "new": 1, "fixed": 3, "same": 5, "unknown": 1
    }  # fmt: skip
    first = flips["clips"][0]
    assert (first["kind"], first["after"], first["gained"]) == (
        "new", "new-p8", [{"type": "shape_hole", "severity": 5}]
    )  # fmt: skip


def test_tables_go_to_stdout_and_begin_with_the_leaderboard(robogaze: Shell, runs: list[Path]) -> None:
    ran = robogaze("compare", *runs, *FEW)
    assert (ran.code, ran.err) == (0, "")
    said = " ".join(ran.out.split())
    assert said.startswith("Leaderboard of 2 runs")
    for part in ("No significant difference between new and base", "0.600 [0.313, 0.832] n=10", "shape_hole (5)",
                 "Clips are paired by instruction"):  # fmt: skip
        assert part in said


def test_a_terminal_shows_the_beginning_of_a_long_table(robogaze: Shell, tmp_path: Path) -> None:
    paths = [
        write_reports(tmp_path / f"{name}.jsonl", [report(f"{name}-p{at}", kinds) for at in range(12)])
        for name, kinds in (("a", {}), ("b", {"shape_hole": 5}))
    ]
    said = " ".join(robogaze("compare", *paths, *FEW).out.split())
    assert "The first 10 of 12 rows; --out and --json contain all rows." in said
    assert len(printed(robogaze("compare", *paths, *FEW, "--json"))["pairs"][0]["flips"]["clips"]) == 12


def test_out_holds_every_table_and_the_json(robogaze: Shell, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = robogaze("compare", *runs, *FEW, "--json", "--out", out)
    assert json.loads((out / "comparison.json").read_text()) == json.loads(ran.out)
    assert {file.stem for file in out.glob("*.csv")} == {
        "leaderboard", "clips", "by-dimension", "by-type", "new-base-pair", "new-base-in-what", "new-base-flips"
    }  # fmt: skip


def test_out_holds_every_result_and_a_page(robogaze: Shell, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = robogaze("compare", *runs, *FEW, "--out", out)
    assert ran.err.splitlines() == [f"7 tables, comparison.json: {out}", f"page: {out / 'index.html'}"]
    assert b"shape_hole" in (out / "index.html").read_bytes()


def test_a_cost_that_is_not_known_is_null(robogaze: Shell, tmp_path: Path) -> None:
    reports = [report(f"a-p{at}", usage=Usage(calls=1, cost_usd=cost)) for at, cost in enumerate((0.1, 0.3, None))]
    path = write_reports(tmp_path / "a.jsonl", reports)
    found = printed(robogaze("compare", path, *FEW, "--json"))["runs"][0]["cost_per_clip_usd"]
    assert (found["value"], found["n"]) == (pytest.approx(0.2), 2)
    write_reports(path, reports[2:])
    assert printed(robogaze("compare", path, *FEW, "--json"))["runs"][0]["cost_per_clip_usd"]["value"] is None


def test_a_failed_gate_names_the_rule_and_exits_with_3(
    robogaze: Shell, runs: list[Path], gate: Path, tmp_path: Path
) -> None:
    junit = tmp_path / "gate.xml"
    ran = robogaze("compare", *runs, *FEW, "--baseline", "base", "--gate", gate, "--junit", junit, "--json")
    assert ran.code == 3
    assert ran.err == "gate: new: no_new_types: new types of severity 5 or above: shape_hole (new-p8)\n"
    assert json.loads(ran.out)["gate"]["passed"] is False
    suites = ElementTree.parse(junit).getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    cases = {case.get("name"): case for case in suites.iter("testcase")}
    assert cases["unscored"].find("failure") is None
    failure = cases["no_new_types"].find("failure")
    assert failure is not None
    assert "shape_hole" in (failure.get("message") or "")


def test_a_passed_gate_exits_with_0(robogaze: Shell, runs: list[Path], gate: Path) -> None:
    ran = robogaze("compare", *runs, *FEW, "--baseline", "new", "--gate", gate, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["gate"]["passed"] is True


def test_runs_of_different_versions_are_refused_unless_mixed(robogaze: Shell, runs: list[Path], tmp_path: Path) -> None:
    domain = DomainRef(id="little", version="1", taxonomy="t" * 64, fingerprint="e" * 64)
    other = write_reports(tmp_path / "other.jsonl", [report("other-p0", domain=domain)])
    ran = robogaze("compare", runs[0], other, *FEW)
    assert ran.code == 1
    assert ran.err.startswith("error: base (")
    assert "different versions of the domain's files; use --mixed to compare them anyway" in ran.err
    assert robogaze("compare", runs[0], other, *FEW, "--mixed").code == 0


def test_a_run_of_several_checkpoints_is_split_by_them(robogaze: Shell, tmp_path: Path) -> None:
    reports = [
        report(f"c{step}-p{at}", {} if at < step // 1000 else {"colour_shift": 2}, checkpoint=f"step_{step}")
        for step in (1000, 2000, 3000)
        for at in range(5)
    ]
    path = write_reports(tmp_path / "all.jsonl", reports)
    assert "use --by checkpoint to compare them" in robogaze("compare", path, *FEW).err
    found = printed(robogaze("compare", path, "--by", "checkpoint", *FEW, "--json"))
    assert [run["name"] for run in found["runs"]] == ["step_1000", "step_2000", "step_3000"]
    assert found["trend"]["per_1000_steps"]["clean_rate"]["value"] == pytest.approx(0.2)
    assert found["order"][0] == "step_3000"


def test_unreadable_clips_count_for_their_checkpoint_or_are_reported_without_one(
    robogaze: Shell, tmp_path: Path
) -> None:
    path = write_reports(tmp_path / "all", [report(f"{name}-p0", checkpoint=name) for name in "ab"])
    (path / "run.json").write_text("{}")
    line = {"clip_id": "b-p1", "path": "../b-p1.mp4", "sha256": "0", "checkpoint": "b", "instruction": "p1"}
    (path / "manifest.jsonl").write_text(f"{json.dumps(line)}\n")
    unreadable = [{"uri": uri, "reason": "it is cut short"} for uri in ("../b-p1.mp4", "../gone.mp4")]
    (path / "unreadable.json").write_text(json.dumps(unreadable))
    ran = robogaze("compare", path, "--by", "checkpoint", *FEW, "--json")
    found = json.loads(ran.out)["runs"]
    assert [(run["name"], run["clips"]["unreadable"], run["unplaced"]) for run in found] == [("a", 0, 1), ("b", 1, 1)]
    said = (
        "all: the checkpoint of 1 unreadable clips is unknown, so no run counts these clips "
        "(--json gives their number as unplaced)"
    )
    assert said in ran.err.splitlines()


def test_the_baseline_may_be_a_path(robogaze: Shell, runs: list[Path]) -> None:
    by_name = robogaze("compare", *runs, *FEW, "--baseline", "base", "--json")
    assert robogaze("compare", *runs, *FEW, "--baseline", runs[0], "--json") == by_name
    assert robogaze("compare", runs[1], *FEW, "--baseline", runs[0], "--json") == by_name
    ran = robogaze("compare", *runs, "--baseline", "best")
    assert ran.code == 2
    assert "best" in ran.err


def test_reports_keep_the_labels_of_their_domain_and_tables_take_a_named_one(
    robogaze: Shell, runs: list[Path], tmp_path: Path
) -> None:
    ran = robogaze("compare", runs[0], *FEW, "--domain", "robot")
    assert ran.code == 1
    assert "'colour_shift' is not a type of robot" in ran.err
    table = tmp_path / "table.csv"
    table.write_text("clip_id,type,start_s,end_s,description\nc1,object_floating,0,1,it floats\n")
    found = printed(robogaze("compare", table, *FEW, "--json"))
    assert list(found["runs"][0]["per_type"]) == ["object_floating"]
    assert found["runs"][0]["per_dimension"] != {}


def test_the_errors_of_the_judge_are_corrected(robogaze: Shell, runs: list[Path], tmp_path: Path) -> None:
    said = write_reports(tmp_path / "said.jsonl", [report(f"c{at}") for at in range(40)])
    true = write_reports(
        tmp_path / "true.jsonl",
        [report(f"c{at}", {"colour_shift": 3} if at < 8 else {}, author="ann", pipeline="person") for at in range(40)],
    )
    found = printed(robogaze("compare", *runs, *FEW, "--calibration", said, "--reference", true, "--json"))
    clean = found["runs"][0]["calibrated"]["clean_rate"]
    assert (clean["naive"]["value"], clean["corrected"]["value"]) == (0.5, pytest.approx(0.3))
    assert found["runs"][0]["calibrated"]["labels"] == 40
    shown = " ".join(robogaze("compare", *runs, *FEW, "--calibration", said, "--reference", true).out.split())
    assert "prediction-powered inference" in shown
    own = [part for run in runs for part in ("--calibration", f"{run.stem}={said}")]
    pair = printed(robogaze("compare", *runs, *FEW, *own, "--reference", true, "--json"))["pairs"][0]
    assert pair["corrected"]["difference"]["value"] == pytest.approx(2 / 9)  # nine prompts with two complete clips
    refused = robogaze("compare", *runs, "--calibration", f"other={said}", "--reference", true)
    assert (refused.code, "no run has the name of the calibration other" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--calibration", "x"), "give --calibration and --reference together"),
        (("--junit", "x"), "--junit needs --gate"),
    ],
)
def test_options_that_need_each_other(robogaze: Shell, runs: list[Path], options: tuple[str, ...], said: str) -> None:
    ran = robogaze("compare", *runs, *options)
    assert ran.code == 2
    assert said in ran.err


def test_a_fault_in_a_gate_is_named_before_anything_is_read(robogaze: Shell, runs: list[Path], gate: Path) -> None:
    gate.write_text("rules:\n  - clean_rte: {not_below_baseline_by: 0.1}\n")
    ran = robogaze("compare", *runs, "--gate", gate)
    assert (ran.code, ran.err) == (1, f"error: {gate}:2: rules.0.clean_rte: unknown key\n")


def test_a_run_without_a_readable_clip_is_counted(robogaze: Shell, runs: list[Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "unreadable.json").write_text('[{"uri": "a.mp4", "reason": "no video"}]')
    (empty / "notes.json").write_text('{"reports": []}')
    ran = robogaze("compare", runs[0], empty, *FEW, "--json")
    assert (ran.code, "a.mp4: no video" in ran.err) == (1, True)
    found = json.loads(ran.out)["runs"][1]
    assert found["clips"] == {"complete": 0, "partial": 0, "unscored": 0, "unreadable": 1, "missing": 9}
    assert (found["clean_rate"]["value"], found["clean_rate"]["n"]) == (0, 1)
    assert found["events_per_clip"]["value"] is None
