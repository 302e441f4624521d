"""Outages, load balancing, and servers that come back with another model."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backends.samples import FakeBackend, request
from robogaze.backends import AnswerStore, Completion
from robogaze.backends.middleware.balance import LoadBalancer
from robogaze.backends.middleware.model_identity import ModelIdentityGuard
from robogaze.backends.middleware.outage import OutageWait
from robogaze.errors import ModelChanged, ServerFault, Unreachable


class Server(FakeBackend):
    """A server that can be shut down; `polls` counts calls of `ready`."""

    def __init__(self, name: str = "m", *, up: bool = True) -> None:
        super().__init__(name=name, seconds=0.01)
        self.up = up
        self.polls = 0

    async def complete(self, request: Any) -> Completion:
        if not self.up:
            self.clips.append(request.clip)
            raise Unreachable("the server is down")
        return await super().complete(request)

    async def ready(self) -> str | None:
        self.polls += 1
        if not self.up:
            raise Unreachable("the server is down")
        return self.name


async def test_all_requests_wait_for_the_end_of_an_outage(caplog: pytest.LogCaptureFixture) -> None:
    server = Server(up=False)
    backend = OutageWait(server, longest_s=5, poll_s=0.02)

    async def restart() -> None:
        await asyncio.sleep(0.1)
        server.up = True

    *answers, _ = await asyncio.gather(*(backend.complete(request()) for _ in range(8)), restart())
    assert [answer.text for answer in answers] == ["yes"] * 8
    messages = caplog.messages
    assert len(messages) == 2, "a message at the start of the outage and a message at its end"
    assert messages[0].startswith("the server is down; waiting up to")
    assert messages[1].startswith("the server answers again after")
    assert server.calls == 16, "each request is sent before and after the outage"
    assert server.polls < 10, "one task polls for all requests"


async def test_outage_that_lasts_too_long_is_given_up_once(caplog: pytest.LogCaptureFixture) -> None:
    backend = OutageWait(Server(up=False), longest_s=0.05, poll_s=0.02)
    for _ in range(3):
        with pytest.raises(Unreachable):
            await backend.complete(request())
    assert [message.split(" after")[0] for message in caplog.messages[1:]] == ["gave up waiting for the server"]


async def test_request_that_crashes_the_server_is_given_up() -> None:
    backend = FakeBackend(*[Unreachable("the server is down")] * 9)
    with pytest.raises(Unreachable):
        await OutageWait(backend, longest_s=5, poll_s=0.01).complete(request())
    assert backend.calls == 4


async def test_other_errors_are_raised_at_once() -> None:
    backend = FakeBackend(ServerFault("f"))
    with pytest.raises(ServerFault):
        await OutageWait(backend, longest_s=60, poll_s=5).complete(request())


async def test_another_model_is_detected_at_the_start_and_in_answers(tmp_path: Path) -> None:
    server, store = Server("qwen"), AnswerStore(tmp_path / "a.sqlite")
    backend = ModelIdentityGuard(server, "eyes", store.first_name)
    assert await backend.ready() == "qwen"
    await backend.complete(request())
    server.name = "llama"
    with pytest.raises(
        ModelChanged, match="answers as llama, but used the name qwen when this run began; serve qwen, or"
    ):
        await backend.complete(request())
    with pytest.raises(ModelChanged, match="serves llama, but used the name qwen"):
        await backend.ready()
    assert store.first_name("critic", "serves", "llama") == "llama", "names are kept per model of the run"
    store.close()


async def test_clips_stay_with_their_server_while_it_is_reachable() -> None:
    servers = [Server(), Server()]
    balancer = LoadBalancer(servers, {"kind": "test"})
    clips = [f"clip {number}" for number in range(40)]
    for clip in clips * 2:
        await balancer.complete(request(clip=clip))
    first, second = (set(server.clips) for server in servers)
    assert first | second == set(clips)
    assert not first & second
    assert min(len(first), len(second)) > 10
    servers[0].up = False
    for clip in clips:
        assert (await balancer.complete(request(clip=clip))).text == "yes"
    assert await balancer.ready() == "m", "one reachable server is enough"
    servers[1].up = False
    with pytest.raises(Unreachable):
        await balancer.complete(request(clip="clip 0"))
    with pytest.raises(Unreachable):
        await balancer.ready()
