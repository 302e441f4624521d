"""`robogaze rank`."""

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoints import unscored, write_reports
from lerobot_set import v3
from making import make_clip
from ranking.making import made

from cli.running import Shell
from robogaze.datasets import find_entries
from robogaze.datasets.layouts.importer import import_clips

LABELS = "clip_id,usable,severe\n" + "".join(f"p{number}-a,no,yes\np{number}-b,yes,no\n" for number in range(4))


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Four prompts with a faulty and a clean candidate each."""
    found = [made(f"p{number}-{name}", kinds) for number in range(4)
             for name, kinds in (("a", {"shape_hole": 4}), ("b", {}))]  # fmt: skip
    return write_reports(tmp_path / "run.jsonl", found)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path / "labels.csv"


def result(out: str) -> Any:
    assert "NaN" not in out
    return json.loads(out)


def test_json_holds_the_prompts_best_first_with_the_reasons(robogaze: Shell, reports: Path) -> None:
    ran = robogaze("rank", reports, "--json")
    found = result(ran.out)
    assert (ran.code, found["schema_version"], found["grouped_by"], found["keep"]) == (0, 1, "prompt_id", 0.5)
    first = found["prompts"][0]
    assert [(clip["clip_id"], clip["rank"], clip["kept"]) for clip in first["candidates"]] == [
        ("p0-b", 1, True),
        ("p0-a", 2, False),
    ]
    (risk,) = first["candidates"][1]["risks"]
    assert (risk["kind"], risk["type"], risk["severity"]) == ("event", "shape_hole", 4)
    assert found["screening"] is None


def test_table_names_the_reason_of_each_rank(robogaze: Shell, reports: Path) -> None:
    out = robogaze("rank", reports).out
    assert "4 of 8 candidates of 4 prompts kept" in out
    assert "shape_hole severity 4, confidence 0.90 (0.85)" in out
    assert "nothing found, every dimension covered" in out


def test_keep_writes_a_manifest_of_the_best(robogaze: Shell, reports: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert robogaze("rank", reports, "--keep", 1, "--out", out).code == 0
    entries = find_entries([out / "kept.jsonl"])
    assert [entry.clip_id for entry in entries] == ["p0-b", "p1-b", "p2-b", "p3-b"]
    assert entries[0].prompt_id == "p0"
    assert {"index.html", "ranking.json", "ranking.csv", "tables.md"} <= {path.name for path in out.iterdir()}


def test_clips_without_a_rank_are_named_and_the_exit_code_is_4(robogaze: Shell, tmp_path: Path) -> None:
    path = write_reports(tmp_path / "run.jsonl", [made("p0-a"), made("p0-b"), unscored("p0-c", prompt_id="p0")])
    ran = robogaze("rank", path, "--keep", "1.0", "--out", tmp_path / "out")
    assert ran.code == 4
    assert "no rank: p0-c: it is unscored: no dimension was examined" in ran.err
    assert [entry.clip_id for entry in find_entries([tmp_path / "out" / "kept.jsonl"])] == ["p0-a", "p0-b"]


def test_labels_measure_the_kept_part(robogaze: Shell, reports: Path, labels: Path) -> None:
    ran = robogaze("rank", reports, "--labels", labels, "--json")
    screening = result(ran.out)["screening"]
    by_name = {measure["name"]: measure for measure in screening["measures"]}
    assert (by_name["usability"]["precision"]["value"], by_name["usability"]["precision"]["n"]) == (1.0, 4)
    assert by_name["random"]["precision"]["value"] == 0.5
    assert by_name["usability"]["severe"]["value"] == 0.0
    text = robogaze("rank", reports, "--labels", labels).out
    assert "Share of the kept candidates that are usable, by labels of 4 prompts" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keep", "0.5"], "--keep writes a manifest and needs --out"),
        (["--keep", "0"], "give a share of the candidates such as 0.5, or a number such as 2"),
        (["--keep", "1.5"], "give a share"),
        (["--episodes"], "--episodes needs --keep"),
        (["--scores", "scores.csv"], "--scores needs --labels"),
    ],
    ids=lambda value: "_".join(value).strip("-") if isinstance(value, list) else None,
)
def test_options_that_do_not_go_together_are_refused(
    options: list[str], message: str, robogaze: Shell, reports: Path
) -> None:
    ran = robogaze("rank", reports, *options)
    assert (ran.code, message in ran.err) == (2, True)


def test_unknown_baseline_is_a_usage_error(robogaze: Shell, reports: Path, labels: Path) -> None:
    ran = robogaze("rank", reports, "--labels", labels, "--baseline", "luck")
    assert ran.code == 2
    assert "the --baseline luck is not a measure; use one of: usability, number of events" in ran.err


def test_labels_of_other_clips_measure_nothing_and_the_exit_code_is_1(
    robogaze: Shell, reports: Path, labels: Path
) -> None:
    labels.write_text("clip_id,usable\nother,yes\n")
    ran = robogaze("rank", reports, "--labels", labels)
    assert (ran.code, "nothing could be measured: no prompt has labels for all its candidates" in ran.err) == (1, True)
    assert "undefined (n=0): no candidate that counts has a label" in " ".join(ran.out.split())
    assert "nan" not in ran.out


def test_without_lerobot_episodes_a_list_of_them_is_refused(robogaze: Shell, reports: Path, tmp_path: Path) -> None:
    ran = robogaze("rank", reports, "--keep", 1, "--episodes", "--out", tmp_path / "out")
    assert ran.code == 1
    assert "no clip is an episode of a LeRobot data set" in ran.err


def test_kept_episodes_of_a_lerobot_data_set_are_listed(robogaze: Shell, tmp_path: Path) -> None:
    reports = []
    for number, entry in enumerate(import_clips(v3(tmp_path / "set")).entries):
        clip = make_clip(id=f"c{number}", uri=f"{entry.path}", start_s=entry.start_s, end_s=entry.end_s, prompt_id="p")
        reports.append(made(clip.id, {"shape_hole": 1 + number} if number else {}, clip=clip))
    path = write_reports(tmp_path / "run.jsonl", reports)
    ran = robogaze("rank", path, "--keep", 2, "--episodes", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "out" / "episodes.json").read_text()) == [0, 1]
    assert f"kept: 2 of 5 episodes of {tmp_path}/set" in ran.err
