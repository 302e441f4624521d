"""The critic: what it decides, what stays open, and that nothing undecided is accepted."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import make_clip, scripted
from stages.hypotheses import make_hypothesis as hypothesis

from robogaze.backends import ModelConfig
from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack, Window, WindowObservation
from robogaze.core.events import Box, Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.media.compose import decode_image
from robogaze.stages.robogaze.claim_sheets import ClaimPlace, grouped, place_of
from robogaze.stages.robogaze.verify import Verify


def decision(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {
        "verified_evidence": "a gap under the cup",
        "frames": [16],
        "rationale": "it can be seen",
        "decision": "ACCEPT",
        "merge_with": None,
        "primary_dimension": None,
        "type": None,
        "refined_span_s": [1.0, 2.0],
        "severity": 3,
        "confidence": 0.9,
        **fields,
    }


def rejection(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return decision(
        name,
        **{"decision": "REJECT", "frames": [], "severity": None, "confidence": 0.1, **fields},
    )


def merge(name: str, into: str | None, **fields: Any) -> tuple[str, dict[str, Any]]:
    return decision(name, **{"decision": "MERGE", "merge_with": into, "severity": None, **fields})


def reply(*decisions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"reply": {"decisions": dict(decisions)}}


async def judge(client_for: Any, hypotheses: list[Hypothesis], *lines: dict[str, Any], **parameters: Any) -> Any:
    models, backend = scripted(*lines)
    client, context = client_for(models, hypotheses=tuple(hypotheses))
    context = await Verify(**parameters).run(context, client)
    return {hypothesis.id: hypothesis for hypothesis in context.hypotheses}, context, client, backend


def undecided(context: Any) -> set[str]:
    """What the report's failures say of hypotheses that were left undecided."""
    found = [failure for failure in context.failures if failure.kind == "undecided"]
    assert all((failure.stage, failure.dimension) == ("verify", "physical_plausibility") for failure in found)
    return {failure.message for failure in found}


async def test_accept_takes_the_critics_severity_confidence_span_and_evidence(client_for: Any) -> None:
    said = decision("H1", refined_span_s=[1.0, 2.2], severity=5, confidence=0.7)
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert after["H1"].verdict == "accepted"
    assert after["H1"].spans == (Span(1.0, 2.2),)
    assert (after["H1"].severity, after["H1"].confidence) == (5, 0.7)
    assert [piece.source for piece in after["H1"].evidence] == ["verify", "propose"]


async def test_reject_keeps_the_hypothesis_with_the_reason(client_for: Any) -> None:
    said = rejection("H1", rationale="the hand hides it")
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert (after["H1"].verdict, after["H1"].reason) == ("rejected", "the hand hides it")


async def test_an_accept_below_the_least_confidence_stays_among_the_hypotheses(client_for: Any) -> None:
    said = decision("H1", confidence=0.49, frames=[31], refined_span_s=[1.5, 2.0], severity=5)
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert (after["H1"].verdict, after["H1"].confidence) == ("rejected", 0.49)
    assert after["H1"].spans == (Span(1.5, 2.0),), "as it would be reported at a lower threshold"
    assert after["H1"].severity == 5
    assert "confidence 0.49, under 0.50" in after["H1"].reason
    assert context.failures == (), "it does not leave the clip undecided"


async def test_the_threshold_is_not_in_the_prompt(client_for: Any) -> None:
    prompts = []
    for threshold in (0.3, 0.7):
        _, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(decision("H1")), min_confidence=threshold)
        prompts.append(backend.asked[0].parts[-1])
    assert prompts[0] == prompts[1]


CONTRADICTIONS = [
    ({"frames": []}, "H1: ACCEPT needs frames"),
    ({"refined_span_s": None}, "refined_span_s"),
    ({"decision": "REJECT", "confidence": 1.0}, "H1: REJECT says that the fault is not there, and confidence 1"),
    ({"decision": "REJECT", "confidence": 0.5}, "H1: REJECT says that the fault is not there, and confidence 0.5"),
]


@pytest.mark.parametrize(("fields", "says"), CONTRADICTIONS)
async def test_a_contradiction_is_sent_back(client_for: Any, fields: Any, says: str) -> None:
    lines = [reply(decision("H1", **fields)), reply(decision("H1"))]
    after, context, _, backend = await judge(client_for, [hypothesis("H1")], *lines)
    assert (after["H1"].verdict, context.failures) == ("accepted", ())
    assert says in str(backend.asked[1].parts[-1])


