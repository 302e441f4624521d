"""Which events of several annotators are the same one."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from agreement.annotators import WordJudge, annotation, event, similarity
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.event_matching import By, MatchedClip, match_annotators
from robogaze.core.annotation import ClipAnnotation


async def matched(
    *annotations: ClipAnnotation, by: By = "iou*similarity", judge: WordJudge | None = None
) -> MatchedClip:
    (found,), _ = await match_annotators(AnnotationSet.of(annotations).clips, judge or WordJudge(), by, "frames")
    return found


def pairs(pair: MatchedClip) -> set[tuple[str, str]]:
    """The descriptions of matched events."""
    return {(pair.finding(match.first).description, pair.finding(match.second).description) for match in pair.matches}


def described(clip: MatchedClip) -> list[tuple[str | None, ...]]:
    """The descriptions of each unit."""
    return [tuple(None if found is None else found.description for found in unit) for unit in clip.units]


async def test_events_that_share_time_and_words_are_matched() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls"), event(5, 9, "hand stops"))
    bob = annotation("bob", "a", event(4, 9, "the hand stops"), event(1, 4, "the cup falls"))
    one = await matched(ann, bob)
    assert pairs(one) == {("cup falls", "the cup falls"), ("hand stops", "the hand stops")}
    assert sorted((match.iou, match.similarity) for match in one.matches) == [(3 / 4, 2 / 3), (4 / 5, 2 / 3)]


async def test_an_event_at_another_time_is_no_match_however_it_is_described() -> None:
    one = await matched(annotation("ann", "a", event(0, 4)), annotation("bob", "a", event(4, 9)))
    assert one.matches == ()
    assert described(one) == [("the cup falls", None), (None, "the cup falls")]


async def test_the_judge_is_asked_in_both_directions_about_pairs_that_share_time_and_is_shown_no_label() -> None:
    judge = WordJudge(tilt=0.5)
    labels = {"dimension": "x", "type": "y"}
    ann = annotation("ann", "a", event(0, 4, "cup falls", **labels), event(7, 9, "far off", **labels))
    one = await matched(ann, annotation("bob", "a", event(0, 4, "the cup falls", **labels)), judge=judge)
    asked = {(pair.reference_id, pair.prediction_id, pair.reference, pair.prediction) for pair in judge.asked}
    assert asked == {
        ("ann/e1", "bob/e1", "cup falls", "the cup falls"),
        ("bob/e1", "ann/e1", "the cup falls", "cup falls"),
    }
    assert {(pair.clip_id, pair.reference_type, pair.prediction_type) for pair in judge.asked} == {("a", None, None)}
    assert [match.similarity for match in one.matches] == [pytest.approx((2 / 3 + 2 / 3 - 0.5) / 2)]


async def test_by_time_alone_words_decide_only_between_equal_overlaps() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls"), event(0, 4, "hand stops"))
    bob = annotation("bob", "a", event(0, 4, "a hand stops"), event(0, 4, "the cup falls"))
    assert pairs(await matched(ann, bob, by="iou")) == {("cup falls", "the cup falls"), ("hand stops", "a hand stops")}
    better = annotation("bob", "a", event(0, 4, "something else"), event(0, 3, "cup falls"))
    assert ("cup falls", "cup falls") in pairs(await matched(annotation("ann", "a", ann.findings[0]), better))
    alone = annotation("ann", "a", event(0, 4, "cup falls"))
    assert pairs(await matched(alone, better, by="iou")) == {("cup falls", "something else")}


async def test_dimension_type_and_severity_have_no_part_in_it() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup", dimension="x", severity=1), event(0, 4, "hand", dimension="y"))
    bob = annotation("bob", "a", event(0, 4, "cup", dimension="y"), event(0, 4, "hand", dimension="x", severity=1))
    for by in ("iou*similarity", "iou"):
        assert pairs(await matched(ann, bob, by=by)) == {("cup", "cup"), ("hand", "hand")}


async def test_labels_do_not_decide_between_equal_weights_either() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls", dimension="x"), event(0, 4, "falls cup", dimension="y"))
    bob = annotation("bob", "a", event(0, 4, "cup falls", dimension="y"), event(0, 4, "falls cup", dimension="x"))
    for by in ("iou*similarity", "iou"):
        assert pairs(await matched(ann, bob, by=by)) == {("cup falls", "cup falls"), ("falls cup", "falls cup")}


async def test_between_equal_weights_neither_names_nor_the_order_of_events_decide() -> None:
    # 4/6 + 4/6 against 1 + 2/6.
    one = (event(2, 6, "cup", severity=1), event(0, 6, "cup", severity=2))
    other = (event(0, 6, "cup", severity=3), event(0, 4, "cup", severity=4))
    found = [
        severities(await matched(annotation("ann", "a", *first), annotation("bob", "a", *second)))
        for first, second in ((one, other), (other, one), (one[::-1], other[::-1]))
    ]
    assert found[0] == found[1] == found[2]
    same = event(0, 4, "cup", severity=1), event(0, 4, "cup", severity=5)
    found = [
        severities(await matched(annotation("ann", "a", *each), annotation("bob", "a", other[0])))
        for each in (same, same[::-1])
    ]
    assert found[0] == found[1]


def severities(clip: MatchedClip) -> list[set[int | None]]:
    return sorted(
        ({clip.finding(match.first).severity, clip.finding(match.second).severity} for match in clip.matches), key=str
    )


async def test_a_pair_without_a_judgement_is_matched_only_if_no_judged_pair_is_lost() -> None:
    ann = annotation("ann", "a", event(0, 4, "unreadable"), event(0, 2, "cup"))
    bob = annotation("bob", "a", event(0, 4, "cup"))
    clips = AnnotationSet.of([ann, bob]).clips
    (one,), failed = await match_annotators(clips, WordJudge(), "iou*similarity", "frames")
    assert failed == 1
    assert pairs(one) == {("cup", "cup")}
    alone = await matched(annotation("ann", "a", event(0, 4, "unreadable")), bob)
    assert pairs(alone) == {("unreadable", "cup")}
    assert math.isnan(alone.matches[0].similarity)


async def test_a_judgement_in_one_direction_is_enough() -> None:
    class OneWay(WordJudge):
        async def rate(self, pairs):  # type: ignore[no-untyped-def]
            judged = await super().rate(pairs)
            return [replace(judged[0], similarity=None), *judged[1:]]

    one = await matched(
        annotation("ann", "a", event(0, 4, "cup")), annotation("bob", "a", event(0, 4, "cup")), judge=OneWay()
    )
    assert [match.similarity for match in one.matches] == [1.0]


async def test_events_without_a_time_are_matched_to_none() -> None:
    timeless = replace(event(0, 1), spans=())
    assert (
        await matched(annotation("ann", "a", timeless), annotation("bob", "a", timeless, event(0, 4)))
    ).matches == ()


async def test_matches_are_chained_over_annotators_the_best_first() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls"))
    bob = annotation("bob", "a", event(0, 4, "cup falls"))
    eve = annotation("eve", "a", event(3, 9, "cup falls"), event(0, 3, "cup falls over"))
    assert described(await matched(ann, bob, eve)) == [
        ("cup falls", "cup falls", "cup falls over"),
        (None, None, "cup falls"),
    ]


async def test_no_annotator_has_two_events_in_a_unit() -> None:
    # ann's event is eve's first (1.0), bob's is her second (0.67): that ann's is bob's (0.5) is given up.
    ann = annotation("ann", "a", event(0, 6, "one two"))
    bob = annotation("bob", "a", event(0, 6, "one two three four"))
    eve = annotation("eve", "a", event(0, 6, "one two"), event(0, 6, "one two three four five six"))
    one = await matched(ann, bob, eve)
    assert len(one.matches) == 3
    assert described(one) == [
        ("one two", None, "one two"),
        (None, "one two three four", "one two three four five six"),
    ]


async def test_two_of_three_annotators_have_the_matches_they_had() -> None:
    rng = Random(1)
    annotations = [random_account(rng, author) for author in ("ann", "bob", "eve")]
    three, two = await matched(*annotations), await matched(annotations[0], annotations[2])
    assert three.only(("ann", "eve")) == two
    assert three.only(("ann",)) is None


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("by", ["iou*similarity", "iou"])
async def test_matches_are_the_best_of_all_assignments(seed: int, by: By) -> None:
    rng = Random(seed)
    ann, bob = random_account(rng, "ann"), random_account(rng, "bob")
    one = await matched(ann, bob, by=by)
    weights = [[weight(a, b, by) for b in bob.findings] for a in ann.findings]
    best = max(_assignments(weights))
    found = sum(match.iou * (match.similarity if by == "iou*similarity" else 1) for match in one.matches)
    assert found == pytest.approx(best, abs=1e-6)
    assert all(match.iou > 0 for match in one.matches)
    assert (
        len({match.first for match in one.matches}) == len({match.second for match in one.matches}) == len(one.matches)
    )


def weight(one, other, by: By) -> float:  # type: ignore[no-untyped-def]
    frames, others = ({number for span in each.spans for number in range(int(span.start), int(span.end))}
                      for each in (one, other))  # fmt: skip
    overlap = len(frames & others) / len(frames | others)
    return overlap * (similarity(one.description, other.description) if by == "iou*similarity" else 1)


def _assignments(weights: Sequence[Sequence[float]]) -> list[float]:
    """The weight of every one-to-one assignment."""
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if rows > columns:
        return _assignments([list(column) for column in zip(*weights, strict=True)] if columns else [])
    return [
        sum(weights[row][column] for row, column in enumerate(chosen)) for chosen in permutations(range(columns), rows)
    ]


def random_account(rng: Random, author: str) -> ClipAnnotation:
    words = ("cup", "falls", "hand", "stops", "table")
    found = []
    for _ in range(rng.randrange(5)):
        start = rng.randrange(9)
        text = " ".join(rng.sample(words, rng.randint(1, 3)))
        dimension, severity = rng.choice(("x", "y", "z")), rng.randint(1, 5)
        found.append(event(start, rng.randint(start + 1, 10), text, dimension=dimension, severity=severity))
    return annotation(author, "a", *found)
