"""Agreement on labels from a table of ratings."""

from collections import Counter
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from stats import plain

from robogaze.agreement.ratings import RatingAgreement, Ratings, agree_on_ratings
from robogaze.errors import InputError


def agreement(ratings: Ratings) -> RatingAgreement:
    return agree_on_ratings(ratings, resamples=200, seed=0, level=0.95)


def table(*units: str) -> Ratings:
    """One letter a rating, - for none: `table("bb-", "bnb")`."""
    names = tuple(f"p{number}" for number in range(max(map(len, units))))
    return Ratings(names, {f"u{number:03}": tuple(None if label == "-" else label for label in unit)
                           for number, unit in enumerate(units)})  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_csv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    csv = "annotator,unit,label\nann,7,bug\nbob,7,\nann,8,bug\nbob,8,no bug\n"
    lines = (
        '{"unit": 7, "annotator": "ann", "label": "bug", "why": "it hangs"}\n'
        '{"unit": 8, "annotator": "ann", "label": "bug"}\n'
        '{"unit": "8", "annotator": "bob", "label": "no bug"}\n'
        '{"unit": 7, "annotator": "bob", "label": null}\n'
    )
    one = Ratings.read(written(tmp_path / "a.csv", csv))
    assert one == Ratings(("ann", "bob"), {"7": ("bug", None), "8": ("bug", "no bug")})
    assert Ratings.read(written(tmp_path / "a.jsonl", lines)) == one
    assert Ratings.read(written(tmp_path / "a.json", f"[{','.join(lines.splitlines())}]")) == one


