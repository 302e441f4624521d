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

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@dataclass
class Visit:
    """A page that is open, and what went wrong or out while it was."""

    page: Any
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def time(self) -> float:
        return float(self.page.evaluate("document.querySelector('video').currentTime"))

    def wait(self, condition: str) -> None:
        """Wait until a condition holds. Playwright's own way needs an eval, which the page's policy forbids."""
        deadline = perf_counter() + 10
        while not self.page.evaluate(condition):
            assert perf_counter() < deadline, f"never came true: {condition}"
            sleep(0.01)

    def place(self, selector: str, found: str = "true") -> dict[str, float]:
        """Where the first match of a selector is drawn, once it is and the condition `found` on `box` holds.

        It is measured in the page in one step, because a mark that follows the video is drawn anew for every frame.
        """
        first = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"(box => box !== undefined && box.width > 0 && ({found}))({first}?.getBoundingClientRect())")
        box = self.page.evaluate(f"{first}?.getBoundingClientRect().toJSON() ?? null")
        return dict(box) if box is not None else self.place(selector, found)

    def go(self, hash_: str) -> None:
        """Change the address, and wait until the page has followed."""
        self.page.evaluate("hash => { location.hash = hash; }", hash_)
        self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def wait_address(self, part: str) -> None:
        """Wait until the page's address has a part. Playwright's own record of the address lags behind the page's."""
        self.wait(f"location.hash.includes({json.dumps(part)})")

    def wait_list(self, rows: int) -> None:
        """Wait until the list has this number of rows: it is drawn after the address changes."""
        self.wait(f"[...document.querySelectorAll('.clips li')].filter(row => row.checkVisibility()).length === {rows}")

    def listed(self) -> list[str]:
        """The heads of the visible rows of the list."""
        return [name.strip() for name in self.page.locator(".clips li:visible .clip-id").all_text_contents()]


Opener = Callable[..., Visit]


@contextmanager
def visits(browser: Any) -> Iterator[Opener]:
    """Opens pages from disk; at the end nothing must have gone wrong, and nothing out."""
    contexts = []
    opened: list[Visit] = []

    def open_page(path: Path, hash_: str = "", **settings: Any) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **settings})
        context.set_default_timeout(10_000)
        contexts.append(context)
        one = Visit(context.new_page())
        opened.append(one)
        one.page.on("console", lambda message: one.problems.append(message.text))
        one.page.on("pageerror", lambda error: one.problems.append(str(error)))
        one.page.on("dialog", lambda dialog: one.problems.append(f"dialog: {dialog.message}"))
        one.page.on("request", lambda request: one.requests.append(request.url))
        one.page.goto(f"{path.as_uri()}{hash_}")
        return one

    yield open_page
    problems = [problem for each in opened for problem in each.problems]
    outside = [url for each in opened for url in each.requests if not url.startswith(("file:", "data:", "blob:"))]
    for context in contexts:
        context.close()
    assert problems == []
    assert outside == []
