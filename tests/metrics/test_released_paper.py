"""The protocol of the GLIDE paper, as matching and metrics put it together, against a second implementation."""

import random
from typing import Any

import numpy as np
import pytest

from metrics import independent_released as independent
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.matching import Weighting, iou_matrix, match_events
from robogaze.metrics.scores import METRICS
from robogaze.metrics.tally import tally

PAPER = Weighting(use="similarity*iou", iou="exact")
FIGURES = ("desc_precision", "desc_recall", "desc_f1", "miou", "f1_iou")


def made_event(dice: random.Random) -> list[list[int]]:
    first = dice.randrange(10)
    second = first + dice.randrange(2, 8)
    return [[first, first + 1], [second, second + dice.randrange(1, 5)]][: dice.choice([1, 2])]


def made_video(dice: random.Random) -> dict[str, Any]:
    references, predictions = ([made_event(dice) for _ in range(dice.choice([0, 1, 1, 2, 3, 4]))] for _ in range(2))
    ratings = [[dice.choice([0, 5 * dice.random()]) for _ in predictions] for _ in references]
    lost = dice.random() < 0.1
    return {"references": references, "predictions": None if lost else predictions, "ratings": ratings}


def as_account(events: list[list[list[int]]]) -> ClipAnnotation:
    findings = [
        AnnotatedEvent(str(number), tuple(Span(start, end) for start, end in intervals), "")
        for number, intervals in enumerate(events)
    ]
    return ClipAnnotation("video", "author", "complete", tuple(findings))


def row(video: dict[str, Any]) -> Any:
    reference = as_account(video["references"])
    if video["predictions"] is None:
        return tally(reference, None, (), np.zeros((len(reference.findings), 0)))
    prediction = as_account(video["predictions"])
    sides = reference.findings, prediction.findings
    similarity = np.array(video["ratings"], dtype=float).reshape(len(sides[0]), len(sides[1])) / 5
    iou = iou_matrix(*sides, None, PAPER.iou)
    return tally(reference, prediction, match_events(*sides, similarity, iou, PAPER), iou)


@pytest.mark.parametrize("seed", range(40))
def test_micro_scores_under_the_paper_s_weight_agree_with_a_second_implementation(seed: int) -> None:
    dice = random.Random(seed)
    videos = [made_video(dice) for _ in range(dice.choice([1, 2, 5, 20]))]
    sums = np.sum([row(video) for video in videos], axis=0)
    figures = {name: float(METRICS[name].of(sums)) for name in FIGURES}
    expected = {name: independent.glide_paper(videos)[name] for name in FIGURES}
    # The second implementation says 0 where nothing can be divided.
    assert {name: 0.0 if np.isnan(value) else value for name, value in figures.items()} == pytest.approx(
        expected, abs=1e-9
    )
