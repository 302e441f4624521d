"""What the page of a run does with an event: it loops it with its context, marks it, and shows it large."""

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box, Event, Evidence
from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.pages.run import ClipPage

from ..browsing import Opener, Visit
from ..samples import make_clip, make_event, make_hypothesis, make_report, make_video, page, render_html, thumbnail

BOX = Box(left=0.5, top=0.25, right=0.75, bottom=0.5)
SHORT = (2.0, 2.0625)
"""The event of one frame: frame 32."""


def short_event(**changes: Any) -> Event:
    """An event of one frame, with its place."""
    evidence = Evidence(text="There.", frames=(32,), box=BOX, view="main", source="rule")
    return make_event("e1", "physics", "floating", SHORT, **{"evidence": (evidence,), **changes})


@pytest.fixture(scope="module")
def video() -> str:
    return f"data:video/mp4;base64,{b64encode(make_video()).decode()}"


@pytest.fixture
def visit(open_page: Opener, domain: Domain, tmp_path: Path, video: str) -> Callable[..., Visit]:
    """Opens the page of some reports, with their video or without."""

    def open_reports(*reports: Report, hash_: str = "", plays: bool = True, **settings: Any) -> Visit:
        pages = [page(report, video if plays else None) for report in reports]
        path = tmp_path / "index.html"
        path.write_text(render_html(pages, [], domain, "a run"), encoding="utf-8")
        opened = open_page(path, hash_, **settings)
        if plays:
            opened.wait("document.querySelector('video').readyState >= 2")
        return opened

    return open_reports


@pytest.fixture
def report(domain: Domain) -> Report:
    return make_report(domain, make_clip("a"), events=(short_event(),))


# The loop.


def test_an_event_of_one_frame_moves_from_a_second_before_to_a_second_after(
    visit: Callable[..., Visit], report: Report
) -> None:
    opened = visit(report, hash_="#event=e1")
    opened.wait("!document.querySelector('video').paused")
    opened.wait("document.querySelector('video').currentTime > 2.9")
    opened.wait("document.querySelector('video').currentTime < 1.2")
    assert 0.99 <= opened.time() < 3.07
    opened.expect(lambda: opened.page.get_by_role("button", name="stop loop").inner_text() == "stop loop 1.00–3.06 s")


def test_the_context_ends_where_the_clip_does(visit: Callable[..., Visit], domain: Domain) -> None:
    events = (
        make_event("e1", "physics", "floating", (0.25, 0.5)),
        make_event("e2", "physics", "floating", (3.5, 4.0)),
    )
    opened = visit(make_report(domain, make_clip("a"), events=events), hash_="#event=e1")
    stop = opened.page.get_by_role("button", name="stop loop")
    opened.expect(lambda: stop.inner_text() == "stop loop 0.00–1.50 s")
    opened.go("#event=e2")
    opened.expect(lambda: stop.inner_text() == "stop loop 2.50–4.00 s")
    opened.wait("document.querySelector('video').currentTime > 3.8")
    opened.wait("(t => t >= 2.4 && t < 2.8)(document.querySelector('video').currentTime)")


def test_during_a_loop_the_event_is_marked_in_its_context(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report, hash_="#event=e1")
    opened.page.keyboard.press("s")
    opened.page.keyboard.press("s")
    opened.page.evaluate("""() => {
      globalThis.seen = new Set();
      const phase = document.querySelector(".phase");
      new MutationObserver(() => seen.add(phase.textContent)).observe(phase, { childList: true });
    }""")
    for phase in ("before the event", "the event", "after the event"):
        opened.wait(f"seen.has({phase!r})")
    whole, part = opened.place(".loop-bar"), opened.place(".loop-own")
    assert part["x"] - whole["x"] == pytest.approx(whole["width"] * 1 / 2.0625, abs=2)
    assert part["width"] == pytest.approx(whole["width"] * 0.0625 / 2.0625, abs=3)
    track, looped = opened.place(".over"), opened.place(".looped")
    assert looped["x"] - track["x"] == pytest.approx(track["width"] * 1 / 4, abs=2)
    assert looped["width"] == pytest.approx(track["width"] * 2.0625 / 4, abs=2)
    opened.page.keyboard.press("Escape")
    opened.expect(lambda: not opened.page.locator(".loop-bar").is_visible())
    opened.expect(lambda: opened.page.locator(".looped").count() == 0)


def test_the_loop_bar_seeks_within_the_loop(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report, hash_="#event=e1")
    opened.page.keyboard.press(" ")
    opened.wait("document.querySelector('video').paused")
    width = opened.place(".loop-bar")["width"]
    opened.page.locator(".loop-bar").click(position={"x": width * 0.75, "y": 3})
    opened.wait("document.querySelector('.readout').textContent.startsWith('frame 40 ')")
    opened.expect(lambda: opened.page.get_by_role("button", name="stop loop").is_visible())


# The speed.


