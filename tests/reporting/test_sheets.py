"""A table says the same in every form, and never a bare mean."""

import csv
import io
import math

import pytest
from rich.console import Console

from robogaze.core.scores import Estimate, undefined
from robogaze.reporting.sheets import Sheet, as_csv, as_latex, as_markdown, as_terminal, file_name, files, written

SHEET = Sheet(
    "scores",
    "Scores of <b> & 50% | done",
    ("system", "f1", "clips"),
    (("ours_1", Estimate(0.5664, 0.538, 0.591, 382), 382), ("theirs", undefined("no matched pair", 12), 7)),
    ("A note with {braces}.",),
)


def test_an_estimate_is_written_with_its_interval_and_n() -> None:
    assert written(Estimate(0.5664, 0.538, 0.591, 382)) == "0.566 [0.538, 0.591] n=382"


def test_without_an_interval_there_is_still_n() -> None:
    assert written(Estimate(0.5, n=3)) == "0.500 n=3"


def test_what_is_undefined_says_so_and_why() -> None:
    assert written(undefined("no matched pair", 12)) == "undefined (no matched pair)"
    assert written(Estimate(math.nan, n=4)) == "undefined, n=4"
    assert written(math.nan) == "undefined"


def test_an_empty_cell_is_empty_and_text_cannot_steer_a_terminal() -> None:
    assert written(None) == ""
    assert written("red \x1b[31m") == "red \\x1b[31m"


def test_a_row_has_a_cell_for_every_column() -> None:
    with pytest.raises(ValueError, match="scores: a row has 1 cells for 2 columns"):
        Sheet("scores", "", ("a", "b"), (("x",),))


def test_csv_gives_an_estimate_four_columns_and_leaves_the_undefined_empty() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(SHEET))))
    assert rows[0] == ["system", "f1", "f1 low", "f1 high", "f1 n", "clips"]
    assert rows[1] == ["ours_1", "0.5664", "0.538", "0.591", "382", "382"]
    assert rows[2] == ["theirs", "", "", "", "12", "7"]


def test_csv_keeps_every_digit() -> None:
    sheet = Sheet("x", "", ("a", "b"), ((1 / 3, None),))
    assert as_csv(sheet) == f"a,b\n{1 / 3!r},\n"


def test_markdown_escapes_what_would_mark_up() -> None:
    text = as_markdown(SHEET)
    assert text.startswith("### Scores of \\<b\\> & 50% \\| done\n")
    assert "| ours\\_1 | 0.566 [0.538, 0.591] n=382 | 382 |" in text
    assert text.endswith("- A note with {braces}.\n")


def test_latex_is_for_booktabs_and_escapes_its_signs() -> None:
    text = as_latex(SHEET)
    assert r"\caption{Scores of <b> \& 50\% | done}" in text
    assert r"ours\_1 & 0.566 [0.538, 0.591] n=382 & 382 \\" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"\footnotesize A note with \{braces\}." in text


def test_the_terminal_shows_text_as_it_is() -> None:
    console = Console(width=120, file=io.StringIO(), force_terminal=False)
    console.print(as_terminal(Sheet("x", "[red]title", ("a",), (("[bold]x",),))))
    assert "[red]title" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "[bold]x" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_table_is_a_csv_file_and_all_are_in_one_markdown_and_one_latex_file() -> None:
    other = Sheet("ranks", "Ranks", ("system", "rank"), (("a", 1),))
    written = dict(files([SHEET, other]))
    assert list(written) == ["scores.csv", "ranks.csv", "tables.md", "tables.tex"]
    assert written["tables.md"] == f"{as_markdown(SHEET)}\n{as_markdown(other)}"
    assert written["tables.tex"].count(r"\begin{table}") == 2


def test_a_plain_name_is_its_file_s() -> None:
    assert file_name("model_v1.2", "losses") == "model_v1.2-losses"


def test_a_system_of_any_name_has_a_file_of_its_own() -> None:
    names = ["../a b:c", "a b", "a_b", "x" * 400, "x" * 401, "ä", "ö"]
    found = [file_name(name, "losses") for name in names]
    assert len(set(found)) == len(names)
    assert all(len(one) < 130 and not set(one) & set("/: ä") for one in found)
