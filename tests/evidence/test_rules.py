import math
from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from robogaze.core.events import Box
from robogaze.core.time import Span
from robogaze.errors import InputError
from robogaze.evidence import (
    ClipSignals,
    Condition,
    MeasurementGap,
    RuleFinding,
    Signal,
    SignalRule,
    ViewSignals,
    check,
    explained,
    find,
    gaps,
    place,
)

NAN = math.nan
BOX = Box(left=0.1, top=0.1, right=0.3, bottom=0.2)


def _evidence(*views: dict[str, Sequence[float]], step_s: float = 0.5, **gap: str) -> ClipSignals:
    """Hand-made series; a frame every `step_s`, the last one as long as the others; `gap` by signal."""
    names = list(views[0])
    count = len(views[0][names[0]])
    return ClipSignals(
        signals={
            name: Signal(name=name, unit="units", description="A signal.", gap=gap.get(name, "")) for name in names
        },
        views={
            f"view {number}": ViewSignals({name: np.array(series, float) for name, series in view.items()})
            for number, view in enumerate(views, start=1)
        },
        frame_times_s=tuple(step_s * frame for frame in range(count)),
        duration_s=step_s * count,
    )


def _spans(rule: SignalRule, evidence: ClipSignals) -> list[tuple[float, float]]:
    return [(finding.span.start, finding.span.end) for finding in find(rule, evidence)]


def test_a_finding_says_where_when_and_how_much() -> None:
    evidence = _evidence({"a": [0, 0, 5, 7, 6, 0]})
    evidence.views["view 1"].boxes["a"] = {3: BOX}
    assert find(SignalRule(signal="a", above=4), evidence) == (
        RuleFinding(
            view="view 1", span=Span(1.0, 2.5), peak=7, peak_frame=3, amount=7, frames=(2, 3, 4), box=BOX, unit="units"
        ),
    )


def test_a_rule_may_show_another_signal_than_the_one_it_goes_by() -> None:
    evidence = _evidence({"a": [0, 5, 7, 0], "shown": [1, 2, 3, 4]})
    evidence.views["view 1"].boxes["shown"] = {2: BOX}
    (finding,) = find(SignalRule(signal="a", above=4, shows="shown"), evidence)
    assert (finding.peak, finding.amount, finding.box) == (7, 3, BOX)


def test_where_what_a_rule_shows_is_not_defined_it_finds_nothing_and_has_a_gap() -> None:
    evidence = _evidence({"a": [0, 5, 0, 5], "shown": [NAN, NAN, NAN, 2]})
    rule = SignalRule(signal="a", above=4, shows="shown")
    assert _spans(rule, evidence) == [(1.5, 2.0)]
    (gap,) = gaps(rule, evidence)
    assert (gap.runs, gap.why) == (((1, 2),), "shown, which would be told, is not defined there")


def test_where_a_rule_is_blind_it_finds_nothing_explains_nothing_and_has_a_gap() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9], "b": [1, 1, 0, 0]})
    blind = Condition(signal="b", above=0.5, explains="the view shakes")
    rule = SignalRule(signal="a", above=1, blind=(blind,))
    assert _spans(rule, evidence) == [(1.5, 2.0)]
    assert explained(rule, evidence) == ()
    (gap,) = gaps(rule, evidence)
    assert (gap.runs, gap.why) == (((1, 2),), "the view shakes")


def test_a_rule_that_is_blind_says_why() -> None:
    with pytest.raises(ValueError, match="'blind' on b needs 'explains'"):
        SignalRule(signal="a", above=1, blind=(Condition(signal="b", above=0.5),))


@pytest.mark.parametrize("near_s", [0.1, 0.5, 0.7])
def test_near_in_time_is_measured_to_the_nearest_frame_in_which_a_condition_holds(near_s: float) -> None:
    evidence = _evidence({"a": [0, 9, 0, 0, 9, 0, 0, 0]})
    near = Condition(signal="a", above=1, near_s=near_s).holds(evidence, "view 1")
    assert np.flatnonzero(near).tolist() == ([1, 4] if near_s < 0.5 else [0, 1, 2, 3, 4, 5])
    assert not Condition(signal="a", above=99, near_s=near_s).holds(evidence, "view 1").any()


def test_a_single_frame_lasts_until_the_next_and_the_last_until_the_clip_ends() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9]})
    assert _spans(SignalRule(signal="a", above=1), evidence) == [(0.5, 1.0), (1.5, 2.0)]
    assert find(SignalRule(signal="a", above=1), evidence)[0].frames == (1,)


