"""What the tests of this folder share: the small domain, and one report of every verdict and status."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.report import Report
from robogaze.domains import Domain

from .browsing import CHROMIUM, Opener, visits
from .cases import clean_report, faulty_report, partial_report, undecided_report, unscored_report
from .samples import make_domain


@pytest.fixture(scope="session")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    folder: Path = tmp_path_factory.mktemp("domains") / "little"
    return make_domain(folder)


@pytest.fixture(scope="session")
def reports(domain: Domain) -> list[Report]:
    makers = faulty_report, clean_report, partial_report, unscored_report, undecided_report
    return [make(domain) for make in makers]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium. Tests that need it are skipped only where it, or Playwright, is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install robogaze[dev])")
    if CHROMIUM is None:
        pytest.skip("needs a chromium that plays H.264 on the PATH")
    flags = ["--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Opener]:
    """Opens a page at a hash."""
    with visits(browser) as opener:
        yield opener
