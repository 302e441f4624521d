"""A person annotates: from the queue to the submitted clip, with mistakes, in two windows, and without a server."""

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import MARKUP
from .editing import Window
from .site import Site

CLIP = "/clips/cube_teleports"


def test_a_clip_by_keyboard_alone_from_the_queue_to_submit(window: Callable[..., Window], site: Site) -> None:
    page = window(site)
    first, second, third = page.queue()[:3]
    page.press("Enter")
    page.wait_path(f"/clips/{first}")
    assert page.run("document.querySelector('video').readyState") >= 2
    page.press("Shift+ArrowRight", "'", "'")
    page.mark()
    page.press(".", ".", "]", "Shift+ArrowRight", "a", "6", "t")
    page.page.keyboard.type("blur")
    page.press("Enter", "Shift+Digit2", "d")
    page.page.keyboard.type("The picture is soft.")
    page.press("Control+Enter")
    page.wait_path(f"/clips/{second}")
    page.press("c", "Control+Enter")
    page.wait_path(f"/clips/{third}")
    saved = site.annotation(page.person, first)
    assert saved["status"] == "submitted"
    assert [
        (event["dimension"], event["type"], event["spans"], event["severity"], event["description"])
        for event in saved["events"]
    ] == [
        ("physical_plausibility", "object_teleportation", [{"start_s": 1.2, "end_s": 1.4}], 4, "The cube jumps."),
        ("visual_quality", "blur", [{"start_s": 2.3, "end_s": 2.4}], 2, "The picture is soft."),
    ]
    assert saved["seconds_spent"] > 0
    clean = site.annotation(page.person, second)
    assert (clean["status"], clean["clean"], clean["events"]) == ("submitted", True, [])
    page.press("q")
    page.wait_path("/")
    assert page.page.locator("#progress").inner_text().startswith("2 of 5 clips submitted")
    assert page.page.locator("[aria-current=true] .clip-id").inner_text().strip() == third