async def test_a_contradiction_that_lasts_decides_nothing(client_for: Any) -> None:
    fields, says = CONTRADICTIONS[0]
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], *[reply(decision("H1", **fields))] * 3)
    assert after["H1"].verdict == "unverified"
    assert says in after["H1"].reason
    assert undecided(context)


async def test_a_chain_of_merges_ends_at_an_accepted_hypothesis(client_for: Any) -> None:
    said = reply(decision("H1"), merge("H3", "H2"), merge("H2", "H1"))
    after, _, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2"), hypothesis("H3")], said)
    assert after["H3"].merged_into == "H1"


OTHER = {"dimension": "object_scene_consistency", "type": "object_distortion"}


async def test_a_merge_across_dimensions_is_sent_back(client_for: Any) -> None:
    lines = [reply(decision("H1"), merge("H2", "H1")), reply(decision("H1"), decision("H2"))]
    after, _, _, backend = await judge(client_for, [hypothesis("H1"), hypothesis("H2", **OTHER)], *lines)
    assert after["H2"].verdict == "accepted"
    assert (
        "decisions.H2: H2 is of object_scene_consistency and H1 of physical_plausibility: claims of different "
        "dimensions are never merged" in str(backend.asked[1].parts[-1])
    )


async def test_the_dimension_that_the_critic_names_counts_for_a_merge(client_for: Any) -> None:
    moved = {"primary_dimension": OTHER["dimension"], "type": OTHER["type"]}
    claims = [hypothesis("H1", **OTHER), hypothesis("H2")]
    after, _, _, _ = await judge(client_for, claims, reply(decision("H1"), merge("H2", "H1", **moved)))
    assert (after["H2"].merged_into, after["H2"].dimension) == ("H1", OTHER["dimension"])
    lines = [reply(decision("H1", **moved), merge("H2", "H1")), reply(decision("H1", **moved), decision("H2"))]
    after, _, client, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], *lines)
    assert after["H2"].verdict == "accepted"
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]


async def test_the_first_papers_critic_merges_across_dimensions(client_for: Any) -> None:
    said = reply(decision("H1"), merge("H2", "H1"))
    claims = [hypothesis("H1"), hypothesis("H2", **OTHER)]
    after, _, _, backend = await judge(client_for, claims, said, merge_across_dimensions=True)
    assert after["H2"].merged_into == "H1"
    assert "the same physical event" in str(backend.asked[0].parts[-1])


async def test_claims_that_share_no_time_are_not_the_same(client_for: Any) -> None:
    lines = [reply(decision("H1"), merge("H2", "H1")), reply(decision("H1"), rejection("H2"))]
    claims = [hypothesis("H1", 0, 1), hypothesis("H2", 2.5, 3)]
    after, _, _, backend = await judge(client_for, claims, *lines)
    assert after["H2"].verdict == "rejected"
    assert "decisions.H2: H2 and H1 share no time" in str(backend.asked[1].parts[-1])


async def test_two_halves_of_a_fault_are_merged(client_for: Any) -> None:
    said = reply(decision("H1", refined_span_s=[1.0, 3.0]), merge("H2", "H1"))
    after, _, _, backend = await judge(client_for, [hypothesis("H1", 1, 2), hypothesis("H2", 2, 3)], said)
    assert (after["H1"].spans, after["H2"].merged_into) == ((Span(1.0, 3.0),), "H1")
    assert len(backend.asked) == 1


async def test_the_same_claim_as_one_with_too_little_confidence_is_merged_into_it(client_for: Any) -> None:
    said = reply(decision("H1", confidence=0.4), merge("H2", "H1"))
    after, context, _, backend = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], said)
    assert (after["H1"].verdict, after["H2"].verdict, after["H2"].merged_into) == ("rejected", "merged", "H1")
    assert (len(backend.asked), context.failures) == (1, ())


async def test_what_the_critic_leaves_out_is_asked_once_more_and_then_unverified(client_for: Any) -> None:
    lines = [reply(decision("H1")), reply()]
    after, context, _, backend = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], *lines)
    assert after["H1"].verdict == "accepted"
    assert after["H2"].verdict == "unverified"
    assert after["H2"].reason == "the critic gave no decision on this hypothesis"
    assert undecided(context) == {"H2 (object_floating) is undecided: the critic gave no decision on this hypothesis"}
    assert len(backend.asked) == 2
    assert "H2: the cup" in str(backend.asked[1].parts[-1])


