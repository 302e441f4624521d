"""The page of a comparison as text: what it says, escaped, and closed to anything but its own script."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from checkpoints import annotation as account
from checkpoints import clean_and_faulty, event, run, without_a_model

from robogaze.comparison import Comparison, ComparisonConfig, Run
from robogaze.comparison import compare_runs as compare
from robogaze.domains import Domain
from robogaze.reporting import bundles
from robogaze.reporting.compared import shown
from robogaze.reporting.comparison_json import comparison_json
from robogaze.reporting.comparison_page import comparison_files

from .checkpoints_on_disk import compared, two_runs, write_page
from .samples import ATTACK


def text_of(result: Comparison, domain: Domain | None = None, title: str = "c") -> str:
    ((_, text),) = comparison_files(comparison_json(result), shown(result, Path()), {}, domain, title)
    return text


def page(*runs: Run, domain: Domain | None = None, title: str = "c", **said: Any) -> str:
    """The page of runs, in one file."""
    return text_of(compare(list(runs), ComparisonConfig(resamples=20), **said), domain, title)


def words(text: str) -> str:
    body = text.partition("<body>")[2].partition('<script type="application/json"')[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def data(text: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" (?:id|data-key)="{name}">(.*?)</script>', text)
    assert found is not None
    return json.loads(found[1])


def test_the_verdict_stands_on_top() -> None:
    text = page(clean_and_faulty("old", "-" * 20), clean_and_faulty("new", "+" * 20), baseline="old")
    (verdict,) = re.findall(r"<h1[^>]*>(.*?)</h1>", text)
    assert verdict.startswith("new has the highest clean rate, 1.000 [0.839, 1.000]; against old, new is better")


def test_the_leaderboard_has_a_drawn_interval_beside_every_number() -> None:
    text = page(clean_and_faulty("old", "-" * 20), clean_and_faulty("new", "+" * 19 + "?"))
    said = words(text)
    assert said.index("1 new 19 complete, 1 unscored") < said.index("2 old 20 complete")
    assert "0.950 [0.764, 0.991] n=20" in said
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) > 8
    assert all(ElementTree.fromstring(one).tag.endswith("svg") for one in drawings)


def test_runs_of_one_band_are_said_not_to_differ_significantly() -> None:
    said = words(page(clean_and_faulty("a", "+-+-"), clean_and_faulty("b", "-+-+")))
    assert "No significant difference between a and b. A line is an interval;" in said


def test_without_a_model_the_page_speaks_of_a_nothing_found_rate_and_never_of_a_clean_one() -> None:
    runs = [without_a_model(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    said = words(page(*runs))
    assert "band run clips nothing-found rate events a clip" in said
    assert "Per 1,000 steps: nothing-found rate 0.250" in said
    assert "Examined in every complete clip: colour;" in said
    assert "clean rate" not in said
    assert "clean_rate" not in said


def test_pairs_carry_verdict_bounds_and_what_changed() -> None:
    said = words(page(clean_and_faulty("a", "+-+-"), clean_and_faulty("b", "-+??")))
    assert "b against a No significant difference between b and a" in said
    assert "Prompts: 1 new, 0 worse, 0 changed, 0 better, 1 fixed, 0 same, 2 unknown." in said


def test_a_trend_is_drawn_where_there_is_one() -> None:
    runs = [clean_and_faulty(f"step_{n}000", signs) for n, signs in enumerate(("+---", "++--", "+++-"), start=1)]
    said = words(page(*runs))
    assert "Trend over the steps" in said
    assert "Per 1,000 steps: clean rate 0.250" in said
    assert "Trend" not in words(page(*runs[:2]))


def test_types_go_by_their_names_where_the_domain_is_known(domain: Domain) -> None:
    runs = [clean_and_faulty("a", "--", "picture_blur"), clean_and_faulty("b", "++")]
    assert "picture_blur" in words(page(*runs, domain=domain))
    text = page(*(run(one, account(f"{one}-p", *found)) for one, found in (("a", [event("blur")]), ("b", []))))
    assert "blur" in words(text)
    named = page(
        *(run(one, account(f"{one}-p", *found)) for one, found in (("a", [event("blur")]), ("b", []))), domain=domain
    )
    assert "Blur" in words(named)


def test_flips_of_all_pairs_are_in_the_order_in_which_they_deserve_a_look() -> None:
    runs = [
        clean_and_faulty("a", "+-+"),
        clean_and_faulty("b", "-++", severity=2),
        clean_and_faulty("c", "-+-", severity=5),
    ]
    flips = data(page(*runs), "flips")["flips"]
    worst = [max((one["severity"] for one in flip["gained"]), default=0) for flip in flips]
    assert worst == sorted(worst, reverse=True)
    assert worst[0] == 5
    assert {flip["pair"] for flip in flips} == {0, 1, 2}


def test_a_run_alone_has_a_page_too() -> None:
    text = page(clean_and_faulty("a", "+-?"))
    assert "there is no other run to compare it with" in words(text)
    assert data(text, "flips") == {"pairs": [], "flips": []}


def test_undefined_numbers_say_so() -> None:
    said = words(page(clean_and_faulty("a", "??"), clean_and_faulty("b", "??")))
    assert "undefined" in said
    assert "nan" not in said.lower().split()


def test_nothing_from_outside_becomes_markup() -> None:
    evil = f"{ATTACK}</script><!--<script>\"'\u2028"
    before = account("a-p", event(ATTACK), instruction=evil, author=evil)
    after = account(evil.translate({0x2028: None}), instruction=evil, author=evil)
    text = page(run(evil, before), run(f"b{evil}", after), title=evil)
    assert ATTACK not in text
    assert "<!--" not in text.replace("<!doctype", "")
    assert "\u2028" not in text
    assert text.count("</script>") == 5  # the vocabulary, the flips, two clips, and the one script that runs
    assert data(text, "flips")["flips"][0]["prompt"] == evil


def test_the_policy_is_that_of_a_runs_page() -> None:
    text = page(clean_and_faulty("a", "+"), clean_and_faulty("b", "-"))
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', text)[0])
    assert policy.startswith("default-src 'none'; img-src data:; media-src 'self' data: blob: file:; style-src")
    assert re.search(r"script-src 'sha256-[^']+';", policy)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_many_clips_lie_beside_the_page(domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "IN_PAGE_SIGNS", 1000)
    monkeypatch.setattr(bundles, "BUNDLE_SIGNS", 1000)
    index = write_page(compared(two_runs(tmp_path, domain)), tmp_path / "out", domain)
    assert len(list((tmp_path / "out" / "page").glob("*.js"))) == 6
    flips = data(index.read_text(), "flips")["flips"]
    assert all(file.startswith("page/") for flip in flips for file in flip["files"])
