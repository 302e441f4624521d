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
    MeasurementGap,
    RuleFinding,
    Signal,
    SignalCondition,
    SignalRule,
    ViewSignals,
    check_signals,
    describe_place,
    explained_findings,
    find,
    measurement_gaps,
)

NAN = math.nan
BOX = Box(left=0.1, top=0.1, right=0.3, bottom=0.2)


def _evidence(*views: dict[str, Sequence[float]], step_s: float = 0.5, **gap: str) -> ClipSignals:
    """Series written out, a frame every `step_s`, the last one as long as the others; `gap` is by signal."""
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


def test_a_finding_has_place_time_and_amount() -> None:
    evidence = _evidence({"a": [0, 0, 5, 7, 6, 0]})
    evidence.views["view 1"].boxes["a"] = {3: BOX}
    assert find(SignalRule(signal="a", above=4), evidence) == (
        RuleFinding(
            view="view 1", span=Span(1.0, 2.5), peak=7, peak_frame=3, amount=7, frames=(2, 3, 4), box=BOX, unit="units"
        ),
    )


def test_a_rule_may_report_another_signal() -> None:
    evidence = _evidence({"a": [0, 5, 7, 0], "shown": [1, 2, 3, 4]})
    evidence.views["view 1"].boxes["shown"] = {2: BOX}
    (finding,) = find(SignalRule(signal="a", above=4, reported_signal="shown"), evidence)
    assert (finding.peak, finding.amount, finding.box) == (7, 3, BOX)


def test_an_undefined_reported_signal_is_a_gap() -> None:
    evidence = _evidence({"a": [0, 5, 0, 5], "shown": [NAN, NAN, NAN, 2]})
    rule = SignalRule(signal="a", above=4, reported_signal="shown")
    assert _spans(rule, evidence) == [(1.5, 2.0)]
    (gap,) = measurement_gaps(rule, evidence)
    assert (gap.runs, gap.reason) == (((1, 2),), "shown, which the description reports, is undefined there")


def test_an_undecidable_frame_is_a_gap_and_has_no_finding() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9], "b": [1, 1, 0, 0]})
    undecidable_when = SignalCondition(signal="b", above=0.5, explanation="the view shakes")
    rule = SignalRule(signal="a", above=1, undecidable_when=(undecidable_when,))
    assert _spans(rule, evidence) == [(1.5, 2.0)]
    assert explained_findings(rule, evidence) == ()
    (gap,) = measurement_gaps(rule, evidence)
    assert (gap.runs, gap.reason) == (((1, 2),), "the view shakes")


def test_undecidable_when_needs_an_explanation() -> None:
    with pytest.raises(ValueError, match="'undecidable_when' on b needs an 'explanation'"):
        SignalRule(signal="a", above=1, undecidable_when=(SignalCondition(signal="b", above=0.5),))


@pytest.mark.parametrize("within_s", [0.1, 0.5, 0.7])
def test_within_s_extends_a_condition_to_frames_near_one_in_which_it_holds(within_s: float) -> None:
    evidence = _evidence({"a": [0, 9, 0, 0, 9, 0, 0, 0]})
    near = SignalCondition(signal="a", above=1, within_s=within_s).holds(evidence, "view 1")
    assert np.flatnonzero(near).tolist() == ([1, 4] if within_s < 0.5 else [0, 1, 2, 3, 4, 5])
    assert not SignalCondition(signal="a", above=99, within_s=within_s).holds(evidence, "view 1").any()


def test_a_frame_lasts_until_the_next_and_the_last_until_the_end_of_the_clip() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9]})
    assert _spans(SignalRule(signal="a", above=1), evidence) == [(0.5, 1.0), (1.5, 2.0)]
    assert find(SignalRule(signal="a", above=1), evidence)[0].frames == (1,)


def test_uneven_frame_times_are_used() -> None:
    evidence = ClipSignals(
        _evidence({"a": [1]}).signals, {"v": ViewSignals({"a": np.array([0.0, 1, 1, 0])})}, (0.0, 0.1, 0.7, 0.8), 1.0
    )
    assert _spans(SignalRule(signal="a", above=0.5), evidence) == [(0.1, 0.8)]


