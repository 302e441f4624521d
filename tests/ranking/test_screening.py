"""How usable the kept part is: counted by hand, and against an independent implementation."""

from itertools import pairwise, permutations

import pytest
from checkpoints import report
from hypothesis import given
from hypothesis import strategies as st

from robogaze.errors import OptionError
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.labels import Label
from robogaze.ranking.order import PromptRanking, Unranked, rank_prompt
from robogaze.ranking.screening import Screening, kept_shares, screen

from .making import WEIGHTS, candidate

GOOD, BAD, WORST = Label(True, False), Label(False, False), Label(False, True)


def prompt(name: str, *severities: int, lost: int = 0, wanted: int = 2) -> PromptRanking:
    """A prompt with a candidate for each severity, 0 for a clean one, and some without a report."""
    candidates = [
        candidate(report(f"{name}{at}", {"shape_hole": severity} if severity else {}))
        for at, severity in enumerate(severities)
    ]
    unranked = [Unranked(f"{name}-lost{at}", "run", name, "it has no report") for at in range(lost)]
    return rank_prompt(name, candidates, unranked, wanted, WEIGHTS)


def screened(prompts: list[PromptRanking], labels: dict[str, Label], **config: object) -> Screening:
    return screen(prompts, labels, {}, WEIGHTS, RankingConfig(keep=0.5, **config))  # type: ignore[arg-type]


def values(result: Screening) -> dict[str, float]:
    return {measure.name: measure.precision.value for measure in result.measures}


def test_precision_and_severe_failures_are_means_over_prompts() -> None:
    prompts = [prompt("a", 0, 2, 4, 5), prompt("b", 0, 3, 3, 5)]
    labels = {"a0": GOOD, "a1": GOOD, "a2": BAD, "a3": WORST, "b0": GOOD, "b1": WORST, "b2": GOOD, "b3": BAD}
    result = screened(prompts, labels)
    # Of b, b0 and one of the equal b1 (severe) and b2 (usable) are kept.
    assert values(result)["usability"] == pytest.approx((1 + 0.75) / 2)
    assert result.measures[0].severe.value == pytest.approx((0 + 0.25) / 2)
    assert (result.prompts, result.candidates, result.usable) == (2, 8, 0.5)


def test_random_is_the_usable_share_and_the_oracle_the_best_possible() -> None:
    labels = {"a0": BAD, "a1": BAD, "a2": GOOD, "a3": BAD}
    found = values(screened([prompt("a", 0, 0, 4, 4)], labels))
    assert (found["random"], found["oracle"], found["usability"]) == (0.25, 0.5, 0.0)


def test_places_that_stay_empty_count_as_not_usable() -> None:
    labels = {"a0": GOOD, "a-lost0": GOOD, "a-lost1": GOOD, "a-lost2": GOOD}
    result = screened([prompt("a", 0, lost=3)], labels)
    assert values(result) == {
        "usability": 0.5, "number of events": 0.5, "worst severity": 0.5, "random": 1.0, "oracle": 1.0
    }  # fmt: skip


def test_prompts_without_all_labels_are_left_out_and_counted() -> None:
    result = screened([prompt("a", 0, 4), prompt("b", 0, 4, 4)], {"a0": GOOD, "a1": BAD, "b0": GOOD})
    assert (result.prompts, result.left_out) == (1, {"b": 2})


def test_without_labelled_prompts_everything_is_undefined() -> None:
    result = screened([prompt("a", 0, 4)], {})
    assert not result.measures[0].precision.defined
    assert "label" in result.measures[0].precision.why


def test_severe_failures_are_undefined_unless_all_labels_say_them() -> None:
    result = screened([prompt("a", 0, 4)], {"a0": Label(True, None), "a1": BAD})
    assert result.measures[0].precision.defined
    assert not result.measures[0].severe.defined


def test_differences_are_against_the_baseline() -> None:
    prompts = [prompt(name, 0, 0, 4, 4) for name in "abcdef"]
    labels = {f"{name}{at}": (GOOD if at < 2 else BAD) for name in "abcdef" for at in range(4)}
    by_name = {measure.name: measure for measure in screened(prompts, labels, baseline="worst severity").measures}
    assert by_name["worst severity"].difference is None
    difference = by_name["random"].difference
    assert difference is not None
    assert difference.difference.value == pytest.approx(-0.5)
    with pytest.raises(OptionError, match="the `baseline` luck is not a measure"):
        screened(prompts, labels, baseline="luck")


def test_scores_of_other_tools_rank_higher_for_better_and_a_missing_score_is_never_kept() -> None:
    labels = {"a0": BAD, "a1": BAD, "a2": GOOD, "a3": GOOD}
    scores = {"learned": {"a0": 0.1, "a1": 0.2, "a2": 0.9}}
    result = screen([prompt("a", 0, 0, 4, 4)], labels, scores, WEIGHTS, RankingConfig())
    assert values(result)["learned"] == 0.5  # a2 and a1
    with pytest.raises(OptionError, match="rename the column"):
        screen([prompt("a", 0, 0, 4, 4)], labels, {"oracle": {}}, WEIGHTS, RankingConfig())


@given(st.lists(st.none() | st.integers(0, 2), min_size=1, max_size=5), st.integers(1, 5))
def test_kept_shares_are_the_mean_over_all_orders_of_equal_keys(keys: list[int | None], wanted: int) -> None:
    orders = [
        order
        for order in permutations([place for place, key in enumerate(keys) if key is not None])
        if all((keys[a] or 0) <= (keys[b] or 0) for a, b in pairwise(order))
    ]
    expected = [sum(place in order[:wanted] for order in orders) / len(orders) for place in range(len(keys))]
    assert kept_shares([None if key is None else (key,) for key in keys], wanted) == pytest.approx(expected)