def test_uneven_frame_times_are_honoured() -> None:
    evidence = ClipSignals(
        _evidence({"a": [1]}).signals, {"v": ViewSignals({"a": np.array([0.0, 1, 1, 0])})}, (0.0, 0.1, 0.7, 0.8), 1.0
    )
    assert _spans(SignalRule(signal="a", above=0.5), evidence) == [(0.1, 0.8)]


def test_below_is_strict_and_its_peak_is_the_lowest() -> None:
    (finding,) = find(SignalRule(signal="a", below=3), _evidence({"a": [3, 2, 1, 2, 3]}))
    assert (finding.span, finding.peak, finding.frames) == (Span(0.5, 2.0), 1, (1, 2, 3))


def test_above_is_strict() -> None:
    assert find(SignalRule(signal="a", above=3), _evidence({"a": [3, 3]})) == ()


def test_for_s_drops_what_is_shorter_and_keeps_what_is_exactly_as_long() -> None:
    evidence = _evidence({"a": [1, 0, 1, 1, 0, 1, 1, 1]})
    assert _spans(SignalRule(signal="a", above=0.5, for_s=1.0), evidence) == [(1.0, 2.0), (2.5, 4.0)]
    assert _spans(SignalRule(signal="a", above=0.5, for_s=1.5), evidence) == [(2.5, 4.0)]


def test_join_s_bridges_shorter_gaps_only_and_before_for_s() -> None:
    evidence = _evidence({"a": [1, 0, 1, 0, 0, 1, 0, 0]})
    assert _spans(SignalRule(signal="a", above=0.5, join_s=0.75), evidence) == [(0.0, 1.5), (2.5, 3.0)]
    assert _spans(SignalRule(signal="a", above=0.5, join_s=0.5), evidence) == [(0.0, 0.5), (1.0, 1.5), (2.5, 3.0)]
    assert _spans(SignalRule(signal="a", above=0.5, join_s=0.75, for_s=1.0), evidence) == [(0.0, 1.5)]


def test_at_most_s_drops_what_lasts_longer_and_keeps_what_is_exactly_as_long() -> None:
    evidence = _evidence({"a": [1, 0, 1, 1, 0, 1, 1, 1]})
    assert _spans(SignalRule(signal="a", above=0.5, at_most_s=1.0), evidence) == [(0.0, 0.5), (1.0, 2.0)]
    assert _spans(SignalRule(signal="a", above=0.5, at_most_s=1.0, join_s=0.75), evidence) == []


def test_what_is_explained_away_does_not_count_frame_by_frame() -> None:
    evidence = _evidence({"a": [1, 1, 1, 1], "b": [0, 9, 0, NAN], "c": [5, 5, 0, 5]})
    assert _spans(SignalRule(signal="a", above=0, unless=(Condition(signal="b", above=1),)), evidence) == [
        (0.0, 0.5),
        (1.0, 2.0),
    ]
    both = (Condition(signal="b", above=1), Condition(signal="c", below=1))
    assert _spans(SignalRule(signal="a", above=0, unless=both), evidence) == [(0.0, 0.5), (1.5, 2.0)]


def test_also_must_hold_in_the_same_frame() -> None:
    evidence = _evidence({"a": [1, 1, 1, 1], "b": [0, 9, NAN, 9]})
    assert _spans(SignalRule(signal="a", above=0, also=(Condition(signal="b", above=1),)), evidence) == [
        (0.5, 1.0),
        (1.5, 2.0),
    ]


def test_the_peak_is_sought_where_the_rule_holds_not_in_a_bridged_gap() -> None:
    evidence = _evidence({"a": [2, 9, 3], "b": [0, 1, 0]})
    (finding,) = find(SignalRule(signal="a", above=1, join_s=1, unless=(Condition(signal="b", above=0),)), evidence)
    assert (finding.peak, finding.peak_frame, finding.frames) == (3, 2, (0, 2))


@pytest.mark.parametrize("rule", [SignalRule(signal="a", above=-1), SignalRule(signal="a", below=1)])
def test_undefined_is_neither_above_nor_below(rule: SignalRule) -> None:
    assert find(rule, _evidence({"a": [NAN, NAN]})) == ()
    assert _spans(rule, _evidence({"a": [NAN, 0, NAN]})) == [(0.5, 1.0)]


