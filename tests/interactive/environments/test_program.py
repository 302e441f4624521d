"""Generated programs: what their process allows, what it does not, and how its end is reported."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from robogaze.domains.yaml_files import YamlText
from robogaze.errors import DomainError
from robogaze.interactive.environments.base import EnvironmentFault, Observation
from robogaze.interactive.environments.in_process import InProcessEnvironment
from robogaze.interactive.environments.program import (
    REQUIRED,
    ProgramWorld,
    load,
    problem_in,
    source_of,
    without_network,
)

COUNTER = {
    "start": ("def start():", "    return {'count': 0, 'secret': 7}"),
    "opening": ("def opening(state):", "    return 'Count to three.'"),
    "act": (
        "def act(state, command):",
        "    if command == 'add':",
        "        state['count'] += 1",
        "    return f\"It is {state['count']}.\"",
    ),
    "visible": ("def visible(state):", "    return {'count': state['count']}"),
    "finished": ("def finished(state):", "    return state['count'] >= 3"),
}


def world(*act: str) -> ProgramWorld:
    """The counter, with other lines in `act`."""
    parts = COUNTER if not act else {**COUNTER, "act": ("def act(state, command):", *(f"    {line}" for line in act))}
    return ProgramWorld("Counter", source_of(parts))


def replies(*act: str, command: str = "add") -> Observation:
    session = world(*act)
    try:
        return session.act(command)
    finally:
        session.close()


def test_a_program_is_played_to_its_end() -> None:
    session = world()
    assert session.observe() == Observation("Count to three.", {"count": 0}, 0, False)
    seen = [session.act(command) for command in ("add", "what?", "add", "add", "add")]
    session.close()
    assert [(reply.message, reply.turn, reply.finished) for reply in seen] == [
        ("It is 1.", 1, False), ("It is 1.", 2, False), ("It is 2.", 3, False), ("It is 3.", 4, True),
        ("It is 3.", 4, True),
    ]  # fmt: skip
    assert "secret" not in seen[-1].state


def test_sessions_share_nothing() -> None:
    first, second = world(), world()
    first.act("add")
    assert second.act("look").state == {"count": 0}
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (["return 1 // 0"], "invalid_reply", "ZeroDivisionError"),
        (["state['count'] = {1, 2}", "return ''"], "invalid_reply", "TypeError"),
        (["return 'x' * (1 << 21)"], "invalid_reply", "replied too much"),
        (["big = [0] * (1 << 28)", "return ''"], "invalid_reply", "MemoryError"),
        (["import os", "return os.getcwd()"], "invalid_reply", "a program may import"),
        (["return open('/etc/passwd').read()"], "invalid_reply", "NameError"),
    ],
)
def test_a_failing_program_is_a_fault_and_never_a_reply(act: list[str], kind: str, message: str) -> None:
    with pytest.raises(EnvironmentFault, match=message) as fault:
        replies(*act)
    assert fault.value.kind == kind


@pytest.mark.parametrize(
    "call",
    [
        "o.open('/etc/hostname', 0)",
        pytest.param("o.fork()", marks=pytest.mark.skipif(os.geteuid() == 0, reason="root may start any process")),
    ],
)
def test_limits_hold_where_the_checks_of_names_were_evaded(call: str) -> None:
    """The program reaches `os` through a module it may import, as code that is written to break out would."""
    evaded = "o = re.compile.__globals__['__builtins__']['__import__']('os')"
    with pytest.raises(EnvironmentFault, match=r"OSError: \[Errno 24\]|BlockingIOError"):
        replies("import re", evaded, f"return str({call})")


def test_an_endless_loop_ends_with_the_time_limit_and_its_process_is_gone() -> None:
    parts = {**COUNTER, "act": ("def act(state, command):", "    while True:", "        pass")}

    async def played() -> None:
        environment = InProcessEnvironment("counter", lambda: ProgramWorld("Counter", source_of(parts)), None, 60)
        await environment.reset()
        environment._timeout_s = 1.0
        started = time.monotonic()
        with pytest.raises(EnvironmentFault, match="did not reply within 1 s") as fault:
            await environment.act("add")
        assert fault.value.kind == "timeout"
        assert time.monotonic() - started < 15, "before the limit of the processor time"
        await environment.close()

    asyncio.run(played())


def test_a_killed_process_is_unreachable() -> None:
    session = world()
    session._process.kill()
    session._process.wait()
    with pytest.raises(EnvironmentFault, match="has ended") as fault:
        session.act("add")
    assert fault.value.kind == "unreachable"
    session.close()


@pytest.mark.skipif(not without_network(), reason="this system does not let a user take the network from a process")
def test_the_process_has_no_network() -> None:
    escape = "g = re.compile.__globals__['__builtins__']['__import__']('socket')"
    with pytest.raises(EnvironmentFault):
        replies("import re", escape, "return str(g.create_connection(('1.1.1.1', 53), 2))")


@pytest.mark.parametrize(
    ("part", "lines", "problem"),
    [
        ("act", ["import socket", "def act(state, command):", "    return ''"], "imports socket"),
        ("act", ["def act(state, command):", "    return ().__class__"], "uses __class__"),
        ("act", ["def act(state, command):", "    return eval(command)"], "uses eval"),
        ("act", ["def act(state, command):", "    return '{0.x}'.format(state)"], r"uses \.format"),
        ("act", ["def other(state, command):", "    return ''"], "defines other, not act alone"),
        ("act", ["def act(state, command)", "    return ''"], "is not Python"),
        ("act", ["def act(state, command):", "    return ''", "x = 1"], "defines act, x, not act alone"),
    ],
)
def test_refused_before_it_runs(part: str, lines: list[str], problem: str) -> None:
    parts = {**COUNTER, part: tuple(lines)}
    with pytest.raises(AssertionError, match=rf"code\.{part}: .*{problem}"):
        assert not (found := problem_in(parts)), found
    content = {"engine": "program", "title": "Counter", "code": {name: list(code) for name, code in parts.items()}}
    path = Path("world.yaml")
    with pytest.raises(DomainError):
        load(YamlText(path, json.loads(json.dumps(content)), {}))


@pytest.mark.parametrize("name", REQUIRED)
def test_every_function_is_required(name: str) -> None:
    assert problem_in({key: code for key, code in COUNTER.items() if key != name}) == f"code: there is no part {name}"
