"""The rules of a pipeline over signals: findings, coverage, and reported gaps."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making import examined, make_clip
from pydantic import ValidationError

from robogaze.core.clip import Layout
from robogaze.core.coverage import Coverage
from robogaze.core.report import Failure
from robogaze.core.time import Span
from robogaze.domains import Domain, load_domain
from robogaze.domains.scaffold import scaffold
from robogaze.evidence import ClipSignals, Signal, ViewSignals
from robogaze.stages.compose import Compose
from robogaze.stages.context import Context
from robogaze.stages.measure import Measure

NAN = math.nan
FRAMES = 16  # one second
_SIGNALS = {
    "heat": Signal(name="heat", unit="degrees", description="How hot.", gap="there was no light"),
    "haze": Signal(name="haze", unit="of 1", description="How dim.", limitation="haze is taken against the clip's own"),
}


def evidence(*views: dict[str, Sequence[float]]) -> ClipSignals:
    """Series by view; a signal that is left out is 0 throughout."""
    return ClipSignals(
        _SIGNALS,
        {
            f"view {number}": ViewSignals({name: np.array(view.get(name, [0.0] * FRAMES)) for name in _SIGNALS})
            for number, view in enumerate(views, start=1)
        },
        tuple(frame / 16 for frame in range(FRAMES)),
        FRAMES / 16,
    )


def hot(missing: Sequence[int] = (), at: Sequence[int] = ()) -> dict[str, Sequence[float]]:
    return {"heat": [NAN if frame in missing else float(frame in at) for frame in range(FRAMES)]}


def rule(signal: str = "heat", dimension: str = "visual_quality", kind: str = "blur", **how: Any) -> dict[str, Any]:
    return {"signal": signal, "above": 0.5, "dimension": dimension, "type": kind, "describe": "measured/blur", **how}


HAZE = rule("haze", "object_scene_consistency", "object_disappearance")


async def measure(
    client_for: Any, measured: ClipSignals, *rules: dict[str, Any], **allowed: Any
) -> tuple[Context, Measure]:
    stage = Measure.model_validate({"rules": rules, **allowed})
    layout = Layout(rows=1, columns=len(measured.views), views=tuple(measured.views))
    client, context = client_for(None, make_clip(1.0, layout=layout), evidence=measured)
    return await stage.run(context, client), stage


async def test_a_dimension_without_gaps_is_examined(client_for: Any) -> None:
    context, _ = await measure(client_for, evidence(hot(at=(4, 5))), rule())
    assert context.coverage["visual_quality"] == Coverage(
        state="examined", reason="measured in the pixels of every frame: Blur"
    )
    assert context.failures == ()
    (found,) = context.hypotheses
    assert (found.type, found.spans[0].start, found.spans[0].end) == ("blur", 0.25, 0.375)


async def test_two_rules_on_one_signal_that_find_one_fault_make_one_event(client_for: Any) -> None:
    weaker = rule(above=0.2)
    context, _ = await measure(client_for, evidence(hot(at=(4, 5))), rule(), weaker)
    client, _ = client_for(None, context.clip)
    composed = await Compose(accept_unverified=True).run(context, client)
    assert [(event.type, event.spans) for event in composed.events] == [("blur", (Span(0.25, 0.375),))]


async def test_without_an_allowance_one_unmeasured_frame_makes_the_coverage_partial(
    client_for: Any, robot: Domain
) -> None:
    context, stage = await measure(client_for, evidence(hot(missing=(7,), at=(4,))), rule(), HAZE)
    assert examined(context) == {"object_scene_consistency"}
    assert context.coverage["visual_quality"] == Coverage(
        state="partial", reason="not measured in 1 of 15 frames: there was no light"
    )
    assert context.failures == (
        Failure(
            stage="measure",
            dimension="visual_quality",
            kind="not_measured",
            message="Not measured: Blur in 1 of 15 frames (0.44-0.50 s): there was no light "
            "(allowed: 0% of the frames, 0 s at a time)",
        ),
    )
    assert len(context.hypotheses) == 1, "what was found next to the gap remains"
    assert not any("Blur in" in note for note in stage.notes(robot, context.evidence)), "the failure reports it"


async def test_gaps_within_the_allowance_are_reported_in_a_note(client_for: Any, robot: Domain) -> None:
    allowed = {"unmeasured": {"share": 0.4, "stretch_s": 0.25}}
    context, stage = await measure(client_for, evidence(hot(missing=(3, 4, 8, 10, 12))), rule(), **allowed)
    assert examined(context) == {"visual_quality"}
    assert context.failures == ()
    assert stage.notes(robot, context.evidence)[-1] == (
        "Not measured: Blur in 5 of 15 frames (0.19-0.31 s, 0.50-0.56 s, 0.62-0.69 s and 1 more): there was no light."
    )


@pytest.mark.parametrize(
    ("missing", "covered"),
    [((1, 3, 5, 7, 9, 11), True), ((1, 3, 5, 7, 9, 11, 13), False), ((4, 5, 6, 7), True), ((4, 5, 6, 7, 8), False)],
    ids=["as many", "one more", "as long", "one frame longer"],
)
async def test_the_allowance_limits_the_share_of_frames_and_the_longest_gap(
    client_for: Any, missing: tuple[int, ...], covered: bool
) -> None:
    allowed = {"unmeasured": {"share": 0.4, "stretch_s": 0.25}}
    context, _ = await measure(client_for, evidence(hot(missing=missing)), rule(), **allowed)
    assert (examined(context) == {"visual_quality"}) is covered
    assert bool(context.failures) is not covered


async def test_a_dimension_with_one_unmeasured_type_is_partially_covered(client_for: Any) -> None:
    also = rule("haze", kind="occlusion")
    context, _ = await measure(client_for, evidence(hot(missing=range(FRAMES))), rule(), also)
    assert context.coverage["visual_quality"].state == "partial"
    both = evidence(hot(missing=range(FRAMES)), hot())
    context, _ = await measure(client_for, both, rule())
    assert context.coverage["visual_quality"].state == "partial", "one of two views was measured"


async def test_a_dimension_without_any_measured_frame_is_not_examined(client_for: Any) -> None:
    context, _ = await measure(client_for, evidence(hot(missing=range(FRAMES))), rule())
    assert context.coverage["visual_quality"] == Coverage(
        state="not_examined", reason="not measured in 15 of 15 frames: there was no light"
    )


async def test_the_allowance_applies_to_each_view(client_for: Any, robot: Domain) -> None:
    measured = evidence(hot(missing=(1, 2)), hot(missing=tuple(range(1, 16))), hot(missing=(9,)))
    context, stage = await measure(client_for, measured, rule(), unmeasured={"share": 0.5, "stretch_s": 1.0})
    (failure,) = context.failures
    assert "Blur in 15 of 15 frames of the view view 2 (0.06-1.00 s): there was no light" in failure.message
    assert stage.notes(robot, context.evidence)[-1] == (
        "Not measured: Blur in 2 of 15 frames of the view view 1 (0.06-0.19 s), "
        "1 of 15 frames of the view view 3 (0.56-0.62 s): there was no light."
    )


GONE = HAZE["dimension"]


async def partially(client_for: Any, measured: ClipSignals, dimensions: Sequence[str], *rules: Any) -> Context:
    stage = Measure.model_validate({"rules": rules, "partial": [GONE]})
    partial = () if GONE in dimensions else (GONE,)
    clip = make_clip(1.0)
    client, context = client_for(
        None, clip, evidence=measured, dimensions=tuple(dimensions), partial_dimensions=partial
    )
    return await stage.run(context, client)


async def test_a_finding_in_a_partially_covered_dimension_is_an_event(client_for: Any) -> None:
    measured = evidence({**hot(), "haze": [float(frame == 4) for frame in range(FRAMES)]})
    context = await partially(client_for, measured, ["visual_quality"], rule(), HAZE)
    assert [(hypothesis.type, hypothesis.verdict) for hypothesis in context.hypotheses or ()] == [
        ("object_disappearance", "unverified")
    ]
    assert (examined(context), context.failures) == ({"visual_quality"}, ())
    assert context.coverage[GONE] == Coverage(
        state="partial",
        reason="measured in the pixels, which show only some faults of these types: Object disappearance",
    )


def test_partial_dimensions_are_not_covered(robot: Domain) -> None:
    stage = Measure.model_validate({"rules": [rule(), HAZE], "partial": [GONE]})
    assert (stage.covers(robot), stage.covers_partly(robot)) == ({"visual_quality"}, {GONE})


async def test_a_gap_is_a_failure_of_a_partially_covered_dimension_too(client_for: Any) -> None:
    gone = rule("heat", GONE, HAZE["type"])
    for missing, kinds in ((4, 5), ["not_measured"]), ((), []):
        context = await partially(client_for, evidence(hot(missing)), ["visual_quality"], rule("haze"), gone)
        assert [(failure.dimension, failure.kind) for failure in context.failures] == [(GONE, kind) for kind in kinds]
        assert examined(context) == {"visual_quality"}
        assert context.coverage[GONE].state == "partial"


async def test_a_dimension_that_another_stage_examines_gets_no_failure(client_for: Any) -> None:
    """Neither a gap nor an uncertain finding makes it undecided, because a stage that sees more decides."""
    seen = {"haze": [NAN if frame == 9 else float(frame == 4) for frame in range(FRAMES)]}
    uncertain = rule("haze", GONE, "object_identity_swap", report_only="1 of 7 such findings were correct")
    dimensions = ["visual_quality", GONE]
    context = await partially(client_for, evidence({**hot(), **seen}), dimensions, rule(), HAZE, uncertain)
    assert (examined(context), context.failures) == ({"visual_quality"}, ())
    assert context.coverage[GONE].state == "not_examined", "that stage has not run yet"
    assert {hypothesis.verdict for hypothesis in context.hypotheses or ()} == {"unverified", "rejected"}


def test_a_partial_dimension_needs_a_rule_that_makes_events(robot: Domain) -> None:
    for rules in [rule("luma")], [rule("luma"), rule("luma", HAZE["dimension"], HAZE["type"], report_only="1 of 7")]:
        stage = Measure.model_validate({"rules": rules, "partial": [HAZE["dimension"]]})
        with pytest.raises(
            ValueError, match="'partial' names the dimension object_scene_consistency, but no rule makes an event"
        ):
            stage.check(robot)


async def test_the_worst_gap_of_several_rules_of_a_type_is_reported(client_for: Any) -> None:
    measured = evidence({**hot(missing=(3, 4)), "haze": [0.0, 1.0, *[0.0] * 14]})
    also = rule("haze", also=[{"signal": "heat", "above": 0.5}])
    context, _ = await measure(client_for, measured, also, rule())
    (failure,) = context.failures
    assert "Blur in 2 of 15 frames" in failure.message


async def test_a_dimension_that_a_clip_is_not_examined_for_cannot_fail(client_for: Any) -> None:
    needing = rule(dimension="task_progress", kind="failed_grasp")
    stage = Measure.model_validate({"rules": [needing]})
    measured = evidence(hot(missing=(3,)))
    client, context = client_for(
        None, make_clip(1.0, instruction=None), evidence=measured, dimensions=("visual_quality",)
    )
    context = await stage.run(context, client)
    assert (examined(context), context.failures) == (set(), ())


async def test_the_limitation_of_a_signal_is_a_note_on_its_event_type(client_for: Any, robot: Domain) -> None:
    context, stage = await measure(client_for, evidence(hot()), rule(), HAZE)
    (hidden,) = stage.notes(robot, context.evidence)
    assert hidden == "Object disappearance: haze is taken against the clip's own."


SURE = [{"peak": 0.5, "correct": 6, "of": 10}, {"peak": 0.8, "correct": 18, "of": 18}]


async def test_confidence_comes_from_counts_of_findings_with_as_high_a_peak(client_for: Any) -> None:
    weak, strong = [0.0] * FRAMES, [0.0] * FRAMES
    weak[4], strong[4] = 0.6, 0.9
    for series, expected in ((weak, 7 / 12), (strong, 19 / 20)):
        context, _ = await measure(client_for, evidence({"heat": series}), rule(confidence=SURE))
        (found,) = context.hypotheses
        assert found.confidence == pytest.approx(expected)
        assert found.verdict == "unverified"


@pytest.mark.parametrize("steps", [[SURE[1], SURE[0]], [{**SURE[0], "correct": 10}, {**SURE[1], "correct": 9}]])
def test_confidence_that_falls_as_the_peak_rises_is_refused(steps: list[dict[str, float]]) -> None:
    with pytest.raises(ValidationError, match="must be in order, from the threshold outward"):
        Measure.model_validate({"rules": [rule(confidence=steps)]})


async def test_a_report_only_finding_is_a_rejected_hypothesis_and_a_note_and_covers_nothing(
    client_for: Any, robot: Domain
) -> None:
    uncertain = {**HAZE, "report_only": "7 of 12 such findings were correct"}
    measured = evidence({"haze": [float(frame == 4) for frame in range(FRAMES)]})
    context, stage = await measure(client_for, measured, rule(), uncertain)
    assert examined(context) == {"visual_quality"}
    assert stage.covers(robot) == {"visual_quality"}
    (found,) = context.hypotheses
    assert (found.verdict, found.reason) == (
        "rejected",
        "too uncertain for an event: 7 of 12 such findings were correct",
    )
    assert "Too uncertain for an event: Object disappearance. 7 of 12 such findings were correct." in stage.notes(
        robot, measured
    )


async def test_a_report_only_finding_makes_an_examined_dimension_undecided(client_for: Any) -> None:
    uncertain = rule("haze", report_only="7 of 12 such findings were correct")
    seen = {"haze": [float(frame == 4) for frame in range(FRAMES)]}
    context, _ = await measure(client_for, evidence({**hot(), **seen}), rule(), uncertain)
    (failure,) = context.failures
    assert (failure.dimension, failure.kind) == ("visual_quality", "evidence_only")
    assert failure.message.startswith("Blur at 0.25-0.31 s is undecided: 7 of 12")


async def test_a_report_only_finding_makes_a_dimension_undecided_that_nothing_examines(client_for: Any) -> None:
    uncertain = {**HAZE, "report_only": "7 of 12 such findings were correct"}
    measured = evidence({"haze": [float(frame == 4) for frame in range(FRAMES)]})
    stage = Measure.model_validate({"rules": [rule(), uncertain]})
    client, context = client_for(None, make_clip(1.0), evidence=measured, dimensions=("visual_quality",))
    context = await stage.run(context, client)
    assert examined(context) == {"visual_quality"}
    assert [(failure.dimension, failure.kind) for failure in context.failures] == [
        ("object_scene_consistency", "evidence_only")
    ]


async def test_a_report_only_finding_that_overlaps_an_event_of_its_type_is_left_out(client_for: Any) -> None:
    uncertain = rule("haze", report_only="7 of 12 such findings were correct")
    seen = {"haze": [float(frame == 4) for frame in range(FRAMES)]}
    context, _ = await measure(client_for, evidence({**hot(at=(4,)), **seen}), rule(), uncertain)
    assert (examined(context), context.failures) == ({"visual_quality"}, ())


WEAK = {"value": 0.4, "reason": "half of such findings were correct"}


async def test_a_finding_above_the_weak_threshold_is_reported_without_an_event(client_for: Any, robot: Domain) -> None:
    heat = [0.45 * (frame == 4) + 0.3 * (frame == 9) for frame in range(FRAMES)]
    measured = evidence({"heat": heat})
    context, stage = await measure(client_for, measured, rule(weak_threshold=WEAK))
    (found,) = context.hypotheses
    assert (found.verdict, found.onset_s) == ("rejected", 4 / 16)
    assert found.reason == "too uncertain for an event: half of such findings were correct"
    assert [failure.kind for failure in context.failures] == ["evidence_only"]
    assert "Too uncertain for an event: Blur. half of such findings were correct." in stage.notes(robot, measured)


async def test_a_finding_above_the_threshold_is_not_reported_again_as_weak(client_for: Any, robot: Domain) -> None:
    measured = evidence({"heat": [0.9 * (frame == 4) for frame in range(FRAMES)]})
    context, stage = await measure(client_for, measured, rule(weak_threshold=WEAK))
    assert [hypothesis.verdict for hypothesis in context.hypotheses] == ["unverified"]
    assert (examined(context), context.failures) == ({"visual_quality"}, ())
    assert not any("uncertain" in note for note in stage.notes(robot, measured))


async def test_an_explained_weak_finding_is_not_reported(client_for: Any) -> None:
    moves = {"signal": "haze", "above": 1, "explanation": "the camera moves"}
    heat = [0.45 * (frame == 4) + 0.9 * (frame == 9) for frame in range(FRAMES)]
    measured = evidence({"heat": heat, "haze": [2.0 * (frame in (4, 9)) for frame in range(FRAMES)]})
    context, _ = await measure(client_for, measured, rule(unless=[moves], weak_threshold=WEAK))
    assert [(hypothesis.verdict, hypothesis.onset_s) for hypothesis in context.hypotheses] == [("rejected", 9 / 16)]
    assert examined(context) == {"visual_quality"}


async def test_a_weak_finding_is_not_merged_with_an_earlier_event(client_for: Any) -> None:
    measured = evidence({"heat": [0.9 * (frame == 4) + 0.45 * (frame == 8) for frame in range(FRAMES)]})
    context, _ = await measure(client_for, measured, rule(weak_threshold=WEAK, merge_gap_s=0.5))
    assert [(hypothesis.verdict, hypothesis.onset_s) for hypothesis in context.hypotheses] == [
        ("unverified", 4 / 16),
        ("rejected", 8 / 16),
    ]


async def test_an_undecidable_weak_finding_is_a_gap(client_for: Any, robot: Domain) -> None:
    undecidable = {"signal": "haze", "above": 1, "explanation": "the view rides on what moves"}
    seen = {"heat": [0.45 * (frame == 4) for frame in range(FRAMES)], "haze": [2.0] * FRAMES}
    for weak, notes in ((WEAK, 1), (None, 0)):
        context, stage = await measure(
            client_for, evidence(seen), rule(undecidable_when=[undecidable], weak_threshold=weak)
        )
        texts = [*(failure.message for failure in context.failures), *stage.notes(robot, evidence(seen))]
        assert sum("Not measured: Blur" in text for text in texts) == notes


async def test_the_weak_threshold_of_a_rule_with_below_is_higher(client_for: Any) -> None:
    cold = {**rule(), "above": None, "below": 0.2, "weak_threshold": {"value": 0.3, "reason": "half were correct"}}
    measured = evidence({"heat": [1 - 0.75 * (frame == 4) for frame in range(FRAMES)]})
    context, _ = await measure(client_for, measured, cold)
    assert [(hypothesis.verdict, hypothesis.onset_s) for hypothesis in context.hypotheses] == [("rejected", 4 / 16)]
    with pytest.raises(ValidationError, match="must come before its threshold"):
        Measure.model_validate({"rules": [{**cold, "weak_threshold": {"value": 0.1, "reason": "half were correct"}}]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weak_threshold": {**WEAK, "value": 0.6}}, "must come before its threshold"),
        ({"weak_threshold": WEAK, "report_only": "1 of 7"}, "cannot have a 'weak_threshold'"),
        ({"weak_threshold": {"value": 0.4, "reason": ""}}, "at least 1 character"),
    ],
)
def test_an_invalid_weak_threshold_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Measure.model_validate({"rules": [rule(**changes)]})


async def test_an_explained_finding_is_a_rejected_hypothesis_with_reason_and_value(client_for: Any) -> None:
    moves = {"signal": "haze", "above": 1, "explanation": "the camera moves"}
    measured = evidence({**hot(at=(4, 5, 9)), "haze": [2.5 * (frame in (4, 5)) for frame in range(FRAMES)]})
    context, _ = await measure(client_for, measured, rule(unless=[moves]))
    found, explained = context.hypotheses
    assert (found.verdict, found.onset_s) == ("unverified", 9 / 16)
    assert (explained.verdict, explained.onset_s, explained.id) == ("rejected", 4 / 16, "H2")
    assert explained.reason == "the camera moves: haze reaches 2.5 of 1 (explains it: above 1)"


async def test_a_finding_lists_the_explanations_that_do_not_hold(client_for: Any) -> None:
    moves = {"signal": "haze", "above": 1, "explanation": "the camera moves"}
    context, _ = await measure(client_for, evidence(hot(at=(4,))), rule(unless=[moves]))
    assert context.hypotheses[0].reason == "not explained by: the camera moves"


def test_an_unknown_classifier_is_refused_with_the_known_ones(robot: Domain) -> None:
    with pytest.raises(ValueError, match=r"robot has no classifier 'other' \(known: region_replacement\)"):
        Measure(classifiers=("other",)).check(robot)


def test_an_invalid_classifier_is_refused_with_file_and_line(tmp_path: Path) -> None:
    scaffold(tmp_path / "kitchen")
    file = tmp_path / "kitchen" / "classifiers" / "odd.yaml"
    file.parent.mkdir()
    file.write_text("classifies: luma\nfeatures: []\nclasses: []\n")
    with pytest.raises(ValueError, match=r"odd\.yaml:2: features: List should have at least 1 item"):
        Measure(classifiers=("odd",)).check(load_domain(tmp_path / "kitchen"))
