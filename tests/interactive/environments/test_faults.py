"""What goes wrong in an environment is an EnvironmentFault with its kind; the session after it is a fresh one."""

import asyncio
import json
import socket
import threading
from typing import Any

import pytest

from interactive.environments.hubs import PublicHub, serving
from robogaze.errors import EnvironmentFault, FaultKind
from robogaze.interactive.environments import Observation, open_environment
from robogaze.interactive.environments.in_process import InProcessEnvironment

STATE = {"turn_count": 0}
GOOD = {"success": True, "game_id": "a", "message": "A hall.", "state": STATE, "game_over": False, "turn": 0}
PNG = "iVBORw0KGgo="


class FaultyHub:
    """Answers every path with `sent`: a reply as JSON, raw bytes, or `hang`, `drip` and `cut`; after `good` replies."""

    def __init__(
        self, sent: Any, status: int = 200, good: int = 0, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        self.sent, self.status, self.good, self.headers = sent, status, good, headers
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1
        if self.requests <= self.good:
            await self._send(send, json.dumps(GOOD).encode(), 200)
        elif self.sent == "hang":
            await receive()
            await receive()
        elif self.sent == "drip":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(100):
                await send({"type": "http.response.body", "body": b" ", "more_body": True})
                await asyncio.sleep(0.05)
        elif self.sent == "cut":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
            raise ConnectionResetError
        else:
            raw = self.sent if isinstance(self.sent, bytes) else json.dumps(self.sent).encode()
            await self._send(send, raw, self.status)

    async def _send(self, send: Any, raw: bytes, status: int) -> None:
        headers = [(b"content-type", b"application/json"), *self.headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": raw})


def lying(**changes: Any) -> dict[str, Any]:
    """A good reply with some keys changed; None leaves the key out."""
    return {key: value for key, value in {**GOOD, **changes}.items() if value is not None}


FAULTS: dict[str, tuple[FaultyHub, FaultKind]] = {
    "hangs": (FaultyHub("hang"), "timeout"),
    "sends a byte now and then": (FaultyHub("drip"), "timeout"),
    "cuts the connection": (FaultyHub("cut"), "unreachable"),
    "fails": (FaultyHub(GOOD, 500), "invalid_reply"),
    "is overloaded": (FaultyHub(b"<html>", 503), "invalid_reply"),
    "has no such path": (FaultyHub(b"<html>", 404), "refused"),
    "does not know the session": (FaultyHub({"success": False, "message": "Invalid game_id."}, 400), "refused"),
    "redirects": (FaultyHub(b"", 307, headers=((b"location", b"http://127.0.0.1:1/"),)), "refused"),
    "sends nothing": (FaultyHub(b""), "invalid_reply"),
    "sends a page": (FaultyHub(b"<html>welcome</html>"), "invalid_reply"),
    "sends half": (FaultyHub(json.dumps(GOOD).encode()[:-9]), "invalid_reply"),
    "sends too much": (FaultyHub(b" " * (16 * 2**20 + 1)), "invalid_reply"),
    "sends no text": (FaultyHub(b"\xff\xfe\x00"), "invalid_reply"),
    "nests without end": (FaultyHub(b"[" * 100_000), "invalid_reply"),
    "sends a list": (FaultyHub([GOOD]), "invalid_reply"),
    "has no message": (FaultyHub(lying(message=None)), "invalid_reply"),
    "says a number": (FaultyHub(lying(message=3)), "invalid_reply"),
    "does not stop talking": (FaultyHub(lying(message="a" * 100_001)), "invalid_reply"),
    "has no state": (FaultyHub(lying(state=None)), "invalid_reply"),
    "has a list as its state": (FaultyHub(lying(state=[STATE])), "invalid_reply"),
    "has a state that is not finite": (FaultyHub(lying(state={"x": float("nan")})), "invalid_reply"),
    "has half a turn": (FaultyHub(lying(turn=0.5)), "invalid_reply"),
    "has a turn below zero": (FaultyHub(lying(turn=-1)), "invalid_reply"),
    "has a turn that is true": (FaultyHub(lying(turn=True)), "invalid_reply"),
    "is perhaps over": (FaultyHub(lying(game_over="no")), "invalid_reply"),
    "has one picture": (FaultyHub(lying(pictures=PNG)), "invalid_reply"),
    "has a picture that is no base64": (FaultyHub(lying(pictures=["%"])), "invalid_reply"),
    "has a picture that is no PNG": (FaultyHub(lying(pictures=["R0lGODlh"])), "invalid_reply"),
    "has pictures without end": (FaultyHub(lying(pictures=[PNG] * 100)), "invalid_reply"),
}


def limit_s(name: str) -> float:
    """Short only where the limit is reached, since the machine may be busy."""
    return 2 if FAULTS[name][1] == "timeout" else 60


async def kind_of(act: Any) -> tuple[FaultKind, str]:
    with pytest.raises(EnvironmentFault) as fault:
        await act
    return fault.value.kind, str(fault.value)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_hub_that_is_wrong_from_the_start(name: str) -> None:
    hub, kind = FAULTS[name]
    with serving(FaultyHub(hub.sent, hub.status, 0, hub.headers)) as address:
        environment = open_environment(address, mode="player", timeout_s=limit_s(name))
        assert (await kind_of(environment.reset()))[0] == kind
        assert (await kind_of(environment.act("look"))) == (
            "refused",
            f"{environment.name} has no session; reset it first",
        )
        await environment.close()


@pytest.mark.parametrize("name", ["hangs", "cuts the connection", "fails"])
async def test_a_hub_that_is_wrong_later_gets_an_action_once(name: str) -> None:
    hub, kind = FAULTS[name]
    faulty = FaultyHub(hub.sent, hub.status, 2, hub.headers)
    with serving(faulty) as address:
        environment = open_environment(address, mode="player", timeout_s=limit_s(name))
        await environment.reset()
        await environment.act("look")
        found, message = await kind_of(environment.act("look"))
        assert found == kind
        assert address in message
        assert faulty.requests == 3, "an action is not repeated"
        await environment.close()


async def test_a_reply_without_an_id_starts_no_session() -> None:
    for session_id in (None, "", 7, "x" * 500):
        with serving(FaultyHub(lying(game_id=session_id))) as address:
            environment = open_environment(address, mode="player", timeout_s=60)
            kind, message = await kind_of(environment.reset())
            assert kind == "invalid_reply"
            assert "game_id: " in message
            await environment.close()


@pytest.mark.parametrize(
    "sent", [{}, {"files": 1}, {"files": ["a"]}, {"content": 1}, {"matches": [{"path": "a"}]}, {"logs": []}]
)
async def test_documents_that_cannot_be_read(sent: Any) -> None:
    with serving(FaultyHub(sent, good=1)) as address:
        environment = open_environment(address, mode="qa", timeout_s=60)
        await environment.reset()
        documents = environment.documents()
        assert documents is not None
        for request in (documents.files(), documents.read("a"), documents.search("a"), documents.debug_log()):
            assert (await kind_of(request))[0] == "invalid_reply"
        await environment.close()


async def test_a_hub_that_is_gone() -> None:
    with socket.socket() as taken:  # so that no other server gets this port
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        environment = open_environment(f"http://127.0.0.1:{port}", mode="player", timeout_s=60)
        kind, message = await kind_of(environment.reset())
    assert kind == "unreachable"
    assert f"http://127.0.0.1:{port}" in message
    assert message.endswith("is the server running?")
    await environment.close()


async def test_a_hub_that_dies_and_comes_back_has_lost_the_session() -> None:
    hub = PublicHub()
    with serving(hub.app) as address:
        environment = open_environment(address, mode="player", timeout_s=60)
        await environment.reset()
        hub.sessions.clear()
        kind, message = await kind_of(environment.act("look"))
        assert kind == "refused"
        assert "Invalid game_id." in message
        assert (await environment.reset()).state["turn_count"] == 0
        await environment.close()


class SlowWorld:
    """A world whose actions end when it is closed."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.closed = threading.Event()

    def observe(self) -> Observation:
        return Observation("here", {}, 0, False)

    def act(self, command: str) -> Observation:
        self.closed.wait(60)
        return self.observe()

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def slow() -> tuple[InProcessEnvironment, list[SlowWorld]]:
    worlds: list[SlowWorld] = []

    def start() -> SlowWorld:
        worlds.append(SlowWorld())
        return worlds[-1]

    return InProcessEnvironment("slow", start, None, timeout_s=60), worlds


async def test_a_world_that_hangs_is_closed_and_its_session_lost(
    slow: tuple[InProcessEnvironment, list[SlowWorld]],
) -> None:
    environment, worlds = slow
    await environment.reset()
    environment._timeout_s = 1
    assert await kind_of(environment.act("wait")) == ("timeout", "slow did not reply within 1 s")
    assert worlds[0].closed.is_set()
    assert (await kind_of(environment.act("wait")))[0] == "refused"
    environment._timeout_s = 60
    assert (await environment.reset()).message == "here"
    assert len(worlds) == 2