async def test_a_second_round_is_no_repetition_of_the_first(client_for: Any) -> None:
    """With nothing decided the prompt is the same; a cache must not answer it with what the critic said before."""
    _, _, client, backend = await judge(client_for, [hypothesis("H1")], reply(), reply(decision("H1")))
    first, second = (request.key(backend.identity) for request in backend.asked)
    assert first != second
    assert [call.key for call in client.calls] == [first, second]


@pytest.mark.parametrize("into", ["H1", "H3"], ids=["into one that was rejected", "in a circle"])
async def test_a_merge_without_an_accepted_target_is_requested_again(client_for: Any, into: str) -> None:
    first = reply(rejection("H1"), merge("H2", into), merge("H3", "H2"))
    again = reply(decision("H2"), merge("H3", "H2"))
    after, _, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2"), hypothesis("H3")], first, again)
    assert after["H2"].verdict == "accepted"
    assert (after["H3"].verdict, after["H3"].merged_into) == ("merged", "H2")


async def test_a_merge_into_one_that_is_never_accepted_stays_undecided(client_for: Any) -> None:
    lines = [reply(rejection("H1"), merge("H2", "H1")), reply()]
    after, context, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], *lines)
    assert after["H2"].verdict == "unverified"
    assert len(undecided(context)) == 1


async def test_a_span_whose_new_edges_were_not_shown_is_verified_again(client_for: Any) -> None:
    #   claimed 1-2 s, refined to 3-3.5 s: its sheet showed neither frame 48 nor frame 56
    first = decision("H1", refined_span_s=[3.0, 3.5])
    second = decision("H1", refined_span_s=[3.0, 3.6], frames=[48])
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(first), reply(second))
    assert after["H1"].spans == (Span(3.0, 3.6),)
    assert len(backend.asked) == 2
    assert not {47, 48, 55, 56} & set(sheets(backend.asked[0])["H1"])
    assert {47, 48, 55, 56} <= set(sheets(backend.asked[1])["H1"])
    assert [piece.source for piece in after["H1"].evidence] == ["verify", "propose"], "that of the last look"


@pytest.mark.parametrize(
    "span", [[1.0, 1.125], [1.0, 2.5]], ids=["its edges are on the sheet", "it is mostly the claimed one"]
)
async def test_another_span_is_taken_without_another_round(client_for: Any, span: list[float]) -> None:
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(decision("H1", refined_span_s=span)))
    assert after["H1"].spans == (Span(*span),)
    assert len(backend.asked) == 1


async def test_the_claimed_time_as_printed_is_the_claimed_span(client_for: Any) -> None:
    spans = (Span(0.3125, 0.5), Span(1.0, 1.6875))
    said = reply(decision("H1", refined_span_s=[0.31, 1.69]))
    after, _, _, _ = await judge(client_for, [hypothesis("H1", spans=spans)], said)
    assert after["H1"].spans == spans, "a pause between two spans is kept"


async def test_a_span_without_any_of_the_cited_frames_is_sent_back(client_for: Any) -> None:
    #   16 frames a second: frame 31 is at 1.94 s, which lies outside 1.0 to 1.5 s
    first = reply(decision("H1", frames=[31], refined_span_s=[1.0, 1.5]))
    second = reply(decision("H1", frames=[16, 31], refined_span_s=[1.0, 1.5]))
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], first, second)
    assert "none of the cited frames, 31 (1.94 s), lies within refined_span_s [1.0, 1.5]" in backend.asked[1].parts[-1]
    assert after["H1"].spans == (Span(1.0, 1.5),)


async def test_two_rounds_are_the_most(client_for: Any) -> None:
    moving = [reply(decision("H1", refined_span_s=[start, start + 0.3], frames=[0])) for start in (3, 0.2, 2)]
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], *moving)
    assert len(backend.asked) == 2
    assert after["H1"].spans == (Span(0.2, 0.5),)


async def test_no_hypothesis_asks_nobody(client_for: Any) -> None:
    _, _, _, backend = await judge(client_for, [hypothesis("H1", verdict="rejected", reason="weak")])
    assert backend.asked == []


