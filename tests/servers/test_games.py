"""Recorded play through vLLM on CPU with a model of random weights: what GLIDE asks, and that nothing is lost of it.

The model sees faults almost everywhere and rules at random. Whatever it says, an answer keeps its schema or is counted
as none, and an incomplete report is not clean.
"""

import os
import re
from pathlib import Path

import pytest
from making import reports_of
from test_vllm import tiny

from robogaze.backends import Models
from robogaze.core.report import Call, Report
from robogaze.datasets import find_entries
from robogaze.domains import load_domain
from robogaze.stages.pipeline import Pipeline

pytestmark = pytest.mark.server

DEMO = Path(__file__).parents[2] / "datasets" / "demo-games" / "clips.jsonl"
BEYOND_A_GRAMMAR = (
    "is not the first and the last frame of a time",
    "needs a closer look that would decide it",
    "name the frames in which the fault can be seen",
    "normal needs an ordinary explanation",
    "ask what has not been asked",
    "a box must end right of",
    "name one that comes before it",
    "a span must end after it starts",
    "state what is seen without a break as one span",
    "is a type of",
)
"""What a schema cannot say and answers are checked for besides."""
NAMES = {
    "scan": r"W\d",
    "remember": r"clip",
    "investigate": r"H\d step [1-3] (vqa|zoom_in|object_tracking|advocate|skeptic|judge)",
    "trace": r"same|H\d (W\d|(start|end) \d+\.\d\d s)",
    "direct": r"sample 1",
}
"""Every question by its stage: what it can be called."""


UNSEEDED = {"temperature": 1.0, "max_tokens": 16000}
"""With a seed such a model says the same of every window, and contradicts itself in all of them."""


async def score(url: str, pipeline: str, names: set[str]) -> list[Report]:
    models = Models.open(tiny(url, decoding=UNSEEDED), None, os.environ)
    entries = [entry for entry in find_entries([DEMO]) if entry.clip_id in names]
    try:
        return await reports_of(entries, Pipeline.build(load_domain("game"), pipeline), models)
    finally:
        await models.close()


def unanswered(report: Report) -> list[list[Call]]:
    """The questions that no try was answered to, each with its tries."""
    questions: dict[tuple[str, str], list[Call]] = {}
    for call in report.provenance.calls:
        questions.setdefault((call.stage, call.subject), []).append(call)
    return [calls for calls in questions.values() if all(call.outcome != "answered" for call in calls)]


@pytest.mark.parametrize(
    ("pipeline", "names"), [("glide", {"hop_stretched"}), ("vanilla", {"hop_clean", "yard_flicker"})]
)
async def test_every_answer_keeps_its_schema_or_is_counted_as_none(
    vllm_url: str, pipeline: str, names: set[str]
) -> None:
    reports = await score(vllm_url, pipeline, names)
    assert {report.clip.id for report in reports} == names
    for report in reports:
        assert Report.model_validate_json(report.model_dump_json()) == report
        for call in report.provenance.calls:
            assert re.fullmatch(NAMES[call.stage], call.subject), call
            assert call.outcome == "answered" or any(words in (call.error or "") for words in BEYOND_A_GRAMMAR), call
            assert call.answered_by == "tiny"
        failed = {failure.stage for failure in report.failures if failure.kind == "invalid_answer"}
        assert failed == {calls[0].stage for calls in unanswered(report)}
        subjects = {call.subject for call in report.provenance.calls}
        if report.status != "unscored":
            assert all(
                f"{hypothesis.id} step 1 judge" in subjects
                for hypothesis in report.hypotheses
                if hypothesis.proposed_by == "scan"
            )
        undecided = [hypothesis for hypothesis in report.hypotheses if hypothesis.verdict == "unverified"]
        assert (report.status == "complete") is not bool(undecided or report.failures)
        assert report.clean is (report.status == "complete" and not report.events)
        for event in report.events:
            assert all(0 <= span.start < span.end <= report.clip.duration_s for span in event.spans)
