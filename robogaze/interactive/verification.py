"""Suspected faults are reproduced before they are reported, and the commands of reports are shortened after the play.

During the play, the commands that a claim names are sent to a fresh session. If they do not show the cited excerpts
again, all commands of the session up to the fault are sent. These commands are steps of the play. A claim that is not
reproduced is rejected without asking a model. If the claim is reproduced, a model rules on the replay, and the claim is
accepted if the model calls it a bug with at least the agent's minimum confidence.

After the play, each report is replayed once more, and shortened to the fewest commands that end in the same reply. If
even fewer commands show the excerpts again, a model rules on them, and they are used if it finds that they show the
fault. These commands are not steps of the play.
"""

from dataclasses import dataclass, field

from robogaze.core.events import Evidence
from robogaze.domains.model import AgentSpec
from robogaze.interactive.claims import RULING_STAGE, PlayClaim
from robogaze.interactive.environments.base import Environment
from robogaze.interactive.play_client import PlayClient, PlayVariables
from robogaze.interactive.play_decisions import ReplayRuling
from robogaze.interactive.play_trace import PlayTrace, shown, shows_again
from robogaze.interactive.replay import Commands, Replay, ReplayLimit, fewest, replay
from robogaze.interactive.screen import screen_images
from robogaze.stages.asking import NoAnswer, Query

_REPLIES_SHOWN = 40
"""The number of replies, the last ones of a replay, that a model is shown for its ruling."""


@dataclass
class Verifier:
    """Verifies the claims of one play in `fresh`, a session of the environment that is used only for replays."""

    agent: AgentSpec
    budget: int
    client: PlayClient
    fresh: Environment
    trace: PlayTrace

    async def verify(self, claim: PlayClaim, known: PlayVariables) -> None:
        """Replay a claim and decide it. If too few steps are left, the claim is `unverified`. Raises EnvironmentFault
        as `replay` does.
        """
        tried = list(dict.fromkeys((tuple(claim.candidate.reproduction), claim.recorded)))
        for commands in tried:
            left = self.budget - self.trace.steps
            if len(commands) > left:
                claim.decide("unverified", f"{left} steps were left to replay {len(commands)} commands")
                return
            found = await replay(self.fresh, commands)
            for entry in found.replies[1:]:
                self.trace.entries.append(entry.with_(step=self.trace.steps + 1, claims=(claim.id,)))
            shown = shows_again(found.replies, claim.signs)
            text = f"{'shown' if shown else 'not shown'} by: {'; '.join(commands)}"
            claim.replays.append(Evidence(text=text, source="replay"))
            if shown:
                claim.commands = commands
                await self._decide(claim, found, known)
                return
        claim.decide("rejected", f"it did not show again on a fresh session (replays: {len(tried)})")

    async def _decide(self, claim: PlayClaim, found: Replay, known: PlayVariables) -> None:
        """Decide a claim that was reproduced."""
        try:
            ruling = await self._ruling(claim, found, known, f"{claim.id} ruling")
        except NoAnswer as error:
            claim.decide("unverified", f"no ruling: {error}")
            return
        claim.severity, claim.confidence = ruling.severity, ruling.confidence
        if ruling.verdict == "unclear":
            claim.decide("unverified", ruling.reason)
        elif ruling.verdict == "no_bug":
            claim.decide("rejected", ruling.reason)
        elif not self._is_sure(ruling):
            claim.decide("rejected", f"the confidence {ruling.confidence:.2f} is too low: {ruling.reason}")
        else:
            claim.decide("accepted", ruling.reason)

    def _is_sure(self, ruling: ReplayRuling) -> bool:
        assert self.agent.verification is not None
        return ruling.verdict == "bug" and ruling.confidence >= self.agent.verification.min_confidence

    async def _ruling(self, claim: PlayClaim, found: Replay, known: PlayVariables, subject: str) -> ReplayRuling:
        """A model's ruling on a replay that shows the evidence of a claim again. Raises NoAnswer."""
        earlier, last = found.replies[:-_REPLIES_SHOWN], found.replies[-_REPLIES_SHOWN:]
        before = earlier[-1] if earlier else None
        variables = {
            "claim": claim.candidate.model_dump(exclude={"reproduction", "confidence"}),
            "steps": claim.steps,
            "commands": [entry.command or "" for entry in found.replies[1:]],
            "replay": shown(last, before, self.agent.shown_characters),
        }
        images = screen_images(claim.steps[-1], found.pictures, self.client)
        query = Query(
            stage=RULING_STAGE,
            subject=subject,
            role="critic",
            prompt="play_ruling",
            variables=variables,
            images=tuple(images.values()),
            contract=ReplayRuling,
            dimension=claim.dimension,
        )
        ruling: ReplayRuling = await self.client.ask(query, known)
        return ruling

    async def reproduce(self, claim: PlayClaim, known: PlayVariables) -> None:
        """Replay the commands of a report and shorten them. Raises EnvironmentFault as `replay` does."""
        commands = claim.best_commands
        replays = _Replays(self.fresh, self.agent.shorten_replays)
        reproduced = shows_again((await replays.of(commands)).replies, claim.signs)
        claim.set_reproduction(commands, reproduced, len(replays.made))
        if reproduced:
            commands = await self._shortened(claim, commands, replays, known)
            claim.set_reproduction(commands, reproduced, len(replays.made))

    async def _shortened(
        self, claim: PlayClaim, commands: Commands, replays: "_Replays", known: PlayVariables
    ) -> Commands:
        """The fewest commands that end in the same reply, or fewer commands if a model accepts these."""
        last = (await replays.of(commands)).replies[-1]

        async def shows(fewer: Commands) -> bool:
            return shows_again((await replays.of(fewer)).replies, claim.signs)

        async def is_same(fewer: Commands) -> bool:
            return await shows(fewer) and (await replays.of(fewer)).replies[-1].same_reply(last)

        shortest = await fewest(commands, is_same)
        shorter = shortest if self.agent.verification is None else await fewest(shortest, shows)
        if len(shorter) == len(shortest):
            return shortest
        try:
            subject = f"{claim.id} ruling on {len(shorter)} commands"
            ruling = await self._ruling(claim, await replays.of(shorter), known, subject)
        except NoAnswer:
            return shortest
        return shorter if self._is_sure(ruling) else shortest


@dataclass
class _Replays:
    """The replays of one claim after the play. Each sequence of commands is replayed at most once."""

    fresh: Environment
    most: int
    made: dict[Commands, Replay] = field(default_factory=dict)

    async def of(self, commands: Commands) -> Replay:
        """The replay of commands. Raises ReplayLimit after 1 + `most` replays."""
        if commands not in self.made:
            if len(self.made) > self.most:
                raise ReplayLimit
            self.made[commands] = await replay(self.fresh, commands)
        return self.made[commands]
