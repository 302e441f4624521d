"""Every metric: by hand, against a second implementation, and under what must not change it."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from metrics import independent
from metrics.cases import Matrix, Pair, annotation, corpus, finding, pair
from robogaze.core.annotation import ClipAnnotation
from robogaze.matching import Use, Weighting
from robogaze.metrics.scores import METRICS, macro, macro_n, micro, micro_n, with_clip_values
from robogaze.metrics.tally import COLUMNS

PROMISED = (
    "desc_precision",
    "desc_recall",
    "desc_f1",
    "miou",
    "f1_iou",
    "severity_exact",
    "severity_within1",
    "severity_weighted_f1",
    "severe_recall",
    "clean_accuracy",
    "detection_precision",
    "detection_recall",
    "detection_f1",
)
"""The names of the JSON result."""


def sums(cases: Sequence[Pair], weighting: Weighting | None = None) -> Matrix:
    return with_clip_values(np.array([case.row(weighting) for case in cases])).sum(axis=0)


def named(values: Matrix) -> dict[str, float]:
    return dict(zip(METRICS, values.tolist(), strict=True))


def of_corpus(*cases: Pair) -> dict[str, float]:
    return named(micro(sums(cases)))


def over_clips(*cases: Pair) -> dict[str, float]:
    return named(macro(sums(cases)))


# Which metrics there are.


def test_every_promised_metric_is_there_and_comes_first() -> None:
    assert list(METRICS)[: len(PROMISED)] == list(PROMISED)


def test_no_metric_is_forgotten_by_the_second_implementation() -> None:
    assert {*independent.OF_EVENTS, *independent.OF_CORPUS} == set(METRICS)
    assert {name for name, metric in METRICS.items() if metric.level == "corpus"} == set(independent.OF_CORPUS)


def test_every_metric_says_what_it_is_in_a_sentence_and_goes_by_its_name() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.doc.endswith(".")
        assert set(metric.counted) <= set(COLUMNS)


# By hand.

# Two references; the first found with S = 0.8 and IoU = 1/2 (five frames of ten), the second missed, one spurious.
HALF = pair(
    annotation(finding((0, 1), severity=5), finding((4, 5), severity=1)),
    annotation(finding((0, 0.5), severity=4), finding((8, 9), severity=2)),
    [0.8, 0.0],
    [0.0, 0.0],
)
PERFECT = pair(annotation(finding((0, 1), severity=4)), annotation(finding((0, 1), severity=4)))
CRY_WOLF = pair(annotation(), annotation(finding((0, 1)), finding((2, 3))))
SILENT = pair(annotation(finding((0, 1))), annotation())
QUIET = pair(annotation(), annotation())
MISSING = pair(annotation(finding((0, 1))), None)
MISSING_CLEAN = pair(annotation(), None)
UNSCORED = pair(annotation(finding((0, 1))), annotation(status="unscored"))


def test_the_metrics_of_a_clip_can_be_counted_by_hand() -> None:
    # Severity-weighted: P = 0.8 * 4 / 6, R = 0.8 * 5 / 6.
    right, found = 3.2 / 6, 4 / 6
    wanted = {
        "desc_precision": 0.4,
        "desc_recall": 0.4,
        "desc_f1": 0.4,
        "miou": 0.5,
        "f1_iou": 0.2,
        "severity_exact": 0.0,
        "severity_within1": 1.0,
        "severity_weighted_f1": 2 * right * found / (right + found),
        "severe_recall": 1.0,
        "clean_accuracy": math.nan,
        "detection_precision": 1.0,
        "detection_recall": 1.0,
        "detection_f1": 1.0,
        "tiou_f1_30": 0.5,
        "tiou_f1_50": 0.5,
        "tiou_f1_70": 0.0,
        "desc_precision_strict": 0.8,
        "desc_recall_strict": 0.8,
        "desc_f1_strict": 0.8,
        "desc_f1_dimension": 0.4,
    }
    assert of_corpus(HALF) == pytest.approx(wanted, nan_ok=True)
    assert over_clips(HALF) == pytest.approx(wanted, nan_ok=True)


def test_a_perfect_prediction_scores_1_everywhere() -> None:
    scores = of_corpus(PERFECT, QUIET)
    assert scores == over_clips(PERFECT, QUIET) == dict.fromkeys(METRICS, 1.0)


def test_a_perfect_single_frame_event_scores_1() -> None:
    event = annotation(finding((4.2, 4.3)))
    assert of_corpus(pair(event, event))["f1_iou"] == 1.0


def test_what_is_predicted_on_a_clean_clip_costs_micro_detection_and_clean_accuracy_but_not_macro() -> None:
    corpus_, clips = of_corpus(PERFECT, CRY_WOLF), over_clips(PERFECT, CRY_WOLF)
    assert corpus_["desc_precision"] == 1 / 3
    assert corpus_["desc_f1"] == 1 / 2
    assert clips["desc_precision"] == clips["desc_f1"] == 1.0
    assert corpus_["clean_accuracy"] == clips["clean_accuracy"] == 0.0
    assert corpus_["detection_precision"] == clips["detection_precision"] == 1 / 2


@pytest.mark.parametrize("said_nothing", [SILENT, MISSING, UNSCORED])
def test_a_clip_on_which_nothing_is_reported_has_no_precision_and_stays_in_recall_and_f1(said_nothing: Pair) -> None:
    scores = over_clips(said_nothing)
    assert math.isnan(scores["desc_precision"])
    assert scores["desc_recall"] == scores["desc_f1"] == scores["f1_iou"] == scores["severity_weighted_f1"] == 0
    assert math.isnan(scores["miou"])
    both = over_clips(PERFECT, said_nothing)
    assert (both["desc_precision"], both["desc_recall"], both["desc_f1"]) == (1.0, 0.5, 0.5)
    assert both["detection_recall"] == 0.5


def test_a_missing_prediction_is_not_correct_on_a_clean_clip() -> None:
    assert of_corpus(QUIET, MISSING_CLEAN)["clean_accuracy"] == 0.5


def test_severities_weigh_what_was_found() -> None:
    references = annotation(finding((0, 1), severity=4), finding((2, 3), severity=1))
    grave, slight = (
        pair(
            references,
            annotation(replace(found, severity=3)),
            *([float(event is found)] for event in references.findings),
        )
        for found in references.findings
    )
    # P = 1 on both; R = 4/5 where the grave one is found, 1/5 where the slight one is.
    assert of_corpus(grave)["severity_weighted_f1"] == pytest.approx(2 * 0.8 / 1.8)
    assert of_corpus(slight)["severity_weighted_f1"] == pytest.approx(2 * 0.2 / 1.2)


def test_severities_that_the_reference_does_not_give_leave_their_metric_undefined() -> None:
    graded, ungraded = annotation(finding((0, 1))), annotation(finding((0, 1), severity=None))
    for case in (pair(ungraded, graded), pair(ungraded, annotation())):
        assert math.isnan(of_corpus(case)["severity_weighted_f1"])
    assert of_corpus(pair(graded, ungraded))["severity_weighted_f1"] == 0.0
    assert of_corpus(pair(graded, graded, [0.0]))["severity_weighted_f1"] == 0.0


def test_strict_scores_exclude_events_at_the_wrong_time() -> None:
    case = pair(
        annotation(finding((0, 1)), finding((5, 6))), annotation(finding((0, 1)), finding((8, 9)), finding((9, 10)))
    )
    scores = of_corpus(case)
    assert (scores["desc_precision"], scores["desc_recall"], scores["desc_f1"]) == (1 / 3, 1 / 2, 2 / 5)
    assert (scores["desc_precision_strict"], scores["desc_recall_strict"], scores["desc_f1_strict"]) == (1, 1, 1)


def test_credit_within_a_dimension_needs_the_dimension() -> None:
    case = pair(annotation(finding((0, 1))), annotation(finding((0, 1), dimension="b")))
    assert (of_corpus(case)["desc_f1"], of_corpus(case)["desc_f1_dimension"]) == (1.0, 0.0)


@pytest.mark.parametrize("blank", [{"spans": ()}, {"dimension": None}, {"severity": None}])
@pytest.mark.parametrize("use", ["similarity*iou*bonus", "similarity"])
def test_a_field_left_blank_never_pays(blank: dict[str, object], use: Use) -> None:
    """A field left blank in all predicted events raises no metric and makes none undefined."""
    for case in corpus(11, 300, tied=False):
        if case.prediction is None or (use == "similarity*iou*bonus" and "spans" in blank):
            continue
        less = replace(case.prediction, findings=tuple(replace(event, **blank) for event in case.prediction.findings))
        before, after = (
            independent_of_judging(each, Weighting(use)) for each in (case, replace(case, prediction=less))
        )
        for name in ("miou", "f1_iou", "severity_exact", "severity_within1", "severity_weighted_f1", "tiou_f1_30",
                     "desc_f1_dimension"):  # fmt: skip
            assert not after[name] > before[name] + 1e-12, name
            assert math.isnan(after[name]) <= math.isnan(before[name]), name


def independent_of_judging(case: Pair, weighting: Weighting) -> dict[str, float]:
    """The metrics where neither the dimensions looked for nor a bonus changes who is matched."""
    kept = replace(case, reference=replace(case.reference, coverage=None))
    return named(micro(with_clip_values(kept.row(replace(weighting, dimension_bonus=0.0)))))


def test_events_without_a_dimension_or_severity_count_against_the_metrics_of_these() -> None:
    spam = [finding((n / 20, n / 20 + 0.05), dimension=None, severity=None) for n in range(120, 160)]
    some = annotation(finding((0, 1)), *spam)
    plain, spammed = of_corpus(PERFECT), of_corpus(pair(annotation(finding((0, 1))), some, [1.0] + [0.0] * 40))
    for name in ("desc_f1_dimension", "severity_weighted_f1"):
        assert plain[name] == 1.0
        assert spammed[name] < 0.06


def test_nothing_at_all_is_undefined_and_rests_on_nothing() -> None:
    rows = with_clip_values(np.zeros((0, len(COLUMNS)))).sum(axis=0)
    for values, n in ((micro(rows), micro_n(rows)), (macro(rows), macro_n(rows))):
        assert np.isnan(values).all()
        assert not n.any()


# What a value rests on.


def test_a_micro_value_rests_on_events_pairs_or_clips() -> None:
    n = named(micro_n(sums([HALF, CRY_WOLF, QUIET, QUIET, MISSING])))
    wanted = {"desc_precision": 4, "desc_recall": 3, "desc_f1": 7, "miou": 1, "severity_exact": 1, "f1_iou": 7}
    clips = {"clean_accuracy": 3, "detection_precision": 2, "detection_recall": 2, "detection_f1": 5}
    assert {name: n[name] for name in (*wanted, *clips)} == wanted | clips


def test_a_macro_value_rests_on_the_clips_where_it_is_defined() -> None:
    n = named(macro_n(sums([HALF, CRY_WOLF, QUIET, QUIET, MISSING])))
    wanted = {"desc_precision": 1, "desc_recall": 2, "desc_f1": 2, "miou": 1, "severity_exact": 1, "f1_iou": 2}
    clips = {"clean_accuracy": 3, "detection_precision": 2, "detection_recall": 2, "detection_f1": 5}
    assert {name: n[name] for name in (*wanted, *clips)} == wanted | clips


# Against the second implementation.


@pytest.mark.parametrize("bonus", [0.0, 0.25, 0.5])
def test_matching_and_all_metrics_agree_with_the_second_implementation(bonus: float) -> None:
    cases = corpus(1, 200, tied=False)
    clips = [independent.full(clip.reference, clip.prediction, clip.similarity.tolist(), bonus) for clip in cases]
    agree(cases, clips, Weighting(dimension_bonus=bonus))


@pytest.mark.parametrize("use", ["similarity*iou*bonus", "similarity*iou", "similarity"])
def test_all_metrics_agree_with_the_second_implementation_where_many_are_tied(use: Use) -> None:
    cases = corpus(2, 300, tied=True)
    agree(cases, [counted_alike(case, Weighting(use)) for case in cases], Weighting(use))


def counted_alike(case: Pair, weighting: Weighting) -> independent.Clip:
    """A clip with the matches of the package, for where several are equally good."""
    pairs = [(clip.reference, clip.prediction, clip.similarity) for clip in case.matched(weighting)]
    return independent.clip_of(case.reference, case.prediction, pairs)


def agree(cases: list[Pair], clips: list[independent.Clip], weighting: Weighting) -> None:
    """Clip by clip and all together, under both names."""
    for some, same in [([case], [clip]) for case, clip in zip(cases, clips, strict=True)] + [(cases, clips)]:
        total = sums(some, weighting)
        for values, again in ((micro(total), independent.micro), (macro(total), independent.macro)):
            wanted = {name: again(name, same) for name in METRICS}
            assert named(values) == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_the_random_clips_hold_every_odd_case() -> None:
    cases = corpus(1, 200, tied=False)
    assert any(case.prediction is None for case in cases)
    assert {case.prediction.status for case in cases if case.prediction} == {"complete", "partial", "unscored"}
    assert {(len(case.reference.findings), len(case.predicted)) for case in cases} >= {(0, 0), (0, 3), (3, 0), (1, 1)}
    rows = np.array([case.row() for case in cases])
    assert (rows.sum(axis=0) > 0).all(), "a column that is always 0 is not tested"
    every = np.array([micro(row) for row in rows])
    assert np.isnan(every).any(axis=0).all()
    assert ((every > 0) & (every < 1)).sum(axis=0)[[list(METRICS).index("desc_f1"), list(METRICS).index("miou")]].all()
    assert (every[~np.isnan(every)] >= 0).all()
    assert (every[~np.isnan(every)] <= 1).all()


# What must change nothing, for every metric.


def everything(cases: Sequence[Pair]) -> str:
    """All values and all n, to the last digit."""
    total = sums(sorted(cases, key=lambda case: case.reference.clip_id))
    return json.dumps([values.tolist() for values in (micro(total), macro(total), micro_n(total), macro_n(total))])


def renamed(annotation: ClipAnnotation) -> ClipAnnotation:
    count = len(annotation.findings)
    return replace(
        annotation,
        findings=tuple(replace(event, id=f"{count - number}") for number, event in enumerate(annotation.findings)),
    )


@pytest.mark.parametrize("tied", [False, True])
def test_reordering_events_changes_no_number(tied: bool) -> None:
    cases, rng = corpus(3, 200, tied=tied), Random(8)
    again = [case.reordered(*(rng.sample(range(size), size) for size in case.similarity.shape)) for case in cases]
    assert everything(again) == everything(cases)


def test_renaming_ids_changes_no_number() -> None:
    cases = corpus(3, 200, tied=True)
    again = [
        Pair(renamed(case.reference), case.prediction and renamed(case.prediction), case.similarity) for case in cases
    ]
    assert everything(again) == everything(cases)


def test_splitting_a_run_into_shards_changes_no_number() -> None:
    cases = corpus(4, 200, tied=True)
    shards = [cases[number::3] for number in range(3)]
    assert everything([case for shard in shards for case in shard]) == everything(cases)
    added = sum(sums(shard) for shard in shards)
    for values in (micro, macro, micro_n, macro_n):
        assert values(added) == pytest.approx(values(sums(cases)), abs=1e-12, nan_ok=True)


def test_sums_of_many_resamples_and_systems_are_scored_at_once_as_one_by_one() -> None:
    tables = with_clip_values(np.stack([[case.row() for case in corpus(seed, 20, tied=True)] for seed in (5, 6)]))
    counts = np.random.default_rng(0).integers(0, 3, size=(7, 20)).astype(float)
    total = counts @ tables  # (systems, resamples, columns)
    for values in (micro, macro, micro_n, macro_n):
        assert values(total).shape == (2, 7, len(METRICS))
        for system in range(2):
            for resample in range(7):
                alone = values(total[system, resample])
                assert values(total)[system, resample] == pytest.approx(alone, nan_ok=True)


def test_a_clip_drawn_twice_counts_twice() -> None:
    drawn = with_clip_values(np.array([HALF.row(), PERFECT.row()]))
    twice = np.array([2.0, 1.0]) @ drawn
    assert named(macro(twice)) == pytest.approx(over_clips(HALF, HALF, PERFECT), nan_ok=True)
    assert named(micro(twice)) == pytest.approx(of_corpus(HALF, HALF, PERFECT), nan_ok=True)