def test_thresholds_are_strict_and_the_peak_of_below_is_the_minimum() -> None:
    assert find(SignalRule(signal="a", above=3), _evidence({"a": [3, 3]})) == ()
    (finding,) = find(SignalRule(signal="a", below=3), _evidence({"a": [3, 2, 1, 2, 3]}))
    assert (finding.span, finding.peak, finding.frames) == (Span(0.5, 2.0), 1, (1, 2, 3))


def test_min_duration_drops_shorter_runs_and_keeps_equal_ones() -> None:
    evidence = _evidence({"a": [1, 0, 1, 1, 0, 1, 1, 1]})
    assert _spans(SignalRule(signal="a", above=0.5, min_duration_s=1.0), evidence) == [(1.0, 2.0), (2.5, 4.0)]
    assert _spans(SignalRule(signal="a", above=0.5, min_duration_s=1.5), evidence) == [(2.5, 4.0)]


def test_merge_gap_merges_across_shorter_gaps_before_the_minimum_duration() -> None:
    evidence = _evidence({"a": [1, 0, 1, 0, 0, 1, 0, 0]})
    assert _spans(SignalRule(signal="a", above=0.5, merge_gap_s=0.75), evidence) == [(0.0, 1.5), (2.5, 3.0)]
    assert _spans(SignalRule(signal="a", above=0.5, merge_gap_s=0.5), evidence) == [(0.0, 0.5), (1.0, 1.5), (2.5, 3.0)]
    assert _spans(SignalRule(signal="a", above=0.5, merge_gap_s=0.75, min_duration_s=1.0), evidence) == [(0.0, 1.5)]


def test_unless_excludes_single_frames() -> None:
    evidence = _evidence({"a": [1, 1, 1, 1], "b": [0, 9, 0, NAN], "c": [5, 5, 0, 5]})
    assert _spans(SignalRule(signal="a", above=0, unless=(SignalCondition(signal="b", above=1),)), evidence) == [
        (0.0, 0.5),
        (1.0, 2.0),
    ]
    both = (SignalCondition(signal="b", above=1), SignalCondition(signal="c", below=1))
    assert _spans(SignalRule(signal="a", above=0, unless=both), evidence) == [(0.0, 0.5), (1.5, 2.0)]


def test_also_must_hold_in_the_same_frame() -> None:
    evidence = _evidence({"a": [1, 1, 1, 1], "b": [0, 9, NAN, 9]})
    assert _spans(SignalRule(signal="a", above=0, also=(SignalCondition(signal="b", above=1),)), evidence) == [
        (0.5, 1.0),
        (1.5, 2.0),
    ]


def test_the_peak_is_not_in_a_merged_gap() -> None:
    evidence = _evidence({"a": [2, 9, 3], "b": [0, 1, 0]})
    (finding,) = find(
        SignalRule(signal="a", above=1, merge_gap_s=1, unless=(SignalCondition(signal="b", above=0),)), evidence
    )
    assert (finding.peak, finding.peak_frame, finding.frames) == (3, 2, (0, 2))


@pytest.mark.parametrize("rule", [SignalRule(signal="a", above=-1), SignalRule(signal="a", below=1)])
def test_an_undefined_value_is_neither_above_nor_below(rule: SignalRule) -> None:
    assert find(rule, _evidence({"a": [NAN, NAN]})) == ()
    assert _spans(rule, _evidence({"a": [NAN, 0, NAN]})) == [(0.5, 1.0)]


def _runs(rule: SignalRule, evidence: ClipSignals) -> list[tuple[int, int]]:
    return [run for gap in measurement_gaps(rule, evidence) for run in gap.runs]


def test_a_gap_has_frames_duration_and_reason() -> None:
    evidence = _evidence({"a": [0, NAN, 0, NAN, NAN, 0]}, {"a": [0, 0, 0, 0, 0, 0]}, a="it was dark")
    (gap,) = measurement_gaps(SignalRule(signal="a", above=1), evidence)
    assert gap == MeasurementGap(view="view 1", runs=((1, 2), (3, 5)), of=5, longest_s=1.0, reason="it was dark")
    assert gap.frames == 3


