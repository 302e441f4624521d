"""Claims: the suspected faults of a play, with their evidence and their verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from robogaze.core.events import Event, Evidence, Hypothesis, HypothesisVerdict, Reproduction
from robogaze.core.time import Span
from robogaze.interactive.play_decisions import CandidateAnswer
from robogaze.interactive.play_trace import PlayEntry, PlayTrace

STEP_STAGE, RULING_STAGE = "play_step", "play_ruling"

_UNDECIDED = "the play ended before it was verified"


@dataclass
class PlayClaim:
    """A suspected fault with its verdict; until a verdict is given, it is `unverified` and has no reason.

    `step` is the step after which the fault was suspected. `signs` are the cited texts, and the hashes of the cited
    pictures; the fault is reproduced if replies show these texts and pictures. `recorded` are the commands from the
    last initial state to the fault. `commands` are the commands that showed the fault again, None if no commands did.
    """

    id: str
    candidate: CandidateAnswer
    dimension: str
    step: int
    signs: tuple[str, ...]
    recorded: tuple[str, ...]
    verdict: HypothesisVerdict = "unverified"
    reason: str = ""
    merged_into: str | None = None
    severity: int = 1
    confidence: float = 0.0
    commands: tuple[str, ...] | None = None
    replays: list[Evidence] = field(default_factory=list)
    reproduction: Reproduction | None = None

    def decide(self, verdict: HypothesisVerdict, reason: str) -> None:
        """Set the verdict and its reason."""
        self.verdict, self.reason = verdict, reason

    @property
    def best_commands(self) -> tuple[str, ...]:
        """The commands that showed the fault again or, if no commands did, those of the session up to the fault."""
        return self.recorded if self.commands is None else self.commands

    def set_reproduction(self, commands: tuple[str, ...], reproduced: bool | None, replays: int) -> None:
        """Set the reported commands. `reproduced` says whether the commands showed the fault; None if the commands were
        not replayed.
        """
        self.reproduction = Reproduction(
            commands=commands, reproduced=reproduced, recorded=len(self.recorded), replays=replays
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """The cited steps that exist, in ascending order. If none of them exists, the step after which the fault was
        suspected.
        """
        cited = {excerpt.step for excerpt in self.candidate.evidence if 0 <= excerpt.step <= self.step}
        return tuple(sorted(cited or {self.step}))

    def shown(self) -> dict[str, Any]:
        """The claim as prompts show it."""
        return {"title": self.candidate.title, "verdict": self.verdict, "reason": self.reason}

    def hypothesis(self) -> Hypothesis:
        """The claim in a report, whatever its verdict."""
        return Hypothesis(
            **self._common(), verdict=self.verdict, reason=self.reason or _UNDECIDED, merged_into=self.merged_into,
            proposed_by=STEP_STAGE,
        )  # fmt: skip

    def event(self, number: int) -> Event:
        """The event of an accepted claim."""
        return Event(**{**self._common(), "id": f"E{number}"}, reproduction=self.reproduction)

    def _common(self) -> dict[str, Any]:
        candidate = self.candidate
        cited = (
            Evidence(
                text=excerpt.text or "the picture",
                frames=(excerpt.step,) if excerpt.step in self.steps else (),
                source=STEP_STAGE,
            )
            for excerpt in candidate.evidence
        )
        return {
            "id": self.id,
            "dimension": self.dimension,
            "type": candidate.type,
            "spans": (Span(self.steps[0], self.steps[-1] + 1),),
            "severity": self.severity,
            "confidence": self.confidence,
            "description": f"{candidate.title}. Action: {candidate.action}. Observed: {candidate.observed} "
            f"Expected: {candidate.expected}",
            "evidence": (*cited, *self.replays),
        }


def signs_of(candidate: CandidateAnswer, replies: Sequence[PlayEntry]) -> tuple[str, ...]:
    """The signs of a candidate: the texts and pictures that its evidence cites. Raises ValueError if the replies since
    the initial state do not show a sign.
    """
    by_step = {entry.step: entry for entry in replies}
    steps = [excerpt.step for excerpt in candidate.evidence]
    if steps != sorted(steps):
        raise ValueError("its evidence is not in the order of the steps")
    signs = []
    for excerpt in candidate.evidence:
        entry = by_step.get(excerpt.step)
        if entry is None:
            raise ValueError(f"step {excerpt.step} is no step of the session since its last start")
        if excerpt.text is None and not entry.screens:
            raise ValueError(f"step {excerpt.step} has no picture")
        if excerpt.text is not None and not entry.shows(excerpt.text):
            raise ValueError(f"step {excerpt.step} does not show {excerpt.text!r}")
        signs.append(entry.screens[0] if excerpt.text is None else excerpt.text)
    return tuple(signs)


def new_claim(name: str, candidate: CandidateAnswer, dimension: str, trace: PlayTrace) -> tuple[PlayClaim, str | None]:
    """Make a claim from a candidate after the last reply. Returns the claim, and the error in its evidence or None."""
    replies, fault, signs = trace.since_restart(), None, tuple[str, ...]()
    try:
        signs = signs_of(candidate, replies)
    except ValueError as error:
        fault = str(error)
    last = candidate.evidence[-1].step
    claim = PlayClaim(
        id=name,
        candidate=candidate,
        dimension=dimension,
        step=trace.last.step,
        signs=signs,
        recorded=tuple(entry.command or "" for entry in replies if entry.kind == "act" and entry.step <= last),
        severity=candidate.severity,
        confidence=candidate.confidence,
    )
    return claim, fault
