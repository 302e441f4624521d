"""Made-up candidates of prompts."""

from pathlib import Path
from typing import Any

from checkpoints import report

from robogaze.core.events import Hypothesis, HypothesisVerdict
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.ranking import Candidate, RankingWeights, read_weights
from robogaze.ranking.candidates import candidate_of

WEIGHTS: RankingWeights = read_weights("default")


def made(clip_id: str, kinds: dict[str, int] | None = None, **said: Any) -> Report:
    """A report of a clip whose prompt is the part of its id before the dash."""
    return report(clip_id, kinds, **{"prompt_id": clip_id.partition("-")[0], "instruction": "Lift it.", **said})


def hypothesis(verdict: HypothesisVerdict, severity: int | None = 4, confidence: float | None = None) -> Hypothesis:
    return Hypothesis(
        id="h1", dimension="shape", type="shape_hole", spans=(Span(0.0, 1.0),), severity=severity,
        confidence=confidence, description="a hole", evidence=(), verdict=verdict, proposed_by="test",
    )  # fmt: skip


def candidate(made_report: Report) -> Candidate:
    return candidate_of(made_report, "run", "p", Path("clip.mp4"))
