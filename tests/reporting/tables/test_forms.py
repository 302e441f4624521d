"""A table says the same in every form, and never a bare mean."""

import csv
import io
import math
import re

import pytest
from rich.console import Console

from robogaze.core.estimate import Estimate, undefined
from robogaze.reporting.tables import (
    ResultTable,
    TablePart,
    cell_text,
    file_name,
    table_files,
    to_csv,
    to_latex,
    to_markdown,
    to_terminal,
)

SHEET = ResultTable(
    "scores",
    "Scores of <b> & 50% | done",
    ("system", "f1", "clips"),
    (("ours_1", Estimate(0.5664, 0.538, 0.591, 382), 382), ("theirs", undefined("no matched pair", 12), 7)),
    ("A note with {braces}.",),
)


def test_an_estimate_is_written_with_its_interval_and_n() -> None:
    assert cell_text(Estimate(0.5664, 0.538, 0.591, 382)) == "0.566 [0.538, 0.591] n=382"


def test_without_an_interval_there_is_still_n() -> None:
    assert cell_text(Estimate(0.5, n=3)) == "0.500 n=3"


def test_an_undefined_value_is_written_with_its_reason() -> None:
    assert cell_text(undefined("no matched pair", 12)) == "undefined (no matched pair)"
    assert cell_text(Estimate(math.nan, n=4)) == "undefined, n=4"
    assert cell_text(math.nan) == "undefined"


def test_an_empty_cell_is_empty_and_text_cannot_steer_a_terminal() -> None:
    assert cell_text(None) == ""
    assert cell_text("red \x1b[31m") == "red \\x1b[31m"


def test_a_row_has_a_cell_for_every_column() -> None:
    with pytest.raises(ValueError, match="scores: a row has 1 cells for 2 columns"):
        ResultTable("scores", "", ("a", "b"), (("x",),))


def test_csv_gives_an_estimate_four_columns_and_leaves_the_undefined_empty() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(SHEET))))
    assert rows[0] == ["system", "f1", "f1 low", "f1 high", "f1 n", "clips"]
    assert rows[1] == ["ours_1", "0.5664", "0.538", "0.591", "382", "382"]
    assert rows[2] == ["theirs", "", "", "", "12", "7"]


def test_csv_keeps_every_digit() -> None:
    sheet = ResultTable("x", "", ("a", "b"), ((1 / 3, None),))
    assert to_csv(sheet) == f"a,b\n{1 / 3!r},\n"


def test_markdown_escapes_what_would_mark_up() -> None:
    text = to_markdown(SHEET)
    assert text.startswith("### Scores of \\<b\\> & 50% \\| done\n")
    assert "| ours\\_1 | 0.566 [0.538, 0.591] n=382 | 382 |" in text
    assert text.endswith("- A note with {braces}.\n")


def test_latex_is_for_booktabs_and_escapes_its_signs() -> None:
    text = to_latex(SHEET)
    assert r"\caption{Scores of \textless{}b\textgreater{} \& 50\% \textbar{} done}" in text
    estimate = r"\begin{tabular}[t]{@{}r@{}}0.566, n=382 \\ {[}0.538, 0.591]\end{tabular}"
    assert rf"ours\_\allowbreak{{}}1 & {estimate} & 382 \\" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert r"\footnotesize A note with \{braces\}." in text


def tabulars(text: str) -> list[list[list[str]]]:
    """The cells of each table, row by row, with lines within a cell joined."""
    found = []
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL):
        flat = re.sub(r"\\begin{tabular}\[t\]{@{}\w@{}}(.*?)\\end{tabular}",
                      lambda inner: inner[1].replace(r" \\ ", " "), body)  # fmt: skip
        rows = [line.removesuffix(r" \\") for line in flat.splitlines() if line != r"\midrule"]
        found.append([row.replace(r"\allowbreak{}", "").split(" & ") for row in rows])
    return found


