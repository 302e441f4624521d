"""The peculiarities of the public hub."""

from collections.abc import AsyncIterator

import pytest

from interactive.environments.hubs import PublicHub, serving
from robogaze.errors import InputError
from robogaze.interactive.environments import Environment, open_environment


@pytest.fixture
async def hub() -> AsyncIterator[tuple[Environment, PublicHub]]:
    public = PublicHub()
    with serving(public.app) as address:
        environment = open_environment(f"{address}/api/", mode="qa", timeout_s=60)
        yield environment, public
        await environment.close()


async def test_restart_has_no_turn_and_the_session_stays_valid(hub: tuple[Environment, PublicHub]) -> None:
    environment, public = hub
    await environment.reset()
    assert (await environment.act("take matches")).turn == 1
    restarted = await environment.act("restart")
    assert restarted.turn is None
    assert not restarted.finished
    assert restarted.state["turn_count"] == 0
    (session_id, engine), *others = public.sessions.items()
    assert not others
    assert engine.id != session_id
    assert (await environment.act("take matches")).turn == 1
    assert (await environment.observe()).turn == 1
    documents = environment.documents()
    assert documents is not None
    assert "DEBUG" in await documents.debug_log()


async def test_a_command_that_fails_is_a_reply(hub: tuple[Environment, PublicHub]) -> None:
    """The hub sends `success: false` for a command that did nothing; that is no fault."""
    environment, _ = hub
    await environment.reset()
    assert "not a command" in (await environment.act("dance")).message


async def test_numbers_are_taken_off_the_lines_of_a_document(hub: tuple[Environment, PublicHub]) -> None:
    environment, public = hub
    documents = environment.documents()
    assert documents is not None
    assert (await documents.read("game/actions.py")).splitlines() == public.lines
    assert await documents.read("game/actions.py", 4) == "x = 1\n"


async def test_a_pattern_is_a_text(hub: tuple[Environment, PublicHub]) -> None:
    environment, _ = hub
    documents = environment.documents()
    assert documents is not None
    assert [match.line for match in await documents.search("HANDLE_COMBINE(SELF)")] == [1]
    assert await documents.search("handle.combine") == ()


@pytest.mark.parametrize("address", ["http://", "http://[", "https:///api"])
def test_an_address_without_a_host_is_an_input_error(address: str) -> None:
    with pytest.raises(InputError, match="is not the address of an environment; use http://HOST:PORT"):
        open_environment(address, mode="player")
