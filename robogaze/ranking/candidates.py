"""A candidate: the facts of a report that the rule uses, and what is needed to keep and show the clip."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.core.clip import Clip
from robogaze.core.coverage import CoverageState
from robogaze.core.events import Claim
from robogaze.core.report import Report
from robogaze.core.time import union

Belief = Literal["event", "unverified", "rejected"]
DimensionState = CoverageState | Literal["undecided"]


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim and how it was judged; severity and confidence are None if not given."""

    belief: Belief
    type: str
    severity: int | None
    confidence: float | None


@dataclass(frozen=True)
class Candidate:
    """A clip with a report that judges something.

    `id` is the clip's id, with the name of its run if several runs have a clip of that id. `prompt` is the prompt that
    the candidate was generated from. `dimensions` has the state of each dimension. The state is `undecided` if the
    dimension was looked at but something failed; otherwise it is the dimension's coverage. `faulty_s` is the total time
    of its events in seconds.
    """

    id: str
    run: str
    prompt: str
    claims: tuple[JudgedClaim, ...]
    dimensions: dict[str, DimensionState]
    faulty_s: float
    clip: Clip
    layout_given: bool
    video: Path
    annotation: ClipAnnotation

    @property
    def events(self) -> tuple[JudgedClaim, ...]:
        return tuple(claim for claim in self.claims if claim.belief == "event")


def candidate_of(report: Report, run: str, prompt: str, video: Path, source: str = "") -> Candidate:
    """The candidate of a report, under the id of its clip."""
    clip = report.clip
    return Candidate(
        id=clip.id,
        run=run,
        prompt=prompt,
        claims=tuple(_claims(report)),
        dimensions=_dimensions(report),
        faulty_s=sum(span.length for span in union(span for event in report.events for span in event.spans)),
        clip=clip,
        layout_given=report.layout_given,
        video=video,
        annotation=annotation_of(report, source),
    )


def _claims(report: Report) -> Iterator[JudgedClaim]:
    for event in report.events:
        yield _claim("event", event)
    for hypothesis in report.hypotheses:
        if hypothesis.verdict in ("unverified", "rejected"):
            yield _claim(hypothesis.verdict, hypothesis)


def _claim(belief: Belief, claim: Claim) -> JudgedClaim:
    return JudgedClaim(belief, claim.type, claim.severity, claim.confidence)


def _dimensions(report: Report) -> dict[str, DimensionState]:
    """An undecided hypothesis is a separate claim; its dimension is undecided only because of a failure."""
    failed = {failure.dimension for failure in report.failures}
    return {
        name: coverage.state if coverage.state == "not_examined" or failed.isdisjoint({name, None}) else "undecided"
        for name, coverage in report.coverage.items()
    }
