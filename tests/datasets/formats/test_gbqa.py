"""GBQA's files: bug lists with their aliases, and the three files of an agent, there and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from formats.samples import TEXT, bug, make_event, make_report, write
from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.events import Reproduction
from robogaze.core.time import Span
from robogaze.datasets.formats.export import export_reports
from robogaze.datasets.formats.read import read_annotations
from robogaze.errors import InputError

STEPS = ("go north", "look")


def one_bug(path: Path, **fields: Any) -> AnnotatedEvent:
    write(path, {"game_name": "castle", "bugs": [bug(**fields)]})
    ((event,),) = (annotation.findings for annotation in read_annotations(path).annotations)
    return event


@pytest.mark.parametrize(
    "fields",
    [
        {"minimal_reproduction": list(STEPS), "test_steps": ["other"]},
        {"test_steps": ["go north ", "", "look"]},
        {"evidence": {"minimal_reproduction": list(STEPS)}},
    ],
)
def test_reproduction_has_two_names_and_an_agents_is_in_its_evidence(fields: dict[str, Any], tmp_path: Path) -> None:
    assert one_bug(tmp_path / "bugs.json", **fields).reproduction == STEPS


def test_reproduction_may_be_one_text_or_missing(tmp_path: Path) -> None:
    assert one_bug(tmp_path / "a.json", minimal_reproduction="look twice").reproduction == ("look twice",)
    assert one_bug(tmp_path / "b.json", minimal_reproduction=None).reproduction == ()


def test_difficulty_is_kept(tmp_path: Path) -> None:
    assert one_bug(tmp_path / "bugs.json", difficulty="hard").difficulty == "hard"


def played(folder: Path) -> dict[str, str]:
    """The files of a play in which a bug was reported after its second step."""
    trace = folder / "run" / "trace.jsonl"
    lines = [
        {"step": 0, "tool": "start", "message": "The hall."},
        {
            "step": 1,
            "tool": "act",
            "command": "go north",
            "rationale": "To see.",
            "expected": "A room.",
            "message": "x",
        },
        {"step": 2, "tool": "act", "command": "look", "fault": "timeout: no reply"},
    ]
    write(trace, "".join(json.dumps(line) + "\n" for line in lines))
    event = make_event(
        spans=(Span(0, 3),),
        reproduction=Reproduction(commands=STEPS, reproduced=True, recorded=5, replays=3),
    )
    facts = {"environment": "castle", "budget": 50, "mode": "qa", "memory": "both"}
    report = make_report("castle 1", event, notes=("The play ended.",))
    report = report.with_(provenance=report.provenance.with_(media=facts))
    files = export_reports([report], {"castle 1": trace}, "gbqa", folder).files
    for name, text in files.items():
        assert isinstance(text, str)
        write(folder / "out" / name, text)
    return {Path(name).name: str(text) for name, text in files.items()}


def test_a_play_is_written_and_read_back(tmp_path: Path) -> None:
    files = played(tmp_path)
    assert sorted(files) == ["report.json", "report.md", "trace.jsonl"]
    (report,) = read_annotations(tmp_path / "out").annotations
    (event,) = report.findings
    assert (report.clip_id, event.description, event.confidence) == ("castle", TEXT, 0.75)
    assert (event.reproduction, event.reproduced, event.spans) == (STEPS, True, (Span(2, 3),))


def test_the_markdown_says_the_same_without_a_step(tmp_path: Path) -> None:
    played(tmp_path)
    (markdown,) = tmp_path.rglob("report.md")
    (report,) = read_annotations(markdown).annotations
    (event,) = report.findings
    assert (report.clip_id, event.description, event.confidence, event.spans) == ("castle", TEXT, 0.75, ())


def test_steps_are_written_as_the_release_names_them(tmp_path: Path) -> None:
    files = played(tmp_path)
    record = json.loads(files["report.json"])
    assert [step["environment"]["action"] for step in record["steps"]] == ["go north", "look"]
    assert [step["environment"]["success"] for step in record["steps"]] == [True, False]
    assert record["agent"] == {"max_steps": 50, "mode": "qa", "memory": "both", "seed": None}
    assert [json.loads(line)["type"] for line in files["trace.jsonl"].splitlines()] == ["trace", "trace", "bug"]
    assert json.loads(files["trace.jsonl"].splitlines()[0])["text"] == "Step 1: go north -> x"


def test_a_video_is_left_out_because_it_has_no_steps(tmp_path: Path) -> None:
    found = export_reports([make_report("cup", make_event())], {"cup": tmp_path / "cup.mp4"}, "gbqa", tmp_path)
    assert (found.files, found.left_out) == ({}, {"from videos; the format is for interactive plays": 1})


def test_a_broken_play_says_so_where_only_bugs_are_read(tmp_path: Path) -> None:
    report = make_report("castle 1").with_(coverage={"matter": {"state": "not_examined", "reason": "no step"}})
    report = report.with_(provenance=report.provenance.with_(media={"environment": "castle"}))
    files = export_reports([report], {"castle 1": tmp_path / "none.mp4"}, "gbqa", tmp_path).files
    assert "Status: unscored." in str(files["castle 1/report.md"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Total bugs: 1", "Total bugs: 2", "gives a total of 2 bugs but lists 1"),
        ("Confidence: 0.75", "Confidence: high", "is not a number"),
        ("Confidence: 0.75", "Confidence: 7.5", r"is not in \[0, 1\]"),
    ],
)
def test_a_damaged_markdown_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = played(tmp_path)["report.md"]
    path = write(tmp_path / "damaged.md", text.replace(old, new))
    with pytest.raises(InputError, match=rf"damaged\.md: .*{message}"):
        read_annotations(path)


def test_a_description_of_several_lines_and_text_after_the_bugs(tmp_path: Path) -> None:
    text = "# QA Agent Report - x\n\n## Bugs\n### T\n- Confidence: 0.50\n- Description: a\n  b\n\n## Summary\n### no\n"
    (report,) = read_annotations(write(tmp_path / "r.md", text)).annotations
    assert [event.description for event in report.findings] == ["a b"]
