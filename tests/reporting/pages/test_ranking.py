"""The page of a ranking, as text and in a real browser: all candidates of a prompt on one clock, best first."""

from pathlib import Path

import pytest

from robogaze.domains import Domain
from robogaze.ranking import rank
from robogaze.reporting.pages.ranking import ranking_page, write_ranking_page

from ..browsing import Opener
from ..checkpoints_on_disk import FALLS, FLASH, STOPS, run_folder

CANDIDATES = {"floats": (FALLS,), "flashes": (FLASH,), "clean": (), "stops": (STOPS,)}
VIDEOS = "[...document.querySelectorAll('video')]"


@pytest.fixture(scope="module")
def run(domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four candidates of one prompt, with its page."""
    root = run_folder(tmp_path_factory.mktemp("ranking") / "run", domain, CANDIDATES)
    (root / "index.html").write_text("the run")
    return root


PROMPTS = {f"run-{name}": "p" for name in CANDIDATES}


def test_sides_are_the_candidates_best_first_with_reasons_and_links(run: Path, domain: Domain) -> None:
    page = ranking_page(rank(run, prompts=PROMPTS), run.parent / "out", domain)
    (entry,) = page.entries
    assert [label.split()[:2] for label, _, _ in entry.sides] == [
        ["1", "keep"], ["2", "keep"], ["3", "drop"], ["4", "drop"]
    ]  # fmt: skip
    assert [key for _, _, key in entry.sides] == ["run-clean", "run-flashes", "run-stops", "run-floats"]
    assert "Floating severity 4" in entry.sides[3][1]
    assert entry.links[0] == ("1 run-clean", "../run/index.html#clip=run-clean")
    assert entry.sentence == "Keep 2 of 4 candidates"
    assert page.headline == "2 of 4 candidates of 1 prompt kept"


def test_all_candidates_play_on_one_clock(run: Path, open_page: Opener) -> None:
    index = write_ranking_page(rank(run, prompts=PROMPTS), run.parent / "out").path
    opened = open_page(index)
    opened.wait(f"{VIDEOS}.length === 4 && {VIDEOS}.every((video) => video.readyState >= 2)")
    for _ in range(8):
        opened.page.keyboard.press("ArrowRight")
    opened.expect(lambda: opened.text(".readout") == "0.50 s of 4.00 s")
    opened.wait(f"new Set({VIDEOS}.map((video) => video.currentTime.toFixed(2))).size === 1")
    captions = opened.page.locator(".screen figcaption").all_text_contents()
    assert [caption.split()[0] for caption in captions] == ["1", "2", "3", "4"]
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
