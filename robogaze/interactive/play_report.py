"""The report on a play.

The clip of the report is the play, with a frame for each step and frame 0 for the initial state, so times are steps. No
number of steps shows that an environment has no fault, so each dimension is at most partially covered, and no play is
`clean`.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from robogaze.core.clip import Clip, Layout
from robogaze.core.coverage import Coverage
from robogaze.core.report import Provenance, Report
from robogaze.diagnose import versions
from robogaze.interactive.screen import VIEW
from robogaze.interactive.session import PlaySession
from robogaze.version import VERSION


@dataclass(frozen=True)
class PlayId:
    """A play of a run: the environment as the user wrote it, and the number of the session, starting at 1."""

    environment: str
    session: int

    def __str__(self) -> str:
        return f"{self.environment.rstrip('/').rpartition('//')[2]} {self.session}"


def play_report(play: PlayId, session: PlaySession, uri: str, facts: dict[str, Any]) -> Report:
    """The report on a play that has ended; `uri` is the path of its trace, and `facts` go into the provenance."""
    accepted = [claim for claim in session.claims if claim.verdict == "accepted"]
    return Report(
        clip=_clip(play, session, uri),
        domain=session.domain.ref,
        pipeline=str(facts["agent"]),
        author=f"robogaze {VERSION}",
        coverage={name: _coverage(session) for name in session.domain.dimensions},
        events=tuple(claim.event(number) for number, claim in enumerate(accepted, start=1)),
        hypotheses=tuple(claim.hypothesis() for claim in session.claims),
        failures=tuple(session.failures),
        notes=(
            f"The play ended after {session.trace.steps} of {session.options.budget} steps: {session.stopped}.",
            *session.notes,
        ),
        usage=session.client.usage(),
        provenance=Provenance(
            versions=versions(),
            models={
                role: {
                    "model": (model := session.client.model(role)).name,
                    "identity": dict(model.backend.identity),
                    "decoding": model.config.decoding.model_dump(),
                }
                for role in ("vlm", "llm", "critic")
            },
            media=facts | {"steps": session.trace.steps, "stopped": session.stopped},
            pictures=tuple(session.client.pictures.values()),
            calls=session.client.ledger(),
        ),
    )


def _clip(play: PlayId, session: PlaySession, uri: str) -> Clip:
    count = session.trace.steps + 1
    sizes = [(screen.picture.width, screen.picture.height) for screen in session.screens.values()]
    return Clip(
        id=str(play),
        uri=uri,
        sha256=sha256(session.trace.text().encode()).hexdigest(),
        frame_count=count,
        frame_times_s=tuple(float(step) for step in range(count)),
        duration_s=float(count),
        fps=1.0,
        width=max((width for width, _ in sizes), default=1),
        height=max((height for _, height in sizes), default=1),
        prompt_id=play.environment,
        layout=Layout(views=(VIEW,)),
    )


def _coverage(session: PlaySession) -> Coverage:
    if not session.decided:
        return Coverage(state="not_examined", reason="a model decided none of the steps")
    steps, budget = session.trace.steps, session.options.budget
    return Coverage(state="partial", reason=f"only the part that {steps} of {budget} steps reached was examined")