def test_a_latex_table_of_many_columns_goes_on_below_with_the_first_one_repeated() -> None:
    """Seven columns of estimates are about 500 points; an article has 345."""
    value = Estimate(0.5664, 0.538, 0.591, 382)
    names = tuple(f"metric{number}" for number in range(7))
    parts = tabulars(
        to_latex(ResultTable("wide", "Wide", ("system", *names), (("ours", *[value] * 7), ("b", *[value] * 7))))
    )
    assert [name for part in parts for name in part[0][1:]] == list(names)
    for part in parts:
        assert [row[0] for row in part] == ["system", "ours", "b"]
        # "{[}0.538, 0.591]" is 49 points in 8 point Computer Modern: 8 digits of 4.25, signs of 2.4 and a blank.
        assert 30 + (len(part[0]) - 1) * (49 + 6) < 345
    text = to_latex(ResultTable("wide", "Wide", ("system", *names), (("ours", *[value] * 7),), ("A note.",)))
    assert text.count("A note.") == 1
    assert r"\caption{Wide (part 2 of 2)}" in text
    assert r"\label{tab:wide}" in text
    assert r"\label{tab:wide-2}" in text


def test_a_long_latex_table_continues_on_the_next_page_and_long_text_is_wrapped() -> None:
    rows = tuple((f"clip {number}", "It says much. " * 10) for number in range(20))
    text = to_latex(ResultTable("long", "Long", ("clip", "text"), rows, ("A note. " * 400,)))
    parts = tabulars(text)
    assert [row[0] for part in parts for row in part[1:]] == [f"clip {number}" for number in range(20)]
    assert all(len(part) - 1 <= 7 for part in parts), "seven lines of 20 signs each take half a page"
    assert text.count(r"{@{}lp{100pt}@{}}") == len(parts) > 2
    assert text.rindex("A note.") > text.rindex(r"\end{table}"), "a long note continues after the table"


def test_a_long_head_of_a_latex_column_is_as_wide_as_its_cells() -> None:
    value = Estimate(0.5664, 0.538, 0.591, 382)
    text = to_latex(ResultTable("x", "", ("metric", "upper bound: whole_clip, S = 1"), (("f1", value),)))
    assert r"upper bound: \\ whole\_\allowbreak{}clip, \\ S = 1\end{tabular} \\" in text


def test_a_row_of_latex_never_begins_with_what_the_row_before_takes_for_an_option() -> None:
    text = to_latex(ResultTable("x", "", ("a", "b"), (("[1]", 1), ("[2]", 2))))
    assert r"1 \\" in text
    assert not re.search(r"\\\\\s*\[", text)


def test_the_terminal_shows_text_as_it_is() -> None:
    console = Console(width=120, file=io.StringIO(), force_terminal=False)
    console.print(to_terminal(ResultTable("x", "[red]title", ("a",), (("[bold]x",),))))
    assert "[red]title" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "[bold]x" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_table_is_a_csv_file_and_all_are_in_one_markdown_and_one_latex_file() -> None:
    other = ResultTable("ranks", "Ranks", ("system", "rank"), (("a", 1),))
    written = dict(table_files([SHEET, other]))
    assert list(written) == ["scores.csv", "ranks.csv", "tables.md", "tables.tex"]
    assert written["tables.md"] == f"{to_markdown(SHEET)}\n{to_markdown(other)}"
    assert written["tables.tex"].count(r"\begin{table}") == 2


def test_parts_of_one_table_share_a_csv_file_with_their_value_in_the_first_column() -> None:
    parts = [
        ResultTable(
            f"{name}-losses", f"{name}: losses", ("error", "gain"), rows, part=TablePart("losses", "system", name)
        )
        for name, rows in (("a", (("missed", None),)), ("b", (("missed", Estimate(0.5, 0.25, 0.75, 3)),)))
    ]
    written = dict(table_files([SHEET, *parts]))
    assert list(written) == ["scores.csv", "losses.csv", "tables.md", "tables.tex"]
    assert written["losses.csv"].splitlines() == [
        "system,error,gain,gain low,gain high,gain n", "a,missed,,,,", "b,missed,0.5,0.25,0.75,3",
    ]  # fmt: skip
    assert "### a: losses" in written["tables.md"]
    other = ResultTable("c-losses", "", ("kind", "gain"), (), part=TablePart("losses", "system", "c"))
    with pytest.raises(ValueError, match="losses: its parts differ in their columns"):
        list(table_files([*parts, other]))


def test_a_plain_name_is_its_file_s() -> None:
    assert file_name("model_v1.2", "losses") == "model_v1.2-losses"


def test_a_system_of_any_name_has_a_file_of_its_own() -> None:
    names = ["../a b:c", "a b", "a_b", "x" * 400, "x" * 401, "ä", "ö"]
    found = [file_name(name, "losses") for name in names]
    assert len(set(found)) == len(names)
    assert all(len(name) < 130 and not set(name) & set("/: ä") for name in found)
