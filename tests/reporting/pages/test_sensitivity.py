"""The page of an evaluator's sensitivity to planted glitches."""

from pathlib import Path
from typing import Any

import pytest
from making import coverage, make_clip

from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.domains import Domain, load_domain
from robogaze.forge.sensitivity import Sensitivity, measure
from robogaze.reporting.pages.results import write_result_page
from robogaze.reporting.pages.sensitivity import sensitivity_headline, sensitivity_page

from ..browsing import Opener

SOFT, SHAKY = "blur", "camera_instability"


@pytest.fixture(scope="module")
def robot() -> Domain:
    return load_domain("robot")


def report(domain: Domain, clip_id: str, *events: tuple[str, float, float], **media: Any) -> Report:
    """A report with events as (type, start, end)."""
    found = Report(
        clip=make_clip(id=clip_id), domain=domain.ref, pipeline="p", author="someone",
        coverage=coverage(*domain.dimensions),
        events=tuple(
            Event(id=f"{number}", dimension=domain.dimension_of[kind], type=kind, spans=(Span(start, end),), severity=3,
                  confidence=None, description="d", evidence=())
            for number, (kind, start, end) in enumerate(events)
        ),
    )  # fmt: skip
    return found.with_(provenance=found.provenance.with_(media=media))


def planted(domain: Domain, clip_id: str, *events: tuple[str, float, float]) -> Report:
    plant = events[0][0] if events else ""
    return report(domain, clip_id, *events, planted={"source": "cup", "untouched": "cup-0", "plant": plant})


def measured(domain: Domain) -> tuple[Sensitivity, list[Report], list[Report]]:
    """One glitch found, one missed, one without a report, and an alarm on the untouched clip."""
    references = [
        planted(domain, "cup-0"),
        planted(domain, "cup-1", (SOFT, 0.0, 1.0)),
        planted(domain, "cup-2", (SHAKY, 1.0, 2.0)),
        planted(domain, "cup-3", (SOFT, 1.0, 2.0)),
    ]
    reports = [
        report(domain, "cup-0", (SHAKY, 3.0, 3.5)),
        report(domain, "cup-1", (SOFT, 0.0, 1.0)),
        report(domain, "cup-2"),
    ]
    return measure(references, reports, "ours", level=0.95, resamples=20, seed=0), references, reports


def test_the_headline_has_the_share_its_interval_and_the_alarms(robot: Domain) -> None:
    result, _, _ = measured(robot)
    assert sensitivity_headline(result, "ours") == (
        "Share of the planted glitches that ours finds: 0.500 [0.095, 0.905] n=2; share that it notices: "
        "0.500 [0.095, 0.905] n=2. Share of the untouched clips with alarms: 1.000 [0.207, 1.000] n=1."
    )


def test_clips_are_listed_worst_first_with_the_result_of_their_glitch(robot: Domain, tmp_path: Path) -> None:
    page = sensitivity_page(*measured(robot), tmp_path / "ours", tmp_path, robot)
    assert [(entry.id, entry.mark[0]) for entry in page.entries] == [
        ("cup-2", "missed"), ("cup-3", "undecided"), ("cup-0", "alarm"), ("cup-1", "found"),
    ]  # fmt: skip
    assert [label for label, _, _ in page.entries[1].sides] == ["planted"]
    assert page.entries[3].sentence == "blur of severity 3, planted in cup: found, tIoU 1.00, onset error 0.00 s"


def test_missing_reports_and_undecided_glitches_limit_the_result(robot: Domain, tmp_path: Path) -> None:
    page = sensitivity_page(*measured(robot), tmp_path / "ours", tmp_path, robot)
    assert [check.sentence for check in page.checks if not check.good] == [
        "1 clip without a report: their glitches are undecided.",
        "1 glitch undecided and left out of all shares. Depending on these glitches, the share of found glitches is "
        "between 0.333 and 0.667.",
    ]


def test_a_share_leads_to_its_clips(robot: Domain, tmp_path: Path, open_page: Opener) -> None:
    page = sensitivity_page(*measured(robot), tmp_path / "ours", tmp_path / "out", robot)
    opened = open_page(write_result_page(page, tmp_path / "out", robot).path)
    opened.wait("document.querySelector('#entry h2')")
    opened.page.get_by_role("region", name="Found glitches by type").get_by_role("link", name="Blur").click()
    opened.wait_address("type=blur")
    opened.wait_list(2)
    opened.wait_listed(["cup-3", "cup-1"])
