"""The contract of every environment: in this process, behind our server, and behind a hub like the public one."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from interactive.environments.hubs import PublicHub, serving
from robogaze.errors import EnvironmentFault
from robogaze.interactive.environments import (
    ENGINES,
    Environment,
    built_in_environments,
    load_folder,
    open_environment,
)
from robogaze.interactive.environments.in_process import InProcessEnvironment
from robogaze.interactive.environments.server import serve_environment

ENVIRONMENTS = [*built_in_environments(), "warehouse behind HTTP", "the public hub"]


@pytest.fixture(params=ENVIRONMENTS)
def spec(request: pytest.FixtureRequest) -> Iterator[str]:
    apps = {
        "warehouse behind HTTP": lambda: serve_environment(
            lambda: open_environment("warehouse", mode="qa"), "warehouse", "1"
        ),
        "the public hub": lambda: PublicHub().app,
    }
    if request.param not in apps:
        yield request.param
        return
    with serving(apps[request.param]()) as address:
        yield address


@pytest.fixture
async def environment(spec: str) -> AsyncIterator[Environment]:
    opened = open_environment(spec, mode="player", timeout_s=60)
    yield opened
    await opened.close()


def walkthrough_of(environment: Environment) -> tuple[str, ...]:
    return load_folder("warehouse" if "warehouse" in environment.name else "castle").walkthrough


def test_every_engine_is_tested() -> None:
    assert {load_folder(name).engine for name in built_in_environments()} == set(ENGINES.own)


def test_the_name_is_fit_for_a_file(environment: Environment) -> None:
    assert environment.name
    assert not set(environment.name) & set("/\\: ")


async def test_a_session_starts_with_a_message_and_no_turn(environment: Environment) -> None:
    started = await environment.reset()
    assert started.message
    assert started.turn in (0, None)
    assert not started.finished
    assert started.state.get("turn_count", 0) == 0


async def test_each_action_is_one_turn(environment: Environment) -> None:
    await environment.reset()
    assert [(await environment.act(command)).turn for command in ("look", "dance", "")] == [1, 2, 3]


async def test_nothing_is_accepted_before_the_first_session(environment: Environment) -> None:
    for request in (environment.act("look"), environment.observe()):
        with pytest.raises(EnvironmentFault, match="has no session; reset it first") as fault:
            await request
        assert fault.value.kind == "refused"


async def test_observing_is_no_action(environment: Environment) -> None:
    await environment.reset()
    acted = await environment.act("look")
    for _ in range(2):
        seen = await environment.observe()
        assert (seen.state, seen.turn, seen.finished) == (acted.state, acted.turn, acted.finished)
        assert seen.pictures in ((), acted.pictures)
    assert (await environment.act("look")).turn == 2


async def test_a_reset_starts_from_the_initial_state(environment: Environment) -> None:
    first = await environment.reset()
    commands = walkthrough_of(environment)[:3]
    played = [await environment.act(command) for command in commands]
    assert played[-1].state != first.state
    assert await environment.reset() == first
    assert [await environment.act(command) for command in commands] == played


async def test_two_sessions_side_by_side_do_not_meet(spec: str) -> None:
    pair = [open_environment(spec, mode="player", timeout_s=60) for _ in range(2)]
    first = [await opened.reset() for opened in pair]
    assert first[0] == first[1]
    await pair[0].act("help")
    assert (await pair[1].observe()).state == first[1].state
    for opened in pair:
        await opened.close()


async def test_nothing_hidden_is_in_the_state(environment: Environment) -> None:
    for seen in (await environment.reset(), await environment.act("look"), await environment.observe()):
        assert "full_state" not in seen.state


async def test_a_player_has_no_documents(environment: Environment) -> None:
    assert environment.documents() is None


async def test_documents_are_listed_read_and_searched(spec: str) -> None:
    environment = open_environment(spec, mode="qa", timeout_s=60)
    documents = environment.documents()
    assert documents is not None
    await environment.reset()
    paths = await documents.files()
    assert list(paths) == sorted(paths)
    for path in paths:
        text = await documents.read(path)
        lines = text.splitlines(keepends=True)
        assert await documents.read(path, 2, 3) == "".join(lines[1:3])
        assert await documents.read(path, len(lines)) == lines[-1]
        wanted = lines[0].strip()
        found = await documents.search(wanted.upper())
        assert len(found) <= 50
        assert wanted.lower() in found[0].text.lower()
        assert (await documents.read(found[0].path, found[0].line, found[0].line)).strip() == found[0].text.strip()
    assert await documents.search("no such line (in") == ()
    with pytest.raises(EnvironmentFault) as fault:
        await documents.read("../secrets.txt")
    assert fault.value.kind == "refused"
    await environment.act("look")
    assert await documents.debug_log()
    await environment.close()


async def test_a_screen_is_a_png(environment: Environment) -> None:
    seen = [await environment.reset(), await environment.act("south")]
    for observation in seen:
        assert all(picture.startswith(b"\x89PNG") for picture in observation.pictures)
    if seen[0].pictures:
        assert seen[0].pictures != seen[1].pictures


async def test_a_command_of_any_text_gets_a_reply(environment: Environment) -> None:
    await environment.reset()
    for command in ("", " ", "take", "go", "\x00", "look\nlook", "ö" * 5_000, '{"a": 1}', "../..", "open the"):
        assert (await environment.act(command)).message


async def test_after_the_end_nothing_changes(spec: str) -> None:
    environment = open_environment(spec, mode="player", timeout_s=60)
    first = await environment.reset()
    signs = {"room": "castle", "minutes": "lighthouse"}
    name = next((name for sign, name in signs.items() if sign in first.state), "warehouse")
    for command in load_folder(name).walkthrough:
        last = await environment.act(command)
    assert last.finished
    after = await environment.act("look")
    assert after.finished
    assert after.state == last.state
    await environment.close()


async def test_the_engine_in_the_docs_works() -> None:
    page = Path(__file__).parents[3] / "docs" / "interactive.md"
    (code,) = (code for code in re.findall(r"```py\n(.*?)```", page.read_text(), re.DOTALL) if "def load" in code)
    names: dict[str, Any] = {}
    exec(code, names)
    environment = InProcessEnvironment("counter", names["load"](None), None, timeout_s=60)
    assert (await environment.reset()).message == "count 0"
    assert [(await environment.act("on")).finished for _ in range(4)] == [False, False, True, True]
