"""What the critic accepts with little confidence needs the look at the whole clip, if that look was shown it."""

from typing import Any

from making import make_clip
from stages.hypotheses import make_hypothesis

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.robogaze.confirmation import reject_unconfirmed, unconfirmed_notes

CLIP = make_clip()
SHOWN = frozenset(range(0, CLIP.frame_count, 4))


def hypothesis(name: str, source: str = "propose", **fields: Any) -> Hypothesis:
    evidence = (Evidence(text="nothing is under it", frames=(16,), source=source),)
    known = {"confidence": 0.6, "evidence": evidence, "verdict": "accepted", "reason": "it can be seen"}
    return make_hypothesis(name, **{**known, "proposed_by": source, **fields})


def rejected(
    *hypotheses: Hypothesis, shown: frozenset[int] | None = SHOWN, decided: tuple[str, ...] = ("H1", "H2")
) -> tuple[Hypothesis, ...]:
    return reject_unconfirmed(hypotheses, decided, CLIP, shown, 0.7)


def verdicts(*hypotheses: Hypothesis, shown: frozenset[int] | None = SHOWN) -> list[str]:
    return [after.verdict for after in rejected(*hypotheses, shown=shown)]


def test_what_only_a_specialist_reports_is_rejected_below_the_confidence() -> None:
    (after,) = rejected(hypothesis("H1"))
    assert (after.verdict, after.confidence) == ("rejected", 0.6), "the confidence stays, for other thresholds"
    assert after.reason == (
        "accepted with confidence 0.60, but confidence 0.70 is needed if the look at the whole clip was shown frames "
        "of this fault but did not report it: it can be seen"
    )


def test_what_is_plain_needs_no_confirmation() -> None:
    assert verdicts(hypothesis("H1", confidence=0.7)) == ["accepted"]


def test_the_look_at_the_whole_clip_confirms_itself_and_what_it_is_merged_into() -> None:
    assert verdicts(hypothesis("H1", "direct")) == ["accepted"]
    merged = hypothesis("H2", "direct", verdict="merged", merged_into="H1")
    assert verdicts(hypothesis("H1"), merged) == ["accepted", "merged"]


def test_a_look_that_was_merged_by_way_of_another_claim_confirms_too() -> None:
    between = hypothesis("H2", verdict="merged", merged_into="H1")
    look = hypothesis("H3", "direct", verdict="merged", merged_into="H2")
    assert verdicts(hypothesis("H1"), between, look) == ["accepted", "merged", "merged"]


def test_a_fault_between_the_frames_that_the_look_was_shown_needs_no_confirmation() -> None:
    step_s = CLIP.frame_times_s[1]
    between = hypothesis("H1", spans=(Span(5 * step_s, 9 * step_s),))
    assert len(SHOWN & {5, 6, 7, 8}) == 1
    assert verdicts(between) == ["accepted"]


def test_without_a_look_at_the_whole_clip_nothing_changes() -> None:
    assert verdicts(hypothesis("H1"), shown=None) == ["accepted"]


def test_what_is_rejected_stays_as_it_is() -> None:
    before = hypothesis("H1", verdict="rejected", confidence=0.3)
    assert rejected(before) == (before,)


def test_what_the_look_reports_at_an_overlapping_time_is_confirmed_though_it_was_not_merged() -> None:
    look = hypothesis("H2", "direct", spans=(Span(1.8, 3.0),), verdict="rejected", confidence=0.45)
    assert verdicts(hypothesis("H1"), look) == ["accepted", "rejected"]
    other = hypothesis("H2", "direct", type="object_teleportation", verdict="rejected", confidence=0.45)
    assert verdicts(hypothesis("H1"), other) == ["rejected", "rejected"]


def test_what_an_earlier_stage_accepted_is_not_the_critics() -> None:
    before = hypothesis("H1")
    assert rejected(before, decided=()) == (before,)


def test_the_report_names_what_was_rejected_for_want_of_confirmation() -> None:
    before = [hypothesis("H1"), hypothesis("H2", confidence=0.9)]
    (note,) = unconfirmed_notes(before, rejected(*before), 0.7)
    assert note.startswith(
        "Rejected: H1 (object_floating, 0.60). The critic accepted these claims with a confidence under 0.70, but the "
        "look at the whole clip did not report them."
    )
    assert unconfirmed_notes(before, before, 0.7) == ()
