"""`robogaze evaluate` with lists of bugs, as its users run it."""

import json
import re
from pathlib import Path

import pytest

from .running import Shell

KEY = "Combining two of the three fragments makes the key."
DRAWER = "The description names the key in the closed drawer."
BUGS = [
    {"id": "key", "difficulty": "easy", "minimal_reproduction": ["combine"], "observed_fault": KEY},
    {"id": "drawer", "difficulty": "hard", "test_steps": "look", "observed_fault": DRAWER},
]


@pytest.fixture
def bugs(tmp_path: Path) -> Path:
    path = tmp_path / "bugs.json"
    path.write_text(json.dumps({"game_name": "castle", "bugs": BUGS}))
    return path


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    found = [
        {"title": "k", "description": KEY, "confidence": 0.9, "evidence": {"reproduced": True}},
        {"title": "f", "description": "The stove is cold.", "confidence": 0.5, "evidence": {"reproduced": False}},
    ]
    path.write_text(json.dumps({"game": {"name": "castle"}, "bugs": found}))
    return path


def test_a_list_of_bugs_needs_no_convention(robogaze: Shell, bugs: Path, report: Path) -> None:
    ran = robogaze("evaluate", "--reference", str(bugs), "--prediction", str(report))
    assert ran.code == 0
    assert "Convention gbqa-0.65: reports are matched one to one, if the similarity is at least 0.65." in ran.out
    assert "0.500 [0.095, 0.905] n=2" in ran.out
    assert re.search(r"^castle +key +easy +1 of 1 *$", ran.out, re.M)


def test_every_figure_is_in_the_json_and_in_files(robogaze: Shell, bugs: Path, report: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = robogaze("evaluate", "--reference", str(bugs), "--prediction", f"ours={report}", "--json", "--out", str(out))
    found = json.loads(ran.out)
    assert found == json.loads((out / "evaluation.json").read_text())
    (system,) = found["systems"]
    assert (system["name"], system["scores"]["found"], system["scores"]["reports"]) == ("ours", 1, 2)
    assert [judged["bug"] for judged in system["reports"]] == ["key", None]
    assert {path.name for path in out.glob("*.csv")} >= {"bugs-scores.csv", "bugs-reports.csv"}


def test_reports_that_did_not_reproduce_can_be_left_out(robogaze: Shell, bugs: Path, report: Path) -> None:
    ran = robogaze("evaluate", "--reference", str(bugs), "--prediction", str(report), "--reproduced", "--json")
    scores = json.loads(ran.out)["systems"][0]["scores"]
    assert (scores["found"], scores["reports"]) == (1, 1)


def test_a_pair_without_a_judgement_is_listed_and_the_exit_code_says_so(
    robogaze: Shell, bugs: Path, report: Path, tmp_path: Path
) -> None:
    ratings = tmp_path / "ratings"
    ratings.mkdir()
    command = ("evaluate", "--reference", str(bugs), "--prediction", str(report), "--out", str(tmp_path / "out"))
    ran = robogaze(*command, "--judge", f"table:{ratings}")
    assert ran.code == 4
    listed = (tmp_path / "out" / "unjudged.jsonl").read_text().splitlines()
    assert len(listed) == 4
    rated = [
        {**(pair := json.loads(line)), "similarity": float(pair["reference"] == pair["prediction"])} for line in listed
    ]
    (ratings / "mine.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in rated))
    assert robogaze(*command, "--judge", f"table:{ratings}").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--margin", "0.1"], "--margin cannot be used with the convention gbqa-0.65, which is for lists of bugs"),
        (["--by", "colour"], "plays have no field 'colour'"),
        (
            ["--convention", "robogaze", "--reproduced"],
            "--reproduced can be used only with a convention for lists of bugs",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], message: str, robogaze: Shell, bugs: Path, report: Path
) -> None:
    ran = robogaze("evaluate", "--reference", str(bugs), "--prediction", str(report), *options)
    assert ran.code in (1, 2)
    assert message in " ".join(ran.err.split())
