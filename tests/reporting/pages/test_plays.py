"""The page of plays: what was reported, how it was replayed, every step with its prediction and surprise."""

import asyncio
import re
from pathlib import Path

import pytest
from interactive.plays import FINDING, RULES, after, played, script, stale, step

from robogaze.domains import load_domain
from robogaze.errors import InputError
from robogaze.reporting.pages.plays import has_plays, write_plays_page


def page_of(folder: Path, *answers: object) -> str:
    asyncio.run(played(folder / "run", f"scripted:{script(folder / 'script.yaml', answers or FINDING, RULES)}"))
    return write_plays_page(folder / "run", load_domain("interactive")).path.read_text(encoding="utf-8")


def test_a_report_shows_its_commands_and_links_to_the_steps_that_show_it(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert has_plays(tmp_path / "run")
    assert "<h1>1 fault reported in 1 play</h1>" in page
    assert "severity 2, reproduced" in page
    commands = re.findall(r"<li><code[^>]*>(.*?)</code></li>", page)
    assert commands == ["down", "take lamp", "look"]
    links = set(re.findall(r'href="#(play-1-\d+)"', page))
    assert links
    assert links <= set(re.findall(r'<li id="(play-1-\d+)"', page))


def test_every_step_has_its_prediction_reply_and_surprise(tmp_path: Path) -> None:
    page = page_of(tmp_path)
    assert page.count("Predicted: it is done") == 3
    assert "Different from the prediction: the lamp is still listed" in page
    assert "to reproduce H1" in page
    assert page.count(" surprising") == 1


def test_a_suspicion_that_did_not_show_again_is_shown_apart_with_its_reason(tmp_path: Path) -> None:
    rejected = stale(2, 3, reproduction=["up"])
    answers = [
        step("down"),
        step("take lamp", **after()),
        step("look", **after()),
        step(tool="finish", **after(False, "listed"), candidate={**rejected, "title": "never"}),
    ]
    asyncio.run(played(tmp_path / "run", f"scripted:{script(tmp_path / 'script.yaml', answers)}"))
    page = write_plays_page(tmp_path / "run", load_domain("interactive")).path.read_text(encoding="utf-8")
    assert "No fault was reported. The environment may still have faults." in page
    assert "Suspected, but not reported: 1" in page


def test_text_from_models_and_environments_is_data(tmp_path: Path) -> None:
    hostile = step("<script>alert(1)</script>", rationale="</ol><img src=x onerror=alert(1)>")
    page = page_of(tmp_path, hostile, step(tool="finish", **after()))
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_damaged_trace_is_named(tmp_path: Path) -> None:
    page_of(tmp_path)
    (trace,) = (tmp_path / "run" / "plays").rglob("trace.jsonl")
    trace.write_text('{"step": "first"}\n')
    with pytest.raises(InputError, match=r"trace\.jsonl is not a trace of a play"):
        write_plays_page(tmp_path / "run", load_domain("interactive"))
