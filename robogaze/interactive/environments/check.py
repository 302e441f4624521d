"""Checks an environment: the protocol, that it can be won, and that every documented bug is there and can be fixed.

A bug is proved by comparing two builds that differ only in this bug: the same commands are sent to both builds, and
only the replies to the last command must differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from robogaze.errors import EnvironmentFault
from robogaze.interactive.environments import open_build, open_environment
from robogaze.interactive.environments.base import Observation
from robogaze.interactive.environments.folder import Bug, EnvironmentFolder


@dataclass(frozen=True)
class Checked:
    """A property of an environment that was checked; `problem` is empty if the property holds."""

    name: str
    problem: str = ""


async def check_protocol(spec: str, timeout_s: float = 30.0) -> tuple[Checked, ...]:
    """Check the protocol, which every environment must follow. Raises EnvironmentFault, InputError."""
    player = open_environment(spec, mode="player", timeout_s=timeout_s)
    try:
        first = await player.reset()
        after = await player.act("look")
        seen = await player.observe()
        again = await player.reset()
        repeated = await player.act("look")
        return (
            Checked("a session starts with a message", "" if first.message else "the first message is empty"),
            Checked(
                "the observed state is the same as in the last reply", _unless(seen.state == after.state, "it differs")
            ),
            Checked("a new session starts from the same state", _difference(first, again)),
            Checked("the same commands give the same replies", _difference(after, repeated)),
            await _check_documents(spec, timeout_s),
        )
    finally:
        await player.close()


async def check_folder(folder: EnvironmentFolder, timeout_s: float = 30.0) -> tuple[Checked, ...]:
    """Check the walkthrough and the documented bugs of an environment. Raises EnvironmentFault, DomainError."""
    every, none = frozenset(folder.bug_ids), frozenset[str]()
    first, again, clean = [await _play(folder, bugs, folder.walkthrough, timeout_s) for bugs in (every, every, none)]
    won = (
        Checked("the walkthrough wins in the build with every bug", _lost(first)),
        Checked("the walkthrough wins in the clean build", _lost(clean)),
        Checked("the walkthrough gives the same replies again", _unless(first == again, "they differ")),
    )
    found = []
    for bug in folder.bugs:
        for others, where in ((every - {bug.id}, "with the other bugs present"), (none, "on its own")):
            problem = await _unproved(folder, bug, others, timeout_s)
            found.append(
                Checked(
                    f"{bug.id} ({bug.difficulty}) shows in its reproduction, not where it is mended, {where}", problem
                )
            )
    return (*won, *found)


async def _check_documents(spec: str, timeout_s: float) -> Checked:
    name = "documents are listed, read and searched"
    environment = open_environment(spec, mode="qa", timeout_s=timeout_s)
    try:
        documents = environment.documents()
        if documents is None:
            return Checked(name, "there are none")
        await environment.reset()
        paths = await documents.files()
        text = await documents.read(paths[0]) if paths else ""
        line = next((line for line in text.splitlines() if line.strip()), "")
        found = await documents.search(line) if line else ()
        await documents.debug_log()
        return Checked(
            name,
            _unless(any(match.path == paths[0] for match in found), "the search does not find a line that was read"),
        )
    except EnvironmentFault as error:
        if error.kind == "refused":
            return Checked(name, str(error))
        raise
    finally:
        await environment.close()


async def _play(
    folder: EnvironmentFolder, bugs: frozenset[str], commands: Sequence[str], timeout_s: float
) -> list[Observation]:
    """The observations of a fresh session; the first observation is made before any command."""
    environment = open_build(folder, bugs, mode="player", timeout_s=timeout_s)
    try:
        return [await environment.reset(), *[await environment.act(command) for command in commands]]
    finally:
        await environment.close()


def _lost(played: list[Observation]) -> str:
    early = next((number for number, seen in enumerate(played[:-1]) if seen.finished), None)
    if early is not None:
        return f"it ends after {early} of {len(played) - 1} commands"
    return _unless(played[-1].finished, f"it is not at its end; the last reply is {played[-1].message[:80]!r}")


async def _unproved(folder: EnvironmentFolder, bug: Bug, others: frozenset[str], timeout_s: float) -> str:
    """Why the minimal reproduction of a bug does not prove the bug; empty if it proves the bug."""
    commands = bug.minimal_reproduction
    faulty = await _play(folder, others | {bug.id}, commands, timeout_s)
    mended = await _play(folder, others, commands, timeout_s)
    for number, (with_bug, without) in enumerate(zip(faulty[:-1], mended[:-1], strict=True)):
        if (with_bug.message, with_bug.pictures) != (without.message, without.pictures):
            return f"it shows already after {number} of {len(commands)} commands"
    return _unless(faulty[-1] != mended[-1], "with and without the bug all replies are the same")


def _difference(first: Observation, second: Observation) -> str:
    names = [part.name for part in fields(Observation) if getattr(first, part.name) != getattr(second, part.name)]
    return f"the replies differ in {', '.join(names)}" if names else ""


def _unless(holds: bool, problem: str) -> str:
    return "" if holds else problem
