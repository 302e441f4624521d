"""What annotators agree on, and what a person must settle."""

from dataclasses import replace

import pytest

from agreement.annotators import WordJudge, annotation, event, looked_for
from robogaze.agreement.adjudication import Adjudication, adjudicate, consensus
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.event_matching import MatchedClip, match_annotators
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span


async def matched(*annotations: ClipAnnotation) -> MatchedClip:
    return (await match_annotators(AnnotationSet.of(annotations).clips, WordJudge(), "iou*similarity", "frames"))[0][0]


async def settled(*events: AnnotatedEvent) -> Adjudication:
    """One event of each of some annotators."""
    annotations = [annotation(name, "a", event) for name, event in zip(("ann", "bob", "eve"), events, strict=False)]
    return adjudicate([await matched(*annotations)], "frames")


async def reasons(*events: AnnotatedEvent) -> list[tuple[str, ...]]:
    return [event.reasons for event in (await settled(*events)).queue]


async def test_what_both_report_alike_is_settled() -> None:
    found = await settled(event(0, 8, "cup falls", dimension="x", type="t"),
                          event(2, 8, "the cup falls", dimension="x", type="t"))  # fmt: skip
    assert found.queue == ()
    (one,) = found.annotations
    assert (one.author, one.clip_id, one.status) == ("consensus", "a", "complete")
    assert one.findings == (
        AnnotatedEvent(
            id="e1", spans=(Span(0, 8),), description="the cup falls", dimension="x", type="t", secondary=(), severity=3
        ),
    )
    assert found.settled == 1


async def test_spans_that_overlap_by_0_6_are_united_and_others_go_to_a_person() -> None:
    assert (await settled(event(0, 6), event(0, 10))).annotations[0].findings[0].spans == (Span(0, 10),)
    assert await reasons(event(0, 4), event(0, 7)) == [("times overlap with an IoU of only 0.57",)]


async def test_where_frames_are_not_known_0_6_is_reached_in_spite_of_rounding() -> None:
    assert (0.7 - 0.4) / 0.5 < 0.6
    ann = annotation("ann", "a", event(0.4, 0.7), frame_times_s=None)
    bob = annotation("bob", "a", event(0.4, 0.9), frame_times_s=None)
    assert adjudicate([await matched(ann, bob)], "exact").queue == ()


async def test_an_event_that_recurs_is_united_over_all_its_times() -> None:
    one = replace(event(0, 3), spans=(Span(0, 3), Span(6, 9)))
    other = replace(event(0, 3), spans=(Span(0, 4), Span(6, 9)))
    assert (await settled(one, other)).annotations[0].findings[0].spans == (Span(0, 4), Span(6, 9))


@pytest.mark.parametrize(
    ("given", "agreed"), [((3, 3), 3), ((3, 4), 4), ((2, 3), 3), ((4, None), 4), ((None, None), None), ((3, 3, 4), 3)]
)
async def test_severities_at_most_1_apart_are_averaged_and_a_half_goes_up(
    given: tuple[int | None, ...], agreed: int | None
) -> None:
    found = await settled(*(event(0, 8, severity=severity) for severity in given))
    assert found.annotations[0].findings[0].severity == agreed


async def test_severities_further_apart_are_rated_again() -> None:
    assert await reasons(event(0, 8, severity=2), event(0, 8, severity=4)) == [("severities differ: ann 2, bob 4",)]
    three = [event(0, 8, severity=severity) for severity in (2, 3, 4)]
    assert await reasons(*three) == [("severities differ: ann 2, bob 3, eve 4",)]


async def test_labels_that_differ_go_to_a_person() -> None:
    x, y = {"dimension": "x", "type": "s"}, {"dimension": "y", "type": "t"}
    assert await reasons(event(0, 8, **x), event(0, 8, **y)) == [("dimensions differ: ann x, bob y",)]
    assert await reasons(event(0, 8, **x), event(0, 8, dimension="x", type="t")) == [("types differ: ann s, bob t",)]


async def test_a_label_given_by_a_single_annotator_is_kept() -> None:
    (one,) = (await settled(event(0, 8, dimension="x", secondary=("z",)), event(0, 8))).annotations
    assert (one.findings[0].dimension, one.findings[0].secondary) == ("x", ("z",))


