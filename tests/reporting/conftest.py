"""What the tests of this folder share: the small domain, and one report of every verdict and status."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.report import Report
from robogaze.domains import Domain

from .browsing import Opener, chromium, visits
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
    with chromium() as browser:
        yield browser


@pytest.fixture
def open_page(browser: Any) -> Iterator[Opener]:
    """Opens a page at a hash."""
    with visits(browser) as opener:
        yield opener
