"""Pages in a real browser.

Chromium must be a build that plays H.264, which Playwright's own is not: a distribution's `chromium` is.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import pytest

WAIT_S = 60.0
"""The time limit of a wait; other processes may share the cores."""

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@dataclass
class Visit:
    """An open page, with its errors and its requests."""

    page: Any
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def time(self) -> float:
        return float(self.page.evaluate("document.querySelector('video').currentTime"))

    def wait(self, condition: str) -> None:
        """Wait until a condition in JavaScript holds; Playwright's own way needs eval, which the page forbids."""
        self.expect(lambda: bool(self.page.evaluate(condition)), condition)

    def expect(self, condition: Callable[[], bool], message: str = "the condition did not come true") -> None:
        """Wait until a condition holds, because the page is drawn after the address, the data or the video change."""
        deadline = perf_counter() + WAIT_S
        try:
            while not condition():
                assert perf_counter() < deadline, message
                sleep(0.01)
        except Exception as error:
            error.add_note(f"errors of the page: {self.problems}")
            raise

    def place(self, selector: str, found: str = "true") -> dict[str, float]:
        """The box of the first match of a selector, once it is drawn and the condition `found` on `box` holds.

        It is measured in the page in one step, because a mark that follows the video is drawn again for every frame.
        """
        first = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"(box => box !== undefined && box.width > 0 && ({found}))({first}?.getBoundingClientRect())")
        box = self.page.evaluate(f"{first}?.getBoundingClientRect().toJSON() ?? null")
        return dict(box) if box is not None else self.place(selector, found)

    def text(self, selector: str) -> str:
        """The visible text of the only match of a selector, once it is there."""
        return str(self.page.locator(selector).inner_text())

    def go(self, hash_: str) -> None:
        """Change the address and wait for the next frame."""
        self.page.evaluate("hash => { location.hash = hash; }", hash_)
        self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def wait_address(self, part: str) -> None:
        """Wait until the page's address has a part. Playwright's own record of the address lags behind the page's."""
        self.wait(f"location.hash.includes({json.dumps(part)})")

    def wait_list(self, rows: int) -> None:
        """Wait until the list has this number of rows: it is drawn after the address changes."""
        self.wait(f"[...document.querySelectorAll('.clips li')].filter(row => row.checkVisibility()).length === {rows}")

    def wait_listed(self, expected: list[str]) -> None:
        """Wait until the list has these rows."""
        self.expect(lambda: self.listed() == expected, f"the list does not become {expected}")

    def listed(self) -> list[str]:
        """The heads of the visible rows of the list."""
        return [name.strip() for name in self.page.locator(".clips li:visible .clip-id").all_text_contents()]


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium. Tests that need it are skipped only where it, or Playwright, is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install robogaze[dev])")
    if CHROMIUM is None:
        pytest.skip("needs a chromium that plays H.264 on the PATH")
    flags = ["--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


Opener = Callable[..., Visit]


@contextmanager
def visits(browser: Any) -> Iterator[Opener]:
    """Opens pages from disk. No page may have an error when it is opened.

    At the end, no page may have an error or a request to another place.
    """
    contexts = []
    opened: list[Visit] = []

    def open_page(path: Path, hash_: str = "", **settings: Any) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **settings})
        context.set_default_timeout(1000 * WAIT_S)
        contexts.append(context)
        visit = Visit(context.new_page())
        opened.append(visit)
        errors: list[str] = []
        visit.page.on("console", lambda message: visit.problems.append(message.text))
        visit.page.on("pageerror", lambda error: visit.problems.append(str(error)))
        visit.page.on("pageerror", lambda error: errors.append(str(error)))
        visit.page.on("dialog", lambda dialog: visit.problems.append(f"dialog: {dialog.message}"))
        visit.page.on("request", lambda request: visit.requests.append(request.url))
        visit.page.goto(f"{path.as_uri()}{hash_}")
        assert not errors, f"the page does not load: {errors}"
        return visit

    yield open_page
    problems = [problem for visit in opened for problem in visit.problems]
    outside = [url for visit in opened for url in visit.requests if not url.startswith(("file:", "data:", "blob:"))]
    for context in contexts:
        context.close()
    assert not problems, f"errors of the pages: {problems}"
    assert not outside, f"requests to other places: {outside}"
