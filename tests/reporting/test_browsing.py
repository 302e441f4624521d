"""A test of a page that fails shows the errors of the page."""

from pathlib import Path
from typing import Any

import pytest

from . import browsing
from .browsing import Opener, visits


def written(tmp_path: Path, script: str) -> Path:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><body><script>{script}</script></body>")
    return page


def test_an_error_while_a_page_loads_is_shown_at_once(browser: Any, tmp_path: Path) -> None:
    page = written(tmp_path, "nothing.of.this;")
    with pytest.raises(AssertionError, match=r"the page does not load: .*nothing is not"), visits(browser) as opener:
        opener(page)


def test_an_error_in_the_console_is_shown_at_the_end(browser: Any, tmp_path: Path) -> None:
    page = written(tmp_path, "console.error('no clip');")
    with pytest.raises(AssertionError, match=r"errors of the pages: .*no clip"), visits(browser) as opener:
        opener(page)


@pytest.mark.parametrize("video", ["document.querySelector('video')", "document.querySelector('video')?"])
def test_a_wait_that_fails_shows_the_errors_of_the_page(
    open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, video: str
) -> None:
    opened = open_page(written(tmp_path, "console.error('no clip');"))
    monkeypatch.setattr(browsing, "WAIT_S", 0.1)
    with pytest.raises(Exception, match="readyState") as error:
        opened.wait(f"{video}.readyState")
    assert error.value.__notes__ == ["errors of the page: ['no clip']"]
    opened.problems.clear()
