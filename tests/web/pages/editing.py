"""A window of the annotator, driven as a person drives it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from reporting.browsing import WAIT_S

from .clips import READ_NUMBER
from .site import Site, token

_EVENTS = """() => [...document.querySelectorAll(".events [data-event]")].map((row) => ({
  id: row.dataset.event, name: row.querySelector(".claim-name").textContent,
  when: row.querySelector(".claim-when").textContent, severity: row.querySelector(".badge").textContent,
  selected: row.getAttribute("aria-pressed") === "true", needs: row.querySelector(".need")?.textContent ?? "",
}))"""


@dataclass
class Window:
    """A page of the annotator."""

    page: Any
    site: Site
    problems: list[str] = field(default_factory=list)
    person: str = ""

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))

    def sign_in(self, person: str) -> None:
        """Get the cookie that the address of the command gives."""
        self.person = person
        cookie = {"name": self.site.cookie, "value": token(person), "url": self.site.url()}
        self.page.context.add_cookies([cookie])

    def queue(self) -> list[str]:
        """The clips of the person, in order."""
        return self.site.queue(self.person)

    def saved(self, clip: str = "cube_teleports") -> dict[str, Any]:
        """What is saved of a clip, once the page says so."""
        self.wait_saved()
        return self.site.annotation(self.person, clip)

    def open(self, path: str) -> None:
        self.page.goto(self.site.url(path))
        self.wait_path(path)

    def wait_path(self, path: str) -> None:
        """Wait until the page of a path is ready."""
        self.page.wait_for_url(self.site.url(path))
        self.page.wait_for_selector("main[data-ready]", state="attached")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def expect(self, condition: Callable[[], Any], message: str = "the condition did not come true") -> None:
        deadline = perf_counter() + WAIT_S
        while not condition():
            assert perf_counter() < deadline, message
            self.page.wait_for_timeout(10)

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    # What the page shows.

    def events(self) -> list[dict[str, Any]]:
        return list(self.run(_EVENTS))

    def selected(self) -> dict[str, Any]:
        """The selected event."""
        return next(event for event in self.events() if event["selected"])

    def spans(self) -> list[str]:
        """The spans of the selected event."""
        return str(self.selected()["when"]).split(", ")

    def readout(self) -> str:
        return str(self.page.locator(".readout").inner_text())

    def time_s(self) -> float:
        return float(self.readout().split(" s")[0])

    def frame(self) -> int:
        """The number of the frame as the page calls it."""
        return int(self.readout().split("frame ")[1].split(" of")[0])

    def picture(self) -> int:
        """The number that the picture of a numbered clip shows, once the page says that it is on the screen."""
        self.wait_decoded()  # a seek within the frame that is on the screen does not change the mark
        self.page.wait_for_selector(".readout:not([data-waiting])")
        return self.run_number()

    def run_number(self) -> int:
        """The number that the picture shows now. It is an error if the video is not decoded."""
        return int(self.run(READ_NUMBER))

    def wait_decoded(self) -> None:
        self.expect(lambda: self.run("document.querySelector('video').readyState") >= 2, "the video is not decoded")

    def is_playing(self) -> bool:
        return not self.run("document.querySelector('video').paused")

    def rate(self) -> float:
        return float(self.run("document.querySelector('video').playbackRate"))

    def message(self) -> str:
        return str(self.page.locator(".message").inner_text())

    def dialog(self) -> str:
        """The title of the open dialog, empty for none."""
        return str(self.run("document.querySelector('dialog[open]')?.getAttribute('aria-label') ?? ''"))

    def focus(self) -> str:
        """The id of the focused element."""
        return str(self.run("document.activeElement.id"))

    def value(self, field: str) -> str:
        return str(self.page.locator(field).input_value())

    def wait_saved(self) -> None:
        self.expect(lambda: self.page.locator(".saved").inner_text() == "Saved", "the page does not say Saved")

    def forget_refusals(self) -> None:
        """Chromium reports every refused request of a page as an error of the page."""
        self.problems[:] = [text for text in self.problems if not text.startswith("Failed to load resource")]

    def box(self, selector: str) -> dict[str, float]:
        found = self.run(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        return dict(found)

    def drag(self, selector: str, dx: float) -> None:
        """Drag the middle of an element sideways."""
        place = self.box(selector)
        x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + dx / 2, y, steps=4)
        self.page.mouse.move(x + dx, y, steps=4)
        self.page.mouse.up()

    def mark(
        self, *, dimension: str = "5", type_: str = "tele", severity: str = "4", text: str = "The cube jumps."
    ) -> None:
        """Make an event at this time by keyboard."""
        self.press("a", dimension, "t")
        self.page.keyboard.type(type_)
        self.press("Enter", f"Shift+Digit{severity}", "d")
        self.page.keyboard.type(text)
        self.press("Escape")