async def test_without_an_answer_of_the_critic_everything_is_unverified_with_a_failure(client_for: Any) -> None:
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], {"error": {"kind": "refused"}})
    assert after["H1"].verdict == "unverified"
    assert after["H1"].reason.startswith("the critic did not answer: ")
    assert [(failure.stage, failure.kind) for failure in context.failures] == [
        ("verify", "undecided"),
        ("verify", "refused"),
    ]


async def test_what_is_left_out_of_the_last_round_is_a_failure_with_its_reason(client_for: Any) -> None:
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], reply(), max_rounds=1)
    assert after["H1"].reason == "the critic gave no decision on this hypothesis"
    assert len(undecided(context)) == 1


@pytest.mark.parametrize(
    "broken",
    [
        reply(decision("H9")),
        reply(decision("H1", frames=[63, 999])),
        reply(decision("H1", refined_span_s=[2.0, 1.0])),
        reply(decision("H1", refined_span_s=[0.0, 99.0])),
        reply(decision("H1", type="blur", primary_dimension="physical_plausibility")),
        reply(decision("H1", type="blur")),
        reply(decision("H1", severity=6)),
        {"text": '{"decisions": {"H1": {}, "H1": {}}}'},
        reply(merge("H1", "H1")),
        reply(merge("H1", None)),
        {"reply": {"rejected": ["H1"]}},
        {"reply": ["H1"]},
        {"text": "{}"},
    ],
)
async def test_an_answer_that_breaks_the_contract_is_sent_back(client_for: Any, broken: Any) -> None:
    after, _, client, _ = await judge(client_for, [hypothesis("H1")], broken, reply(decision("H1")))
    assert after["H1"].verdict == "accepted"
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]


async def test_the_critic_may_move_a_claim_to_another_type(client_for: Any) -> None:
    said = decision("H1", type="blur", primary_dimension="visual_quality")
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert (after["H1"].dimension, after["H1"].type) == ("visual_quality", "blur")


# What the critic is shown.


def sheets(request: Any) -> dict[str, tuple[int, ...]]:
    """The frames of each claim sheet of a request, by claim."""
    pictures = [image.picture for image in request.images]
    return {picture.id.split("_")[1]: picture.frames for picture in pictures if picture.id.startswith("K_")}


async def test_the_critic_is_shown_the_ends_of_the_clip_and_a_sheet_for_each_claim(client_for: Any) -> None:
    claims = [hypothesis("H1"), hypothesis("H2", 0, 4)]
    _, _, _, backend = await judge(client_for, claims, reply(decision("H1"), rejection("H2")))
    (request,) = backend.asked
    assert [image.picture.frames for image in request.images[:2]] == [(0,), (63,)]
    assert list(sheets(request)) == ["H1", "H2"]
    assert {0, 15, 16, 31, 32, 63} <= set(sheets(request)["H1"])
    assert len(sheets(request)["H1"]) == 16


async def test_the_sheet_is_evidence_and_a_picture_of_the_report(client_for: Any) -> None:
    said = reply(decision("H1"), rejection("H2"))
    after, _, client, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], said)
    for found in after.values():
        (seen,) = (evidence for evidence in found.evidence if evidence.source == "verify")
        shown = client.pictures[seen.picture]
        assert shown.frames[0] == 0
        stored = decode_image(bytes(client.decoded_clip.evidence_pictures[seen.picture]), "evidence")
        assert max(stored.shape) == min(max(shown.width, shown.height), 1200)
        assert stored.shape[1] / stored.shape[0] == pytest.approx(shown.width / shown.height, abs=0.01)


def boxed(frame: int, view: str | None = None, left: float = 0.0) -> Evidence:
    box = Box(left=left, top=0.5, right=left + 0.25, bottom=1.0)
    return Evidence(text="", frames=(frame,), view=view, box=box, source="propose")


CUP = ObjectTrack(name="cup", view="main", boxes={0: Box(left=0.5, top=0, right=1, bottom=0.5)})
CUP_LID = ObjectTrack(name="cup lid", view="main", boxes={3: Box(left=0, top=0, right=0.5, bottom=0.5)})
POT = ObjectTrack(name="pot", view="main", boxes={0: Box(left=0, top=0, right=1, bottom=1)})


