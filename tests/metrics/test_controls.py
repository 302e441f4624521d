"""Controls: what can be had without a look at the clip."""

from dataclasses import replace

import pytest
from metrics.cases import Pair, account, finding

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.time import Span
from robogaze.metrics import CONTROLS, METRICS, micro
from robogaze.metrics.controls import duration_s

REFERENCE = account(finding((0, 1), severity=3), finding((7.5, 10), severity=5), finding((8, 9), severity=4))


def scores(name: str, reference: ClipAnnotation = REFERENCE) -> dict[str, float]:
    guess = CONTROLS[name].guess(reference)
    assert guess is not None
    return dict(zip(METRICS, micro(Pair(reference, guess.account, guess.similarity).row()).tolist(), strict=True))


def test_the_controls_are_the_four_that_are_printed_under_every_table() -> None:
    assert list(CONTROLS) == ["always_clean", "whole_clip", "last_30_percent", "constant_severity"]
    for name, control in CONTROLS.items():
        assert control.name == name
        assert control.rule.endswith(".")


def test_always_clean_is_right_on_clean_clips_and_on_no_other() -> None:
    assert scores("always_clean")["desc_recall"] == scores("always_clean")["detection_recall"] == 0
    assert scores("always_clean", account())["clean_accuracy"] == 1


def test_one_event_over_the_whole_clip_finds_one_event_of_each_faulty_clip() -> None:
    # 100 frames against the longest event's 25; S = 1 by rule, so P = 1 and R = 1/3.
    found = scores("whole_clip")
    assert (found["desc_precision"], found["desc_recall"], found["desc_f1"]) == (1, 1 / 3, 1 / 2)
    assert found["miou"] == 0.25
    assert scores("whole_clip", account())["clean_accuracy"] == 0


def test_the_last_30_percent_are_those_of_the_duration() -> None:
    guess = CONTROLS["last_30_percent"].guess(REFERENCE)
    assert guess is not None
    (event,) = guess.account.findings
    assert event.spans == (Span(7.0, 10.0),)
    assert scores("last_30_percent")["miou"] == 25 / 30
    assert scores("last_30_percent", account(finding((0, 1))))["desc_f1"] == 0


def test_a_constant_severity_of_4_is_within_1_wherever_all_are_3_to_5() -> None:
    found = scores("constant_severity")
    assert (found["severity_exact"], found["severity_within1"]) == (1 / 3, 1)
    assert found["desc_f1"] == found["miou"] == 1


def test_a_control_is_a_finished_account_of_the_same_clip_that_says_who_it_is() -> None:
    for name, control in CONTROLS.items():
        guess = control.guess(REFERENCE)
        assert guess is not None
        assert (guess.account.clip_id, guess.account.status) == (REFERENCE.clip_id, "complete")
        assert guess.account.author == f"control {name}"
        assert guess.similarity.shape == (3, len(guess.account.findings))


@pytest.mark.parametrize(
    ("said_s", "times_s", "wanted_s"),
    [
        (4.0, (0.0, 0.5), 4.0),
        (4.0, None, 4.0),
        (None, (0.0, 0.5, 1.0), 1.5),
        (None, (0.0,), None),
        (None, (), None),
        (None, None, None),
    ],
)
def test_a_clip_lasts_as_long_as_is_said_or_to_the_end_of_its_last_frame(
    said_s: float | None, times_s: tuple[float, ...] | None, wanted_s: float | None
) -> None:
    assert duration_s(replace(REFERENCE, duration_s=said_s, frame_times_s=times_s)) == wanted_s


def test_where_the_duration_is_not_known_the_controls_that_need_it_do_not_guess() -> None:
    unknown = replace(REFERENCE, duration_s=None, frame_times_s=None)
    silent = [name for name, control in CONTROLS.items() if control.guess(unknown) is None]
    assert silent == ["whole_clip", "last_30_percent"]
