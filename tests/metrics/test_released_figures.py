"""The figures of the papers, recomputed: the page holds what the script finds, and the script finds what is wrong."""

from fractions import Fraction
from pathlib import Path

import paper_figures
import pytest
from paper_tables import Printed, read

PAGE = Path(__file__).parents[2] / "docs" / "metrics" / "reproduction.md"


def test_the_page_holds_the_tables_that_the_script_prints() -> None:
    assert paper_figures.report() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "low", "high"), [("0.71", "0.705", "0.715"), (".5", ".45", ".55"), ("382", "382", "382")]
)
def test_a_printed_number_stands_for_all_that_are_printed_so(text: str, low: str, high: str) -> None:
    assert Printed(text).ends == (Fraction(low), Fraction(high))


def test_a_table_is_read_by_the_names_of_its_rows() -> None:
    assert read("one | 1 2.5 -\ntwo | 3") == {"one": (Printed("1"), Printed("2.5")), "two": (Printed("3"),)}


@pytest.mark.parametrize(
    ("f1", "agrees"),
    [("12.3", True), ("12.2", True), ("12.4", False), ("12.1", False)],  # 15.4 and 10.2 give 12.22 to 12.32
)
def test_a_figure_agrees_when_its_inputs_can_give_it(f1: str, agrees: bool) -> None:
    found = paper_figures.figure("row", Printed(f1), paper_figures.harmonic, Printed("15.4"), Printed("10.2"))
    assert found.agrees is agrees


def test_a_figure_that_does_not_agree_says_what_its_inputs_give() -> None:
    found = paper_figures.figure("row", Printed("12.4"), paper_figures.harmonic, Printed("15.4"), Printed("10.2"))
    assert str(found) == "row: 12.4, not 12.22 to 12.32"


def test_what_is_implied_and_does_not_agree_is_this() -> None:
    wrong = {
        f"{paper}, {one.where}": sum(not figure.agrees for figure in one.figures)
        for paper, one in paper_figures.relations()
        if one.implied and not all(figure.agrees for figure in one.figures)
    }
    assert wrong == {"RoboGaze, Table 23": 1, "RoboGaze, Table 24": 3}


def test_a_wrong_claim_is_reported() -> None:
    wrong = [one for one in paper_figures.claims() if not one.holds]
    assert len(wrong) == 9
    assert ("V@3 closes 13 to 22 % of the gap", "11.3 to 16.0") in {(one.said, one.found) for one in wrong}
