"""A conversation played from a script: of seven hypotheses the critic accepts three, merges one and rejects three."""

from pathlib import Path
from typing import Any

import yaml
from making import reports_of, scripted

from robogaze.core.key_frames import frames_to_show
from robogaze.core.report import Report
from robogaze.datasets import find_entries
from robogaze.domains import Domain
from robogaze.reporting.pages.run import ClipPage, run_files
from robogaze.stages.pipeline import Pipeline

DEMO = Path(__file__).parents[2] / "datasets" / "demo" / "clips.jsonl"
SCRIPT = Path(__file__).parent / "conversation.yaml"
CLIPS = ("gripper_through_cup", "cube_teleports")


async def play(robot: Domain) -> list[Report]:
    models, _ = scripted(*yaml.safe_load(SCRIPT.read_text()))
    entries = [entry for entry in find_entries([DEMO]) if entry.clip_id in CLIPS]
    return await reports_of(entries, Pipeline.build(robot, "full"), models)


async def test_the_report_keeps_all_seven_with_their_verdicts(robot: Domain) -> None:
    reports = await play(robot)
    assert [report.clip.id for report in reports] == ["cube_teleports", "gripper_through_cup"]
    for report in reports:
        assert report.status == "complete"
        verdicts = [hypothesis.verdict for hypothesis in report.hypotheses]
        assert {verdict: verdicts.count(verdict) for verdict in verdicts} == {"accepted": 3, "merged": 1, "rejected": 3}
        assert [event.type for event in report.events] == ["object_distortion", "object_penetration", "blur"]
        _, penetration, blur = report.events
        assert all(event.secondary == () for event in report.events), "an event for each dimension of the contact"
        assert (penetration.severity, blur.severity) == (4, 2)
        assert [span.start for span in penetration.spans] == [1.0], "the critic's refined span"
        assert all(hypothesis.reason for hypothesis in report.hypotheses)
        assert report.usage.rounds == 6


async def test_the_page_shows_them(robot: Domain) -> None:
    reports = await play(robot)
    pages = [ClipPage(report, None, dict.fromkeys(frames_to_show(report), b"")) for report in reports]
    ((_, page),) = run_files(pages, [], robot, "conversation")
    for words in ("the wall of the cup stands in front of it", "shadow", "the same contact as H5"):
        assert words in page


def test_the_script_is_valid_for_the_scripted_backend() -> None:
    entries: list[dict[str, Any]] = yaml.safe_load(SCRIPT.read_text())
    assert all(set(entry) <= {"when", "reply", "repeat"} for entry in entries)
