"""How the page shows the server's answers: feedback, refusals, a video that does not play, another annotator."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .editing import Window
from .site import DEMO, DEMO_ANNOTATIONS, Site, serve

CLIP = "/clips/cube_teleports"


@pytest.fixture
def page(window: Callable[..., Window], site: Site) -> Window:
    return window(site, CLIP)


def test_after_a_calibration_clip_the_events_are_compared_with_the_key(
    window: Callable[..., Window], tmp_path: Path
) -> None:
    clips = [DEMO["cube_teleports"], DEMO["pick_place_clean"]]
    with serve(tmp_path, clips, calibration=DEMO_ANNOTATIONS) as site:
        page = window(site, CLIP)
        page.press("End", "Shift+ArrowLeft", "Shift+ArrowLeft")
        page.mark(severity="3", text="The cube jumps to the tray.")
        page.press("Shift+ArrowRight", "]", "Home", "a", "6", "t")
        page.page.keyboard.type("blur")
        page.press("Enter", "Shift+Digit1", "d")
        page.page.keyboard.type("It is soft.")
        page.press("Control+Enter")
        page.expect(lambda: page.dialog() == "Comparison with the answer key")
        words = page.page.locator("dialog").inner_text()
        assert "Kappa over 1 calibration clip" in words
        assert "same type, severity lower by 2" in words
        assert "Not in the answer key\nBlur, severity 1, 0.0–0.1 s: It is soft." in words
        page.press("Enter")
        page.wait_path("/clips/pick_place_clean")


def test_a_video_that_does_not_play_is_replaced_by_a_proxy(window: Callable[..., Window], site: Site) -> None:
    page = window(site)
    page.page.route("**/video/steady", lambda route: route.fulfill(body=b"no video", content_type="video/mp4"))
    page.open("/clips/steady")
    page.wait_decoded()
    page.press(".", ".", ".")
    assert page.picture() == page.frame() == 3


def test_the_proxy_shows_the_frame_at_which_the_video_failed(window: Callable[..., Window], site: Site) -> None:
    page = window(site, "/clips/steady")
    page.run("""() => {
      [...document.querySelectorAll(".transport button")].find((each) => each.textContent === "frame ▸").click();
      document.querySelector("video").dispatchEvent(new Event("error"));
    }""")
    page.expect(lambda: "proxy" in page.run("document.querySelector('video').currentSrc"))
    assert page.picture() == page.frame() == 1
    page.press("Space")
    page.expect(lambda: page.frame() > 3)


def test_a_video_that_does_not_play_at_all_is_an_error_on_the_page(window: Callable[..., Window], site: Site) -> None:
    page = window(site)
    page.page.route("**/video/**", lambda route: route.fulfill(body=b"no video", content_type="video/mp4"))
    page.open("/clips/steady")
    page.expect(lambda: page.message() == "The browser cannot play this video.")
    page.press("Space", "j", ".")
    assert page.frame() == 1
    with pytest.raises(Exception, match="the video is not decoded"):
        page.run_number()


def test_another_annotator_in_the_same_browser_does_not_save_for_the_first(page: Window, site: Site) -> None:
    first, second = page.person, next(site.people)
    page.sign_in(second)
    page.press("a")
    words = f"Not saved: this browser now annotates as {second}; reload the page"
    page.expect(lambda: page.page.locator(".saved").inner_text() == words)
    assert site.annotation(first, "cube_teleports")["revision"] == 0
    assert site.annotation(second, "cube_teleports")["revision"] == 0
    page.forget_refusals()


def test_a_refusal_is_shown_at_the_event_until_it_is_changed(page: Window, site: Site) -> None:
    def refuse(route: Any) -> None:
        errors = [{"event": "e1", "field": "description", "message": "the description is refused"}]
        route.fulfill(status=422, json={"error": "the description is refused", "errors": errors})

    page.page.route("**/api/clips/cube_teleports", refuse)
    page.mark()
    page.expect(lambda: page.selected()["needs"] == "the description is refused")
    page.expect(lambda: page.page.locator(".saved").inner_text() == "Not saved: the description is refused")
    page.page.unroute("**/api/clips/cube_teleports")
    page.press("Shift+Digit1")
    page.wait_saved()
    assert page.selected()["needs"] == ""
    page.forget_refusals()


def test_a_refusal_after_the_server_was_away_does_not_end_the_saving(page: Window, site: Site) -> None:
    path = "**/api/clips/cube_teleports"
    page.page.route(path, lambda route: route.abort())
    page.mark()
    page.expect(lambda: page.page.locator(".saved").inner_text() == "Not saved: the server cannot be reached")
    page.page.route(path, lambda route: route.fulfill(status=422, json={"error": "refused", "errors": []}))
    page.expect(lambda: page.page.locator(".saved").inner_text() == "Not saved: refused")
    page.page.unroute(path)
    page.press("Shift+Digit1")
    page.wait_saved()
    page.forget_refusals()


def test_a_change_after_submitting_has_to_be_submitted_again(page: Window, site: Site) -> None:
    page.press("c", "Control+Enter")
    page.page.wait_for_url(lambda url: not url.endswith(CLIP))
    page.open(CLIP)
    button = page.page.locator("button", has_text="Submit")
    assert button.inner_text() == "Submitted"
    page.press("c")
    assert button.inner_text() == "Submit"
    assert page.saved()["status"] == "draft"


def test_the_time_spent_counts_until_the_clip_is_submitted(page: Window, site: Site) -> None:
    page.press("c")
    before = page.saved()["seconds_spent"]
    page.page.wait_for_timeout(1000)
    page.press("Control+Enter")
    page.page.wait_for_url(lambda url: not url.endswith(CLIP))
    assert before + 0.9 <= site.annotation(page.person, "cube_teleports")["seconds_spent"] < before + 20


def test_a_page_with_unsaved_changes_asks_before_it_is_closed(page: Window) -> None:
    asked: list[str] = []
    page.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.page.route("**/api/clips/cube_teleports", lambda route: route.abort())
    page.press("a")
    page.expect(lambda: "Not saved" in page.page.locator(".saved").inner_text())
    page.page.reload()
    assert asked == ["beforeunload"]
    page.forget_refusals()


def test_an_unknown_clip_is_an_error_with_a_way_back(window: Callable[..., Window], site: Site) -> None:
    page = window(site)
    page.page.goto(site.url("/clips/no%20such%20clip"))
    page.page.get_by_role("alert").wait_for()
    assert "this clip does not exist" in page.page.get_by_role("alert").inner_text()
    page.page.get_by_role("link", name="Queue").click()
    page.wait_path("/")
    page.problems.clear()