HERE, THERE = boxed(16), boxed(20, left=0.5)
PLACES = {
    "a box": (hypothesis("H1", evidence=(HERE,)), ClaimPlace("main", {16: HERE.box})),
    "boxes": (hypothesis("H1", evidence=(HERE, THERE)), ClaimPlace("main", {16: HERE.box, 20: THERE.box})),
    "a view that the clip does not have": (
        hypothesis("H1", evidence=(boxed(16, "wrist"),)), ClaimPlace("main", CUP.boxes)
    ),
    "a tracked object": (hypothesis("H1"), ClaimPlace("main", CUP.boxes)),
    "the longer name": (hypothesis("H1", description="The Cup lid is gone"), ClaimPlace("main", CUP_LID.boxes)),
    "no such object": (hypothesis("H1", description="The cupboard is gone"), ClaimPlace("main")),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "place"), PLACES.values(), ids=PLACES)
def test_where_a_claim_is_seen(claim: Hypothesis, place: ClaimPlace) -> None:
    assert place_of(claim, (POT, CUP, CUP_LID), make_clip()) == place


def test_a_box_of_a_tracked_object_is_followed() -> None:
    moving = {frame: Box(left=frame / 100, top=0.5, right=frame / 100 + 0.25, bottom=0.95) for frame in (0, 8, 16, 24)}
    ball = ObjectTrack(name="ball", view="main", boxes={**moving, 16: Box(left=0.05, top=0.5, right=0.3, bottom=0.95)})
    place = place_of(hypothesis("H1", evidence=(HERE,)), (POT, ball), make_clip())
    assert place == ClaimPlace("main", {**ball.boxes, 16: HERE.box})
    elsewhere = ball.with_(boxes={16: Box(left=0.2, top=0.5, right=0.45, bottom=0.95)})
    assert place_of(hypothesis("H1", evidence=(HERE,)), (elsewhere,), make_clip()) == ClaimPlace("main", {16: HERE.box})
    other_view = ball.with_(view="wrist")
    assert place_of(hypothesis("H1", evidence=(HERE,)), (other_view,), make_clip()) == ClaimPlace(
        "main", {16: HERE.box}
    )


def test_a_box_of_several_views_needs_its_view() -> None:
    clip = make_clip(layout=Layout.parse("1x2:left,right"))
    assert place_of(hypothesis("H1", evidence=(boxed(16),)), (), clip) == ClaimPlace()
    assert place_of(hypothesis("H1", evidence=(boxed(16, "right"),)), (), clip) == ClaimPlace(
        "right", {16: boxed(16).box}
    )


async def test_the_critic_is_not_shown_what_the_specialists_thought(client_for: Any) -> None:
    seen = WindowObservation(
        window=Window(id=0, span=Span(0, 4), frames=(0,)), notes={"hand": "open"}, suspicions=("the cup bends",)
    )
    texts = {}
    for shown in (False, True):
        models, backend = scripted(reply(decision("H1")))
        client, context = client_for(models, hypotheses=(hypothesis("H1", confidence=0.83),), observations=(seen,))
        await Verify(show_proposals=shown).run(context, client)
        texts[shown] = "\n".join(part for part in backend.asked[0].parts if isinstance(part, str))
    for secret in ("0.83", "nothing is under it", "the cup bends"):
        assert (secret in texts[False], secret in texts[True]) == (False, True)
    assert '"hand": "open"' in texts[False]


async def test_the_critic_is_given_the_claimed_types_and_those_they_are_confused_with(
    client_for: Any, robot: Domain
) -> None:
    _, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(decision("H1")))
    text, claimed = str(backend.asked[0].parts[-1]), robot.types["object_floating"]
    for kind in (claimed, *(robot.types[confusion.type] for confusion in claimed.confused_with)):
        assert f"- {kind.id} ({robot.dimension_of[kind.id]}): {kind.definition}" in text
        assert f"Span ({kind.span.covers}). Start: {kind.span.starts}. End: {kind.span.ends}." in text
    assert robot.types["blur"].definition not in text


# Many claims.


def few_pictures(most: int) -> ModelConfig:
    return ModelConfig(kind="scripted", max_pictures=most, frames="uniform 2")


async def judge_with(
    client_for: Any, most: int, hypotheses: list[Hypothesis], *lines: dict[str, Any], **parameters: Any
) -> Any:
    models, backend = scripted(*lines, config=few_pictures(most))
    client, context = client_for(models, hypotheses=tuple(hypotheses))
    context = await Verify(**parameters).run(context, client)
    return {hypothesis.id: hypothesis for hypothesis in context.hypotheses}, context, client, backend


