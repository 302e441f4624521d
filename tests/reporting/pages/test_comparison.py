"""The page of a comparison as text: its sentences, escaping, and content security policy."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from checkpoints import annotation as account
from checkpoints import clean_and_faulty, event, run, without_a_model

from robogaze.comparison import Comparison, ComparisonConfig, Run
from robogaze.comparison import compare_runs as compare
from robogaze.domains import Domain
from robogaze.reporting.pages.comparison import comparison_page
from robogaze.reporting.pages.comparison_runs import page_runs
from robogaze.reporting.pages.results import result_files

from ..samples import ATTACK, page_data, page_words


def text_of(result: Comparison, domain: Domain | None = None) -> str:
    page = comparison_page(result, page_runs(result, Path()), None, domain)
    ((_, text),) = result_files(page, {}, domain)
    return text


def page(*runs: Run, domain: Domain | None = None, **said: Any) -> str:
    """The page of runs, in one file."""
    return text_of(compare(list(runs), ComparisonConfig(resamples=20), **said), domain)


def test_the_headline_is_the_verdict() -> None:
    text = page(clean_and_faulty("old", "-" * 20), clean_and_faulty("new", "+" * 20), baseline="old")
    (verdict,) = re.findall(r"<h1[^>]*>(.*?)</h1>", text)
    assert verdict.startswith("new has the highest clean rate, 1.000 [0.839, 1.000]; against old, new is better")


def test_the_leaderboard_has_a_drawn_interval_beside_every_number() -> None:
    text = page(clean_and_faulty("old", "-" * 20), clean_and_faulty("new", "+" * 19 + "?"))
    said = page_words(text)
    assert said.index("new 1 1.000") < said.index("old 2 2.000")
    assert "0.950 [0.764, 0.991] n=20" in said
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) > 8
    assert all(ElementTree.fromstring(drawing).tag.endswith("svg") for drawing in drawings)


def test_runs_of_a_band_do_not_differ_significantly() -> None:
    said = page_words(page(clean_and_faulty("a", "+-+-"), clean_and_faulty("b", "-+-+")))
    assert "Leaderboard no significant difference between a and b" in said


def test_without_a_model_the_page_speaks_of_a_nothing_found_rate_and_never_of_a_clean_one() -> None:
    runs = [without_a_model(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    said = page_words(page(*runs))
    assert "nothing-found rate events per clip" in said
    assert "nothing-found rate 0.250 [" in said
    assert "Examined in every complete clip: colour." in said
    assert "clean rate" not in said
    assert "clean_rate" not in said


def test_pairs_carry_verdict_bounds_and_what_changed() -> None:
    said = page_words(page(clean_and_faulty("a", "+-+-"), clean_and_faulty("b", "-+??")))
    assert "b against a No significant difference between b and a" in said
    between = "the clean rates differ by -25.0 to +25.0 points"
    assert f"{between}, depending on the verdicts of the undecided or incomplete clips." in said


def test_a_trend_is_drawn_where_there_is_one() -> None:
    runs = [clean_and_faulty(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    said = page_words(page(*runs))
    assert "Trend over the steps" in said
    assert "clean rate 0.250 [" in said
    assert "Trend" not in page_words(page(*runs[:2]))


def test_the_changes_of_all_pairs_are_listed_worst_first() -> None:
    runs = [
        clean_and_faulty("a", "+-+"),
        clean_and_faulty("b", "-++", severity=2),
        clean_and_faulty("c", "-+-", severity=5),
    ]
    entries = page_data(page(*runs), "entries")["entries"]
    worst = [max((level for sign, _, _, level in entry["changes"] if sign == "+"), default=0) for entry in entries]
    assert worst == sorted(worst, reverse=True)
    assert worst[0] == 5
    assert {entry["tags"]["pair"][0] for entry in entries} == {"0", "1", "2"}


def test_a_run_alone_has_a_page_too() -> None:
    text = page(clean_and_faulty("a", "+-?"))
    assert "there is no other run to compare it with" in page_words(text)
    assert page_data(text, "entries")["entries"] == []


def test_nothing_from_outside_becomes_markup() -> None:
    evil = f"{ATTACK}</script><!--<script>\"'\u2028"
    before = account("a-p", event(ATTACK), instruction=evil, author=evil)
    after = account(evil.translate({0x2028: None}), instruction=evil, author=evil)
    text = page(run(evil, before), run(f"b{evil}", after))
    assert ATTACK not in text
    assert "<!--" not in text.replace("<!doctype", "")
    assert "\u2028" not in text
    assert text.count("</script>") == 5  # the vocabulary, the entries, two clips, and the one script that runs
    assert page_data(text, "entries")["entries"][0]["title"] == evil
