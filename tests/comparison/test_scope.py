"""The rate that runs are compared by: the clean rate, or the nothing-found rate in some dimensions."""

import pytest
from checkpoints import PIXELS, annotation, clean_and_faulty, covered, event, run, without_a_model

from robogaze.comparison import ComparisonConfig, Run, compare_runs, pair_calibration
from robogaze.comparison.scope import Scope, scope_of
from robogaze.stats.proportions import wilson

TERMS = ComparisonConfig(resamples=50)
NOTHING = run("nothing", annotation("nothing-p0", coverage=covered(partial=["colour"], not_examined=["shape"])))


@pytest.mark.parametrize(
    ("runs", "dimensions"),
    [
        ([clean_and_faulty("a", "+-")], None),
        ([clean_and_faulty("a", "+o~?"), clean_and_faulty("b", "-")], None),
        ([run("a", annotation("a-p0", coverage=None))], None),
        ([run("a", annotation("a-p0", coverage=covered("colour", ruled_out=["shape"])))], None),
        ([clean_and_faulty("a", "??"), clean_and_faulty("b", "+")], None),
        ([clean_and_faulty("a", "??")], None),
        ([without_a_model("a", "+-")], ("colour",)),
        ([clean_and_faulty("a", "+-"), without_a_model("b", "+")], ("colour",)),
        ([clean_and_faulty("a", "oo"), run("b", annotation("b-p0", coverage=None))], ("colour",)),
        ([without_a_model("a", "+"), NOTHING], ()),
    ],
)
def test_without_a_clip_that_could_be_clean_some_run_has_no_clean_rate(
    runs: list[Run], dimensions: tuple[str, ...] | None
) -> None:
    assert scope_of(runs) == Scope(dimensions)
    assert scope_of(runs[::-1]) == Scope(dimensions)


def test_only_complete_clips_say_which_dimensions_are_covered() -> None:
    failed = annotation("a-p1", status="partial", coverage=covered(not_examined=["colour", "shape"]))
    assert scope_of([run("a", annotation("a-p0", coverage=PIXELS), failed)]) == Scope(("colour",))


def test_the_rate_has_the_name_of_what_it_counts() -> None:
    assert (Scope().key, Scope().name) == ("clean_rate", "clean rate")
    some = Scope(("colour",))
    assert (some.key, some.name) == ("nothing_found_rate", "nothing-found rate")
    assert [some.renamed(name) for name in ("clean_rate", "load_per_clip")] == ["nothing_found_rate", "load_per_clip"]


def test_a_nothing_found_rate_counts_complete_clips_without_events() -> None:
    found = compare_runs([without_a_model("a", "++-~?")], TERMS)
    (leaderboard_row,) = found.leaderboard
    assert (leaderboard_row.clean_rate, leaderboard_row.undecided) == (wilson(2, 5), 2)
    assert (leaderboard_row.worst, leaderboard_row.best) == (2 / 5, 4 / 5)
    assert found.verdict.startswith("a: nothing-found rate 0.400 [")


def test_where_no_dimension_is_covered_the_rate_is_the_same() -> None:
    runs = [
        without_a_model(name, signs, covers=covered(partial=["colour"])) for name, signs in (("a", "+-"), ("b", "++"))
    ]
    found = compare_runs(runs, TERMS)
    assert found.scope == Scope(())
    assert [row.clean_rate for row in found.leaderboard] == [wilson(1, 2), wilson(2, 2)]
    assert found.pairs[0].clean.difference.value == 0.5


def test_an_event_of_a_dimension_that_is_covered_partially_was_found_all_the_same() -> None:
    assert compare_runs([without_a_model("a", "+-", "shape_hole")], TERMS).leaderboard[0].clean_rate.value == 0.5


def test_a_run_with_a_model_is_compared_with_one_without_by_what_both_cover() -> None:
    runs = [clean_and_faulty("full", "-" * 30 + "+" * 30), without_a_model("pixels", "+" * 60)]
    found = compare_runs(runs, TERMS, baseline="pixels")
    assert found.verdicts[0].startswith("full is worse than pixels: nothing-found rate -50.0 points [")
    assert found.verdict.startswith("pixels has the highest nothing-found rate, 1.000 [")


def test_a_dimension_is_rated_over_the_clips_that_cover_it_at_least_partially() -> None:
    (leaderboard_row,) = compare_runs([without_a_model("a", "--++", "shape_hole")], TERMS).leaderboard
    assert leaderboard_row.dimensions == {"colour": wilson(0, 4), "shape": wilson(2, 4)}


def test_labels_correct_a_nothing_found_rate_too() -> None:
    """Of forty clips in which the pixels show nothing, people find eight faulty."""
    said = run("said", *(annotation(f"c{at}", coverage=PIXELS) for at in range(40)))
    true = run(
        "true", *(annotation(f"c{at}", *([event("shape_hole")] if at < 8 else []), author="ann") for at in range(40))
    )
    one = without_a_model("a", "+" * 30 + "-" * 10)
    found = compare_runs([one], TERMS, sample=pair_calibration(said, true, [one], mixed=False))
    clean = found.corrected[0]["clean_rate"]
    assert (clean.naive.value, clean.corrected.value) == (0.75, pytest.approx(0.75 - 8 / 40))
    two = [without_a_model("a", "+-" * 100), without_a_model("b", "+" * 160 + "-" * 40)]
    sample = pair_calibration(said, true, two, mixed=False)
    (pair,) = compare_runs(two, TERMS, samples={"a": sample, "b": sample}).pairs
    assert pair.corrected is not None
    assert pair.corrected.difference.value == pytest.approx(0.3)
