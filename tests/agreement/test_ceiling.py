"""What a human scores where a model is scored."""

import math
from random import Random

import pytest

from agreement.annotators import WordJudge, annotation, event
from agreement.test_coefficients import random_accounts
from robogaze.agreement.adjudication import consensus
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.ceiling import Ceiling, human_ceiling
from robogaze.agreement.event_matching import match_annotators
from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.systems import evaluate_pairing as evaluate
from robogaze.metrics.scores import METRICS

TERMS = EvaluationConfig(resamples=100)


async def ceiling(*annotations: ClipAnnotation) -> Ceiling:
    annotation_set = AnnotationSet.of(annotations)
    matched, _ = await match_annotators(annotation_set.clips, WordJudge(), "iou*similarity", "frames")
    return await human_ceiling(matched, annotation_set.annotators, WordJudge(), TERMS)


def rounded(estimate: Estimate) -> tuple[float, int]:
    return round(estimate.value, 9), estimate.n


async def test_each_of_two_is_scored_against_the_other() -> None:
    # ann finds one event, bob the same and one more: S is 1 for the match.
    ann = [annotation("ann", "a", event(0, 4, "cup")), annotation("ann", "b")]
    bob = [annotation("bob", "a", event(0, 4, "cup"), event(6, 9, "hand")), annotation("bob", "b")]
    found = await ceiling(*ann, *bob)
    assert rounded(found.annotators["ann"].macro["desc_precision"]) == (1.0, 1)
    assert rounded(found.annotators["ann"].macro["desc_recall"]) == (0.5, 1)
    assert rounded(found.annotators["bob"].macro["desc_precision"]) == (0.5, 1)
    assert rounded(found.whole.macro["desc_precision"]) == (0.75, 2)
    assert rounded(found.whole.micro["desc_precision"]) == (round(2 / 3, 9), 3)
    assert rounded(found.whole.micro["clean_accuracy"]) == (1.0, 2)
    assert (found.whole.n, found.without, found.failed) == (4, 0, 0)
    assert found.whole.macro.keys() == METRICS.keys()


async def test_each_of_three_is_scored_against_the_consensus_of_the_others() -> None:
    # eve stands against ann and bob, who agree on the cup; ann against bob and eve, who agree on nothing.
    ann = annotation("ann", "a", event(0, 4, "cup"))
    bob = annotation("bob", "a", event(0, 4, "cup"), event(6, 9, "hand"))
    found = await ceiling(ann, bob, annotation("eve", "a", event(0, 1, "cup")))
    assert (found.whole.n, found.without) == (1, 2)
    assert rounded(found.annotators["eve"].macro["miou"]) == (0.25, 1)
    assert not found.annotators["ann"].macro["miou"].defined
    assert found.annotators["ann"].macro["miou"].why == "no annotator can be scored against the other annotators"


@pytest.mark.parametrize("seed", range(5))
async def test_the_row_of_an_annotator_is_that_of_a_system_in_evaluate(seed: int) -> None:
    annotations = random_accounts(Random(seed), 3, 0.0)
    found = await ceiling(*annotations)
    for name in ("p0", "p1", "p2"):
        others = AnnotationSet.of([annotation for annotation in annotations if annotation.author != name])
        matched, _ = await match_annotators(others.clips, WordJudge(), "iou*similarity", "frames")
        references = [consensus(clip, "frames") for clip in matched]
        system = System.of(name, [annotation for annotation in annotations if annotation.author == name])
        (row,) = (await evaluate(pair(references, [system]), WordJudge(), TERMS)).systems
        for ours, theirs in ((found.annotators[name].macro, row.macro), (found.annotators[name].micro, row.micro)):
            assert {metric: same(estimate) for metric, estimate in ours.items()} == {
                metric: same(estimate) for metric, estimate in theirs.items()
            }


def same(estimate: Estimate) -> tuple[float | None, int]:
    return (None if math.isnan(estimate.value) else round(estimate.value, 9)), estimate.n


async def test_the_whole_pools_the_annotators_and_takes_clips_with_all_of_them() -> None:
    ann = [annotation("ann", "a", event(0, 4, "cup")), annotation("ann", "b", event(0, 4, "cup"))]
    bob = [annotation("bob", "a", event(0, 4, "cup")), annotation("bob", "b", event(0, 2, "cup"))]
    found = (await ceiling(*ann, *bob)).whole.macro["miou"]
    # Four accounts, but two clips, one with 1 and one with 1/2: one degree of freedom says next to nothing.
    assert (found.value, found.low, found.high, found.n) == (0.75, 0.0, 1.0, 4)


async def test_there_is_a_row_for_every_dataset() -> None:
    annotations = [annotation(name, clip, event(0, end, "cup"), fields={"split": clip}) for clip in ("a", "b")
                for name, end in (("ann", 4), ("bob", 4 if clip == "a" else 2))]  # fmt: skip
    found = await ceiling(*annotations)
    assert {name: rounded(row.macro["miou"]) for name, row in found.datasets.items()} == {"a": (1.0, 2), "b": (0.5, 2)}


async def test_a_failed_judgement_leaves_the_estimate_and_gives_bounds() -> None:
    ann = [annotation("ann", "a", event(0, 4, "unreadable")), annotation("ann", "b", event(0, 4, "cup"))]
    bob = [annotation("bob", "a", event(0, 4, "cup")), annotation("bob", "b", event(0, 4, "cup"))]
    found = await ceiling(*ann, *bob)
    assert (found.failed, rounded(found.whole.macro["desc_f1"])) == (2, (1.0, 2))
    assert found.worst is not None
    assert found.best is not None
    assert rounded(found.worst.macro["desc_f1"]) == (0.5, 4)
    assert rounded(found.best.macro["desc_f1"]) == (1.0, 4)


async def test_without_a_case_nothing_is_defined() -> None:
    found = await ceiling(annotation("ann", "a", event(0, 4)))
    assert not any(value.defined for row in (found.whole, found.annotators["ann"]) for value in row.macro.values())
    assert (found.whole.n, found.worst, found.best) == (0, None, None)


async def test_a_judge_is_asked_as_for_a_system_and_about_events_by_their_names() -> None:
    judge = WordJudge()
    annotation_set = AnnotationSet.of(
        [annotation("ann", "a", event(0, 4, type="t")), annotation("bob", "a", event(0, 4, type="t"))]
    )
    matched, _ = await match_annotators(annotation_set.clips, WordJudge(), "iou*similarity", "frames")
    await human_ceiling(matched, annotation_set.annotators, judge, TERMS)
    asked = {(pair.reference_id, pair.prediction_id, pair.reference_type, pair.prediction_type) for pair in judge.asked}
    assert asked == {("bob/e1", "ann/e1", "t", "t"), ("ann/e1", "bob/e1", "t", "t")}
