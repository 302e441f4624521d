"""The numbers: counted by hand, compared with plain Python, and undefined where they must be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest

from agreement.annotators import WordJudge, annotation, event, looked_for
from agreement.plain import plain_measures
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.coefficients import AgreementScores, KappaChoice, choose_kappas, measure
from robogaze.agreement.config import AgreementConfig
from robogaze.agreement.event_matching import By, MatchedClip, match_annotators
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span

DRAWING = AgreementConfig(resamples=200)


async def matches(
    annotations: Sequence[ClipAnnotation], by: By = "iou*similarity"
) -> tuple[tuple[MatchedClip, ...], AnnotationSet]:
    annotation_set = AnnotationSet.of(annotations)
    return (await match_annotators(annotation_set.clips, WordJudge(), by, "frames"))[0], annotation_set


async def measured(
    *annotations: ClipAnnotation, dimension: str | None = None, config: AgreementConfig = DRAWING
) -> AgreementScores:
    found, annotation_set = await matches(annotations)
    return measure(found, annotation_set.annotators, choose_kappas(found, annotation_set.annotators), config, dimension)


def clips(author: str, *events: Sequence[AnnotatedEvent]) -> list[ClipAnnotation]:
    """One clip for each list of events."""
    return [annotation(author, f"clip{number}", *found) for number, found in enumerate(events)]


def value(estimate: object) -> float:
    return round(estimate.value, 9)  # type: ignore[attr-defined]


# Counted by hand.


async def test_two_annotators() -> None:
    ann = clips("ann", [event(0, 4, "cup", dimension="x", severity=2)], [event(2, 4, "hand", dimension="x")], [], [])
    bob = clips("bob", [event(0, 2, "cup", dimension="x", severity=4)], [event(2, 4, "hand", dimension="y")],
                [event(0, 1, "cup", dimension="y")], [])  # fmt: skip
    found = await measured(*ann, *bob)
    # Yes or no: they agree on 3 of 4 clips; ann says yes twice, bob three times: chance is (2*3 + 2*1) / 16 = 1/2.
    assert (value(found.detection_kappa), found.detection_kappa.n) == (0.5, 4)
    # Two matched events, both x for ann, x and y for bob: agreement 1/2, chance 1/2.
    assert (value(found.dimension_kappa), found.dimension_kappa.n) == (0.0, 2)
    assert (value(found.tiou), found.tiou.n) == (0.75, 2)
    assert (value(found.description_similarity), found.description_similarity.n) == (1.0, 2)
    # Of ann's two events and bob's three, two each are matched.
    assert (value(found.events_matched), found.events_matched.n) == (0.8, 5)
    # Severities 2-4 and 3-3. Ranks of 2, 3, 3, 4 are 1, 2.5, 4: apart 3 in one pair of two (observed 9/2); the squares
    # of the distances of all 12 ordered pairs sum to 2 * (2*1.5**2 + 3**2 + 2*1.5**2) = 36: expected 3.
    assert (value(found.severity_alpha), found.severity_alpha.n) == (-0.5, 2)
    assert (found.clips, found.events, found.unscored, found.bounds) == (4, 5, 0, None)
    assert value(found.detection_cohen) == 0.5


async def test_three_annotators() -> None:
    ann = clips("ann", [event(0, 4, dimension="x")], [event(0, 4, dimension="x")], [])
    bob = clips("bob", [event(0, 4, dimension="x")], [event(0, 2, dimension="y")], [])
    eve = clips("eve", [event(0, 2, dimension="x")], [], [event(0, 4, dimension="y")])
    found = await measured(*ann, *bob, *eve)
    # Fleiss: all pairs agree on the first clip, one of three on the others: 5/9. Six of nine say yes: (36 + 9) / 81.
    assert (value(found.detection_kappa), found.detection_kappa.n) == (0.0, 3)
    # Cohen: ann and bob 1; ann and eve, bob and eve: agree on 1 of 3, chance 5/9: -1/2.
    assert (value(found.detection_cohen), found.detection_cohen.n) == (0.0, 3)
    # Matched pairs: three on the first clip with IoU 1, 1/2, 1/2, one on the second with 1/2.
    assert (value(found.tiou), found.tiou.n) == (0.625, 4)
    # Units x-x-x and x-y: nominal alpha from 5 values, 4 x and 1 y: observed 2/5, expected 2*4/(5*4).
    assert (value(found.dimension_kappa), found.dimension_kappa.n) == (0.0, 2)
    # Events of every two: 2 + 2 (two matches), 2 + 2 (one), 2 + 2 (one).
    assert (value(found.events_matched), found.events_matched.n) == (round(8 / 12, 9), 12)


async def test_one_dimension_asks_its_own_questions() -> None:
    ann = clips("ann", [event(0, 4, "cup", dimension="x")], [event(0, 4, "cup", dimension="y")], [])
    bob = clips("bob", [event(0, 2, "cup", dimension="y")], [event(0, 4, "cup", dimension="y")], [])
    found = await measured(*ann, *bob, dimension="y")
    # Any y? ann says no, yes, no; bob yes, yes, no: agree 2/3, chance (1*2 + 2*1) / 9.
    assert value(found.detection_kappa) == round((2 / 3 - 4 / 9) / (1 - 4 / 9), 9)
    # y or not, of two matched events: ann no, yes; bob yes, yes: agree 1/2, chance 1/2.
    assert (value(found.dimension_kappa), found.dimension_kappa.n) == (0.0, 2)
    # Both matches have a y on one side at least; of three events with y, all are matched.
    assert (value(found.tiou), found.tiou.n) == (0.75, 2)
    assert (value(found.events_matched), found.events_matched.n, found.events) == (1.0, 3, 3)
    other = await measured(*ann, *bob, dimension="x")
    assert (value(other.tiou), other.tiou.n, other.events) == (0.5, 1, 1)


async def test_a_dimension_is_asked_about_only_where_all_annotators_looked_for_it() -> None:
    ann = clips("ann", [event(0, 4, dimension="x")], [])
    bob = clips("bob", [event(0, 4, dimension="x")], [])
    ann[1] = replace(ann[1], coverage=looked_for("y"))
    assert (await measured(*ann, *bob, dimension="x")).clips == 1
    assert (await measured(*ann, *bob, dimension="y")).clips == 2


async def test_the_timeline_asks_when_anything_is_wrong_and_not_how_many_events_it_is() -> None:
    ann = clips("ann", [event(0, 4, "cup"), event(2, 6, "hand")])
    bob = clips("bob", [event(0, 6, "cup and hand")])
    assert value((await measured(*ann, *bob)).timeline_alpha) == 1.0
    later = clips("bob", [event(5, 9)])
    # Apart on [0, 5) and [6, 9), 8 of 10 s. Of 20 s 10 are marked, in units of 6 and 4 s, and 10 are gap: places taken
    # at random differ on 2 * 10 * 10 of 20**2 - 6**2 - 4**2.
    assert value((await measured(*ann, *later)).timeline_alpha) == round(1 - 0.8 / (200 / 348), 9)


async def test_a_clip_is_at_least_as_long_as_what_is_marked_in_it_and_one_of_unknown_length_has_no_timeline() -> None:
    ann, bob = clips("ann", [event(0, 12)], [event(0, 4)]), clips("bob", [event(0, 12)], [event(0, 2)])
    assert (await measured(*ann, *bob)).timeline_alpha.n == 2
    unknown = [replace(annotation, duration_s=None) for annotation in (*ann, *bob)]
    assert (await measured(*unknown)).timeline_alpha.why == "no clip's length is known"


async def test_an_unscored_pair_counts_for_all_but_similarity_and_gives_bounds() -> None:
    ann = clips("ann", [event(0, 4, "unreadable")], [event(0, 4, "cup falls")])
    bob = clips("bob", [event(0, 2, "cup")], [event(0, 4, "cup")])
    found = await measured(*ann, *bob)
    assert (value(found.tiou), found.tiou.n) == (0.75, 2)
    assert (value(found.description_similarity), found.description_similarity.n) == (0.5, 1)
    assert (found.unscored, found.bounds) == (1, (0.25, 0.75))


# Which kappa.


async def test_two_annotators_have_cohens_kappa() -> None:
    found, annotation_set = await matches([*clips("ann", [event(0, 1)], []), *clips("bob", [event(0, 1)], [])])
    assert choose_kappas(found, annotation_set.annotators) == KappaChoice("cohen", "cohen")


async def test_three_have_fleiss_kappa_for_clips_and_where_one_missed_an_event_alpha_for_events() -> None:
    seen = event(0, 4, dimension="x")
    ann, bob, eve = (clips(name, [seen], [seen]) for name in ("ann", "bob", "eve"))
    found, annotation_set = await matches([*ann, *bob, *eve])
    assert choose_kappas(found, annotation_set.annotators) == KappaChoice("fleiss", "fleiss")
    eve[1] = replace(eve[1], findings=())
    found, annotation_set = await matches([*ann, *bob, *eve])
    assert choose_kappas(found, annotation_set.annotators) == KappaChoice("fleiss", "krippendorff")


async def test_where_some_clips_have_two_annotators_and_some_three_it_is_alpha() -> None:
    annotations = [*clips("ann", [event(0, 4)], []), *clips("bob", [event(0, 4)], []), *clips("eve", [event(0, 4)])]
    found, annotation_set = await matches(annotations)
    assert choose_kappas(found, annotation_set.annotators).detection == "krippendorff"
    # Five ratings, three yes and two no, no disagreement.
    assert (
        value(measure(found, annotation_set.annotators, KappaChoice("krippendorff", "fleiss"), DRAWING).detection_kappa)
        == 1.0
    )


async def test_seven_annotators_two_a_clip_have_fleiss_kappa() -> None:
    names = [f"p{number}" for number in range(7)]
    annotations = [annotation(names[(clip + more) % 7], f"clip{clip}") for clip in range(7) for more in (0, 1)]
    found, annotation_set = await matches(annotations)
    assert choose_kappas(found, annotation_set.annotators).detection == "fleiss"


# Compared with plain Python.


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("annotators", [2, 3, 4])
async def test_every_number_is_that_of_an_independent_implementation(seed: int, annotators: int) -> None:
    rng = Random(seed)
    annotations = random_accounts(rng, annotators, missing=0.2 if seed % 2 else 0.0)
    found, annotation_set = await matches(annotations)
    for dimension in (None, "x"):
        ours = measure(
            found, annotation_set.annotators, choose_kappas(found, annotation_set.annotators), DRAWING, dimension
        )
        plain = plain_measures(annotation_set, dimension)
        computed = {name: estimate.value for name, estimate in ours.estimates()}
        assert computed.keys() == plain.keys()
        assert all(same(computed[name], plain[name]) for name in computed), (computed, plain)


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or abs(one - other) < 1e-9


def random_accounts(rng: Random, annotators: int, missing: float, clips: int = 6) -> list[ClipAnnotation]:
    annotations = []
    for clip in range(clips):
        truth = [random_event(rng) for _ in range(rng.randrange(4))]
        for number in range(annotators):
            if rng.random() >= missing:
                seen = [slightly_else(rng, event) for event in truth if rng.random() > 0.2]
                extra = [random_event(rng)] if rng.random() < 0.2 else []
                annotations.append(annotation(f"p{number}", f"clip{clip}", *seen, *extra))
    return annotations


WORDS = tuple(f"word{number}" for number in range(60))


def random_event(rng: Random) -> AnnotatedEvent:
    start = rng.randrange(8)
    # Enough words that no two pairs weigh the same: then any right matching is the same matching.
    text = " ".join(rng.sample(WORDS, rng.randint(11, 23)))
    labels = {"dimension": rng.choice(("x", "y", None)), "severity": rng.choice((1, 2, 3, 4, 5, None))}
    return event(start, rng.randint(start + 1, 10), text, **labels)


def slightly_else(rng: Random, event: AnnotatedEvent) -> AnnotatedEvent:
    start = max(0, int(event.spans[0].start) - rng.randrange(2))
    end = min(10, int(event.spans[0].end) + rng.randrange(2))
    words = [word for word in event.description.split() if rng.random() > 0.3] + rng.sample(WORDS, rng.randrange(5))
    dimension = event.dimension if rng.random() > 0.3 else rng.choice(("x", "y", "z"))
    severity = event.severity if rng.random() > 0.5 else rng.randint(1, 5)
    text = " ".join(words) or "nothing"
    return replace(event, spans=(Span(start, end),), description=text, dimension=dimension, severity=severity)


# Intervals.


async def test_intervals_hold_their_value_and_follow_the_seed() -> None:
    annotations = random_accounts(Random(5), 3, 0.0, clips=30)
    found, again = await measured(*annotations), await measured(*annotations)
    other = await measured(*annotations, config=DRAWING.with_(seed=1))
    assert repr(found) == repr(again)
    assert {name: estimate.value for name, estimate in found.estimates()} == {
        name: estimate.value for name, estimate in other.estimates()
    }
    assert found.tiou.low != other.tiou.low
    for name, estimate in found.estimates():
        assert estimate.low <= estimate.value <= estimate.high, name


async def test_events_are_drawn_with_their_clip() -> None:
    # The events of a clip agree with each other and those of two clips do not: the interval is that of two things.
    ann = clips(
        "ann", [event(0, 4, f"w{number}") for number in range(4)], [event(0, 4, f"w{number}") for number in range(4)]
    )
    bob = clips(
        "bob", [event(0, 4, f"w{number}") for number in range(4)], [event(0, 1, f"w{number}") for number in range(4)]
    )
    found = (await measured(*ann, *bob)).tiou
    assert (found.value, found.low, found.high, found.n) == (0.625, 0.25, 1.0, 8)


async def test_clips_are_drawn_within_their_dataset() -> None:
    # One clip a dataset: every resample is the same, and an interval would be an invention.
    ann, bob = clips("ann", [event(0, 4)], [event(0, 4)]), clips("bob", [event(0, 4)], [event(0, 1)])
    no_shared_dimensions = [replace(annotation, fields={"split": annotation.clip_id}) for annotation in (*ann, *bob)]
    found = (await measured(*no_shared_dimensions)).tiou
    assert (found.value, found.why) == (0.625, "every resample gives the same value")
    assert math.isnan(found.low)


# Undefined, with the reason.

NOBODY = "nobody reports an event"
SAME = "all ratings are the same, so agreement cannot be distinguished from chance"
NO_MATCH = "no two annotators report the same event"
ALONE = "no clip has two annotators"
REST = ("dimension_kappa", "tiou", "severity_alpha", "description_similarity", "dimension_cohen")


def reasons(found: AgreementScores) -> Mapping[str, str]:
    return {name: estimate.why for name, estimate in found.estimates() if not estimate.defined}


async def test_one_annotator_has_no_agreement() -> None:
    found = await measured(*clips("ann", [event(0, 4)], []))
    assert set(reasons(found).values()) == {ALONE}
    assert len(reasons(found)) == 9


async def test_no_events_at_all_are_no_perfect_agreement() -> None:
    found = await measured(*clips("ann", [], []), *clips("bob", [], []))
    assert reasons(found) == {
        "detection_kappa": SAME,
        "detection_cohen": SAME,
        "events_matched": NOBODY,
        "timeline_alpha": (
            "everything is marked or nothing is marked, so agreement cannot be distinguished from chance"
        ),
        **dict.fromkeys(REST, NOBODY),
    }


async def test_events_at_different_times_are_no_matched_events() -> None:
    found = await measured(*clips("ann", [event(0, 4)], []), *clips("bob", [event(5, 9)], []))
    assert reasons(found) == dict.fromkeys(REST, NO_MATCH)
    assert (found.events_matched.value, found.detection_kappa.value) == (0.0, 1.0)
    assert found.timeline_alpha.value < 0


async def test_a_constant_rating_is_no_agreement() -> None:
    ann, bob = (clips(name, [event(0, 4, dimension="x")], [event(0, 4, dimension="x")]) for name in ("ann", "bob"))
    constant = ("detection_kappa", "detection_cohen", "dimension_kappa", "dimension_cohen", "severity_alpha")
    assert reasons(await measured(*ann, *bob)) == dict.fromkeys(constant, SAME)


async def test_missing_dimensions_and_severities_are_not_rated() -> None:
    silent = {"dimension": None, "severity": None}
    ann, bob = clips("ann", [event(0, 4, **silent)], []), clips("bob", [event(0, 4, dimension="x")], [])
    found = reasons(await measured(*ann, *bob))
    assert found["dimension_kappa"] == found["dimension_cohen"] == "no unit was rated by both"
    assert found["severity_alpha"] == "nothing was rated twice"
    assert "tiou" not in found


async def test_failed_judgements_alone_are_no_similarity() -> None:
    found = await measured(*clips("ann", [event(0, 4, "unreadable")]), *clips("bob", [event(0, 4)]))
    assert found.description_similarity.why == "no judgement was given"
    assert (found.unscored, found.bounds) == (1, (0.0, 1.0))
    assert found.tiou.value == 1.0


async def test_a_pair_of_annotators_without_a_clip_in_common_leaves_the_mean_of_cohen() -> None:
    ann, bob = clips("ann", [event(0, 4)], []), clips("bob", [event(0, 4)], [])
    eve = [annotation("eve", "clip0", event(0, 4)), annotation("eve", "clip9", event(0, 4)), annotation("pam", "clip9")]
    found = await measured(*ann, *bob, *eve)
    # ann and bob agree; ann and eve, bob and eve share one clip and say the same: undefined; eve and pam disagree: 0.
    assert (found.detection_cohen.value, found.detection_cohen.n) == (0.5, 2)
