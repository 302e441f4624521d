"""scripts/research/paper_figures.py: the page has what it prints, and it finds figures that are wrong."""

from fractions import Fraction
from pathlib import Path

import paper_figures
import pytest
import yaml
from paper_figures import Figure, Printed

PAGE = Path(__file__).parents[2] / "docs" / "metrics" / "reproduction.md"


def test_the_page_has_the_tables_that_the_script_prints() -> None:
    assert paper_figures.report() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "low", "high"), [("0.71", "0.705", "0.715"), (".5", ".45", ".55"), ("382", "382", "382")]
)
def test_a_printed_number_stands_for_all_that_round_to_it(text: str, low: str, high: str) -> None:
    assert Printed(text).ends == (Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("f1", "agrees"),
    [("12.3", True), ("12.2", True), ("12.4", False), ("12.1", False)],  # 15.4 and 10.2 give 12.22 to 12.32
)
def test_a_figure_agrees_if_its_inputs_can_give_it(f1: str, agrees: bool) -> None:
    assert Figure.parse(f"row: {f1} = harmonic 15.4 10.2").agrees is agrees


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("row: 12.4 = harmonic 15.4 10.2", "row: 12.4, not 12.22 to 12.32"),
        ("row: 0.17 = share_of 9", "row: 0.17, not 0.222"),
        ("row: 70.4 = convex 64.9 67.9", "row: 70.4, not 70.75 or more"),
        ("row: 9 = within 1.0 2.0", "row: 9, not 0.9 to 2.0"),
    ],
)
def test_a_figure_that_does_not_agree_names_what_its_inputs_give(line: str, message: str) -> None:
    assert str(Figure.parse(line)) == message


def test_the_implied_figures_that_do_not_agree() -> None:
    relations = yaml.safe_load(paper_figures.DATA.read_text(encoding="utf-8"))["relations"]
    wrong = {
        relation["where"]: sum(not Figure.parse(line).agrees for line in relation["figures"])
        for relation in relations
        if relation["implied"]
    }
    assert {where: count for where, count in wrong.items() if count} == {
        "RoboGaze, Table 23": 1,
        "RoboGaze, Table 24": 3,
    }


@pytest.mark.parametrize(
    ("claim", "ends"),
    [
        ({"values": ["difference 5 2", "equal 4"], "lowest": [3, 3]}, "| 3.0 to 4.0 | yes |"),
        ({"values": ["difference 5 2", "equal 4"], "highest": [0, 3]}, "| 3.0 to 4.0 | no |"),
        ({"values": ["equal 1", "equal -1"], "positive": [2, 2]}, "| 1 of 2 | no |"),
    ],
)
def test_a_claim_holds_within_its_limits(claim: dict[str, object], ends: str) -> None:
    assert paper_figures.claim_line({"where": "here", "claim": "so", **claim}).endswith(ends)
