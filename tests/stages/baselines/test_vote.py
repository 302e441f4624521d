"""vote: what most of several independent answers report."""

from typing import Any

import pytest
from making import examined, scripted
from stages.hypotheses import make_hypothesis

from robogaze.core.events import Hypothesis
from robogaze.core.time import Span
from robogaze.stages.baselines.direct import Direct
from robogaze.stages.baselines.vote import Vote


def seen(start: float, end: float, kind: str = "blur") -> dict[str, Any]:
    """A fault as one sample reports it."""
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16],
        "dimension": "visual_quality", "type": kind, "span_s": [start, end], "severity": 2,
    }  # fmt: skip


async def vote(
    client_for: Any, *samples: list[dict[str, Any]] | None, before: tuple[Hypothesis, ...] = (), **parameters: Any
) -> Any:
    """The context after a vote over samples: each a list of faults, or None for a sample without an answer."""
    answered = [(number, faults) for number, faults in enumerate(samples) if faults is not None]
    models, _ = scripted(*({"when": {"sample": number}, "reply": {"events": faults}} for number, faults in answered))
    client, context = client_for(models, hypotheses=before)
    context = await Direct(prompt="vanilla", samples=len(samples), temperature=0.7).run(context, client)
    return await Vote(**parameters).run(context, client)


async def test_two_of_three_samples_make_an_event_with_the_union_of_spans(client_for: Any) -> None:
    #   sample 1   [0    2)
    #   sample 2    [0.5     2.5)     IoU 1.5 / 2.5
    #   sample 3                 [3  4)
    context = await vote(client_for, [seen(0, 2)], [seen(0.5, 2.5)], [seen(3, 4)])
    first, second, third = context.hypotheses
    assert (first.verdict, first.spans, first.confidence) == ("accepted", (Span(0, 2.5),), 2 / 3)
    assert second.merged_into == "H1"
    assert (third.verdict, third.reason) == ("rejected", "reported by 1 of 3 samples")


@pytest.mark.parametrize(("samples", "enough"), [(2, 2), (3, 2), (4, 3), (5, 4), (6, 4)])
async def test_two_thirds_of_the_samples_are_a_majority(client_for: Any, samples: int, enough: int) -> None:
    for agreeing, verdict in ((enough - 1, "rejected"), (enough, "accepted")):
        said = [[seen(0, 2)] if number < agreeing else [] for number in range(samples)]
        context = await vote(client_for, *said)
        assert (context.hypotheses[0].verdict, context.hypotheses[0].reason) == (
            verdict,
            f"reported by {agreeing} of {samples} samples",
        )


async def test_a_sample_that_reports_an_event_twice_has_one_vote(client_for: Any) -> None:
    context = await vote(client_for, [seen(0, 2), seen(0, 2)], [], [])
    assert {hypothesis.verdict for hypothesis in context.hypotheses} == {"rejected"}


async def test_a_sample_without_an_answer_counts_but_has_no_vote(client_for: Any) -> None:
    context = await vote(client_for, [seen(0, 2)], [seen(0, 2)], None)
    assert context.hypotheses[0].reason == "reported by 2 of 3 samples"
    assert examined(context) == set(context.dimensions)
    context = await vote(client_for, [seen(0, 2)], [], None)
    assert [hypothesis.verdict for hypothesis in context.hypotheses] == ["rejected"]


async def test_too_few_answers_for_a_majority_decide_nothing(client_for: Any) -> None:
    context = await vote(client_for, [seen(0, 2)], None, None)
    (hypothesis,) = context.hypotheses
    why = "only 1 of 3 samples have an answer, but 2 samples must agree"
    assert (hypothesis.verdict, hypothesis.reason) == ("unverified", why)
    assert {each.state for each in context.coverage.values()} == {"not_examined"}
    assert [(failure.stage, failure.dimension, failure.kind) for failure in context.failures[-1:]] == [
        ("vote", "visual_quality", "undecided")
    ]
    assert context.failures[-1].message == f"H1 (blur) is undecided: {why}"


async def test_only_hypotheses_of_samples_are_voted_on(client_for: Any) -> None:
    before = (
        make_hypothesis("H1", proposed_by="signal x"),
        make_hypothesis("H2", verdict="rejected", reason="weak", proposed_by="specialist y"),
    )
    context = await vote(client_for, [seen(0, 2)], [], [], before=before)
    assert context.hypotheses[:2] == before
    assert context.hypotheses[2].reason == "reported by 1 of 3 samples"


async def test_samples_of_two_stages_have_distinct_names_and_are_counted_together(client_for: Any) -> None:
    models, backend = scripted({"reply": {"events": [seen(0, 2)]}, "repeat": True})
    client, context = client_for(models)
    for prompt in ("vanilla", "taxonomy"):
        context = await Direct(prompt=prompt).run(context, client)
    assert [hypothesis.id for hypothesis in context.hypotheses] == ["H1", "H2"]
    assert [hypothesis.proposed_by for hypothesis in context.hypotheses] == ["sample 1", "sample 2"]
    assert [request.sample for request in backend.asked] == [0, 1]
    context = await Vote().run(context, client)
    assert [(hypothesis.verdict, hypothesis.reason) for hypothesis in context.hypotheses] == [
        ("accepted", "reported by 2 of 2 samples"),
        ("merged", "reported by 2 of 2 samples"),
    ]


async def test_spans_of_the_majority_are_those_that_half_of_the_reports_cover(client_for: Any) -> None:
    #   sample 1   [0     2)
    #   sample 2   [0     2)
    #   sample 3   [0        3)
    #   sample 4      [0.5   3)
    #   sample 5   none
    said = [[seen(0, 2)], [seen(0, 2)], [seen(0, 3)], [seen(0.5, 3)], []]
    context = await vote(client_for, *said, min_share=0.5, spans="majority")
    assert context.hypotheses[0].verdict == "accepted"
    assert context.hypotheses[0].spans == (Span(0, 3),), "two of four cover the last second"
    context = await vote(client_for, said[0], said[1], said[2], [], [], min_share=0.5, spans="majority")
    assert context.hypotheses[0].spans == (Span(0, 2),)
