"""One play: an agent in a session with an environment (GBQA, section 4).

One answer of the model decides a step: it compares the last reply with the prediction, may name a suspected fault, and
gives the next command with a prediction. A suspected fault is reproduced in a fresh session before it is reported
(`robogaze.interactive.verification`). A play ends when the agent ends it, when its steps are used up, when it repeats
itself, or when several commands or answers in a row fail. The play also ends when the environment cannot be reached any
more. Repetition, failures in a row and an unreachable environment are failures of the play.

Only the answers of the models are kept when a play is interrupted. The play is then repeated from its start with the
stored answers, which leads to the same step.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from robogaze.core.context import Memory
from robogaze.core.pictures import FrameImage
from robogaze.core.report import Failure
from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.domains.model import AgentSpec
from robogaze.errors import FailureKind
from robogaze.interactive.claims import STEP_STAGE, PlayClaim, new_claim, signs_of
from robogaze.interactive.environments.base import Environment, EnvironmentFault, Observation
from robogaze.interactive.play_client import PlayClient, PlayVariables
from robogaze.interactive.play_decisions import READINGS, CandidateAnswer, StepAnswer, Tool, step_contract
from robogaze.interactive.play_options import PlayOptions
from robogaze.interactive.play_trace import PlayEntry, PlayTrace, shown
from robogaze.interactive.readings import read_document
from robogaze.interactive.replay import send
from robogaze.interactive.screen import screen_images
from robogaze.interactive.verification import Verifier
from robogaze.stages.asking import NoAnswer, Query

ENVIRONMENT_STAGE = "environment"

FAULT_KINDS = {
    "unreachable": FailureKind.UNREACHABLE,
    "timeout": FailureKind.STALLED,
    "refused": FailureKind.REFUSED,
    "invalid_reply": FailureKind.SERVER_FAULT,
}
"""The kind of failure in a report for each kind of fault of an environment."""


@dataclass
class PlaySession:
    """A play in progress. `number` is the number of the session, from 1; `earlier` are the notes that earlier sessions
    left.

    The play uses `environment`; replays use `fresh`, a second session. `stopped` says why the play ended; `failures` is
    empty if nothing failed; `notes` are for the reader of the report.
    """

    number: int
    options: PlayOptions
    agent: AgentSpec
    earlier: tuple[Memory, ...]
    domain: Domain
    client: PlayClient
    environment: Environment
    fresh: Environment
    trace: PlayTrace = field(default_factory=PlayTrace)
    claims: list[PlayClaim] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)
    screens: dict[int, FrameImage] = field(default_factory=dict)
    summary: Memory | None = None
    summarised: int = 0
    files: tuple[str, ...] | None = None
    _summarised_entries: int = 0

    @property
    def steps_left(self) -> int:
        """The number of steps that are left."""
        return self.options.budget - self.trace.steps

    @property
    def decided(self) -> bool:
        """Whether a model decided at least one step."""
        return any(call.stage == STEP_STAGE and call.outcome == "answered" for call in self.client.calls)

    async def play(self) -> None:
        """Play to the end. Raises EnvironmentFault if the environment cannot be started."""
        self._add(await self.environment.reset(), kind="start", tool="start")
        await self._list_documents()
        try:
            while not self.stopped:
                await self._step()
        except EnvironmentFault as fault:
            self.fail(fault)

    async def _step(self) -> None:
        answer = await self._decide()
        if answer is None:
            self.stopped = "no usable answer"
            return
        self._reflect(answer)
        if answer.candidate is not None:
            await self._suspect(answer.candidate)
        if answer.tool == "finish" or self.steps_left <= 0:
            self.stopped = "steps used up" if self.steps_left <= 0 else "finished by the agent"
            return
        await self._use(answer)
        self._stop_if_stuck()
        if not self.stopped:
            await self._summarise()

    # Deciding.

    async def _decide(self) -> StepAnswer | None:
        """The next decision; None without a valid answer. After an invalid answer, another sample is asked for."""
        tools, failure = self._tools(), None
        for sample in range(self.agent.failures_in_a_row):
            try:
                answer: StepAnswer = await self.client.ask(self._step_query(tools, sample), self.known())
            except NoAnswer as error:
                failure = error.failure
                if failure.kind is not FailureKind.INVALID_ANSWER:
                    break
            else:
                return answer
        assert failure is not None
        self.failures.append(failure)
        return None

    def _step_query(self, tools: tuple[Tool, ...], sample: int) -> Query:
        entry = self.trace.last
        reflects = self.agent.reflection and entry.kind in ("act", "restart")
        variables = {
            "budget": self.options.budget,
            "steps_left": self.steps_left,
            "reflects": reflects,
            "tools": tools,
            "claims": [claim.shown() for claim in self.claims] if self.agent.within_sessions else [],
        }
        return Query(
            stage=STEP_STAGE,
            subject=f"step {entry.step}" if entry.kind != "read" else f"step {entry.step} reading {len(self.trace)}",
            role="vlm",
            prompt="play_step",
            variables=variables,
            images=self.images(),
            contract=step_contract(self.domain.types, tools, reflects=reflects),
            check=self._step_check(),
            sample=sample,
        )

    def _step_check(self) -> Callable[[StepAnswer], str | None]:
        """A check of an answer. A claim with evidence that was not observed is sent back once, and later rejected."""
        sent_back: list[str] = []

        def check(answer: StepAnswer) -> str | None:
            fault = answer.fault()
            if fault is None and answer.candidate is not None and not sent_back:
                try:
                    signs_of(answer.candidate, self.trace.since_restart())
                except ValueError as error:
                    fault = f"candidate: {error}; cite exactly what was observed, or give null"
                    sent_back.append(fault)
            return fault

        return check

    def _tools(self) -> tuple[Tool, ...]:
        """What the agent may do now."""
        if self.steps_left <= 0:
            return ("finish",)
        readings = self.agent.readings_in_a_row
        tail = self.trace.session[-readings:] if readings else []
        may_read = self.files is not None and not (len(tail) == readings and all(e.kind == "read" for e in tail))
        acts: tuple[Tool, ...] = ("restart",) if self.trace.since_restart()[-1].finished else ("act", "restart")
        return (*acts, *(READINGS if may_read and readings else ()), "finish")

    def known(self) -> PlayVariables:
        """What is known about the play, as prompts show it."""
        session = self.trace.session
        taxonomy = self.domain.taxonomy
        first = self._summarised_entries if self.agent.within_sessions else 0
        if not self.agent.within_sessions:
            first = max(0, len(session) - self.agent.steps_without_memory)
        before = next((entry for entry in reversed(session[:first]) if entry.kind != "read"), None)
        return PlayVariables(
            session=self.number,
            sessions=self.options.sessions,
            budget=self.options.budget,
            documents=self.files,
            dimensions=taxonomy.dimensions,
            cascade=taxonomy.cascade,
            not_annotated=taxonomy.not_annotated,
            memory=self.earlier,
            summary=self.summary,
            summarised=self.summarised,
            entries=tuple(
                self._with_claims(row) for row in shown(session[first:], before, self.agent.shown_characters)
            ),
        )

    def _with_claims(self, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "claims": [claim.shown() for claim in self.claims if claim.id in row["claims"]]}

    def images(self) -> tuple[FrameImage, ...]:
        """The picture of the last reply, if it has one."""
        screen = self.screens.get(self.trace.since_restart()[-1].step)
        return () if screen is None else (screen,)

    # Acting.

    async def _use(self, answer: StepAnswer) -> None:
        """Do what the agent decided."""
        plan = {"tool": answer.tool, "rationale": answer.rationale, "command": answer.command}
        if answer.tool in READINGS:
            documents = self.environment.documents()
            assert documents is not None, "the tool is not offered without documents"
            found = await read_document(documents, answer.tool, answer.command or "", self.agent.shown_characters)
            self._add(found, **plan, kind="read")
        elif answer.tool == "restart":
            self._add(await self.environment.reset(), **{**plan, "command": None}, kind="restart")
        else:
            assert answer.command is not None, "the contract demands one"
            reply = await send(self.environment, answer.command)
            self._add(reply, **plan, kind="act", expected=answer.expected)

    def _add(self, reply: Observation | EnvironmentFault, **fields: Any) -> None:
        step = self.trace.steps + (0 if fields["kind"] in ("start", "read") else 1)
        if isinstance(reply, Observation):
            try:
                self.screens.update(screen_images(step, reply.pictures, self.client))
            except EnvironmentFault as fault:
                reply = fault
        self.trace.entries.append(PlayEntry.of(reply, step=step, **fields))

    async def _list_documents(self) -> None:
        documents = self.environment.documents()
        if documents is None:
            return
        try:
            self.files = await documents.files()
        except EnvironmentFault as fault:
            if fault.kind == "unreachable":
                raise
            self.notes.append(f"The documents could not be listed ({fault}), so the agent could not read any.")

    # Reflecting and remembering.

    def _reflect(self, answer: StepAnswer) -> None:
        if answer.last_step is not None:
            reflection = answer.last_step
            self.trace.change_last(as_expected=reflection.as_expected, difference=reflection.difference)

    async def _suspect(self, candidate: CandidateAnswer) -> None:
        """Record a suspected fault, and decide whether it is reported."""
        dimension = self.domain.dimension_of[candidate.type]
        claim, fault = new_claim(f"H{len(self.claims) + 1}", candidate, dimension, self.trace)
        self.trace.change_last(claims=(*self.trace.last.claims, claim.id))
        same = next((other for other in self.claims if _same(other, claim)), None)
        self.claims.append(claim)
        if fault is not None:
            claim.decide("rejected", fault)
        elif same is not None:
            claim.merged_into = same.id
            claim.decide("merged", f"it cites the same as {same.id}")
        elif self.agent.verification is None:
            claim.decide("accepted", "reported without verification")
        else:
            await self._verifier.verify(claim, self.known())

    @property
    def _verifier(self) -> Verifier:
        return Verifier(self.agent, self.options.budget, self.client, self.fresh, self.trace)

    async def reproduce_reports(self) -> None:
        """Replay and shorten each report after the play. A fault of the environment is a failure of the play."""
        accepted = [claim for claim in self.claims if claim.verdict == "accepted"]
        for claim in accepted:
            claim.set_reproduction(claim.best_commands, None, replays=0)
        try:
            for claim in accepted:
                await self._verifier.reproduce(claim, self.known())
        except EnvironmentFault as fault:
            self.fail(fault)

    async def _summarise(self) -> None:
        """With in-session memory, summarise the older half of the steps once 2 x `recent_steps` are shown in full."""
        session, recent = self.trace.session, self.agent.recent_steps
        if not self.agent.within_sessions or len(session) - self._summarised_entries < 2 * recent:
            return
        until = len(session) - recent
        query = self._notes_query("play_summary", {"until": session[until - 1].step})
        try:
            answer = await self.client.ask(query, self.known())
        except NoAnswer as error:
            self.failures.append(error.failure)
            self.stopped = "no usable answer"
            return
        self.summary, self.summarised = answer.model_dump(), session[until - 1].step
        self._summarised_entries = until

    @property
    def can_distil(self) -> bool:
        """Whether the play can leave notes: a model decided at least one step, and no request failed or got only
        invalid answers. A play that will be repeated leaves no notes.
        """
        kinds = {failure.kind for failure in self.failures}
        return self.decided and not any(kind.unanswered or kind is FailureKind.INVALID_ANSWER for kind in kinds)

    async def distil(self) -> Memory | None:
        """The notes for the next session. If a model gives no valid answer, this is a failure of the play, and the
        result is None.
        """
        variables = {
            "steps": self.trace.steps,
            "budget": self.options.budget,
            "claims": [claim.shown() for claim in self.claims],
        }
        try:
            answer = await self.client.ask(self._notes_query("play_memory", variables), self.known())
        except NoAnswer as error:
            self.failures.append(error.failure)
            return None
        memory: Memory = answer.model_dump()
        return memory

    def _notes_query(self, prompt: str, variables: dict[str, Any]) -> Query:
        return Query(
            stage=prompt,
            subject=f"step {self.trace.steps}",
            role="llm",
            prompt=prompt,
            variables=variables,
            images=(),
            contract=record(prompt, self.domain.prompts.contract(prompt)),
        )

    # Ending.

    def _stop_if_stuck(self) -> None:
        agent = self.agent
        faults = self.trace.faults_in_a_row()
        if len(faults) >= agent.failures_in_a_row:
            kind, _, message = faults[0].partition(": ")
            self.stopped = "failures in a row"
            text = f"{agent.failures_in_a_row} commands in a row had no usable reply; the first failure: {message}"
            self.failures.append(Failure(stage=ENVIRONMENT_STAGE, kind=FAULT_KINDS[kind], message=text))
        elif self.trace.repeats(agent.loop_steps):
            self.stopped = "a loop"
            text = f"the model repeated the same steps {agent.loop_steps} times with the same replies"
            self.failures.append(Failure(stage=STEP_STAGE, kind=FailureKind.LOOPED, message=text))

    def fail(self, fault: EnvironmentFault) -> None:
        """End the play with a failure, because the environment cannot be used any more."""
        self.stopped = self.stopped or "the environment failed"
        self.failures.append(Failure(stage=ENVIRONMENT_STAGE, kind=FAULT_KINDS[fault.kind], message=str(fault)))


def _same(claim: PlayClaim, other: PlayClaim) -> bool:
    """Whether a claim was not rejected, and has the type and the evidence of another claim."""
    return (
        claim.verdict in ("accepted", "unverified")
        and claim.candidate.type == other.candidate.type
        and claim.signs == other.signs
    )
