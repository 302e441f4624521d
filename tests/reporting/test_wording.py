"""Numbers and names in words."""

import pytest

from robogaze.reporting.wording import Total, amount, count, listed, money, printable


def test_unknown_values_are_never_taken_for_zero() -> None:
    assert Total.of([1, None, 2]) == Total(known=3, unknown=1, values=3)
    assert amount(Total.of([None, None])) == "not known"
    assert money(Total.of([None])) == "not known"


def test_a_sum_with_unknown_parts_is_a_lower_bound() -> None:
    assert amount(Total.of([1200, None]), "tokens") == "at least 1,200 tokens (not known for 1 of 2 values)"
    assert money(Total.of([0.5, None])) == "at least $0.5000 (not known for 1 of 2 values)"


def test_a_sum_of_nothing_is_zero() -> None:
    assert amount(Total.of([])) == "0"
    assert money(Total.of([0.0])) == "$0.00"


def test_small_sums_keep_four_decimals() -> None:
    assert money(Total.of([0.0042])) == "$0.0042"
    assert money(Total.of([1234.5])) == "$1,234.50"


@pytest.mark.parametrize(
    ("words", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_listed(words: list[str], said: str) -> None:
    assert listed(words) == said


def test_one_is_singular() -> None:
    assert (count(1, "clip"), count(0, "clip"), count(1200, "clip")) == ("1 clip", "0 clips", "1,200 clips")


def test_signs_that_steer_a_terminal_or_cannot_be_written_are_spelled_out() -> None:
    assert printable("a\x1b[31mb\u202e \ud800 ä 🦾") == "a\\x1b[31mb\\u202e \\ud800 ä 🦾"
    printable("\udcff").encode("utf-8")