async def test_what_one_alone_reports_goes_to_a_person_and_the_clip_is_not_finished() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls"), event(6, 9, "hand stops"))
    found = adjudicate([await matched(ann, annotation("bob", "a", event(6, 9, "hand stops")))], "frames")
    assert [(entry.clip_id, entry.events, entry.reasons) for entry in found.queue] == [
        ("a", (("ann", replace(event(0, 4, "cup falls"), id="e1")),), ("not reported by bob",))
    ]
    assert (found.annotations[0].status, len(found.annotations[0].findings)) == ("partial", 1)


async def test_all_reasons_are_listed() -> None:
    found = await reasons(event(0, 8, severity=1, dimension="x"), event(0, 4, severity=5, dimension="y"))
    assert found == [
        (
            "dimensions differ: ann x, bob y",
            "severities differ: ann 1, bob 5",
            "times overlap with an IoU of only 0.50",
        )
    ]


async def test_every_two_of_three_must_overlap() -> None:
    # 0-6 and 4-10 share less than 0.6, though each shares 0.6 with 0-10.
    found = await settled(event(0, 6), event(0, 10), event(4, 10))
    assert [entry.reasons for entry in found.queue] == [("times overlap with an IoU of only 0.20",)]


async def test_a_clip_that_all_find_clean_is_clean() -> None:
    found = adjudicate([await matched(annotation("ann", "a"), annotation("bob", "a"))], "frames")
    assert found.annotations[0].clean
    assert found.queue == ()


# The consensus of some annotators, when there is no person to ask.


async def agreed(*events: tuple[AnnotatedEvent, ...]) -> ClipAnnotation:
    annotations = [
        annotation(name, "a", *event) for name, event in zip(("ann", "bob", "eve", "pam"), events, strict=False)
    ]
    return consensus(await matched(*annotations), "frames")


async def test_the_consensus_holds_what_more_than_half_report() -> None:
    cup, hand = event(0, 4, "cup falls"), event(6, 9, "hand stops")
    assert [event.description for event in (await agreed((cup, hand), (cup,))).findings] == ["cup falls"]
    assert [event.description for event in (await agreed((cup, hand), (cup,), (hand,))).findings] == [
        "cup falls",
        "hand stops",
    ]
    assert [event.description for event in (await agreed((cup, hand), (cup,), (cup, hand), ())).findings] == [
        "cup falls"
    ]


async def test_the_consensus_does_not_say_what_is_in_dispute() -> None:
    (one,) = (
        await agreed((event(0, 8, dimension="x", severity=1),), (event(0, 8, dimension="y", severity=5),))
    ).findings
    assert (one.dimension, one.severity, one.spans) == (None, None, (Span(0, 8),))


async def test_times_that_cannot_be_merged_are_no_consensus() -> None:
    found = await agreed((event(0, 8),), (event(0, 4),))
    assert (found.findings, found.status) == ((), "partial")


async def test_who_agrees_on_nothing_they_report_does_not_call_the_clip_clean() -> None:
    assert not (await agreed((event(0, 4),), ())).clean
    assert (await agreed((), ())).clean


async def test_an_event_of_the_consensus_has_the_name_of_the_event_whose_description_it_keeps() -> None:
    (one,) = (await agreed((event(0, 8, "cup falls"),), (event(0, 8, "the cup falls"),))).findings
    assert (one.id, one.description) == ("bob/e1", "the cup falls")


async def test_a_consensus_covers_what_all_annotators_looked_for_and_is_clean_only_where_that_is_all() -> None:
    one = await matched(
        annotation("ann", "a", coverage=looked_for("x", "y")), annotation("bob", "a", coverage=looked_for("x"))
    )
    (narrow,) = adjudicate([one], "frames").annotations
    assert narrow.coverage == {"x": "examined", "y": "not_examined", "z": "not_examined"}
    assert (narrow.status, narrow.verdict) == ("complete", "undecided")
    (whole,) = adjudicate([await matched(annotation("ann", "a"), annotation("bob", "a"))], "frames").annotations
    assert (whole.coverage, whole.verdict) == (None, "clean")
