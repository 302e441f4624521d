"""Every metric has a page, and every page is of a metric."""

from pathlib import Path

import pytest

from robogaze.metrics.scores import METRICS

PAGES = Path(__file__).parents[2] / "docs" / "metrics"
OTHERS = {"README", "conventions", "coverage", "evaluation-json", "reproduction"}
PARTS = ("Definition", "Formula", "Range", "Undefined", "Over clips and over the corpus", "The released code")


def test_the_pages_are_those_of_the_metrics() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - OTHERS == set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_page_has_all_parts(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text()
    assert text.startswith(f"# {name}\n")
    for part in PARTS:
        assert f"**{part}.** " in text
    assert f"({name}.md)" in (PAGES / "README.md").read_text()