def _runs(rule: SignalRule, evidence: ClipSignals) -> list[tuple[int, int]]:
    return [run for gap in gaps(rule, evidence) for run in gap.runs]


def test_a_gap_says_where_for_how_long_and_why_a_rule_could_not_tell() -> None:
    evidence = _evidence({"a": [0, NAN, 0, NAN, NAN, 0]}, {"a": [0, 0, 0, 0, 0, 0]}, a="it was dark")
    (gap,) = gaps(SignalRule(signal="a", above=1), evidence)
    assert gap == MeasurementGap(view="view 1", runs=((1, 2), (3, 5)), of=5, longest_s=1.0, why="it was dark")
    assert gap.frames == 3


def test_a_value_that_is_missing_because_there_is_nothing_to_measure_is_no_gap() -> None:
    assert gaps(SignalRule(signal="a", above=1), _evidence({"a": [NAN, NAN, NAN]})) == ()


def test_the_first_frame_has_none_before_it_and_is_a_gap_only_where_it_is_the_only_one() -> None:
    rule = SignalRule(signal="a", above=1)
    assert gaps(rule, _evidence({"a": [NAN, 0]}, a="dark")) == ()
    (gap,) = gaps(rule, _evidence({"a": [NAN]}, a="dark"))
    assert (gap.runs, gap.of, gap.why) == (((0, 1),), 1, "the clip is a single frame")


def test_what_other_signals_settle_is_no_gap() -> None:
    evidence = _evidence({"a": [0, NAN, NAN, NAN, NAN], "b": [9, 9, 0, 9, NAN], "c": [0, 9, 0, NAN, 0]}, a="dark")
    assert _runs(SignalRule(signal="a", above=1), evidence) == [(1, 5)]
    assert _runs(SignalRule(signal="a", above=1, also=(Condition(signal="b", above=5),)), evidence) == [(1, 2), (3, 4)]
    assert _runs(SignalRule(signal="a", above=1, unless=(Condition(signal="c", above=5),)), evidence) == [(2, 5)]


def test_a_gap_in_what_must_hold_too_counts_only_where_the_rest_holds() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9], "b": [NAN, NAN, NAN, 9]}, b="lost")
    (gap,) = gaps(SignalRule(signal="a", above=1, also=(Condition(signal="b", above=5),)), evidence)
    assert (gap.runs, gap.why) == (((1, 2),), "lost")


def test_a_gap_too_short_to_hold_what_is_looked_for_hides_nothing() -> None:
    evidence = _evidence({"a": [0, NAN, 0, NAN, 9, 0, NAN, NAN, 0]}, a="dark")
    assert _runs(SignalRule(signal="a", above=1, for_s=1.0), evidence) == [(3, 4), (6, 8)]
    assert _runs(SignalRule(signal="a", above=1, for_s=1.0, join_s=0.75), evidence) == [(1, 2), (3, 4), (6, 8)]
    assert _runs(SignalRule(signal="a", above=1, for_s=1.5), evidence) == []


def test_a_rule_that_holds_throughout_a_clip_too_short_for_it_could_not_tell() -> None:
    rule = SignalRule(signal="a", above=1, for_s=2.0)
    (gap,) = gaps(rule, _evidence({"a": [9, 9, 9]}))
    assert (gap.runs, gap.why) == (((1, 3),), "the clip is shorter than the 2 s it would have to last")
    assert gaps(rule, _evidence({"a": [9, 0, 9]})) == ()


def test_views_are_judged_each_for_itself() -> None:
    found = find(SignalRule(signal="a", above=0.5), _evidence({"a": [1, 0, 0]}, {"a": [0, 0, 1]}))
    assert [(finding.view, finding.span) for finding in found] == [
        ("view 1", Span(0.0, 0.5)),
        ("view 2", Span(1.0, 1.5)),
    ]


@pytest.mark.parametrize(
    "rule",
    [
        SignalRule(signal="x", above=1),
        SignalRule(signal="a", above=1, unless=(Condition(signal="x", above=1),)),
        SignalRule(signal="a", above=1, also=(Condition(signal="x", below=1),)),
    ],
)
def test_an_unknown_signal_is_refused_with_the_known_ones(rule: SignalRule) -> None:
    with pytest.raises(InputError, match=r"no signal 'x'; there is: a, b"):
        check(rule, ["a", "b"])
    with pytest.raises(InputError, match=r"no signal 'x'; there is: a"):
        find(rule, _evidence({"a": [1]}))