async def test_fourteen_claims_are_split_over_parallel_requests(client_for: Any) -> None:
    claims = [hypothesis(f"H{number}", number / 4, number / 4 + 0.2) for number in range(14)]
    span = {claim.id: [claim.onset_s, claim.offset_s] for claim in claims}
    groups = [[f"H{number}" for number in range(first, min(first + 6, 14))] for first in (0, 6, 12)]
    lines = []
    for part, group in enumerate(groups, start=1):
        decisions = (
            decision(name, frames=[math.ceil(span[name][0] * 16)], refined_span_s=span[name]) for name in group
        )
        lines.append({"when": {"subject": f"round 1, part {part} of 3"}, **reply(*decisions)})
    after, context, client, backend = await judge_with(client_for, 8, claims, *lines)
    assert {found.verdict for found in after.values()} == {"accepted"}
    assert (len(backend.asked), client.usage().rounds, context.failures) == (3, 1, ())
    assert [list(sheets(request)) for request in backend.asked] == groups
    assert all(len(request.images) <= 8 for request in backend.asked)


async def test_a_request_without_an_answer_leaves_only_its_own_claims_undecided(client_for: Any) -> None:
    claims = [hypothesis("H1", 0, 1), hypothesis("H2", 2, 3)]
    lines = [
        {"when": {"subject": "round 1, part 1 of 2"}, "error": {"kind": "refused"}},
        {"when": {"subject": "round 1, part 2 of 2"}} | reply(decision("H2", refined_span_s=[2.0, 3.0], frames=[32])),
    ]
    after, context, _, _ = await judge_with(client_for, 3, claims, *lines)
    assert (after["H1"].verdict, after["H2"].verdict) == ("unverified", "accepted")
    assert after["H1"].reason.startswith("the critic did not answer: ")
    assert [failure.kind for failure in context.failures] == ["undecided", "refused"]


@pytest.mark.parametrize("most", [2, 3])
async def test_a_model_with_room_for_few_pictures_is_shown_one_sheet_at_a_time(client_for: Any, most: int) -> None:
    claims = [hypothesis("H1"), hypothesis("H2")]
    lines = [reply(rejection("H1")), reply(rejection("H2"))]
    _, context, _, backend = await judge_with(client_for, most, claims, *lines)
    assert [(list(sheets(request)), len(request.images)) for request in backend.asked] == [
        (["H1"], most),
        (["H2"], most),
    ]
    assert context.failures == ()


def names(groups: tuple[tuple[Hypothesis, ...], ...]) -> list[list[str]]:
    return [[claim.id for claim in group] for group in groups]


def test_claims_that_overlap_share_a_request() -> None:
    claims = [hypothesis("H1", 0, 1), hypothesis("H2", 2, 3), hypothesis("H3", 0.5, 1.5), hypothesis("H4", 2.5, 3.5)]
    assert names(grouped(claims, 2)) == [["H1", "H3"], ["H2", "H4"]]
    assert names(grouped(claims, 3)) == [["H1", "H3"], ["H2", "H4"]]
    assert names(grouped(claims, 4)) == [["H1", "H2", "H3", "H4"]]
    assert grouped([], 4) == ()


def test_where_too_many_overlap_those_of_one_dimension_share_a_request() -> None:
    claims = [hypothesis("H1"), hypothesis("H2", **OTHER), hypothesis("H3"), hypothesis("H4", **OTHER)]
    assert names(grouped(claims, 2)) == [["H1", "H3"], ["H2", "H4"]]
    assert names(grouped(claims, 1)) == [["H1"], ["H3"], ["H2"], ["H4"]]


@given(
    times=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.booleans()), max_size=20), most=st.integers(1, 8)
)
def test_no_claim_is_dropped_and_none_is_asked_about_twice(times: list[tuple[int, int, bool]], most: int) -> None:
    claims = [
        hypothesis(f"H{number}", start, start + length, **(OTHER if other else {}))
        for number, (start, length, other) in enumerate(times)
    ]
    groups = grouped(claims, most)
    assert all(1 <= len(group) <= most for group in groups)
    assert sorted(name for group in names(groups) for name in group) == sorted(claim.id for claim in claims)


# The first paper's critic.


async def test_without_claim_sheets_the_critic_is_shown_the_clip_and_close_ups(client_for: Any) -> None:
    said = reply(decision("H1", refined_span_s=None))
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], said, claim_sheets=False)
    numbers = [shot.picture.frames[0] for shot in backend.asked[0].images]
    overview, closer = numbers[:16], numbers[16:]
    assert overview == list(range(0, 64, 4))
    assert closer == [17, 18, 19, 21, 22, 23, 25, 26, 27, 29, 30, 31]
    assert after["H1"].spans == (Span(1.0, 2.0),)
    assert after["H1"].evidence[0].picture is None