def test_a_key_and_buttons_choose_slow_motion_which_the_next_clip_keeps(
    visit: Callable[..., Visit], domain: Domain, report: Report
) -> None:
    opened = visit(report, make_report(domain, make_clip("b"), events=(short_event(),)), hash_="#clip=a")
    rate = "document.querySelector('video').playbackRate"
    for expected in (0.5, 0.25, 1, 0.5):
        opened.page.keyboard.press("s")
        opened.wait(f"{rate} === {expected}")
    opened.page.get_by_role("button", name="0.25×").click()
    opened.expect(lambda: opened.page.evaluate(rate) == 0.25)
    opened.page.keyboard.press("j")
    opened.wait("document.querySelector('#clip h2').textContent.startsWith('b')")
    opened.wait("document.querySelector('video').readyState >= 2")
    opened.expect(lambda: opened.page.evaluate(rate) == 0.25)
    opened.expect(lambda: opened.page.get_by_role("button", name="0.25×").get_attribute("aria-pressed") == "true")


# The place.


def where(opened: Visit, picture: str, box: str) -> list[float]:
    """The edges of a box as shares of what it lies on."""
    whole, part = opened.place(picture), opened.place(box)
    return [
        (part["x"] - whole["x"]) / whole["width"],
        (part["y"] - whole["y"]) / whole["height"],
        (part["x"] + part["width"] - whole["x"]) / whole["width"],
        (part["y"] + part["height"] - whole["y"]) / whole["height"],
    ]


def test_the_box_lies_on_the_video_in_its_place(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report, viewport={"width": 900, "height": 900})  # in one column the stage has the video's shape
    assert where(opened, ".stage", ".stage .box-line") == pytest.approx([0.5, 0.25, 0.75, 0.5], abs=0.01)


def test_the_box_is_solid_in_the_event_and_dashed_around_it(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report)
    box = opened.page.locator(".stage .box")
    opened.expect(lambda: box.get_attribute("data-exact") == "true")
    opened.page.keyboard.press("ArrowLeft")
    opened.expect(lambda: box.get_attribute("data-exact") == "false")
    dashes = "getComputedStyle(document.querySelector('.stage .box-line')).strokeDasharray"
    opened.expect(lambda: opened.page.evaluate(dashes) != "none")


def test_the_box_lies_on_the_pictures_before_at_and_after(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report)
    figures = opened.page.locator(".pictures figure")
    opened.expect(lambda: figures.all_inner_texts() == ["before 31 1.94 s", "onset 32 2.00 s", "after 33 2.06 s"])
    opened.expect(lambda: opened.page.locator(".pictures .box").count() == 3)
    edges = [0.5, (24 + 50) / 224, 0.75, (24 + 100) / 224]  # a band of 24 px is above the view
    assert where(opened, ".thumbnail", ".thumbnail .box-line") == pytest.approx(edges, abs=0.02)


def test_without_a_video_the_box_lies_on_the_still(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report, plays=False, viewport={"width": 900, "height": 900})
    opened.page.locator(".lanes .bar").click()
    opened.expect(lambda: opened.page.locator(".stage img").get_attribute("alt") == "frame 32 · 2.00 s")
    right = 0.5 + 0.25 * (320 / 224) / (
        320 / 200
    )  # the picture is higher than the video, so it is narrower in the stage
    edges = [0.5, (24 + 50) / 224, right, (24 + 100) / 224]
    assert where(opened, ".stage", ".stage .box-line") == pytest.approx(edges, abs=0.01)


def test_a_picture_of_several_views_keeps_its_shape_and_shows_the_view_of_the_evidence(
    open_page: Opener, domain: Domain, tmp_path: Path, video: str
) -> None:
    """A 2x2 grid of 320x200: three views of 160x100, in the picture two above one, each below its name."""
    layout = Layout.parse("2x2:left,right,wrist,-")
    evidence = Evidence(text="There.", frames=(32,), box=BOX, view="right", source="rule")
    event = make_event("e1", "physics", "floating", SHORT, evidence=(evidence,))
    made = make_report(domain, make_clip("grid", layout=layout), events=(event,))
    path = tmp_path / "index.html"
    shown = ClipPage(made, video, {frame: thumbnail(frame) for frame in (31, 32, 33)})
    path.write_text(render_html([shown], [], domain, "grid"), encoding="utf-8")
    opened = open_page(path, viewport={"width": 900, "height": 900})
    opened.wait("document.querySelector('video').readyState >= 2")
    picture = opened.place(".thumbnail")
    assert picture["width"] / picture["height"] == pytest.approx(1.6, abs=0.02)
    x, y, width, height = map(float, opened.page.locator(".thumbnail").first.get_attribute("viewBox").split())
    whole_width, whole_height = 2 * 164 - 4, 24 + 2 * 128 - 4
    edges = [1000 * edge / whole_height for edge in (164, 48, 324, 148)]
    assert [x, y, x + width, y + height] == pytest.approx(edges)
    image = opened.page.locator(".thumbnail image").first
    assert float(image.get_attribute("width")) == pytest.approx(1000 * whole_width / whole_height)
    # In the video that view is the upper right quarter.
    assert where(opened, ".stage", ".stage .box-line") == pytest.approx([0.75, 0.125, 0.875, 0.25], abs=0.01)


# The large view.


