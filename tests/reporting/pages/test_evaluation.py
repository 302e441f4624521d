"""The page of an evaluation: what it says, and in Chromium the way from a number to a clip."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robogaze.core.events import Event
from robogaze.datasets.formats.read import read_annotations
from robogaze.datasets.pairing import Pairing, System, pair
from robogaze.domains import Domain
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.results import Evaluation
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import Judgement
from robogaze.reporting.pages.evaluation import evaluation_headline, evaluation_page
from robogaze.reporting.pages.results import write_result_page
from robogaze.reporting.tables.evaluation import evaluation_tables

from ..browsing import Opener, Visit
from ..checkpoints_on_disk import FALLS, FLASH, STOPS, run_folder
from ..samples import page_words

GOLD: dict[str, tuple[Event, ...]] = {"stack": (FALLS, FLASH), "push": (), "fold": (FLASH,)}
FOUND: dict[str, tuple[Event, ...]] = {"stack": (FLASH,), "push": (STOPS,), "fold": (FLASH,)}


class HalfJudge:
    name, note = "half", "Rates every pair 0.5."
    identity: dict[str, Any] = {}

    async def rate(self, pairs: Any) -> list[Judgement]:
        return [Judgement(0.5) for _ in pairs]


def scored(pairing: Pairing) -> Evaluation:
    return asyncio.run(evaluate_pairing(pairing, HalfJudge(), EvaluationConfig(resamples=5)))


def evaluated(folder: Path, domain: Domain, *systems: str) -> Evaluation:
    """References and systems as run folders with videos; the clips of all have the same ids."""
    gold = read_annotations(run_folder(folder / "gold" / "r", domain, GOLD)).annotations
    found = [
        System.of(name, read_annotations(run_folder(folder / name / "r", domain, FOUND)).annotations)
        for name in systems
    ]
    return asyncio.run(evaluate_pairing(pair(gold, found), HalfJudge(), EvaluationConfig(resamples=5)))


def written(result: Evaluation, out: Path, domain: Domain | None) -> Path:
    return write_result_page(evaluation_page(result, list(evaluation_tables(result)), out, domain), out, domain).path


@pytest.fixture(scope="module", autouse=True)
def index(domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation")
    result = evaluated(folder, domain, "one")
    (folder / "one" / "r" / "index.html").write_text("<!doctype html><title>run</title>")
    return written(result, folder / "out", domain)


def test_the_headline_has_the_score_its_interval_and_n(domain: Domain, tmp_path: Path) -> None:
    result = evaluated(tmp_path, domain, "one")
    sentence = evaluation_headline(result)
    assert re.match(r"one has a description F1 of 0\.\d{3} \[\d\.\d{3}, \d\.\d{3}\] n=\d clips", sentence)
    assert sentence.endswith("; 2 of 3 reference events matched, 1 spurious.")


def test_the_headline_of_several_systems_names_the_best_and_its_equals(domain: Domain, tmp_path: Path) -> None:
    sentence = evaluation_headline(evaluated(tmp_path, domain, "one", "two"))
    assert sentence.startswith("one has the highest description F1")
    assert "not significantly above two" in sentence


def test_the_judge_is_named_once_and_the_limits_are_folded(index: Path) -> None:
    text = page_words(index.read_text())
    assert text.count("Judge half: Rates every pair 0.5.") == 1
    assert text.index("Before you trust these results") < text.index("Judge half")
    assert "Warning: 3 units" in text


def test_runs_and_references_are_in_the_title_line(index: Path) -> None:
    text = index.read_text()
    assert "<title>Evaluation: one, robogaze 0.1.0</title>" in text
    assert '<a href="../one/r/index.html"><bdi>one</bdi></a>' in text


def test_clips_are_listed_worst_first_with_what_was_missed_and_spurious(domain: Domain, tmp_path: Path) -> None:
    result = evaluated(tmp_path, domain, "one")
    page = evaluation_page(result, list(evaluation_tables(result)), tmp_path, domain)
    assert [entry.title for entry in page.entries] == ["r-push", "r-stack", "r-fold"]
    assert [entry.mark for entry in page.entries] == [("1 wrong", "bad"), ("1 wrong", "bad"), ("all matched", "good")]
    assert [change[:3] for change in page.entries[0].changes] == [("+", "spurious", "early_end")]
    assert [change[:3] for change in page.entries[1].changes] == [("−", "missed", "floating")]
    reference = page.clips["0/reference/r-stack"]
    assert [(event.id, event.result) for event in reference.events] == [("e1", "missed"), ("e2", "matched")]
    assert "similarity 0.50, IoU 1.00" in reference.events[1].note


def test_a_clip_without_a_prediction_has_one_side(domain: Domain, tmp_path: Path) -> None:
    gold = read_annotations(run_folder(tmp_path / "gold" / "r", domain, GOLD)).annotations
    only = [annotation for annotation in gold if annotation.clip_id == "r-push"]
    result = scored(pair(gold, [System.of("few", only)]))
    page = evaluation_page(result, list(evaluation_tables(result)), tmp_path, domain)
    stack = next(entry for entry in page.entries if entry.title == "r-stack")
    assert [label for label, _, _ in stack.sides] == ["reference"]
    assert stack.sentence == "2 missed; the prediction is missing"


def test_every_count_of_the_confusion_table_leads_to_as_many_events(domain: Domain, tmp_path: Path) -> None:
    result = evaluated(tmp_path, domain, "one")
    tables = list(evaluation_tables(result))
    page = evaluation_page(result, tables, tmp_path, domain)
    detail = next(section for section in page.sections if section.title == "one in detail")
    confusion = next(table for table in detail.tables if "reference dimension" in table.title)
    linked = 0
    for row in confusion.rows:
        for cell in row[1:]:
            tags = dict(part.split("=") for part in cell.href.removeprefix("#").split("&") if part)
            tags.pop("system", None)
            events = [event for entry in page.entries for event in entry.events]
            found = [event for event in events if tags and all(value in event[tag] for tag, value in tags.items())]
            assert len(found) == int(cell.text)
            linked += bool(cell.href)
    assert linked == 3


def test_names_from_outside_are_text(domain: Domain, tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>"
    gold = [
        replace(annotation, author=evil)
        for annotation in read_annotations(run_folder(tmp_path / "gold" / "r", domain, GOLD)).annotations
    ]
    result = scored(pair(gold, [System.of(evil, gold)]))
    text = written(result, tmp_path / "out", None).read_text()
    assert "<script>alert" not in text
    assert json.dumps(evil)[1:-1] not in text


# In the browser.


@pytest.fixture
def visit(open_page: Opener, index: Path) -> Callable[..., Visit]:
    """Opens the page at a hash."""
    return lambda hash_="", **settings: open_page(index, hash_, **settings)


def test_a_number_leads_to_the_clips_behind_it(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.wait_listed(["r-push", "r-stack", "r-fold"])
    opened.page.locator("summary", has_text="one in detail").click()
    opened.page.locator(".results-table a[href$='reference=physics&predicted=none']").click()
    opened.wait_address("predicted=none")
    opened.wait_list(1)
    opened.wait_listed(["r-stack"])
    opened.wait("document.querySelector('#entry h2').textContent.startsWith('r-stack')")
    opened.page.locator(".all").click()
    opened.wait("document.querySelectorAll('.clips li').length === 3")


def test_reference_and_prediction_share_one_video_and_one_timeline(visit: Callable[..., Visit]) -> None:
    opened = visit("#entry=one/r-stack")
    opened.wait("document.querySelector('video')?.readyState >= 2")
    opened.expect(lambda: opened.page.locator("video").count() == 1)
    bars = opened.page.locator(".shared .bar")
    opened.expect(
        lambda: (
            sorted(bars.nth(n).get_attribute("data-result") or "" for n in range(bars.count()))
            == [
                "matched",
                "matched",
                "missed",
            ]
        )
    )
    bars.filter(has_text="Floating").click()
    opened.wait_address("event=reference+e1")
    report = opened.page.get_by_role("link", name="one: r-stack")
    opened.expect(lambda: report.get_attribute("href") == "../one/r/index.html#clip=r-stack")


def test_a_table_is_sorted_by_the_keyboard_with_undefined_values_last(visit: Callable[..., Visit]) -> None:
    opened = visit()
    opened.page.locator("summary", has_text="one in detail").click()
    table = opened.page.get_by_role("region", name="one: every metric")
    head = table.locator("th", has_text="macro (over clips)")

    def values() -> list[str]:
        return [
            str(cell)
            for cell in table.evaluate("t => [...t.querySelectorAll('tbody tr')].map(r => r.cells[1].dataset.sort)")
        ]

    head.locator("button").focus()
    opened.page.keyboard.press("Enter")
    opened.expect(lambda: head.get_attribute("aria-sort") == "descending")
    numbers = [float(value) for value in values() if value]
    assert numbers == sorted(numbers, reverse=True)
    assert values()[: len(numbers)] == [value for value in values() if value]
    opened.page.keyboard.press("Enter")
    opened.expect(lambda: head.get_attribute("aria-sort") == "ascending")


@pytest.mark.parametrize("width", [800, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(visit: Callable[..., Visit], width: int, scheme: str) -> None:
    opened = visit("#entry=one/r-stack", viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.wait("document.querySelector('#entry h2')")
    opened.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    opened.expect(lambda: opened.page.evaluate("document.documentElement.scrollWidth") <= width)
