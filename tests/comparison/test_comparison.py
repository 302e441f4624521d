"""Runs compared: pairs, bands, ranks, verdicts, the trend."""

import math
from dataclasses import replace

import numpy as np
import pytest
from checkpoints import annotation, clean_and_faulty, event, run
from compare import simulate

from robogaze.comparison import Comparison, ComparisonConfig, Run, compare_runs
from robogaze.comparison.trend import step_of
from robogaze.errors import InputError
from robogaze.stats.multiple_comparisons import holm
from robogaze.stats.proportions import paired_shares

TERMS = ComparisonConfig(resamples=300)

GOOD, FAIR, POOR = "-" * 5 + "+" * 45, "+" * 40 + "-" * 10, "+" * 15 + "-" * 35


def three(**settings: str) -> Comparison:
    runs = [clean_and_faulty(name, signs) for name, signs in (("good", GOOD), ("fair", FAIR), ("poor", POOR))]
    return compare_runs(runs, TERMS, **settings)  # type: ignore[arg-type]


def test_without_a_baseline_every_run_is_compared_with_those_before_it() -> None:
    found = three()
    assert [(pair.first, pair.second) for pair in found.pairs] == [(1, 0), (2, 0), (2, 1)]
    assert found.pairs[0].clean.difference == paired_shares(35, 5, 10, 0)[0]


def test_with_one_every_other_run_is_compared_with_it() -> None:
    found = three(baseline="fair")
    assert [(pair.first, pair.second) for pair in found.pairs] == [(0, 1), (2, 1)]
    with pytest.raises(InputError, match=r"the baseline best is not one of the runs \(good, fair, poor"):
        three(baseline="best")


def test_p_is_adjusted_for_the_number_of_pairs() -> None:
    pairs = three().pairs
    assert [pair.clean.holm for pair in pairs] == pytest.approx(list(holm([pair.clean.p for pair in pairs])))
    assert pairs[1].clean.p < pairs[1].clean.holm


def test_only_prompts_that_both_have_count() -> None:
    found = compare_runs([clean_and_faulty("a", "++-"), clean_and_faulty("b", "+-")], TERMS)
    assert found.pairs[0].prompts == 2
    assert found.pairs[0].unpaired == (0, 1)
    assert found.pairs[0].clean.difference.value == -0.5


def test_runs_without_a_significant_difference_are_one_band() -> None:
    found = three()
    assert [[found.names[run] for run in band] for band in found.bands] == [["good", "fair"], ["poor"]]
    assert [rank.rank.value for rank in found.ranks] == [1, 2, 3]
    assert found.ranks[2].rank.low == 3


def test_the_verdict_names_the_best_and_what_became_of_the_baseline() -> None:
    said = three(baseline="fair").verdict
    assert said == (
        "good and fair are the best, with no significant difference between them; "
        "against fair, poor is worse, good is not significantly different."
    )


def test_the_verdict_of_a_difference_gives_its_size_and_p() -> None:
    found = three(baseline="poor").verdicts[0]
    assert found.startswith("good is better than poor: clean rate +60.0 points [+")
    assert found.endswith("adjusted for 2 comparisons).")


def test_the_verdict_of_no_difference_gives_what_is_ruled_out() -> None:
    found = compare_runs([clean_and_faulty("a", "++--"), clean_and_faulty("b", "+-+-")], TERMS)
    assert found.verdicts[0].startswith("No significant difference between b and a: clean rate +0.0 points [-")
    bound = f"{100 * found.pairs[0].clean.equivalence_bound:.1f}"
    assert found.verdicts[0].endswith(f"two one-sided tests rule out a difference larger than {bound} points.")


def test_a_margin_asks_whether_two_are_equal_up_to_it() -> None:
    runs = [clean_and_faulty("a", "+" * 190 + "-" * 10), clean_and_faulty("b", "-" * 10 + "+" * 190)]
    for margin, said in ((0.05, "; equal within 5 points."), (0.01, "not shown to be equal within 1 points")):
        assert said in compare_runs(runs, replace(TERMS, margin=margin)).verdicts[0]


def shared_prompts(rng: np.random.Generator, prompts: int, seeds: int) -> list[Run]:
    """Two runs of equal clean rates whose clips of one prompt go alike; clips are paired by id."""
    ease = {name: rng.normal(size=prompts) for name in "ab"}
    return [
        run(
            name,
            *(
                annotation(
                    f"p{at}-{seed}",
                    *([] if ease[name][at] + 0.5 * rng.normal() > 0 else [event("blur")]),
                    fields={"prompt_id": f"p{at}"},
                )
                for at in range(prompts)
                for seed in range(seeds)
            ),
        )
        for name in "ab"
    ]


def test_clips_of_one_prompt_are_no_independent_evidence() -> None:
    rng = np.random.default_rng(1)
    pairs = [compare_runs(shared_prompts(rng, 25, seeds=8), replace(TERMS, resamples=1)) for _ in range(150)]
    assert sum(pair.pairs[0].significant for pair in pairs) / 150 < 0.10
    assert sum(0 < pair.pairs[0].differences["events_per_clip"].p < 0.05 for pair in pairs) / 150 < 0.10
    assert pairs[0].units == 25


def test_bands_go_by_p_adjusted_for_all_pairs() -> None:
    rng = np.random.default_rng(2)
    split = 0
    for _ in range(60):
        signs = ["".join(rng.choice(["+", "-"], size=60)) for _ in range(6)]
        runs = [clean_and_faulty(f"run{number}", sign) for number, sign in zip("abcdef", signs, strict=True)]
        split += len(compare_runs(runs, replace(TERMS, resamples=1)).bands) > 1
    assert split / 60 < 0.12