def test_a_click_on_a_picture_shows_that_frame_large_until_escape(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report)
    before = opened.place(".stage")
    opened.page.get_by_role("button", name="enlarge frame 31 ").click()
    large = opened.page.get_by_role("dialog", name="large view")
    opened.expect(lambda: opened.text(".readout").startswith("frame 31 "))
    opened.expect(lambda: large.bounding_box() == {"x": 0, "y": 0, "width": 1400, "height": 900})
    opened.place("[role=dialog] .stage", f"box.width > 2 * {before['width']}")
    opened.expect(lambda: opened.page.evaluate("document.querySelector('aside').closest('[inert]') !== null"))
    opened.page.keyboard.press("ArrowRight")
    opened.expect(lambda: opened.text(".readout").startswith("frame 32 "))
    opened.page.keyboard.press("Escape")
    opened.expect(lambda: large.count() == 0)
    opened.expect(lambda: opened.place(".stage") == before)
    opened.expect(lambda: opened.page.evaluate("document.querySelectorAll('[inert]').length") == 0)
    focus = "document.activeElement.getAttribute('aria-label')"
    opened.expect(lambda: opened.page.evaluate(focus) == "enlarge frame 31 · 1.94 s")  # the focus is back where it was


def test_a_close_up_centres_and_scales_the_box(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report)
    small = opened.place(".stage .box-line")
    opened.page.keyboard.press("c")
    box = opened.place(".stage .box-line", f"box.width > 1.3 * {small['width']}")
    stage = opened.place(".stage")
    assert box["x"] + box["width"] / 2 == pytest.approx(stage["x"] + stage["width"] / 2, abs=3)
    opened.page.keyboard.press("c")
    again = opened.place(".stage .box-line", f"Math.abs(box.width - {small['width']}) < 0.01")
    assert again == pytest.approx(small)


def test_without_a_box_there_is_no_close_up(visit: Callable[..., Visit], domain: Domain) -> None:
    opened = visit(make_report(domain, make_clip("a"), events=(make_event("e1", "physics", "floating", (1.0, 2.0)),)))
    opened.expect(lambda: not opened.page.get_by_role("button", name="close-up").is_visible())


# What is shown first.


def test_the_worst_clip_is_first_and_open_at_its_worst_event(visit: Callable[..., Visit], domain: Domain) -> None:
    clean = make_report(domain, make_clip("clean"))
    mild = make_report(domain, make_clip("mild"), events=(make_event("e1", "picture", "blur", (0.0, 1.0), severity=2),))
    unsure, sure = (
        make_report(
            domain,
            make_clip(name),
            events=(
                make_event("e1", "picture", "blur", (0.0, 1.0), severity=1),
                make_event("e2", "physics", "floating", (2.0, 3.0), severity=5, confidence=confidence),
            ),
        )
        for name, confidence in (("unsure", 0.4), ("sure", 0.9))
    )
    opened = visit(clean, mild, unsure, sure)
    opened.wait_listed(["sure", "unsure", "mild", "clean"])
    opened.expect(lambda: opened.text("#clip h2").startswith("sure"))
    opened.expect(lambda: opened.text("li[data-open] .claim-name") == "Floating")
    opened.wait("document.querySelector('.readout').textContent.startsWith('frame 32 ')")
    opened.expect(
        lambda: opened.page.evaluate("document.querySelector('video').paused")
    )  # nothing plays before it is chosen


def test_caveats_are_one_line_that_opens(visit: Callable[..., Visit], report: Report) -> None:
    opened = visit(report.with_(unseen=((0, 10),), failures=()))
    line = opened.page.locator(".trust summary")
    opened.expect(lambda: line.inner_text().startswith("Before you trust these results"))
    opened.place(".trust summary", "box.height < 30")
    sentence = opened.page.get_by_text("faults that are visible only in these frames").last
    opened.expect(lambda: not sentence.is_visible())
    line.click()
    opened.expect(lambda: sentence.is_visible())


def test_a_measurement_too_uncertain_to_be_an_event_is_undecided(visit: Callable[..., Visit], domain: Domain) -> None:
    reasons = {"h1": "too uncertain for an event: Of 28 such findings 13 were right", "h2": "The camera moves."}
    hypotheses = [make_hypothesis(name, "physics", "floating", SHORT, reason=why) for name, why in reasons.items()]
    opened = visit(make_report(domain, make_clip("a"), hypotheses=tuple(hypotheses)))
    opened.expect(lambda: opened.page.locator(".findings h3").first.inner_text() == "No event · 1 undecided")
    claim = opened.page.locator("li[data-open]")
    opened.expect(lambda: claim.locator(".verdict").inner_text() == "undecided")
    opened.expect(
        lambda: (
            claim.locator(".verdict-reason").inner_text()
            == ("undecided: too uncertain to be an event: Of 28 such findings 13 were right")
        )
    )
    opened.expect(lambda: "rejected" not in claim.inner_text())
    opened.expect(lambda: opened.text(".findings summary").split() == ["Set", "aside", "1", "rejected"])
    opened.expect(
        lambda: opened.page.locator(".lanes .bar:visible").get_attribute("title").startswith("undecided: Floating")
    )