def test_labels_may_be_true_and_false_or_numbers(tmp_path: Path) -> None:
    lines = '{"unit": 1, "annotator": 1, "label": true}\n{"unit": 1, "annotator": 2, "label": 3}\n'
    assert Ratings.read(written(tmp_path / "a.jsonl", lines)).units == {"1": ("true", "3")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unit,annotator\n1,ann\n", r"a.csv: the header has no label; a table of ratings has unit, annotator, label"),
        ("unit,annotator,label\n1,ann,x\n,bob,x\n", r"a.csv:3: unit: Field required"),
        ("unit,annotator,label\n1,ann,x\n1,ann,y\n", r"a.csv:3: ann rated 1 twice \(also in .*a.csv:2\); keep one"),
        ('{"unit": 1, "annotator": "ann", "label": "x"}\n{"unit": 1, "annotator": "bob"}\n', "a.csv:2: label: Field"),
        ('{"unit": 1, "annotator": "ann", "label": "x"}\n{"unit": 1,\n', "a.csv:2: is not JSON"),
        ('{"unit": 1, "annotator": "ann", "label": 0.5}\n{"unit": 1, "annotator": "bob"}\n', "a.csv:1: label"),
        ("", "a.csv: is empty"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ratings.read(written(tmp_path / "a.csv", text))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.csv is not a file; give a table of ratings"):
        Ratings.read(tmp_path / "gone.csv")


def test_alpha_counted_by_hand() -> None:
    # Five b and three n; two of the eight stand in a pair that disagrees: observed 2/8, expected 2*5*3 / (8*7).
    found = agreement(table("bb", "bb", "bn", "nn"))
    assert (round(found.overall.value, 9), found.overall.n) == (round(1 - (2 / 8) / (30 / 56), 9), 4)
    assert (found.units, found.once, found.tied) == (4, 0, 1)


def test_the_alpha_of_a_label_is_of_the_units_that_most_ratings_give_it() -> None:
    # b b n and n n b: of six ordered pairs each four differ: 2/3; n n n: 0. Three of the nine values are b.
    found = agreement(table("bbn", "nnb", "nnn"))
    expected = 2 * 3 * 6 / (9 * 8)
    assert round(found.labels["b"].value, 9) == round(1 - (2 / 3) / expected, 9)
    assert round(found.labels["n"].value, 9) == round(1 - (1 / 3) / expected, 9)
    assert (found.labels["b"].n, found.labels["n"].n) == (1, 2)


def test_the_labels_make_up_the_whole() -> None:
    rng = Random(2)
    found = agreement(table(*("".join(rng.choices("bbbn", k=3)) for _ in range(50))))
    weighted = sum(value.value * value.n for value in found.labels.values()) / 50
    assert weighted == pytest.approx(found.overall.value, abs=1e-9)
    assert found.overall.low < found.overall.value < found.overall.high


@pytest.mark.parametrize("seed", range(8))
def test_alpha_is_that_of_its_definition_with_ratings_missing(seed: int) -> None:
    rng = Random(seed)
    units = ["".join(rng.choices("abc-", k=4)) for _ in range(12)]
    found = agreement(table(*units))
    counted = [Counter(unit.replace("-", "")) for unit in units]
    assert found.overall.value == pytest.approx(
        plain.alpha([list(unit.elements()) for unit in counted], "nominal"), abs=1e-9
    )
    assert found.once == sum(unit.total() < 2 for unit in counted)
    everything = [value for unit in counted if unit.total() > 1 for value in unit.elements()]
    expected = sum(a != b for a, b in permutations(everything, 2)) / (len(everything) * (len(everything) - 1))
    for label, coefficient in found.labels.items():
        # A unit in which three labels lead is a third of each.
        parts = [(part(unit, label), unit) for unit in counted if unit.total() > 1]
        no_shared_dimensions = sum(share * disagreement(unit) for share, unit in parts)
        values = sum(share * unit.total() for share, unit in parts)
        assert (
            coefficient.value == pytest.approx(1 - no_shared_dimensions / values / expected, abs=1e-9)
            if values
            else not coefficient.defined
        )


def part(unit: Counter[str], label: str) -> float:
    leading = [label for label, times in unit.items() if times == max(unit.values())]
    return (label in leading) / len(leading)


def disagreement(unit: Counter[str]) -> float:
    return sum(a != b for a, b in permutations(unit.elements(), 2)) / (unit.total() - 1)


def test_undefined_with_the_reason() -> None:
    constant = agreement(table("bb", "bb"))
    assert constant.overall.why == "all ratings are the same, so agreement cannot be distinguished from chance"
    once = agreement(table("b-", "-n"))
    assert (once.overall.why, once.once, once.labels) == ("nothing was rated twice", 2, {})
    never = agreement(table("bbn", "bbb"))
    assert never.labels["n"].why == "no unit is of this class"


def test_the_order_of_rows_changes_no_number(tmp_path: Path) -> None:
    rng = Random(4)
    rows = [f"{unit},{name},{rng.choice('bn')}" for unit in range(30) for name in ("ann", "bob", "eve")]
    before = agreement(Ratings.read(written(tmp_path / "a.csv", "\n".join(["unit,annotator,label", *rows]))))
    rng.shuffle(rows)
    assert agreement(Ratings.read(written(tmp_path / "b.csv", "\n".join(["unit,annotator,label", *rows])))) == before


def test_the_figures_of_gbqa_table_2_come_about_by_no_number_of_split_votes() -> None:
    """Three votes on 124 valid and 254 other candidates; a and b of them are split two to one."""
    printed = (0.892, 0.918, 0.901)
    nearest = min(
        (_table_2(a, b) for a in range(60) for b in range(60)),
        key=lambda found: max(abs(one - other) for one, other in zip(found, printed, strict=True)),
    )
    assert [round(value, 3) for value in nearest] == [0.891, 0.911, 0.905]
    assert max(abs(one - other) for one, other in zip(nearest, printed, strict=True)) > 0.006


def test_these_votes_have_the_alphas_that_the_search_says() -> None:
    valid, other = ["vvn"] * 9 + ["vvv"] * 115, ["nnv"] * 15 + ["nnn"] * 239
    found = agree_on_ratings(table(*valid, *other), resamples=1, seed=0, level=0.95)
    ours = found.labels["v"].value, found.labels["n"].value, found.overall.value
    assert ours == pytest.approx(_table_2(9, 15), abs=1e-9)


def _table_2(a: int, b: int) -> tuple[float, float, float]:
    """Alpha of the valid, of the others, and of all: every split candidate has two disagreeing votes' worth."""
    votes = 3 * 378
    valid = 3 * 124 - a + b
    expected = 2 * valid * (votes - valid) / (votes * (votes - 1))
    return tuple(1 - 2 * split / (3 * units) / expected for split, units in ((a, 124), (b, 254), (a + b, 378)))  # type: ignore[return-value]
