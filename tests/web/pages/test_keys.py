"""Every key of the table does what its help says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .editing import Window
from .site import DEMO, DEMO_ANNOTATIONS, Site, serve


def pressed(key: str) -> str:
    """A key of the table as Playwright calls it; with Shift, a digit is named by its key, not by its character."""
    return re.sub(r"^Shift\+(\d)$", r"Shift+Digit\1", key.replace("Ctrl+", "Control+"))


@pytest.fixture
def editor(window: Callable[..., Window], site: Site) -> Window:
    opened = window(site)
    start(opened)
    return opened


def start(editor: Window) -> None:
    """A new person opens a clip without events, of 69 frames at 16 a second, at 1.0 s."""
    editor.expect(lambda: editor.page.locator("[data-state=saving]").count() == 0)
    editor.sign_in(next(editor.site.people))
    editor.run("localStorage.clear()")
    editor.open("/clips/cube_teleports")
    editor.press("Shift+ArrowRight")


def arrive(editor: Window) -> None:
    editor.expect(lambda: not editor.run("document.querySelector('video').seeking"), "the video is still sought")


def go_to_one_second(editor: Window) -> None:
    """Wait for the end of each seek: if a second seek begins earlier, a third seek, to the time of the first, sometimes
    never ends in Chromium.
    """
    for key in ("Home", "Shift+ArrowRight"):
        editor.press(key)
        arrive(editor)


def start_again(editor: Window) -> None:
    """The same clip without its events, at 1.0 s and at normal speed, which takes less long than a new page."""
    while editor.events():
        editor.press("n", "Delete")
    editor.press("0")
    go_to_one_second(editor)
    assert (editor.readout(), editor.rate(), editor.is_playing()) == ("1.0 s · frame 16 of 69", 1, False)


Check = Callable[[Window, str], None]
CHECKS: dict[str, Check] = {}
NEW = {"nextEvent", "previousEvent", "submit", "nextClip", "previousClip", "queue"}
"""The shortcuts whose checks need a new person: they name events by their numbers, or leave the clip."""
ALONGSIDE = {
    "zoomOut": "Shift+z",
    "nextSpan": "w",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "shorter": "Shift+ArrowUp",
    "taller": "Shift+ArrowDown",
}
"""The shortcuts whose key the check of another presses."""


def check(*names: str) -> Callable[[Check], Check]:
    def add(function: Check) -> Check:
        CHECKS.update(dict.fromkeys(names, function))
        return function

    return add


def shortcuts(window: Window, page: str) -> list[dict[str, Any]]:
    return list(window.run(f"SHORTCUTS.filter(({{ pages }}) => pages.includes('{page}'))"))


# Playing.


@check("play")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    editor.expect(editor.is_playing)
    editor.press(key)
    editor.expect(lambda: not editor.is_playing())


MOVES = {
    "frameBack": ("0.9 s · frame 15", 15),
    "frameOn": ("1.1 s · frame 17", 17),
    "left": ("0.9 s · frame 15", 15),
    "right": ("1.1 s · frame 17", 17),
    "tenthBack": ("0.9 s · frame 14", 14),
    "tenthOn": ("1.1 s · frame 17", 17),
    "narrower": ("0.0 s · frame 0", 0),
    "wider": ("2.0 s · frame 32", 32),
    "firstFrame": ("0.0 s · frame 0", 0),
    "lastFrame": ("4.3 s · frame 68", 68),
}


def test_the_keys_that_move(editor: Window) -> None:
    keys = {shortcut["id"]: shortcut["keys"] for shortcut in shortcuts(editor, "annotate")}
    times = [number / 16 for number in range(69)] + [4.3125]
    for name, (words, frame) in MOVES.items():
        for key in keys[name]:
            go_to_one_second(editor)
            editor.press(key)
            assert editor.readout() == f"{words} of 69", name
            arrive(editor)
            assert times[frame] < editor.run("document.querySelector('video').currentTime") < times[frame + 1], name


@check("playBack")
def _(editor: Window, key: str) -> None:
    editor.press("-", "-", "-", "End", key)
    editor.expect(lambda: editor.time_s() < 4.2)
    assert "1×" in editor.page.locator(".play").inner_text()
    editor.press(key)
    assert "2×" in editor.page.locator(".play").inner_text()
    editor.press("k")
    stopped = editor.frame()
    editor.page.wait_for_timeout(300)
    assert editor.frame() == stopped


@check("pause")
def _(editor: Window, key: str) -> None:
    editor.press("l")
    editor.expect(editor.is_playing)
    editor.press(key)
    editor.expect(lambda: not editor.is_playing())


@check("playOn")
def _(editor: Window, key: str) -> None:
    editor.press("-", "-", "-", key)
    editor.expect(editor.is_playing)
    assert editor.rate() == 0.25
    editor.press(key)
    assert editor.rate() == 0.5


@check("slower")
def _(editor: Window, key: str) -> None:
    rates = []
    for _ in range(5):
        editor.press(key)
        rates.append(editor.rate())
    assert rates == [0.75, 0.5, 0.25, 0.1, 0.1]


@check("faster")
def _(editor: Window, key: str) -> None:
    rates = []
    for _ in range(5):
        editor.press(key)
        rates.append(editor.rate())
    assert rates == [1.5, 2, 3, 4, 4]


@check("normalSpeed")
def _(editor: Window, key: str) -> None:
    editor.press("-", "-", key)
    assert editor.rate() == 1


@check("nextView")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.message() == "This clip has only one view."


@check("zoomIn")
def _(editor: Window, key: str) -> None:
    width = editor.box(".ruler")["width"]
    editor.press("z")
    assert editor.box(".ruler")["width"] == pytest.approx(2 * width, rel=0.01)
    playhead, tracks = editor.box(".playhead"), editor.box(".tracks")
    assert tracks["left"] < playhead["left"] < tracks["right"]
    editor.press("Shift+z")
    assert editor.box(".ruler")["width"] == pytest.approx(width, rel=0.01)


# Events.


@check("addEvent")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.spans() == ["1.0–1.1 s"]
    assert editor.selected()["needs"] == "needs dimension, type, severity, description"


@check("setOnset")
def _(editor: Window, key: str) -> None:
    editor.press("a", "Shift+ArrowRight", "]", ",", ",", key)
    assert editor.spans() == ["1.9–2.1 s"]  # frame 30 begins at 1.875 s


@check("setOffset")
def _(editor: Window, key: str) -> None:
    editor.press("a", ".", ".", key)
    assert editor.spans() == ["1.0–1.2 s"]  # frame 18 ends at 1.1875 s
    editor.press("End", key)
    assert editor.spans() == ["1.0–4.3 s"]
    assert editor.saved()["events"][0]["spans"][0]["end_s"] == 4.3125


@check("nextEvent", "previousEvent")
def _(editor: Window, key: str) -> None:
    editor.press("a", "Shift+ArrowRight", "a", "Shift+ArrowRight", "a")
    marked = []
    for _ in range(4):
        editor.press(key)
        marked.append((editor.selected()["id"], editor.time_s()))
    forwards = [("e1", 1.0), ("e2", 2.0), ("e3", 3.0), ("e1", 1.0)]
    assert marked == (forwards if key == "n" else [("e2", 2.0), ("e1", 1.0), ("e3", 3.0), ("e2", 2.0)])


@check("goOnset", "goOffset")
def _(editor: Window, key: str) -> None:
    editor.press("a", "Shift+ArrowRight", "]", "Shift+ArrowRight", key)
    assert editor.frame() == (16 if key == "{" else 33)  # the span ends at 2.1 s, frame 33 begins at 2.0625 s


@check("loopEvent")
def _(editor: Window, key: str) -> None:
    editor.press("a", "Shift+ArrowRight", "a", "=", "=", "=", "=", key)
    editor.expect(editor.is_playing)
    editor.expect(lambda: editor.time_s() > 2.5)
    editor.expect(lambda: editor.time_s() < 1.5)
    assert editor.time_s() >= 1.0
    editor.press(key)
    editor.expect(lambda: not editor.is_playing())
    assert editor.page.locator("button.loop").is_hidden()


@check("addSpan", "deleteSpan")
def _(editor: Window, key: str) -> None:
    editor.press("a", "Shift+ArrowRight", "s")
    assert editor.spans() == ["1.0–1.1 s", "2.0–2.1 s"]
    editor.press("Shift+ArrowRight", "]")
    assert editor.spans() == ["1.0–1.1 s", "2.0–3.1 s"]
    editor.press("w")
    assert editor.time_s() == 1.0
    editor.press("w")
    assert editor.time_s() == 2.0
    if key.startswith("Shift+"):
        editor.press(key)
        assert editor.spans() == ["1.0–1.1 s"]


@check("join")
def _(editor: Window, key: str) -> None:
    editor.mark(text="The cube jumps.")
    editor.press("Shift+ArrowRight")
    editor.mark(text="It jumps back.")
    editor.press(key)
    assert editor.message().startswith("To join this event to another event, select the other event")
    editor.press("p", key)
    assert [event["when"] for event in editor.events()] == ["1.0–1.1 s, 2.0–2.1 s"]
    assert editor.value("#description") == "The cube jumps. It jumps back."
    editor.press("u")
    assert len(editor.events()) == 2
    editor.press(key, key)
    assert editor.message() == "The events were not joined."
    assert len(editor.events()) == 2


@check("dimension")
def _(editor: Window, key: str) -> None:
    ids = list(editor.run("[...document.querySelectorAll('#dimension option')].map(({ value }) => value)"))[1:]
    editor.press(key)
    if int(key) > len(ids):
        assert editor.message() == f"There are only {len(ids)} dimensions."
        return
    assert editor.value("#dimension") == ids[int(key) - 1]
    assert editor.spans() == ["1.0–1.1 s"]
    editor.press("1")
    assert editor.value("#dimension") == ids[0]
    assert len(editor.events()) == 1
    editor.press("Delete")


@check("type")
def _(editor: Window, key: str) -> None:
    editor.press("a", key)
    assert editor.focus() == "type"
    editor.page.keyboard.type("tele")
    assert editor.page.locator(".type-facts h3").inner_text() == "Object teleportation"
    editor.press("Enter")
    assert editor.value("#type") == "Object teleportation"
    assert editor.value("#dimension") == "physical_plausibility"
    assert editor.focus() == ""
    editor.press(key, "ArrowDown", "Enter")
    assert editor.value("#type") != "Object teleportation"


@check("severity")
def _(editor: Window, key: str) -> None:
    editor.press("a", key)
    assert editor.selected()["severity"] == key[-1]
    editor.press("Delete")


@check("describe")
def _(editor: Window, key: str) -> None:
    editor.press("a", key)
    assert editor.focus() == "description"
    editor.page.keyboard.type("a cube, 5 of them")
    editor.press("Escape")
    assert editor.value("#description") == "a cube, 5 of them"
    assert len(editor.events()) == 1  # letters in a field are no keys


@check("box", "deleteBox")
def _(editor: Window, key: str) -> None:
    moves = "ArrowLeft", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft"
    sizes = "Shift+ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowUp"
    editor.press("a", "b", *moves, *sizes, "b")
    box = editor.saved()["events"][0]["box"]
    assert box == pytest.approx({"x": 0.39, "y": 0.41, "width": 0.21, "height": 0.22, "time_s": 1.0})
    assert editor.frame() == 16  # the arrows moved the box
    if key == "Shift+b":
        editor.press(key)
        assert editor.saved()["events"][0]["box"] is None


@check("deleteEvent")
def _(editor: Window, key: str) -> None:
    editor.press("a", key)
    assert editor.events() == []


# The clip.


@check("undo", "redo")
def _(editor: Window, key: str) -> None:
    undoes = key in ("u", "Control+z")
    editor.press("a", "Shift+Digit3", "d")
    editor.page.keyboard.type("one stroke")
    editor.press("Escape")
    done = editor.events(), editor.value("#description")
    undo = key if undoes else "u"
    editor.press(undo)
    assert editor.value("#description") == ""
    editor.press(undo, undo)
    assert editor.events() == []
    for _ in range(3):
        editor.press("Shift+u" if undoes else key)
    assert (editor.events(), editor.value("#description")) == done


@check("clean")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.saved()["clean"] is True
    editor.press(key)
    assert editor.saved()["clean"] is False
    editor.press("a", key)
    assert editor.message() == "A clip with events is not clean. Delete or reject the events first."


@check("submit")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.message() == "Not submitted: add an event (a), or mark the clip as clean (c)."
    editor.press("a", key)
    assert editor.message() == "Not submitted: this event needs dimension, type, severity, description."
    editor.press("u", "c", key)
    queue = editor.queue()
    editor.wait_path(f"/clips/{queue[(queue.index('cube_teleports') + 1) % len(queue)]}")
    assert editor.site.annotation(editor.person, "cube_teleports")["status"] == "submitted"


@check("nextClip", "previousClip", "queue")
def _(editor: Window, key: str) -> None:
    before, clip, after = editor.queue()[1:4]
    editor.open(f"/clips/{clip}")
    editor.press("a", key)
    editor.wait_path({"PageDown": f"/clips/{after}", "PageUp": f"/clips/{before}", "q": "/"}[key])
    assert len(editor.site.annotation(editor.person, clip)["events"]) == 1


@check("guide")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.dialog() == "Guide"
    editor.press("PageDown")
    editor.expect(lambda: editor.run("document.querySelector('.dialog-body').scrollTop") > 0)
    editor.press("Escape")
    assert editor.dialog() == ""


@check("leave")
def _(editor: Window, key: str) -> None:
    editor.press("a", "d", key)
    assert editor.focus() == ""
    editor.press("r")
    editor.expect(lambda: editor.page.locator("button.loop").is_visible())
    editor.press(key)
    assert editor.page.locator("button.loop").is_hidden()
    editor.press("b", key, "ArrowRight")
    assert editor.page.locator(".stage[data-drawing]").count() == 0


@check("help")
def _(editor: Window, key: str) -> None:
    editor.press(key)
    assert editor.dialog() == "Keys"
    listed = editor.page.locator("dialog dd").all_inner_texts()
    assert listed == [shortcut["help"] for shortcut in shortcuts(editor, "annotate")]
    editor.press(key)
    assert editor.dialog() == ""


KNOWN = CHECKS.keys() | MOVES.keys() | ALONGSIDE.keys()


def test_every_key_of_the_editor(editor: Window) -> None:
    table = shortcuts(editor, "annotate")
    assert {shortcut["id"] for shortcut in table} == KNOWN
    keys = {shortcut["id"]: shortcut["keys"] for shortcut in table}
    assert {name: keys[name] for name in ALONGSIDE} == {name: [key] for name, key in ALONGSIDE.items()}
    was_new = False
    for shortcut in table:
        is_new = shortcut["id"] in NEW
        for place, key in enumerate(shortcut["keys"] if shortcut["id"] in CHECKS else ()):
            if is_new or was_new:
                start(editor)
            elif place == 0 or len(shortcut["keys"]) <= 3:
                start_again(editor)
            was_new = is_new
            try:
                CHECKS[shortcut["id"]](editor, pressed(key))
            except AssertionError as error:
                raise AssertionError(f"{key}: {shortcut['help']}") from error


# Views, review, queue.


def test_the_views_of_a_grid_one_by_one(window: Callable[..., Window], site: Site) -> None:
    editor = window(site, "/clips/multi_view")
    names = []
    for _ in range(4):
        editor.press("v")
        names.append(editor.run("document.querySelector('.transport .readout').previousSibling.textContent"))
    assert names == ["exterior left", "exterior right", "wrist", "all views"]


def test_the_keys_of_a_review(window: Callable[..., Window], tmp_path: Path) -> None:
    with serve(tmp_path, [DEMO["cube_teleports"]], review=DEMO_ANNOTATIONS) as review:
        editor = window(review, "/clips/cube_teleports")
        event = lambda: editor.saved()["events"][0]  # noqa: E731
        ids = {shortcut["id"] for shortcut in shortcuts(editor, "review")}
        assert ids == KNOWN | {"accept", "reject", "edit"}
        assert editor.events()[0]["needs"] == "needs verdict"
        editor.press("n", "y")
        assert (event()["origin"], event()["verdict"]) == ("model", "accepted")
        editor.press("x")
        assert editor.focus() == "reason"
        editor.page.keyboard.type("It is carried.")
        editor.press("Escape")
        assert (event()["origin"], event()["verdict"], event()["reason"]) == ("model", "rejected", "It is carried.")
        editor.press("e")
        assert editor.focus() == "type"
        editor.press("Escape", "Shift+Digit2")
        assert (event()["origin"], event()["verdict"], event()["severity"]) == ("edited", "edited", 2)
        editor.press("Delete")
        assert editor.message() == "An event of the model cannot be deleted. Press x to reject the event."


def test_a_models_event_that_is_joined_to_another_is_rejected_as_a_part_of_it(
    window: Callable[..., Window], tmp_path: Path
) -> None:
    with serve(tmp_path, [DEMO["cube_teleports"]], review=DEMO_ANNOTATIONS) as review:
        editor = window(review, "/clips/cube_teleports")
        editor.press("End")
        editor.mark(text="It jumps back.")
        own = editor.selected()["id"]
        editor.press("p", "m", "n", "m")
        model, joined = sorted(editor.saved()["events"], key=lambda event: event["id"] == own)
        assert (model["verdict"], model["reason"]) == ("rejected", f"part of {own}")
        assert joined["origin"] == "person"
        assert joined["spans"] == [*model["spans"], joined["spans"][-1]]
        assert joined["description"] == f"It jumps back. {model['description']}"


def test_the_keys_of_the_queue(window: Callable[..., Window], site: Site) -> None:
    queue = window(site)
    first, second, third, fourth, last = queue.queue()
    queue.open(f"/clips/{second}")
    queue.press("c", "Control+Enter")
    queue.wait_path(f"/clips/{third}")
    queue.open("/")
    current = lambda: queue.page.locator("[aria-current=true] .clip-id").inner_text().strip()  # noqa: E731
    moves = {"nextRow": second, "lastRow": last, "previousRow": fourth, "firstRow": first, "nextOpen": third}
    table = {shortcut["id"]: shortcut["keys"] for shortcut in shortcuts(queue, "queue")}
    assert table.keys() == moves.keys() | {"openClip", "filter", "leave", "help"}
    for name, clip in moves.items():
        queue.press(table[name][0])
        assert current() == clip, name
    queue.press("k", "j")
    assert current() == third
    queue.press("/")
    queue.page.keyboard.type("tele")
    assert queue.page.locator("#shown").inner_text() == "1 of 5 clips"
    queue.press("Escape")
    assert current() == "cube_teleports"
    queue.press("?")
    assert queue.dialog() == "Keys"
    queue.press("Escape", "Enter")
    queue.wait_path("/clips/cube_teleports")


def test_the_documentation_lists_the_same_keys(editor: Window) -> None:
    page = Path(__file__).parents[3] / "docs/annotate.md"
    groups = "Play|Event|Review|Adjudicate|Clip|Queue|Help"
    rows = re.findall(rf"^\| (?:{groups}) \| (.*) \| (.*) \|$", page.read_text(), re.MULTILINE)

    def written(keys: list[str]) -> str:
        return f"`{keys[0]}` to `{keys[-1]}`" if len(keys) > 3 else " ".join(f"`{key}`" for key in keys)

    table = list(editor.run("SHORTCUTS"))
    assert sorted(rows) == sorted((written(shortcut["keys"]), shortcut["help"]) for shortcut in table)