def test_a_missing_value_without_a_reason_is_no_gap() -> None:
    assert measurement_gaps(SignalRule(signal="a", above=1), _evidence({"a": [NAN, NAN, NAN]})) == ()


def test_the_first_frame_is_a_gap_only_in_a_clip_of_one_frame() -> None:
    rule = SignalRule(signal="a", above=1)
    assert measurement_gaps(rule, _evidence({"a": [NAN, 0]}, a="dark")) == ()
    (gap,) = measurement_gaps(rule, _evidence({"a": [NAN]}, a="dark"))
    assert (gap.runs, gap.of, gap.reason) == (((0, 1),), 1, "the clip is a single frame")


def test_a_frame_that_other_signals_settle_is_no_gap() -> None:
    evidence = _evidence({"a": [0, NAN, NAN, NAN, NAN], "b": [9, 9, 0, 9, NAN], "c": [0, 9, 0, NAN, 0]}, a="dark")
    assert _runs(SignalRule(signal="a", above=1), evidence) == [(1, 5)]
    assert _runs(SignalRule(signal="a", above=1, also=(SignalCondition(signal="b", above=5),)), evidence) == [
        (1, 2),
        (3, 4),
    ]
    assert _runs(SignalRule(signal="a", above=1, unless=(SignalCondition(signal="c", above=5),)), evidence) == [(2, 5)]


def test_a_gap_in_also_counts_only_where_the_rest_holds() -> None:
    evidence = _evidence({"a": [0, 9, 0, 9], "b": [NAN, NAN, NAN, 9]}, b="lost")
    (gap,) = measurement_gaps(SignalRule(signal="a", above=1, also=(SignalCondition(signal="b", above=5),)), evidence)
    assert (gap.runs, gap.reason) == (((1, 2),), "lost")


def test_a_gap_too_short_for_a_finding_does_not_count() -> None:
    evidence = _evidence({"a": [0, NAN, 0, NAN, 9, 0, NAN, NAN, 0]}, a="dark")
    assert _runs(SignalRule(signal="a", above=1, min_duration_s=1.0), evidence) == [(3, 4), (6, 8)]
    assert _runs(SignalRule(signal="a", above=1, min_duration_s=1.0, merge_gap_s=0.75), evidence) == [
        (1, 2),
        (3, 4),
        (6, 8),
    ]
    assert _runs(SignalRule(signal="a", above=1, min_duration_s=1.5), evidence) == []


def test_a_rule_that_holds_throughout_a_clip_shorter_than_its_minimum_has_a_gap() -> None:
    rule = SignalRule(signal="a", above=1, min_duration_s=2.0)
    (gap,) = measurement_gaps(rule, _evidence({"a": [9, 9, 9]}))
    assert (gap.runs, gap.reason) == (((1, 3),), "the clip is shorter than the required 2 s")
    assert measurement_gaps(rule, _evidence({"a": [9, 0, 9]})) == ()


def test_each_view_has_its_own_findings() -> None:
    found = find(SignalRule(signal="a", above=0.5), _evidence({"a": [1, 0, 0]}, {"a": [0, 0, 1]}))
    assert [(finding.view, finding.span) for finding in found] == [
        ("view 1", Span(0.0, 0.5)),
        ("view 2", Span(1.0, 1.5)),
    ]


@pytest.mark.parametrize(
    "rule",
    [
        SignalRule(signal="x", above=1),
        SignalRule(signal="a", above=1, unless=(SignalCondition(signal="x", above=1),)),
        SignalRule(signal="a", above=1, also=(SignalCondition(signal="x", below=1),)),
    ],
)
def test_an_unknown_signal_is_refused_with_the_known_ones(rule: SignalRule) -> None:
    with pytest.raises(InputError, match=r"no signal 'x'; the signals are: a, b"):
        check_signals(rule, ["a", "b"])
    with pytest.raises(InputError, match=r"no signal 'x'; the signals are: a"):
        find(rule, _evidence({"a": [1]}))


