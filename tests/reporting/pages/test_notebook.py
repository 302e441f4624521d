"""A report in a notebook: a fragment of HTML without scripts."""

import re
from pathlib import Path

import pytest

from robogaze.core.report import Report
from robogaze.datasets import file_sha256
from robogaze.domains import Domain
from robogaze.reporting.pages import notebook
from robogaze.reporting.pages.notebook import report_html

from ..browsing import Opener
from ..samples import ATTACK, make_clip, make_event, make_report, make_video


@pytest.fixture
def faulty(reports: list[Report], tmp_path: Path) -> Report:
    """The faulty report, with a file of its clip."""
    path = tmp_path / "clip.mp4"
    path.write_bytes(make_video())
    report = reports[0]
    return report.with_(clip=report.clip.with_(uri=path.as_posix(), sha256=file_sha256(path)))


def test_it_has_the_verdict_the_coverage_the_events_and_their_frames(faulty: Report) -> None:
    html = report_html(faulty)
    assert "Faulty: 4 events" in html
    assert re.search(r"Coverage: examined: .*\.", html)
    assert html.count('class="row"') == 4
    assert 0 < html.count("data:image/jpeg;base64,") <= notebook.FRAMES_SHOWN
    assert "<script" not in html


def test_without_the_clip_s_file_there_are_no_pictures(reports: list[Report]) -> None:
    assert "<img" not in report_html(reports[0])


def test_a_clean_and_an_unscored_report_say_so(reports: list[Report]) -> None:
    assert "Clean: no fault found in any of the 3 dimensions." in report_html(reports[1])
    assert "Unscored: no dimension was examined" in report_html(reports[3])


def test_text_from_outside_is_escaped(domain: Domain) -> None:
    event = make_event("e1", "physics", "floating", (0.0, 1.0), description=ATTACK)
    html = report_html(make_report(domain, make_clip(ATTACK, instruction=ATTACK), events=(event,)))
    assert ATTACK not in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_in_a_browser(faulty: Report, tmp_path: Path, open_page: Opener, scheme: str) -> None:
    index = tmp_path / "notebook.html"
    body = f'<meta charset="utf-8"><meta name="color-scheme" content="light dark"><body>{report_html(faulty)}'
    index.write_text(f"<!doctype html>{body}", encoding="utf-8")
    opened = open_page(index, viewport={"width": 800, "height": 900}, color_scheme=scheme)
    pictures = opened.page.locator("img")
    opened.expect(lambda: pictures.count() > 0)
    opened.expect(
        lambda: all(pictures.nth(n).evaluate("picture => picture.naturalWidth > 0") for n in range(pictures.count()))
    )
    track, bar = opened.place(".track"), opened.place(".bar")
    assert track["x"] <= bar["x"] <= bar["x"] + bar["width"] <= track["x"] + track["width"] + 1
    opened.expect(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= 800)
