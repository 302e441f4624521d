"""Scores by dimension and type, and which dimension is taken for which."""

import math
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from metrics.cases import THREE_OF_ONE, Pair, annotation, corpus, finding, pair
from robogaze.core.annotation import ClipAnnotation
from robogaze.metrics.breakdown import confusion, dimension_of, group_counts, group_scores, groups_in, type_of
from robogaze.metrics.tally import COLUMNS

DIMENSIONS = ("", "a", "b", "c")


def counts(case: Pair) -> dict[str, list[float]]:
    table = group_counts(case.reference, case.prediction, case.matched(), dimension_of, DIMENSIONS)
    return {name: row for name, row in zip(DIMENSIONS, table.tolist(), strict=True) if any(row)}


# One event of "a" found under its name, one of "b" found under "c", one of "b" missed, one of "c" spurious.
CROSSED = pair(
    annotation(finding((0, 1)), finding((2, 3), dimension="b"), finding((4, 5), dimension="b")),
    annotation(finding((0, 1)), finding((2, 3), dimension="c"), finding((8, 9), dimension="c")),
    [0.5, 0.0, 0.0],
    [0.0, 0.8, 0.0],
    [0.0, 0.0, 0.0],
)


def test_a_match_counts_in_the_group_of_each_of_its_events() -> None:
    assert counts(CROSSED) == {"a": [1, 1, 0.5, 0.5, 0.5], "b": [2, 0, 0.8, 0, 0], "c": [0, 2, 0, 0.8, 0]}


def test_the_scores_of_a_group_come_from_its_counts() -> None:
    table = group_counts(CROSSED.reference, CROSSED.prediction, CROSSED.matched(), dimension_of, DIMENSIONS)
    nan = math.nan
    wanted = [[nan, nan, nan], [0.5, 0.5, 0.5], [nan, 0.4, 0.0], [0.4, nan, 0.0]]
    assert group_scores(table) == pytest.approx(np.array(wanted), nan_ok=True)


@pytest.mark.parametrize(
    ("sums", "scores"),
    [
        ([4, 2, 2.0, 1.0, 1.0], [0.5, 0.5, 1 / 3]),
        ([4, 2, 1.0, 1.0, 1.0], [0.5, 0.25, 1 / 3]),
        ([4, 2, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([4, 2, 0.0, 1.0, 0.0], [0.5, 0.0, 0.0]),
        ([3, 0, 0.0, 0.0, 0.0], [math.nan, 0.0, 0.0]),
        ([0, 3, 0.0, 0.0, 0.0], [0.0, math.nan, 0.0]),
        ([3, 0, 1.5, 0.0, 0.0], [math.nan, 0.5, 0.0]),
        ([0, 0, 0.0, 0.0, 0.0], [math.nan, math.nan, math.nan]),
    ],
)
def test_f1_of_a_group_is_that_of_the_pairs_within_it(sums: list[float], scores: list[float]) -> None:
    assert group_scores(np.array(sums)) == pytest.approx(np.array(scores), nan_ok=True)
    assert group_scores(np.array([[sums]])).shape == (1, 1, 3)


def test_the_confusion_counts_every_event_once_on_either_side() -> None:
    table = confusion(CROSSED.reference, CROSSED.prediction, CROSSED.matched(), dimension_of, DIMENSIONS)
    wanted = np.zeros((5, 5))
    wanted[1, 1] = wanted[2, 3] = wanted[2, 4] = wanted[4, 3] = 1
    assert table.tolist() == wanted.tolist()


def test_groups_are_those_that_occur_and_unnamed_comes_first() -> None:
    annotations = [CROSSED.reference, annotation(finding(dimension=None, kind="x"))]
    assert groups_in(annotations, dimension_of) == ("", "a", "b")
    assert groups_in(annotations, type_of) == ("", "x")
    assert groups_in([], dimension_of) == ()


def test_a_group_that_is_not_in_the_list_is_refused() -> None:
    for table in (group_counts, confusion):
        with pytest.raises(KeyError, match="c"):
            table(CROSSED.reference, CROSSED.prediction, CROSSED.matched(), dimension_of, ("a", "b"))


@pytest.mark.parametrize("prediction", [None, annotation(finding((0, 1)), status="unscored")])
def test_an_empty_prediction_misses_every_event(prediction: ClipAnnotation | None) -> None:
    silent = replace(CROSSED, prediction=prediction, similarity=np.zeros((3, 0)))
    assert counts(silent) == {"a": [1, 0, 0, 0, 0], "b": [2, 0, 0, 0, 0]}
    table = confusion(silent.reference, silent.prediction, (), dimension_of, DIMENSIONS)
    assert table[:, -1].tolist() == [0, 1, 2, 0, 0]
    assert table.sum() == 3


def test_what_cannot_be_judged_is_in_no_group() -> None:
    case = pair(annotation(finding((0, 1)), covered=["a"]), annotation(finding((0, 1), dimension="b"), finding((0, 1))))
    assert counts(case) == {"a": [1, 1, 1, 1, 1]}
    assert confusion(case.reference, case.prediction, case.matched(), dimension_of, DIMENSIONS).sum() == 1


@pytest.mark.parametrize("group", [dimension_of, type_of])
def test_the_groups_add_up_to_the_whole(group: object) -> None:
    cases = corpus(21, 300, tied=True)
    groups = groups_in(
        [annotation for case in cases for annotation in (case.reference, case.prediction) if annotation],
        group,  # type: ignore[arg-type]
    )
    for case in cases:
        said = case.reference, case.prediction, case.matched(), group, groups
        table, crossing = group_counts(*said), confusion(*said)  # type: ignore[arg-type]
        row = dict(zip(COLUMNS, case.row().tolist(), strict=True))
        whole = [row["references"], row["predictions"], row["similarity"], row["similarity"]]
        assert table.sum(axis=0)[:4] == pytest.approx(whole, abs=1e-12)
        assert (table[:, 4] <= table[:, 2:4].min(axis=1) + 1e-12).all()
        assert crossing[:-1].sum(axis=1).tolist() == table[:, 0].tolist()
        assert crossing[:, :-1].sum(axis=0).tolist() == table[:, 1].tolist()
        assert crossing[:-1, :-1].sum() == row["matched"]


def test_the_order_of_the_events_leaves_no_trace_in_any_digit() -> None:
    for order in permutations(range(3)):
        assert counts(THREE_OF_ONE.reordered(order, (0, 1, 2))) == counts(THREE_OF_ONE)


def test_the_confusion_of_many_clips_can_be_counted_event_by_event() -> None:
    found: Counter[tuple[str, str]] = Counter()
    total = np.zeros((5, 5))
    for case in corpus(23, 100, tied=False):
        matches = case.matched()
        total += confusion(case.reference, case.prediction, matches, dimension_of, DIMENSIONS)
        found.update(
            (case.reference.findings[match.reference].dimension or "", case.predicted[match.prediction].dimension or "")
            for match in matches
        )
    for row, reference in enumerate(DIMENSIONS):
        for column, prediction in enumerate(DIMENSIONS):
            assert total[row, column] == found[reference, prediction]