@pytest.mark.parametrize(
    "written",
    [
        {"signal": "a"},
        {"signal": "a", "above": 1, "below": 2},
        {"signal": "a", "above": 1, "for": 2},
        {"signal": "a", "above": 1, "min_duration_s": -1},
        {"signal": "a", "above": math.inf},
        {"signal": "a", "above": 1, "unless": [{"signal": "b"}]},
    ],
    ids=["no threshold", "two thresholds", "unknown key", "negative time", "infinite", "unless without threshold"],
)
def test_an_invalid_rule_is_refused(written: dict[str, object]) -> None:
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
def test_a_place_is_described_in_words(box: tuple[float, float, float, float], words: str | None) -> None:
    assert describe_place(None) is None
    left, top, right, bottom = box
    assert describe_place(Box(left=left, top=top, right=right, bottom=bottom)) == words


def test_a_finding_extends_over_neighbouring_frames_while_all_conditions_hold() -> None:
    evidence = _evidence({"a": [0, 0, 1, 2, 9, 9, 2, 1, 0, 2, 0], "b": [0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0]})
    rule = SignalRule(
        signal="a", above=5, extend_while=(SignalCondition(signal="a", above=0.5), SignalCondition(signal="b", above=0))
    )
    (finding,) = find(rule, evidence)
    assert (finding.span, finding.peak) == (Span(1.0, 3.5), 9)


def test_findings_that_extend_until_they_meet_become_one() -> None:
    rule = SignalRule(signal="a", above=5, extend_while=(SignalCondition(signal="a", above=1),))
    assert _spans(rule, _evidence({"a": [0, 9, 2, 2, 9, 0]})) == [(0.5, 2.5)]
    assert _spans(rule, _evidence({"a": [0, 9, 2, 0, 9, 0]})) == [(0.5, 1.5), (2.0, 2.5)]


MOVES = SignalCondition(signal="b", above=1, explanation="the camera moves")


def test_an_explained_finding_has_its_condition_and_its_value() -> None:
    evidence = _evidence({"a": [0, 9, 9, 0, 9], "b": [0, 2, 3, 0, 0]})
    rule = SignalRule(
        signal="a", above=5, unless=(SignalCondition(signal="b", above=9, explanation="it never does"), MOVES)
    )
    assert _spans(rule, evidence) == [(2.0, 2.5)]
    (explained,) = explained_findings(rule, evidence)
    assert (explained.finding.span, explained.condition, explained.peak, explained.unit) == (
        Span(0.5, 1.5),
        MOVES,
        3,
        "units",
    )


def test_unless_without_an_explanation_gives_no_explained_finding() -> None:
    evidence = _evidence({"a": [0, 9, 9, 0], "b": [0, 2, 3, 0]})
    assert (
        explained_findings(SignalRule(signal="a", above=5, unless=(SignalCondition(signal="b", above=1),)), evidence)
        == ()
    )


def test_a_span_of_which_a_part_is_found_is_not_explained() -> None:
    evidence = _evidence({"a": [9, 9, 9, 9], "b": [0, 2, 0, 0]})
    rule = SignalRule(signal="a", above=5, unless=(MOVES,))
    assert _spans(rule, evidence) == [(0.0, 0.5), (1.0, 2.0)]
    assert explained_findings(rule, evidence) == ()


def test_an_explained_finding_has_the_minimum_duration() -> None:
    rule = SignalRule(signal="a", above=5, min_duration_s=1.0, unless=(MOVES,))
    assert explained_findings(rule, _evidence({"a": [0, 9, 0], "b": [0, 2, 0]})) == ()


def test_an_explanation_with_within_s_covers_frames_near_it() -> None:
    evidence = _evidence({"a": [9, 0, 9, 0, 9, 9], "b": [0, 0, 0, 2, 0, 0]})
    near = MOVES.with_(within_s=0.5)
    rule = SignalRule(signal="a", above=5, unless=(near,))
    assert _spans(rule, evidence) == [(0.0, 0.5), (2.5, 3.0)]
    (explained,) = explained_findings(rule, evidence)
    assert (explained.finding.span, explained.peak) == (Span(1.0, 1.5), 2)
