"""Where a run stands."""

import math

import pytest
from checkpoints import annotation, clean_and_faulty, covered, event, metadata, run

from robogaze.comparison import ComparisonConfig, LeaderboardRow, Run, compare_runs
from robogaze.comparison.leaderboard import EventLabels, leaderboard_row
from robogaze.stats.proportions import wilson

TERMS = ComparisonConfig(resamples=200)


def of(row: Run, missing: int = 0) -> LeaderboardRow:
    return leaderboard_row(row, missing, EventLabels.of([row]), TERMS)


def test_only_complete_clips_that_cover_every_dimension_are_clean() -> None:
    found = of(clean_and_faulty("a", "+++--?~oo"))
    assert found.clips == {"complete": 7, "partial": 1, "unscored": 1, "unreadable": 0, "missing": 0}
    assert (found.clean_rate, found.undecided) == (wilson(3, 9), 2)


@pytest.mark.parametrize("state", ["partial", "not_examined"])
def test_a_clip_that_does_not_cover_a_dimension_is_undecided_and_clean_at_best(state: str) -> None:
    found = of(run("a", annotation("a-p0", coverage=covered("colour", **{state: ["shape"]})), annotation("a-p1")))
    assert (found.clean_rate, found.undecided, found.worst, found.best) == (wilson(1, 2), 1, 0.5, 1.0)
    assert found.unscored_share == 0


def test_bounds_say_what_the_unknown_clips_could_make_of_it() -> None:
    one = run("a", *clean_and_faulty("a", "++-?~").annotations.values(), unreadable=1)
    found = of(one, missing=2)
    assert found.clean_rate == wilson(
        2, 6
    )  # a video that nobody can read is not clean; what was never made is not known
    assert (found.worst, found.best) == (2 / 8, 7 / 8)
    assert found.unscored_share == 4 / 8


def test_a_partial_clip_with_an_event_is_not_clean_at_best() -> None:
    found = of(run("a", annotation("a-p0"), annotation("a-p1", event("colour_shift"), status="partial")))
    assert (found.worst, found.best) == (0.5, 0.5)


def test_events_and_load_are_over_the_scored_clips() -> None:
    found = of(
        run(
            "a",
            annotation("a-p0", event("colour_shift", 2), event("shape_hole", 5)),
            annotation("a-p1"),
            annotation("a-p2", event("shape_hole", 4), duration_s=None),
            annotation("a-p3", status="unscored"),
        )
    )
    assert (found.measures["events_per_clip"].value, found.measures["events_per_clip"].n) == (1.0, 3)
    assert found.measures["load_per_clip"].value == pytest.approx(11 / 3)
    assert found.measures["load_per_minute"].value == pytest.approx(7 / 2)  # of the two whose length is known
    assert found.measures["events_per_clip"].low < 1 < found.measures["events_per_clip"].high


def test_an_event_without_a_severity_is_counted_beside_the_load() -> None:
    found = of(run("a", annotation("a-p0", event("colour_shift", None)), annotation("a-p1", event("colour_shift", 3))))
    assert (found.measures["load_per_clip"].value, found.ungraded) == (1.5, 1)


def test_rates_are_of_the_clips_in_which_it_was_looked_for() -> None:
    found = of(
        run(
            "a",
            annotation("a-p0", event("colour_shift"), event("colour_shift")),
            annotation("a-p1", coverage=covered("shape", not_examined=["colour"])),
            annotation("a-p2"),
            annotation("a-p3", status="unscored"),
        )
    )
    assert found.dimensions == {"colour": wilson(1, 2), "shape": wilson(0, 3)}
    assert found.types == {"colour_shift": wilson(1, 3)}


def test_a_dimension_that_is_partially_covered_is_rated_over_all_clips_in_which_it_is() -> None:
    seen = {"coverage": covered("shape", partial=["colour"])}
    found = of(
        run(
            "a",
            annotation("a-p0", event("colour_shift"), **seen),
            annotation("a-p1", **seen),
            annotation("a-p2", **seen),
        )
    )
    assert found.dimensions == {"colour": wilson(1, 3), "shape": wilson(0, 3)}


def test_what_is_not_known_to_cost_anything_costs_nothing_known() -> None:
    clips = [annotation(f"a-p{at}") for at in range(3)]
    assert not of(run("a", *clips)).cost_per_clip.defined
    found = of(
        run("a", *clips, metadata={"a-p0": metadata(0.2), "a-p1": metadata(None), "a-p2": metadata(0.4)})
    ).cost_per_clip
    assert (found.value, found.n) == (pytest.approx(0.3), 2)


def test_of_a_run_without_a_scored_clip_only_the_count_is_known() -> None:
    found = of(clean_and_faulty("a", "??"))
    assert (found.clean_rate.value, found.worst, found.best) == (0.0, 0.0, 1.0)
    assert math.isnan(found.measures["events_per_clip"].value)


def test_seeds_of_one_prompt_do_not_narrow_the_intervals_of_dimensions_types_and_costs() -> None:
    def row(seeds: int) -> LeaderboardRow:
        clips = [
            annotation(f"{at}-{seed}", *([event("colour_shift")] if at % 3 == 0 else []), fields={"prompt_id": f"{at}"})
            for at in range(30)
            for seed in range(seeds)
        ]
        costs = {clip.clip_id: metadata(cost_usd=float(clip.clip_id.partition("-")[0])) for clip in clips}
        return compare_runs([run("a", *clips, metadata=costs)], ComparisonConfig(resamples=50)).leaderboard[0]

    once, often = row(1), row(4)
    for single, repeated in (
        (once.types["colour_shift"], often.types["colour_shift"]),
        (once.dimensions["colour"], often.dimensions["colour"]),
        (once.cost_per_clip, often.cost_per_clip),
    ):
        assert repeated.value == pytest.approx(single.value)
        assert repeated.n == 4 * single.n
        assert repeated.high - repeated.low == pytest.approx(single.high - single.low, rel=0.06)
