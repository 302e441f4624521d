"""The rule: usability, the order of a prompt's candidates, and ties."""

import pytest
from checkpoints import report
from hypothesis import given
from hypothesis import strategies as st
from making import coverage

from robogaze.core.events import Event
from robogaze.core.report import Failure
from robogaze.core.time import Span
from robogaze.errors import FailureKind
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.order import Unranked, rank_prompt, risks, usability

from .making import WEIGHTS, candidate, hypothesis


def usable(*args: object, **said: object) -> float:
    return usability(candidate(report("a", *args, **said)), WEIGHTS)  # type: ignore[arg-type]


def test_a_clean_clip_has_usability_1_and_an_event_lowers_it_by_severity_and_confidence() -> None:
    assert usable() == 1.0
    # Confidence 0.9, of which half counts.
    assert usable({"shape_hole": 4}) == pytest.approx(1 - 0.90 * 0.95)
    assert usable({"shape_hole": 2}) == pytest.approx(1 - 0.10 * 0.95)


def test_risks_are_independent() -> None:
    assert usable({"shape_hole": 2, "colour_shift": 3}) == pytest.approx((1 - 0.10 * 0.95) * (1 - 0.60 * 0.95))


def test_what_stayed_undecided_counts_less_than_an_event_and_more_than_what_was_rejected() -> None:
    unverified = usable(hypotheses=(hypothesis("unverified"),))
    rejected = usable(hypotheses=(hypothesis("rejected"),))
    assert unverified == pytest.approx(1 - 0.90 * 0.40)
    assert rejected == pytest.approx(1 - 0.90 * 0.05)
    assert usable(hypotheses=(hypothesis("unverified", confidence=0.2),)) == pytest.approx(1 - 0.90 * 0.40 * 0.6)


def test_an_accepted_hypothesis_is_its_event_and_counts_once() -> None:
    assert usable({"shape_hole": 4}, hypotheses=(hypothesis("accepted"),)) == usable({"shape_hole": 4})


def test_an_event_without_a_severity_has_its_own_weight() -> None:
    assert usable(hypotheses=(hypothesis("unverified", severity=None),)) == pytest.approx(1 - 0.60 * 0.40)


def test_dimensions_that_were_not_fully_judged_lower_the_usability() -> None:
    assert usable(coverage=coverage("colour", not_examined=["shape"])) == pytest.approx(0.90)
    assert usable(coverage=coverage("colour", partial=["shape"])) == pytest.approx(0.95)
    assert usable(coverage=coverage("colour", ruled_out=["shape"])) == 1.0


def test_a_failure_makes_a_dimension_undecided_and_one_without_a_dimension_makes_all() -> None:
    def failed(dimension: str | None) -> Failure:
        return Failure(stage="s", dimension=dimension, kind=FailureKind.STALLED, message="no reply")

    assert usable(failures=(failed("shape"),)) == pytest.approx(0.90)
    assert usable(failures=(failed(None),)) == pytest.approx(0.90**2)
    not_examined = coverage("colour", not_examined=["shape"])
    assert usable(failures=(failed("shape"),), coverage=not_examined) == pytest.approx(0.90)


def test_risks_are_listed_the_largest_first_and_their_product_is_the_usability() -> None:
    found = candidate(report("a", {"colour_shift": 2}, coverage=coverage("colour", not_examined=["shape"])))
    first, second = risks(found, WEIGHTS)
    assert (first.kind, first.count, second.kind, second.type) == ("not_examined", 1, "event", "colour_shift")
    assert (1 - first.probability) * (1 - second.probability) == pytest.approx(usability(found, WEIGHTS))


def order(*reports: object) -> list[tuple[str, str]]:
    ranked = rank_prompt("p", [candidate(item) for item in reports], (), 2, WEIGHTS).ranked  # type: ignore[arg-type]
    return [(place.candidate.id, place.tiebreak) for place in ranked]


def test_ties_are_broken_by_events_then_by_faulty_time_then_by_clip_id() -> None:
    none_counts = WEIGHTS.with_(severity={1: 0.0, 2: 0.1, 3: 0.6, 4: 0.9, 5: 0.98})
    short, long = (
        Event(id="e", dimension="shape", type="shape_hole", spans=(Span(0.0, end),), severity=1, confidence=1.0,
              description="", evidence=())
        for end in (1.0, 2.0)
    )  # fmt: skip
    clips = [report("c", events=(long,)), report("b"), report("a"), report("d", events=(short,))]
    ranked = rank_prompt("p", [candidate(clip) for clip in clips], (), 2, none_counts).ranked
    assert [place.candidate.id for place in ranked] == ["a", "b", "d", "c"]
    assert [place.tiebreak for place in ranked] == ["clip id", "clip id", "events", "faulty time"]
    assert ranked[0].tied == ("b", "d", "c")


def test_without_a_tie_nothing_is_named() -> None:
    assert order(report("a", {"shape_hole": 4}), report("b")) == [("b", ""), ("a", "")]


def test_it_is_named_where_only_the_clip_id_decides_what_is_kept() -> None:
    clips = [candidate(report(name, kinds)) for name, kinds in (("a", {}), ("b", {}), ("c", {"shape_hole": 4}))]
    assert [rank_prompt("p", clips, (), wanted, WEIGHTS).decided_by_id for wanted in (1, 2, 3)] == [True, False, False]


def test_the_best_are_kept_and_clips_without_a_rank_never_are() -> None:
    lost = Unranked("z", "run", "p", "it has no report")
    ranking = rank_prompt("p", [candidate(report(name)) for name in "ab"], [lost], 3, WEIGHTS)
    assert [place.kept for place in ranking.ranked] == [True, True]
    assert ranking.ids == ("a", "b", "z")


@given(st.lists(st.tuples(st.sampled_from(["shape_hole", "colour_shift"]), st.integers(1, 5)), max_size=2))
def test_one_more_event_never_makes_a_clip_more_usable(events: list[tuple[str, int]]) -> None:
    assert 0 <= usable({**dict(events), "shape_dent": 3}) < usable(dict(events))


def test_number_to_keep_is_a_count_or_a_share_rounded_down_and_at_least_1() -> None:
    assert [RankingConfig(keep=0.5).kept_of(number) for number in (1, 5, 6)] == [1, 2, 3]
    assert [RankingConfig(keep=2).kept_of(number) for number in (1, 6)] == [1, 2]
    assert (RankingConfig(keep=0.5).precision, RankingConfig(keep=2).precision) == ("P@50", "P@2")


@pytest.mark.parametrize("keep", [0, -1, 0.0, 1.5])
def test_a_number_that_keeps_nothing_is_refused(keep: float) -> None:
    with pytest.raises(ValueError, match="`keep`"):
        RankingConfig(keep=keep)