def test_an_interval_is_not_enough_when_many_are_compared() -> None:
    runs = [clean_and_faulty("base", "+" * 24 + "-" * 16)]
    runs += [clean_and_faulty(f"run{letter}", "+" * 30 + "-" * 10) for letter in "abcdefgh"]
    found = compare_runs(runs, TERMS, baseline="base")
    one = found.pairs[0]
    assert one.clean.p < 0.05 < 0.1 < one.clean.holm
    assert not one.significant
    assert "is not below 0.05" in found.verdicts[0]


def test_unscored_clips_that_could_turn_the_difference_are_named() -> None:
    found = compare_runs([clean_and_faulty("a", "+" * 20), clean_and_faulty("b", "+" * 8 + "?" * 12)], TERMS)
    assert (found.pairs[0].worst, found.pairs[0].best) == (-0.6, 0.0)
    assert (
        "but the undecided or incomplete clips could reverse this difference (-60.0 to +0.0 points)"
        in found.verdicts[0]
    )


def test_runs_without_a_common_prompt_are_not_compared() -> None:
    found = compare_runs([clean_and_faulty("a", "++"), run("b", annotation("b-x"))], TERMS)
    assert found.pairs[0].prompts == 0
    assert math.isnan(found.pairs[0].clean.p)
    assert found.verdict == "No two runs share a prompt, so they cannot be compared."


def test_one_run_stands_alone() -> None:
    found = compare_runs([clean_and_faulty("a", "+-")], TERMS)
    assert (found.pairs, found.bands) == ((), ((0,),))
    assert found.verdict.endswith("there is no other run to compare it with.")


def test_it_says_in_what_two_runs_differ() -> None:
    runs = [clean_and_faulty("a", "-" * 30, "colour_shift"), clean_and_faulty("b", "-" * 30, "shape_hole")]
    one = compare_runs(runs, TERMS).pairs[0]
    assert {name: gap.difference.value for name, gap in one.dimensions.items()} == {"colour": -1, "shape": 1}
    assert one.types["shape_hole"].fdr < 0.001
    assert one.differences["events_per_clip"].difference.value == 0


def test_means_are_over_prompts_whose_clips_both_were_scored() -> None:
    a = run("a", annotation("a-p0", event("colour_shift")), annotation("a-p1"), annotation("a-p2"))
    b = run("b", annotation("b-p0"), annotation("b-p1", status="unscored"), annotation("b-p2"))
    found = compare_runs([a, b], TERMS).pairs[0].differences["events_per_clip"].difference
    assert (found.value, found.n) == (-0.5, 2)


@pytest.mark.parametrize(
    ("name", "step"), [("step_14000", 14000), ("v2-step_14k", 14000), ("1.5m", 5_000_000), ("last", None), ("4b", None)]
)
def test_steps_are_read_from_names(name: str, step: int | None) -> None:
    assert step_of(name) == step


def test_a_trend_is_the_slope_per_thousand_steps() -> None:
    rising = {"step_1000": "+-----", "step_2000": "++----", "step_3000": "+++---"}
    found = compare_runs([clean_and_faulty(name, signs) for name, signs in rising.items()], TERMS).trend
    assert found is not None
    assert (found.steps, found.prompts) == ((1000, 2000, 3000), 6)
    slope = found.slopes["clean_rate"]
    assert slope.value == pytest.approx(1 / 6)
    assert slope.low <= slope.value <= slope.high


@pytest.mark.parametrize(
    "names",
    [("good", "fair", "poor"), ("step_1", "step_2"), ("a-1", "a-2", "b-3"), ("1k", "1000", "2k"), ("s-1", "s-2", "s")],
)
def test_without_steps_there_is_no_trend(names: tuple[str, ...]) -> None:
    assert compare_runs([clean_and_faulty(name, "+-") for name in names], TERMS).trend is None


def test_the_order_of_clips_and_runs_changes_no_number() -> None:
    runs = [clean_and_faulty(name, signs) for name, signs in (("a", GOOD), ("b", POOR))]
    turned: list[Run] = [replace(run, annotations=dict(reversed(run.annotations.items()))) for run in runs]
    first, second = compare_runs(runs, TERMS, baseline="a"), compare_runs(turned[::-1], TERMS, baseline="a")
    assert first.pairs[0].differences == second.pairs[0].differences
    assert first.leaderboard == second.leaderboard[::-1]
    assert first.verdict == second.verdict


def test_the_known_difference_of_two_checkpoints_is_found() -> None:
    """A small part of the benchmark, whose figures are in docs/compare.md."""
    found = simulate((0.5, 0.8), 0.5, repetitions=20, prompts=80, seed=0)
    assert found.covered >= 0.8
    assert found.covered_events >= 0.8
    assert found.different >= 0.9
    assert simulate((0.5, 0.5), 0.5, repetitions=20, prompts=80, seed=0).different <= 0.15


def test_intervals_of_counts_end_at_zero() -> None:
    few = [
        run(name, annotation(f"{name}-p0", event("colour_shift")), annotation(f"{name}-p1"), annotation(f"{name}-p2"))
        for name in ("a", "b")
    ]
    for row in compare_runs(few, ComparisonConfig()).leaderboard:
        for name, measure in row.measures.items():
            assert not measure.low < 0, name
            assert measure.low <= measure.value <= measure.high, name
