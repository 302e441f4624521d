"""The page of the agreement of annotators."""

import asyncio
from pathlib import Path

import pytest
from agreement.annotators import WordJudge, annotation, event

from robogaze.agreement import AgreementConfig, AgreementResult, AnnotationSet, measure_agreement
from robogaze.core.annotation import ClipAnnotation
from robogaze.reporting.pages.agreement import agreement_headline, agreement_page
from robogaze.reporting.pages.results import write_result_page

from ..browsing import Opener


async def agreed(*annotations: ClipAnnotation) -> AgreementResult:
    return await measure_agreement(AnnotationSet.of(annotations), WordJudge(), AgreementConfig(resamples=20))


def three() -> list[ClipAnnotation]:
    """Two clips: of one all report the same event, of the other one annotator reports another."""
    same = [annotation(name, "agreed", event(0, 2)) for name in ("ann", "bob", "eve")]
    return [
        *same,
        annotation("ann", "open", event(0, 2), event(4, 6, "f2", dimension="x")),
        annotation("bob", "open", event(0, 2)),
        annotation("eve", "open", event(0, 2)),
    ]


async def test_the_headline_has_kappa_interval_and_the_events_to_be_settled() -> None:
    sentence = agreement_headline(await agreed(*three()))
    assert sentence.startswith("3 annotators. Agreement on whether a clip is faulty: kappa ")
    assert sentence.endswith(" To be settled by a person: 1 event.")


async def test_without_a_shared_clip_the_headline_says_so() -> None:
    sentence = agreement_headline(await agreed(annotation("ann", "a"), annotation("bob", "b")))
    assert sentence == "2 annotators, but no two annotators completed the same clip, so agreement cannot be measured."


async def test_clips_with_open_events_are_first_and_every_annotator_is_a_side(tmp_path: Path) -> None:
    page = agreement_page(await agreed(*three()), tmp_path, None)
    assert [(entry.title, entry.mark) for entry in page.entries] == [
        ("open", ("1 to settle", "bad")), ("agreed", ("agreed", "good")),
    ]  # fmt: skip
    assert [label for label, _, _ in page.entries[0].sides] == ["ann", "bob", "eve"]
    results = [event.result for event in page.clips["open/0"].events]
    assert sorted(results) == ["open", "settled"]
    assert page.entries[0].sentence == "not reported by bob, eve"


async def test_the_queue_leads_to_its_clip(tmp_path: Path) -> None:
    page = agreement_page(await agreed(*three()), tmp_path, None)
    queue = next(section.tables[0] for section in page.sections if section.title.startswith("To be settled"))
    assert queue.rows[0][1].href == "#entry=open"


async def test_the_judge_is_named_once(tmp_path: Path) -> None:
    text = write_result_page(agreement_page(await agreed(*three()), tmp_path, None), tmp_path, None).path.read_text()
    assert text.count(f"Judge {WordJudge.name}") == 1


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written before the browser starts, which has an event loop of its own."""
    folder = tmp_path_factory.mktemp("agreement")
    return write_result_page(agreement_page(asyncio.run(agreed(*three())), folder, None), folder, None).path


@pytest.mark.parametrize("width", [800, 1600])
def test_the_page_in_a_browser(index: Path, open_page: Opener, width: int) -> None:
    opened = open_page(index, viewport={"width": width, "height": 900})
    opened.wait("document.querySelectorAll('.shared .bar').length > 0")
    opened.wait_listed(["open", "agreed"])
    opened.expect(lambda: opened.page.locator(".sides .findings").count() == 3)
    opened.expect(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= width)
    opened.go("#state=settled&dimension=x")
    opened.wait_listed([])
    opened.go("#state=open&dimension=x")
    opened.wait_listed(["open"])
