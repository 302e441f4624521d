"""Replays: commands that are sent to a fresh session, and the fewest commands that still show a fault.

The fewest commands are found by delta debugging (Zeller and Hildebrandt, 2002): parts are left out as long as the rest
still shows the fault. The last command is kept, because its reply shows the fault.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from robogaze.interactive.environments.base import Environment, EnvironmentFault, Observation
from robogaze.interactive.play_trace import PlayEntry

Commands = tuple[str, ...]
Shows = Callable[[Commands], Awaitable[bool]]


@dataclass(frozen=True)
class Replay:
    """The initial state and the replies to commands, in order; `pictures` are the pictures of the last reply."""

    replies: list[PlayEntry]
    pictures: tuple[bytes, ...]


async def replay(environment: Environment, commands: Commands) -> Replay:
    """Send commands to a fresh session. If a command gets no usable reply, its entry has a fault instead of a reply.

    Raises EnvironmentFault if the environment cannot be reached or reset.
    """
    reply: Observation | EnvironmentFault = await environment.reset()
    replies = [PlayEntry.of(reply, step=0, kind="start", tool="start")]
    for number, command in enumerate(commands, start=1):
        reply = await send(environment, command)
        replies.append(PlayEntry.of(reply, step=number, kind="replay", tool="act", command=command))
    return Replay(replies, reply.pictures if isinstance(reply, Observation) else ())


async def send(environment: Environment, command: str) -> Observation | EnvironmentFault:
    """The reply to a command, or the fault if there is no usable reply.

    Raises EnvironmentFault if the environment cannot be reached.
    """
    try:
        return await environment.act(command)
    except EnvironmentFault as fault:
        if fault.kind == "unreachable":
            raise
        return fault


class ReplayLimit(Exception):
    """No more replays are allowed."""


async def fewest(commands: Commands, shows: Shows) -> Commands:
    """The fewest commands for which `shows` is still true; `shows` is assumed to be true for the given commands. Stops
    at ReplayLimit.
    """
    if not commands:
        return commands
    *rest, last = commands
    parts = 2
    try:
        while rest:
            size = -(-len(rest) // parts)
            for start in range(0, len(rest), size):
                fewer = rest[:start] + rest[start + size :]
                if await shows((*fewer, last)):
                    rest, parts = fewer, max(2, parts - 1)
                    break
            else:
                if size == 1:
                    break
                parts = min(len(rest), 2 * parts)
    except ReplayLimit:
        pass
    return (*rest, last)
