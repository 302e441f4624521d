"""Which prompts changed, and which of them deserve a look."""

from typing import Any

from checkpoints import PIXELS, annotation, event

from robogaze.comparison.flips import Flip, flips_between
from robogaze.core.annotation import AnnotatedEvent


def flip(before: list[AnnotatedEvent], after: list[AnnotatedEvent], **said: Any) -> Flip | None:
    found = flips_between({"p": (annotation("new-p", *after, **said), annotation("old-p", *before))}).found
    return found[0] if found else None


def kind(before: list[AnnotatedEvent], after: list[AnnotatedEvent]) -> str | None:
    found = flip(before, after)
    return found and found.kind


def test_each_kind() -> None:
    shift, hole, severe = event("colour_shift", 2), event("shape_hole", 2), event("colour_shift", 5)
    assert kind([], []) is None
    assert kind([], [shift]) == "new"
    assert kind([shift], []) == "fixed"
    assert kind([shift], [severe]) == "worse"
    assert kind([severe], [shift]) == "better"
    assert kind([shift], [shift, hole]) == "worse"
    assert kind([shift], [shift]) is None


def test_of_the_same_load_another_type_is_neither_worse_nor_better() -> None:
    assert kind([event("colour_shift", 2)], [event("shape_hole", 2)]) == "changed"


def test_events_without_a_severity_are_counted() -> None:
    shift, hole = event("colour_shift", None), event("shape_hole", None)
    assert kind([shift], [shift, hole]) == "worse"
    assert kind([shift, hole], [shift]) == "better"


def test_gained_and_lost_types_are_listed_most_severe_first() -> None:
    found = flip(
        [event("colour_shift", 4), event("colour_cast", 1)],
        [event("shape_hole", 2), event("shape_bend", 5), event("colour_cast", 1)],
    )
    assert found is not None
    assert found.gained == (("shape_bend", 5), ("shape_hole", 2))
    assert found.lost == (("colour_shift", 4),)
    assert (found.before, found.after, found.load) == ("old-p", "new-p", (5, 8))


def test_new_severe_ones_come_first_then_what_grew_worse_then_what_grew_better() -> None:
    mild, severe = event("colour_shift", 2), event("shape_hole", 5)
    clips = {
        "fixed": (annotation("a-1"), annotation("b-1", severe)),
        "worse": (annotation("a-2", mild, mild), annotation("b-2", mild)),
        "mild": (annotation("a-3", mild), annotation("b-3")),
        "severe": (annotation("a-4", severe), annotation("b-4")),
        "hidden": (annotation("a-5", severe), annotation("b-5", mild, mild, mild)),
    }
    assert [clip.prompt for clip in flips_between(clips).found] == ["severe", "hidden", "mild", "worse", "fixed"]


def test_a_clip_that_is_not_complete_is_unknown_until_something_is_found() -> None:
    shift = event("colour_shift")
    clips = {
        "unscored": (annotation("a-1", status="unscored"), annotation("b-1", shift)),
        "not fixed": (annotation("a-2", status="partial"), annotation("b-2", shift)),
        "new": (annotation("a-3", shift, status="partial"), annotation("b-3")),
        "same": (annotation("a-4"), annotation("b-4")),
    }
    found = flips_between(clips)
    assert found.counts == {"new": 1, "worse": 0, "changed": 0, "better": 0, "fixed": 0, "same": 1, "unknown": 2}


def test_an_undecided_clip_in_which_nothing_was_found_is_known() -> None:
    shift = event("colour_shift")
    clips = {"fixed": (annotation("a-1", coverage=PIXELS), annotation("b-1", shift, coverage=PIXELS))}
    assert flips_between(clips).counts["fixed"] == 1