@pytest.mark.parametrize(
    "written",
    [
        {"signal": "a"},
        {"signal": "a", "above": 1, "below": 2},
        {"signal": "a", "above": 1, "for": 2},
        {"signal": "a", "above": 1, "for_s": -1},
        {"signal": "a", "above": 1, "at_most_s": 0},
        {"signal": "a", "above": math.inf},
        {"signal": "a", "above": 1, "unless": [{"signal": "b"}]},
    ],
    ids=[
        "no threshold",
        "two thresholds",
        "unknown key",
        "negative time",
        "no time",
        "infinite",
        "unless without threshold",
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(written: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SignalRule.model_validate(written)


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ((0.0, 0.0, 0.2, 0.2), "upper left"),
        ((0.4, 0.4, 0.6, 0.6), "middle"),
        ((0.4, 0.8, 0.6, 1.0), "lower middle"),
        ((0.8, 0.4, 1.0, 0.6), "middle right"),
        ((0.1, 0.1, 0.9, 0.9), None),
    ],
)
def test_a_place_is_said_in_words(box: tuple[float, float, float, float], words: str | None) -> None:
    left, top, right, bottom = box
    assert place(Box(left=left, top=top, right=right, bottom=bottom)) == words


def test_no_box_is_no_place() -> None:
    assert place(None) is None


def test_a_finding_goes_on_over_the_frames_beside_it_where_spread_holds() -> None:
    evidence = _evidence({"a": [0, 0, 1, 2, 9, 9, 2, 1, 0, 2, 0], "b": [0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0]})
    rule = SignalRule(signal="a", above=5, spread=(Condition(signal="a", above=0.5), Condition(signal="b", above=0)))
    (finding,) = find(rule, evidence)
    assert (finding.span, finding.peak) == (Span(1.0, 3.5), 9)


def test_two_findings_that_spread_until_they_meet_are_one() -> None:
    rule = SignalRule(signal="a", above=5, spread=(Condition(signal="a", above=1),))
    assert _spans(rule, _evidence({"a": [0, 9, 2, 2, 9, 0]})) == [(0.5, 2.5)]
    assert _spans(rule, _evidence({"a": [0, 9, 2, 0, 9, 0]})) == [(0.5, 1.5), (2.0, 2.5)]


MOVES = Condition(signal="b", above=1, explains="the camera moves")


def test_what_is_explained_away_is_told_with_what_explains_it_and_how_much_of_it_there_was() -> None:
    evidence = _evidence({"a": [0, 9, 9, 0, 9], "b": [0, 2, 3, 0, 0]})
    rule = SignalRule(signal="a", above=5, unless=(Condition(signal="b", above=9, explains="it never does"), MOVES))
    assert _spans(rule, evidence) == [(2.0, 2.5)]
    (one,) = explained(rule, evidence)
    assert (one.finding.span, one.by, one.peak, one.unit) == (Span(0.5, 1.5), MOVES, 3, "units")


def test_an_explanation_without_words_leaves_it_to_another_rule_and_nothing_is_told() -> None:
    evidence = _evidence({"a": [0, 9, 9, 0], "b": [0, 2, 3, 0]})
    assert explained(SignalRule(signal="a", above=5, unless=(Condition(signal="b", above=1),)), evidence) == ()


def test_a_stretch_of_which_a_part_is_found_is_not_told_as_explained_too() -> None:
    evidence = _evidence({"a": [9, 9, 9, 9], "b": [0, 2, 0, 0]})
    rule = SignalRule(signal="a", above=5, unless=(MOVES,))
    assert _spans(rule, evidence) == [(0.0, 0.5), (1.0, 2.0)]
    assert explained(rule, evidence) == ()


def test_what_is_explained_away_must_have_lasted_as_long_as_a_finding() -> None:
    rule = SignalRule(signal="a", above=5, for_s=1.0, unless=(MOVES,))
    assert explained(rule, _evidence({"a": [0, 9, 0], "b": [0, 2, 0]})) == ()


def test_what_is_near_enough_to_a_frame_explains_it_too() -> None:
    evidence = _evidence({"a": [9, 0, 9, 0, 9, 9], "b": [0, 0, 0, 2, 0, 0]})
    near = MOVES.with_(near_s=0.5)
    rule = SignalRule(signal="a", above=5, unless=(near,))
    assert _spans(rule, evidence) == [(0.0, 0.5), (2.5, 3.0)]
    (one,) = explained(rule, evidence)
    assert (one.finding.span, one.peak) == (Span(1.0, 1.5), 2)
