"""What the tests of this folder share: the small domain, and one report of every standing."""

from pathlib import Path

import pytest

from robogaze.core.report import Report
from robogaze.domains import Domain

from .cases import clean_report, faulty_report, partial_report, unscored_report
from .samples import make_domain


@pytest.fixture(scope="session")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    folder: Path = tmp_path_factory.mktemp("domains") / "little"
    return make_domain(folder)


@pytest.fixture(scope="session")
def reports(domain: Domain) -> list[Report]:
    return [faulty_report(domain), clean_report(domain), partial_report(domain), unscored_report(domain)]