def test_an_edge_is_dragged_and_undone_and_survives_a_reload(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    page.press("Shift+ArrowRight")
    page.mark()
    page.press("Shift+ArrowRight", "]")
    second = page.box(".ruler")["width"] / 4.3125
    page.drag(".bar .grip:last-child", second)
    assert page.spans() == ["1.0–3.1 s"]
    assert page.frame() == 49  # the last frame of the span is shown
    page.drag(".bar .grip", second / 2)
    assert page.spans() == ["1.5–3.1 s"]
    page.drag(".bar span", -second)
    assert page.spans() == ["0.5–2.1 s"]
    page.press("u")
    assert page.spans() == ["1.5–3.1 s"]
    page.press("u", "u")
    assert page.spans() == ["1.0–2.1 s"]
    page.press("Shift+u")
    page.wait_saved()
    before = page.events()
    page.page.reload()
    page.wait_path(CLIP)
    assert [{**event, "selected": True} for event in page.events()] == before
    page.press("n")
    assert page.value("#description") == "The cube jumps."


def test_an_edge_dragged_past_the_other_stays_a_span(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    page.press("Shift+ArrowRight", "a", "Shift+ArrowRight", "]")
    width = page.box(".ruler")["width"]
    page.drag(".bar .grip", width)
    assert page.spans() == ["2.0–2.1 s"]
    page.drag(".bar .grip:last-child", 2 * width)
    assert page.spans() == ["2.0–4.3 s"]
    page.drag(".bar .grip:last-child", -2 * width)
    assert page.spans() == ["2.0–2.1 s"]


def test_spans_that_are_dragged_together_become_one(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    page.press("a", "Shift+ArrowRight", "Shift+ArrowRight", "s")
    assert page.spans() == ["0.0–0.1 s", "2.0–2.1 s"]
    page.drag(".bar[data-bar='e1 0'] .grip:last-child", page.box(".ruler")["width"] * 2.5 / 4.3125)
    assert page.spans() == ["0.0–2.6 s"]
    page.press("u")
    assert page.spans() == ["0.0–0.1 s", "2.0–2.1 s"]


def test_overlapping_events_of_a_dimension_are_packed(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    for _ in range(3):
        page.press("a", "5", "Shift+ArrowRight", "]", "ArrowLeft")
    tops = page.run("[...document.querySelectorAll('.bar')].map((bar) => bar.getBoundingClientRect().top)")
    assert len(set(tops)) == 2  # the third begins where the first is over


def test_a_box_is_drawn_on_the_picture_and_on_one_view(window: Callable[..., Window], site: Site) -> None:
    page = window(site, "/clips/multi_view")
    width, height = page.run(
        "(({ videoWidth, videoHeight }) => [videoWidth, videoHeight])(document.querySelector('video'))"
    )
    page.press("a", "v", "v", "b")  # the view at the top right
    stage = page.box(".stage")
    scale = min(stage["width"] / (width / 2), stage["height"] / (height / 2))
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 0.1 * width * scale, y + 0.1 * height * scale, steps=3)
    page.page.mouse.up()
    page.press("Escape")
    box = page.saved("multi_view")["events"][0]["box"]
    assert box == pytest.approx({"x": 0.75, "y": 0.25, "width": 0.1, "height": 0.1, "time_s": 0.0}, abs=0.005)


# Saving.


def test_two_windows_never_overwrite_each_other_silently(window: Callable[..., Window], site: Site) -> None:
    first = window(site, CLIP)
    second = window(site, CLIP, first.person)
    first.mark(text="the first")
    first.wait_saved()
    held: list[Any] = []  # nothing is saved, and no dialog opens, before the event is complete

    def hold(route: Any) -> None:
        held.append(route)

    second.page.route("**/api/clips/cube_teleports", hold)
    second.mark(text="the second", severity="2")
    second.expect(lambda: held != [])
    held[0].continue_()
    second.expect(lambda: second.dialog() == "This clip was changed in another window")
    assert second.page.locator("dialog header").inner_text() == "This clip was changed in another window"
    second.page.unroute("**/api/clips/cube_teleports")
    versions = second.page.locator("dialog .versions").inner_text()
    assert "the first" in versions
    assert "the second" in versions
    assert second.page.locator(".saved").inner_text().startswith("Not saved")
    second.press("Escape", "Escape", "Space", "Enter")  # as if the dialog opens while someone is typing
    assert second.dialog() == "This clip was changed in another window"
    second.page.get_by_role("button", name="Take the other version").click()
    assert second.selected()["severity"] == "4"
    assert second.saved()["events"][0]["description"] == "the first"
    second.press("u")
    assert second.saved()["events"][0]["description"] == "the second"
    first.press("Shift+Digit5")
    first.expect(lambda: first.dialog() != "")
    first.page.get_by_role("button", name="Keep this version").click()
    assert first.saved()["events"][0]["severity"] == 5
    first.forget_refusals()
    second.forget_refusals()


def test_without_a_server_edits_are_kept_and_saved_later(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    page.page.route("**/api/clips/cube_teleports", lambda route: route.abort())
    page.mark()
    page.expect(lambda: page.page.locator(".saved").inner_text() == "Not saved: the server cannot be reached")
    page.press("Shift+Digit1", "Control+Enter")
    page.expect(lambda: page.message() == "Not submitted: the annotation is not saved yet.")
    assert site.annotation(page.person, "cube_teleports")["revision"] == 0
    page.press("q")
    page.expect(lambda: page.dialog() == "Not saved")
    page.page.get_by_role("button", name="Stay").click()
    page.page.unroute("**/api/clips/cube_teleports")
    assert page.saved()["events"][0]["severity"] == 1
    page.forget_refusals()


def test_nothing_is_shown_as_saved_before_the_server_confirms_it(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    held: list[Any] = []
    page.page.route("**/api/clips/cube_teleports", lambda route: held.append(route))
    page.press("a")
    page.expect(lambda: held)
    page.press("Shift+Digit3")
    page.page.wait_for_timeout(600)
    assert page.page.locator(".saved").inner_text() == "Saving …"
    assert len(held) == 1  # one request at a time
    held[0].continue_()
    page.expect(lambda: len(held) == 2)
    held[1].continue_()
    assert page.saved()["events"][0]["severity"] == 3


# Text is text.


def test_markup_in_an_instruction_and_a_description_is_text(window: Callable[..., Window], site: Site) -> None:
    page = window(site)
    assert MARKUP in page.page.locator(".clips").inner_text()
    page.open("/clips/steady")
    assert page.page.locator(".instruction").inner_text() == MARKUP
    page.mark(text=MARKUP)
    page.wait_saved()
    page.page.reload()
    page.wait_path("/clips/steady")
    page.press("n")
    assert page.value("#description") == MARKUP
    assert "hit" not in page.page.title()
    assert page.page.locator("main b", has_text="bold").count() == 0


# The queue.


def test_two_thousand_clips_scroll_with_few_rows_in_the_page(window: Callable[..., Window], site: Site) -> None:
    queue = window(site)

    def repeat(route: Any) -> None:
        answer = route.fetch().json()
        many = [{**clip, "instruction": f"Do {number}"} for number, clip in enumerate(answer["clips"] * 400)]
        route.fulfill(json={**answer, "clips": many})

    queue.page.route("**/api/queue", repeat)
    queue.open("/")
    rows = lambda: queue.run("document.querySelectorAll('.clips li').length")  # noqa: E731
    assert rows() < 40
    most = queue.run("""() => Math.max(...Array.from({ length: 100 }, () => {
      const box = document.querySelector(".clips");
      box.scrollTop += 500;
      box.dispatchEvent(new Event("scroll"));
      return box.querySelectorAll("li").length;
    }))""")
    assert most < 40
    queue.press("End")
    assert queue.page.locator("[aria-current=true] .clip-task").inner_text() == "Do 1999"
    assert queue.page.locator("#shown").inner_text() == "2,000 of 2,000 clips"


# Sizes, colours, aids.


@pytest.mark.parametrize("width", [800, 1000, 1280, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_within_the_window(window: Callable[..., Window], site: Site, width: int, scheme: str) -> None:
    page = window(site, CLIP, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.mark()
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.box(".stage")["width"] >= 380
    page.press("q")
    page.wait_path("/")
    assert page.run("document.documentElement.scrollWidth") <= width


def test_colour_and_pattern_differ_by_dimension(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP)
    styles = page.run("""[...document.querySelectorAll(".tracks .swatch")].map((swatch) => {
      const { borderColor, backgroundImage } = getComputedStyle(swatch);
      return [borderColor, backgroundImage.replace(/color[^)]*\\)|rgba?\\([^)]*\\)/g, "")];
    })""")
    assert len(styles) == 6
    assert len({colour for colour, _ in styles}) == len({pattern for _, pattern in styles}) == 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(window: Callable[..., Window], site: Site, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python").Axe()
    page = window(site, color_scheme=scheme)

    def check(where: str) -> None:
        found = axe.run(page.page).response["violations"]
        serious = [
            (rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], where

    check("queue")
    page.press("?")
    check("keys")
    page.open(CLIP)
    check("editor")
    page.mark()
    page.press("Shift+ArrowRight", "s", "Shift+ArrowRight", "a")
    check("events")
    page.press("t")
    check("types")
    page.press("Escape", "b")
    check("box")
    page.press("b", "g")
    check("guide")


def test_with_reduced_motion_nothing_moves_by_itself(window: Callable[..., Window], site: Site) -> None:
    page = window(site, CLIP, reduced_motion="reduce")
    page.mark()
    moving = """[...document.querySelectorAll("*")].filter((element) => {
      const { transitionDuration, animationName } = getComputedStyle(element);
      return animationName !== "none" || transitionDuration.split(",").some((each) => parseFloat(each) > 0);
    }).length"""
    assert page.run(moving) == 0
    assert not page.is_playing()
