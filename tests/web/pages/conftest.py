"""What the browser tests of the annotator share: a running server, Chromium, and windows that are driven by keys."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reporting.browsing import WAIT_S, chromium

from robogaze.datasets import ManifestEntry

from .clips import STEADY_MS, UNEVEN_MS, write_numbered
from .editing import Window
from .site import DEMO, Site, serve

MARKUP = "<img src=x onerror=\"document.title='hit'\"><b>bold</b>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Clips whose frames show their number: one at a steady rate with B-frames, and one at a variable rate."""
    folder = tmp_path_factory.mktemp("numbered")
    return {
        "steady": write_numbered(folder / "steady.mp4", STEADY_MS),
        "uneven": write_numbered(folder / "uneven.mp4", UNEVEN_MS),
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, numbered: dict[str, Path]) -> Iterator[Site]:
    """A queue of three demo clips and the numbered ones, of which one has markup as its instruction."""
    made = [ManifestEntry(path=path, clip_id=name, instruction=MARKUP) for name, path in numbered.items()]
    demo = [DEMO[name] for name in ("cube_teleports", "pick_place_clean", "multi_view")]
    with serve(tmp_path_factory.mktemp("site"), [*demo, *made]) as running:
        yield running


@pytest.fixture
def window(browser: Any) -> Iterator[Callable[..., Window]]:
    """Opens browser windows, of a new person unless one is named. At the end, no page may have an error."""
    opened: list[Window] = []

    def open_window(site: Site, path: str = "/", person: str | None = None, **settings: Any) -> Window:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **settings})
        context.set_default_timeout(1000 * WAIT_S)
        opened.append(Window(context.new_page(), site))
        opened[-1].sign_in(person or next(site.people))
        opened[-1].open(path)
        return opened[-1]

    yield open_window
    problems = [problem for window in opened for problem in window.problems]
    for window in opened:
        window.page.context.close()
    assert problems == []