def placed(left: float, view: str = "main") -> tuple[Evidence, ...]:
    box = Box(left=left, top=0.1, right=left + 0.2, bottom=0.3)
    return (Evidence(text="", frames=(16,), view=view, box=box, source="propose"),)


async def test_a_claim_of_several_specialists_is_decided_once(client_for: Any) -> None:
    claims = [
        hypothesis("H1", proposed_by="sample 1", confidence=None, evidence=placed(0.1)),
        hypothesis("H2", 1.0, 2.1, proposed_by="specialist a", confidence=0.9, evidence=placed(0.12)),
        hypothesis("H3", 0.9, 2.0, proposed_by="specialist b", confidence=0.6, evidence=placed(0.1)),
    ]
    after, _, _, backend = await judge(client_for, claims, reply(decision("H2")))
    assert [(after[name].verdict, after[name].merged_into) for name in ("H1", "H2", "H3")] == [
        ("merged", "H2"),
        ("accepted", None),
        ("merged", "H2"),
    ]
    assert list(backend.asked[0].schema["$defs"]["DecisionsByKey"]["properties"]) == ["H2"]


@pytest.mark.parametrize(
    "other",
    [
        {"proposed_by": "specialist a"},
        {"spans": (Span(3.0, 4.0),)},
        {"type": "object_teleportation"},
        {"evidence": placed(0.6)},
        {"evidence": placed(0.28)},
        {"evidence": placed(0.1, view="wrist")},
        {"evidence": ()},
    ],
    ids=[
        "from one answer",
        "at another time",
        "of another type",
        "at another place",
        "beside it",
        "in another view",
        "without a place",
    ],
)
async def test_claims_that_may_be_of_different_things_are_decided_apart(client_for: Any, other: dict[str, Any]) -> None:
    claims = [
        hypothesis("H1", proposed_by="specialist a", evidence=placed(0.1)),
        hypothesis("H2", **{"proposed_by": "specialist b", "evidence": placed(0.1), **other}),
    ]
    spans = {"refined_span_s": [3.0, 4.0], "frames": [52]} if "spans" in other else {}
    after, *_ = await judge(client_for, claims, reply(decision("H1"), decision("H2", **spans)), max_rounds=1)
    assert {name: claim.merged_into for name, claim in after.items()} == {"H1": None, "H2": None}


async def test_what_was_merged_before_the_critic_has_the_labels_that_it_decides(client_for: Any) -> None:
    claims = [
        hypothesis("H1", proposed_by="specialist a", confidence=0.9, evidence=placed(0.1)),
        hypothesis("H2", proposed_by="specialist b", confidence=0.5, evidence=placed(0.1)),
    ]
    relabelled = decision("H1", primary_dimension="task_progress", type="failed_grasp")
    after, *_ = await judge(client_for, claims, reply(relabelled))
    assert {claim.type for claim in after.values()} == {"failed_grasp"}
    assert {claim.dimension for claim in after.values()} == {"task_progress"}, "no event belongs to a second one for it"


async def test_every_claim_goes_to_the_critic_without_a_least_overlap(client_for: Any) -> None:
    claims = [
        hypothesis("H1", proposed_by="specialist a", evidence=placed(0.1)),
        hypothesis("H2", proposed_by="specialist b", evidence=placed(0.1)),
    ]
    after, *_ = await judge(client_for, claims, reply(decision("H1"), merge("H2", "H1")), same_claim_iou=None)
    assert after["H2"].reason == "it can be seen"


async def test_what_the_look_at_the_whole_clip_does_not_report_is_rejected_and_noted(client_for: Any) -> None:
    models, _ = scripted(reply(decision("H1", confidence=0.6)))
    client, context = client_for(models, hypotheses=(hypothesis("H1"),), whole_clip_frames=frozenset(range(64)))
    after = await Verify(min_confidence_alone=0.7).run(context, client)
    assert [claim.verdict for claim in after.hypotheses] == ["rejected"]
    assert [note.partition(" with ")[0] for note in after.notes] == [
        "Rejected: H1 (object_floating, 0.60). The critic accepted these claims"
    ]
