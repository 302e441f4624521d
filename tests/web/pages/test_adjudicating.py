"""A person settles what two annotators disagree on, by keyboard."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robogaze.web.annotation_store import open_store
from robogaze.web.store_summary import submitted_reports
from web.adjudicating import BLURRED, BLURRED_A_LOT, FLOATS, FLOATS_TOO, UNSEEN, adjudicating, annotate

from .editing import Window
from .site import DEMO, Site

CLIP = "/clips/cube_teleports"
CLEAN = "pick_place_clean"


@pytest.fixture
def disputed(tmp_path: Path) -> Iterator[Site]:
    """Two annotators agree on an event and that another clip is clean, and disagree on two events."""
    entries = [DEMO["cube_teleports"], DEMO[CLEAN]]
    path = tmp_path / "annotations.sqlite"
    store = open_store(path)
    first = {"cube_teleports": [FLOATS, BLURRED, UNSEEN], CLEAN: []}
    second = {"cube_teleports": [FLOATS_TOO, BLURRED_A_LOT], CLEAN: []}
    annotate(store, entries, {"ann": first, "bob": second})
    store.close()
    with adjudicating(path, entries, "eve", "dan") as server:
        yield Site(server.address, iter(["eve", "dan"]))


def rows(page: Window) -> list[str]:
    """What is decided about each disagreement."""
    return list(page.page.locator(".events .verdict").all_inner_texts())


def pressed_column(page: Window, letter: str) -> bool:
    return bool(page.page.locator(f"[data-take={letter}]").get_attribute("aria-pressed") == "true")


def test_a_disagreement_is_settled_by_keyboard_from_the_queue_to_the_report(
    window: Callable[..., Window], disputed: Site, tmp_path: Path
) -> None:
    page = window(disputed, person="eve")
    assert "eve · adjudication" in page.page.locator("#annotator").inner_text()
    assert page.page.locator("#progress").inner_text().startswith("1 of 2 clips submitted")
    page.press("Enter")
    page.wait_path(CLIP)
    page.wait_decoded()
    assert rows(page) == ["open", "open"]
    assert page.page.locator(".panel h2").first.inner_text() == "0 of 2 disagreements decided, 1 event agreed"
    assert page.page.locator(".panel .quiet").first.inner_text().startswith("Agreed events: Object floating, 0.5–1.0 s")
    assert page.time_s() == 2.0
    assert "severities differ" in page.page.locator(".reasons").inner_text()
    page.press("Control+Enter")
    assert page.message() == "Not submitted: this disagreement is not decided."
    page.press("m", "Control+Enter")
    assert page.message() == "Not submitted: the merged event needs severity."
    page.press("Shift+Digit2", "Home", "Shift+ArrowRight", "Shift+ArrowRight", "'", "[", "d")
    page.page.keyboard.type("The hand hides the cup. ")
    assert page.page.locator(".events .claim-when").first.inner_text() == "2.1–3.0 s"
    page.press("Escape", "Enter")
    assert page.page.locator("[data-choice=merged]").last.inner_text() == "Change the event (m)"
    page.press("x", "w")
    page.page.keyboard.type("It lies on the table.")
    page.press("Escape")
    assert rows(page) == ["merged", "neither"]
    page.wait_saved()
    page.press("Control+Enter")
    page.wait_path("/")
    store = open_store(tmp_path / "annotations.sqlite")
    report = submitted_reports(store)[Path("adjudicated/cube_teleports.json")]
    store.close()
    assert report.author == "adjudicated"
    found = [(event.type, [(span.start, span.end) for span in event.spans], event.severity) for event in report.events]
    assert found == [("object_floating", [(0.5, 1.0)], 4), ("blur", [(2.1, 3.0)], 2)]
    decisions = disputed.annotation("eve", "cube_teleports")["decisions"]
    assert [(decision["choice"], decision["comment"], decision["by"]) for decision in decisions] == [
        ("merged", "", "eve"),
        ("neither", "It lies on the table.", "eve"),
    ]


def test_the_choice_of_one_or_both_annotators_survives_a_reload(window: Callable[..., Window], disputed: Site) -> None:
    page = window(disputed, CLIP, person="eve")
    page.press("a")
    assert (rows(page)[0], pressed_column(page, "A"), pressed_column(page, "B")) == ("A", True, False)
    page.press("b")
    assert (rows(page)[0], pressed_column(page, "A"), pressed_column(page, "B")) == ("B", False, True)
    page.press("c")
    assert page.message() == "This clip has only 2 annotators."
    page.press("s")
    assert rows(page)[0] == "A and B"
    page.press("u")
    assert rows(page)[0] == "B"
    page.press("n")
    silent = page.run(
        "[...document.querySelectorAll('.versions section')].find((each) => !each.querySelector('button')).ariaLabel"
    )
    page.press(silent.lower())
    assert page.message() == f"Annotator {silent} reports no event here. Press x if there is no event."
    page.press("t")
    assert page.message() == "Only a merged event can be changed. Press m to merge the events."
    page.press("p", "m")
    assert "needs" not in page.page.locator(".events").inner_text()  # it starts from the event that was taken
    page.wait_saved()
    page.page.reload()
    page.wait_path(CLIP)
    assert rows(page) == ["merged", "open"]
    assert page.page.locator(".events [aria-pressed=true] .verdict").inner_text() == "open"
    assert page.page.locator("[data-take]").count() == 1  # the other one reports nothing


def test_the_timeline_has_the_events_of_both_and_the_result(window: Callable[..., Window], disputed: Site) -> None:
    page = window(disputed, CLIP, person="eve")

    def lanes() -> list[int]:
        return [lane.locator(".bar").count() for lane in page.page.locator(".lanes .row").all()[1:4]]

    before = lanes()
    assert sorted(before[:2]) == [1, 2]
    assert before[2] == 1  # the agreed event
    page.press("s")
    assert lanes()[2] == 3
    page.press("m")
    assert lanes()[2] == 2
    second = page.box(".ruler")["width"] / 4.3125
    page.drag(".bar[data-bar^='result'][data-current] .grip:last-child", second / 2)
    assert page.saved()["decisions"][0]["merged"]["spans"] == [{"start_s": 2.0, "end_s": 3.5}]


def test_two_adjudicators_of_a_clip_see_each_other(window: Callable[..., Window], disputed: Site) -> None:
    first, second = (window(disputed, CLIP, person=person) for person in ("eve", "dan"))
    first.press("a")
    first.wait_saved()
    second.press("x")
    second.expect(lambda: "changed in another window" in second.message())
    second.wait_saved()
    assert rows(second) == ["A", "open"]
    second.press("x")
    second.wait_saved()
    assert second.saved()["decisions"][0]["by"] == "dan"
    second.forget_refusals()


def test_every_key_of_the_table_has_its_action(window: Callable[..., Window], disputed: Site) -> None:
    page = window(disputed, CLIP, person="eve")
    page.press("?")
    listed: list[Any] = page.page.locator("dialog dd").all_inner_texts()
    assert listed == list(
        page.run("SHORTCUTS.filter(({ pages }) => pages.includes('adjudicate')).map(({ help }) => help)")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(window: Callable[..., Window], disputed: Site, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python").Axe()
    page = window(disputed, CLIP, person="eve", color_scheme=scheme)
    page.press("m")
    page.wait_saved()
    found = axe.run(page.page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
