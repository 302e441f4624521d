"""Servers that go away, come back as another model, share the work; and the cap on what a run may spend."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from backends.asking import request

from robogaze.backends import AnswerStore, Completion, Decoding
from robogaze.backends.middleware.balance import LoadBalancer
from robogaze.backends.middleware.budget import Budget
from robogaze.backends.middleware.model_identity import ModelIdentityGuard
from robogaze.backends.middleware.outage import OutageWait
from robogaze.backends.middleware.rate_limit import Limited, Price, RateLimits
from robogaze.errors import BudgetExhausted, ModelChanged, ServerFault, Unreachable


class Server:
    """A server that is there or not; it names its model."""

    def __init__(self, name: str = "m", *, up: bool = True, **counts: Any) -> None:
        self.name, self.up, self.counts = name, up, counts
        self.asked: list[str] = []
        self.knocks = self.now = self.most_at_once = 0
        self.identity: Mapping[str, Any] = {"kind": "test"}

    async def complete(self, request: Any) -> Completion:
        self.asked.append(request.clip)
        if not self.up:
            raise Unreachable("the server is not there")
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return Completion("yes", model=self.name, **self.counts)

    async def ready(self) -> str | None:
        self.knocks += 1
        if not self.up:
            raise Unreachable("the server is not there")
        return self.name

    async def close(self) -> None: ...


async def test_an_outage_is_waited_for_by_all_requests_together() -> None:
    server, said = Server(up=False), list[str]()
    backend = OutageWait(server, longest_s=5, tell=said.append, knock_s=0.02)

    async def come_back() -> None:
        await asyncio.sleep(0.1)
        server.up = True

    *answers, _ = await asyncio.gather(*(backend.complete(request()) for _ in range(8)), come_back())
    assert [one.text for one in answers] == ["yes"] * 8
    assert len(said) == 2, "one sentence when it goes, one when it comes"
    assert said[0].startswith("the server is not there; waiting up to")
    assert said[1].startswith("the server answers again after")
    assert len(server.asked) == 16, "each request is sent before and after, and one of them knocks"
    assert server.knocks < 10


async def test_a_server_that_stays_away_is_given_up_once_and_not_waited_for_again() -> None:
    server, said = Server(up=False), list[str]()
    backend = OutageWait(server, longest_s=0.05, tell=said.append, knock_s=0.02)
    for _ in range(3):
        with pytest.raises(Unreachable):
            await backend.complete(request())
    assert [one.split(" after")[0] for one in said[1:]] == ["the server is given up"]


async def test_a_request_that_brings_a_server_down_is_given_up() -> None:
    server = Server()

    async def fall(request: Any) -> Completion:
        server.asked.append(request.clip)
        raise Unreachable("the server is not there")

    server.complete = fall  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        await OutageWait(server, longest_s=5, tell=lambda text: None, knock_s=0.01).complete(request())
    assert len(server.asked) == 4


async def test_other_faults_are_not_waited_for() -> None:
    class Faulty(Server):
        async def complete(self, request: Any) -> Completion:
            raise ServerFault("f")

    with pytest.raises(ServerFault):
        await OutageWait(Faulty(), longest_s=60, tell=lambda text: None, knock_s=5).complete(request())


def test_without_time_to_wait_there_is_no_waiting() -> None:
    server = Server()
    assert OutageWait.around(server, 0, lambda text: None) is server


async def test_another_model_is_noticed_in_an_answer_and_at_a_start(tmp_path: Path) -> None:
    server, store = Server("qwen"), AnswerStore(tmp_path / "a.sqlite")
    backend = ModelIdentityGuard(server, "eyes", store.first_told)
    assert await backend.ready() == "qwen"
    await backend.complete(request())
    server.name = "llama"
    with pytest.raises(ModelChanged, match="answers as llama now and answers as qwen when this run began; start that"):
        await backend.complete(request())
    with pytest.raises(ModelChanged, match="serves llama now and serves qwen"):
        await backend.ready()
    assert store.first_told("critic", "serves", "llama") == "llama", "each model of a run is known by itself"
    store.close()


async def test_each_clip_has_its_server_and_another_only_while_that_is_away() -> None:
    servers = [Server(), Server()]
    spread = LoadBalancer(servers, {"kind": "test"})
    clips = [f"clip {number}" for number in range(40)]
    for clip in clips * 2:
        await spread.complete(request(clip=clip))
    first, second = (set(one.asked) for one in servers)
    assert first | second == set(clips)
    assert not first & second
    assert min(len(first), len(second)) > 10
    servers[0].up = False
    for clip in clips:
        assert (await spread.complete(request(clip=clip))).text == "yes"
    assert await spread.ready() == "m", "one of them is enough"
    servers[1].up = False
    with pytest.raises(Unreachable):
        await spread.complete(request(clip="clip 0"))
    with pytest.raises(Unreachable):
        await spread.ready()


PRICE = Price(prompt_usd=0, completion_usd=1_000_000)
"""A dollar for every token of an answer."""


def capped(server: Server, purse: Budget) -> Limited:
    return Limited.around(server, RateLimits(concurrency=50), PRICE, purse=purse)


async def test_a_cap_of_cost_is_not_passed_however_many_requests_are_under_way() -> None:
    server, purse = Server(prompt_tokens=0, completion_tokens=2), Budget(cost_usd=10)
    backend = capped(server, purse)
    asked = [backend.complete(request(decoding=Decoding(max_tokens=4))) for _ in range(30)]
    ended = await asyncio.gather(*asked, return_exceptions=True)
    answered = [one for one in ended if isinstance(one, Completion)]
    assert server.most_at_once == 2, "two answers of at most 4 USD fit into 10 USD"
    assert len(answered) == 4, "answers cost 2 USD, and the fifth might have cost 4 of the 2 that are left"
    assert {type(one) for one in ended} == {Completion, BudgetExhausted}


async def test_a_cap_holds_for_all_models_together() -> None:
    purse = Budget(calls=3)
    eyes, critic = (capped(Server(prompt_tokens=0, completion_tokens=0), purse) for _ in range(2))
    await eyes.complete(request())
    await critic.complete(request())
    await eyes.complete(request())
    with pytest.raises(BudgetExhausted, match="the limit of 3 calls is reached"):
        await critic.complete(request())


async def test_a_cap_of_cost_that_cannot_be_kept_ends_the_run() -> None:
    unpriced = Limited.around(Server(), RateLimits(), None, purse=Budget(cost_usd=10))
    with pytest.raises(BudgetExhausted, match="a model has no price"):
        await unpriced.complete(request())
    uncounted = capped(Server(), Budget(cost_usd=10))
    await uncounted.complete(request(decoding=Decoding(max_tokens=1)))
    with pytest.raises(BudgetExhausted, match="counts no tokens"):
        await uncounted.complete(request(decoding=Decoding(max_tokens=1)))


def test_answers_of_another_file_are_taken_in_and_what_they_cost_is_counted_once(tmp_path: Path) -> None:
    shard, whole = AnswerStore(tmp_path / "shard.sqlite"), AnswerStore(tmp_path / "whole.sqlite")
    shard.put("k", request(), Completion("yes", model="m"))
    shard.spent("eyes").add_call()
    whole.spent("eyes").add_call()
    for _ in range(2):
        whole.take_in(tmp_path / "shard.sqlite")
    assert (len(whole), whole.spent("eyes").calls) == (1, 2)
    shard.spent("eyes").add_call()
    whole.take_in(tmp_path / "shard.sqlite")
    assert whole.spent("eyes").calls == 3
    for store in (shard, whole):
        store.close()
