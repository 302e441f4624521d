"""Controls: what can be had without a look at the clip."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from metrics.cases import Pair, annotation, finding
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.time import Span
from robogaze.metrics.controls import CONTROLS, duration_s, shuffled, type_prior
from robogaze.metrics.scores import METRICS, micro

REFERENCE = annotation(finding((0, 1), severity=3), finding((7.5, 10), severity=5), finding((8, 9), severity=4))


def scores(name: str, reference: ClipAnnotation = REFERENCE) -> dict[str, float]:
    guess = CONTROLS[name].predict(reference)
    assert guess is not None
    return dict(zip(METRICS, micro(Pair(reference, guess.annotation, guess.similarity).row()).tolist(), strict=True))


def test_the_controls_are_the_four_that_are_printed_under_every_table() -> None:
    assert list(CONTROLS) == ["always_clean", "whole_clip", "last_30_percent", "constant_severity"]
    for name, control in CONTROLS.items():
        assert control.name == name
        assert control.rule.endswith(".")


def test_always_clean_is_right_on_clean_clips_and_on_no_other() -> None:
    assert scores("always_clean")["desc_recall"] == scores("always_clean")["detection_recall"] == 0
    assert scores("always_clean", annotation())["clean_accuracy"] == 1


def test_one_event_over_the_whole_clip_finds_one_event_of_each_faulty_clip() -> None:
    # 100 frames against the longest event's 25; S = 1 by rule, so P = 1 and R = 1/3.
    found = scores("whole_clip")
    assert (found["desc_precision"], found["desc_recall"], found["desc_f1"]) == (1, 1 / 3, 1 / 2)
    assert found["miou"] == 0.25
    assert scores("whole_clip", annotation())["clean_accuracy"] == 0


def test_the_last_30_percent_are_those_of_the_duration() -> None:
    guess = CONTROLS["last_30_percent"].predict(REFERENCE)
    assert guess is not None
    (event,) = guess.annotation.findings
    assert event.spans == (Span(7.0, 10.0),)
    assert scores("last_30_percent")["miou"] == 25 / 30
    assert scores("last_30_percent", annotation(finding((0, 1))))["desc_f1"] == 0


def test_a_constant_severity_of_4_is_within_1_wherever_all_are_3_to_5() -> None:
    found = scores("constant_severity")
    assert (found["severity_exact"], found["severity_within1"]) == (1 / 3, 1)
    assert found["desc_f1"] == found["miou"] == 1


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
def test_the_duration_is_the_annotated_one_or_the_end_of_the_last_frame(
    said_s: float | None, times_s: tuple[float, ...] | None, wanted_s: float | None
) -> None:
    assert duration_s(replace(REFERENCE, duration_s=said_s, frame_times_s=times_s)) == wanted_s


def test_where_the_duration_is_not_known_the_controls_that_need_it_do_not_guess() -> None:
    unknown = replace(REFERENCE, duration_s=None, frame_times_s=None)
    silent = [name for name, control in CONTROLS.items() if control.predict(unknown) is None]
    assert silent == ["whole_clip", "last_30_percent"]


# Floors.


def clip(name: str, *findings: object, **known: object) -> ClipAnnotation:
    return replace(annotation(*findings), clip_id=name, **known)  # type: ignore[arg-type]


def test_the_type_prior_predicts_what_is_most_frequent_in_the_other_clips() -> None:
    common = {"dimension": "physics", "kind": "passing_through"}
    references = [
        clip("a", finding((1, 2), severity=3, **common)),
        clip("b", finding((3, 6), severity=5, **common), finding((0, 1), dimension="task", kind="drop")),
        clip("c", finding((0, 1), dimension="task", kind="drop")),
        clip("d"),
    ]
    said = type_prior(references, "abcd")
    (event,) = said["d"].findings
    assert (event.dimension, event.type, event.description) == ("physics", "passing_through", "passing through")
    assert (event.spans, event.severity) == ((Span(2.0, 4.0),), 4)
    # Of clip a one event of each type is left in the others but for the two drops; it does not see its own.
    assert said["a"].findings[0].type == "drop"
    assert said["d"].status == "complete"


def test_the_type_prior_gives_times_as_shares_of_the_clip() -> None:
    short = clip("a", finding((1, 2), dimension="d", kind="t"), frame_times_s=None, duration_s=4.0)
    long = clip("b", frame_times_s=None, duration_s=40.0)
    assert type_prior([short, long], "ab")["b"].findings[0].spans == (Span(10.0, 20.0),)
    untimed = type_prior([short, replace(long, duration_s=None)], "ab")["b"]
    assert untimed.findings[0].spans == ()


def test_where_the_other_clips_name_no_type_there_is_no_prior() -> None:
    assert type_prior([clip("a", finding((1, 2), dimension="d", kind="t")), clip("b")], "ab").keys() == {"b"}
    nameless = finding((1, 2), dimension=None, kind=None)
    assert type_prior([clip("a", nameless), clip("b", nameless)], "ab") == {}


def test_every_clip_gets_the_events_of_another_and_none_is_lost() -> None:
    references = [clip(f"{number:02}") for number in range(20)]
    said = {reference.clip_id: replace(reference, author="system", findings=(finding((0, 1), text=reference.clip_id),))
            for reference in references}  # fmt: skip
    moved = shuffled(
        references, said, [""] * 20, [reference.clip_id for reference in references], np.random.default_rng(0)
    )
    assert moved.keys() == said.keys()
    come_from = {
        name: prediction.findings[0].description for name, prediction in moved.items() if prediction is not None
    }
    assert all(name != home for name, home in come_from.items())
    assert Counter(come_from.values()) == Counter(said.keys())
    assert all(prediction is not None and prediction.clip_id == name for name, prediction in moved.items())


def test_what_is_missing_is_missing_on_the_other_clip_too() -> None:
    references = [clip("a"), clip("b")]
    moved = shuffled(references, {"a": clip("a")}, ["", ""], "ab", np.random.default_rng(0))
    assert moved["a"] is None
    assert moved["b"] is not None


def test_events_move_within_their_data_set_and_to_another_prompt() -> None:
    names = [f"{split}{prompt}{seed}" for split in "xy" for prompt in "123" for seed in "ab"]
    references = [clip(name) for name in names]
    said = {name: clip(name, finding((0, 1), text=name)) for name in names}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moved = shuffled(references, said, [name[0] for name in names], [name[:2] for name in names], rng)
        for name, prediction in moved.items():
            assert prediction is not None
            home = prediction.findings[0].description
            assert (home[0] == name[0], home[:2] == name[:2]) == (True, False)


def test_the_only_clip_of_a_data_set_has_no_other() -> None:
    assert shuffled([clip("a")], {"a": clip("a")}, [""], "a", np.random.default_rng(0)) == {}


def test_spans_keep_their_share_of_the_clip_and_ids_are_no_longer_those_of_the_clip() -> None:
    short, long = (clip(name, frame_times_s=None, duration_s=length) for name, length in (("a", 5.0), ("b", 10.0)))
    said = {"a": replace(short, findings=(finding((1, 2), name="1"),), candidates=(finding((1, 2)),))}
    moved = shuffled([short, long], said, ["", ""], "ab", np.random.default_rng(0))["b"]
    assert moved is not None
    (event,) = moved.findings
    assert (event.spans, event.id, moved.candidates) == ((Span(2.0, 4.0),), "a/1", ())
