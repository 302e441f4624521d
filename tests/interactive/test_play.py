"""A play: an agent in an environment, from the first step to the report."""

import json
from pathlib import Path

from interactive.plays import FINDING, RULES, played, script


async def test_a_fault_is_found_reproduced_and_reported(tmp_path: Path) -> None:
    model = script(tmp_path / "script.yaml", FINDING, RULES)
    result = await played(tmp_path / "run", f"scripted:{model}")
    (report,) = result.reports
    (event,) = report.events
    assert (report.status, report.verdict) == ("complete", "faulty")
    assert (event.type, event.dimension) == ("stale_content", "shown_content")
    assert [(span.start, span.end) for span in event.spans] == [(2, 4)]
    assert event.reproduction is not None
    assert (event.reproduction.commands, event.reproduction.reproduced) == (("down", "take lamp", "look"), True)
    lines = (tmp_path / "run" / report.clip.uri).read_text().splitlines()
    assert [json.loads(line)["command"] for line in lines] == [
        None, "down", "take lamp", "look", "down", "take lamp", "look",
    ]  # fmt: skip
