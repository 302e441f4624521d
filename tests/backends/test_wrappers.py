"""Cache, retries and limits: each one changes one thing and hands on the rest."""

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from backends.asking import request

from robogaze.backends import AnswerStore, Completion
from robogaze.backends.middleware.cache import Cached
from robogaze.backends.middleware.checked import Ended, Typed
from robogaze.backends.middleware.rate_limit import Limited, Price, RateLimits
from robogaze.backends.middleware.retry import Retried, RetryPolicy
from robogaze.errors import (
    AnswersPending,
    BackendError,
    BudgetExhausted,
    RateLimited,
    RequestRefused,
    RunError,
    ServerFault,
    ServerStalled,
    Unreachable,
)

QUICK = RetryPolicy(attempts=4, first_wait_s=0.001, longest_wait_s=0.002)


class Inner:
    """Answers after raising what it is told to."""

    def __init__(self, *errors: BackendError, seconds: float = 0.0, **counts: Any) -> None:
        self.errors = list(errors)
        self.seconds = seconds
        self.counts = counts
        self.asked = self.now = self.most_at_once = 0
        self.identity = {"kind": "test"}

    async def complete(self, request: Any) -> Completion:
        self.asked += 1
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        if self.errors:
            raise self.errors.pop(0)
        return Completion("yes", model="m", **self.counts)

    async def ready(self) -> None: ...

    async def close(self) -> None: ...


@pytest.mark.parametrize("error", [RateLimited("r"), ServerFault("f"), ServerStalled("s"), Unreachable("u")])
async def test_what_may_pass_is_tried_again(error: BackendError) -> None:
    inner = Inner(error, error)
    assert (await Retried(inner, QUICK).complete(request())).text == "yes"
    assert inner.asked == 3


async def test_what_will_not_pass_is_raised_at_once() -> None:
    inner = Inner(RequestRefused("no"))
    with pytest.raises(RequestRefused):
        await Retried(inner, QUICK).complete(request())
    assert inner.asked == 1


async def test_patience_ends() -> None:
    inner = Inner(*[ServerFault("f")] * 9)
    with pytest.raises(ServerFault):
        await Retried(inner, QUICK).complete(request())
    assert inner.asked == 4


async def test_a_server_that_names_a_time_is_given_it() -> None:
    started = time.perf_counter()
    await Retried(Inner(RateLimited("r", retry_after_s=0.3)), RetryPolicy(first_wait_s=0.001)).complete(request())
    assert 0.29 < time.perf_counter() - started < 2


@pytest.mark.parametrize("asked_s", [float("inf"), 1e12, 86_400.0])
async def test_no_server_is_waited_for_longer_than_there_is_patience_for(asked_s: float) -> None:
    inner, started = Inner(RateLimited("r", retry_after_s=asked_s)), time.perf_counter()
    assert (await Retried(inner, QUICK).complete(request())).text == "yes"
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    "stored", ['{"text": 5, "model": "m"}', '{"text": "", "model": "m", "prompt_tokens": 1.5}', "{"]
)
async def test_an_odd_answer_of_an_earlier_version_is_asked_again(tmp_path: Path, stored: str) -> None:
    inner, store = Inner(), AnswerStore(tmp_path / "a.sqlite")
    await Cached(inner, store).complete(request())
    store._database.execute("UPDATE answers SET completion = ?", (stored,))
    for _ in range(2):
        assert (await Cached(inner, store).complete(request())).text == "yes"
    assert inner.asked == 2
    store.close()


@pytest.mark.parametrize("fields", [{"finish_reason": "length"}, {"refusal": "no"}, {"completion_tokens": 1.5}])
async def test_what_is_no_answer_is_not_kept(tmp_path: Path, fields: dict[str, Any]) -> None:
    inner, store = Inner(**fields), AnswerStore(tmp_path / "a.sqlite")
    await Cached(inner, store).complete(request())
    assert len(store) == 0
    store.close()


async def test_a_refused_answer_is_paid_for_and_an_odd_one_is_a_fault() -> None:
    price = Price(prompt_usd=1, completion_usd=1)
    inner = Inner(finish_reason="content_filter", prompt_tokens=10**6, completion_tokens=0)
    limited = Limited.around(Typed(inner), RateLimits(), price)
    with pytest.raises(RequestRefused, match="content filter"):
        await Ended(limited).complete(request())
    assert limited.spent.cost_usd == 1.0
    with pytest.raises(ServerFault, match="a count of it is no count"):
        await Typed(Inner(prompt_tokens=1.5)).complete(request())


async def test_no_more_than_so_many_at_once() -> None:
    inner = Inner(seconds=0.02)
    limited = Limited.around(inner, RateLimits(concurrency=3), None)
    await asyncio.gather(*(limited.complete(request()) for _ in range(10)))
    assert inner.most_at_once == 3


async def test_requests_a_minute_are_paced() -> None:
    limited = Limited.around(Inner(), RateLimits(requests_per_minute=600), None)
    limited._requests.max_rate = 1  # type: ignore[union-attr]
    limited._requests._rate_per_sec = 10  # type: ignore[union-attr]
    started = time.perf_counter()
    for _ in range(4):
        await limited.complete(request())
    assert time.perf_counter() - started > 0.25


async def test_the_limit_of_calls_stops_the_run() -> None:
    limited = Limited.around(Inner(), RateLimits(calls=2), None)
    await limited.complete(request())
    await limited.complete(request())
    with pytest.raises(BudgetExhausted, match="limit of 2 calls is reached"):
        await limited.complete(request())


async def test_the_limit_of_cost_stops_the_run() -> None:
    inner = Inner(prompt_tokens=1_000_000, completion_tokens=0)
    limited = Limited.around(inner, RateLimits(cost_usd=1.5), Price(prompt_usd=1, completion_usd=2))
    assert (await limited.complete(request())).cost_usd == 1.0
    await limited.complete(request())
    with pytest.raises(BudgetExhausted, match=r"1\.5 USD"):
        await limited.complete(request())


async def test_a_limit_of_cost_that_cannot_be_kept_stops_the_run_after_one_answer() -> None:
    inner = Inner(prompt_tokens=None, completion_tokens=7)
    limited = Limited.around(inner, RateLimits(cost_usd=1.5), Price(prompt_usd=1, completion_usd=2))
    assert (await limited.complete(request())).cost_usd is None, "what was answered is not lost"
    with pytest.raises(BudgetExhausted, match=r"counts no tokens.*limits\.calls"):
        await limited.complete(request())
    assert inner.asked == 1


async def test_a_budget_goes_on_from_what_the_store_says_was_spent(tmp_path: Path) -> None:
    inner = Inner(ServerFault("f"), prompt_tokens=1_000_000, completion_tokens=0)
    price, said = Price(prompt_usd=1, completion_usd=2), []
    for _ in range(3):
        store = AnswerStore(tmp_path / "a.sqlite")
        limited = Limited.around(inner, RateLimits(calls=3, cost_usd=1.5), price, store.spent("eyes"))
        try:
            await limited.complete(request())
        except (ServerFault, BudgetExhausted) as error:
            said.append(str(error))
        other = store.spent("critic")
        assert (other.calls, other.cost_usd) == (0, 0)
        store.close()
    store = AnswerStore(tmp_path / "a.sqlite")
    spent = store.spent("eyes")
    assert (said, spent.calls, spent.cost_usd) == (["f"], 3, 2.0), "a call without an answer is a call"
    with pytest.raises(BudgetExhausted, match="limit of 3 calls"):
        await Limited.around(inner, RateLimits(calls=3), price, spent).complete(request())
    store.close()


async def test_an_answer_that_is_fetched_is_no_further_call(tmp_path: Path) -> None:
    from robogaze.backends.batch import BatchBackend

    def start() -> Limited:
        backend = BatchBackend("m", tmp_path)
        return Limited.around(backend, RateLimits(calls=1), None, store.spent("m"), backend.was_sent)

    store = AnswerStore(tmp_path / "a.sqlite")
    for _ in range(2):
        with pytest.raises(AnswersPending):
            await start().complete(request("a"))
    with pytest.raises(BudgetExhausted):
        await start().complete(request("b"))
    line = {"custom_id": request("a").key(BatchBackend("m", tmp_path).identity)}
    body = {"choices": [{"message": {"content": "yes"}}]}
    (tmp_path / "answers.jsonl").write_text(json.dumps({**line, "response": {"status_code": 200, "body": body}}) + "\n")
    assert (await start().complete(request("a"))).text == "yes"
    store.close()


def test_retries_write_no_line_of_their_own() -> None:
    code = """
import asyncio
from robogaze.backends.middleware.retry import RetryPolicy, Retried
from robogaze.errors import ServerFault
class Sick:
    async def complete(self, request):
        raise ServerFault("sick")
try:
    asyncio.run(Retried(Sick(), RetryPolicy(attempts=3, first_wait_s=0.001)).complete(None))
except ServerFault as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("sick\n", "")


@pytest.mark.parametrize(
    ("counts", "cost"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 100}, 1000 * 2e-6 + 100 * 8e-6),
        ({"prompt_tokens": 1000, "cached_tokens": 600, "completion_tokens": 0}, 400 * 2e-6 + 600 * 1e-6),
        ({"prompt_tokens": None, "completion_tokens": 100}, None),
    ],
)
def test_a_price_is_counted_from_tokens_and_unknown_stays_unknown(counts: Any, cost: float | None) -> None:
    price = Price(prompt_usd=2, completion_usd=8, cached_usd=1)
    assert price.of(Completion("", model="m", **counts)) == (None if cost is None else pytest.approx(cost))


async def test_a_question_that_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    inner, store = Inner(prompt_tokens=5), AnswerStore(tmp_path / "a.sqlite")
    first = await Cached(inner, store).complete(request())
    store.close()
    store = AnswerStore(tmp_path / "a.sqlite")
    assert await Cached(inner, store).complete(request()) == first
    assert inner.asked == 1
    store.close()


async def test_failures_are_not_remembered(tmp_path: Path) -> None:
    inner, store = Inner(ServerFault("f")), AnswerStore(tmp_path / "a.sqlite")
    with pytest.raises(ServerFault):
        await Cached(inner, store).complete(request())
    assert (await Cached(inner, store).complete(request())).text == "yes"
    store.close()


async def test_what_is_forgotten_is_asked_again(tmp_path: Path) -> None:
    inner, store = Inner(), AnswerStore(tmp_path / "a.sqlite")
    await Cached(inner, store).complete(request())
    store.forget([request().key(inner.identity)])
    await Cached(inner, store).complete(request())
    assert inner.asked == 2
    store.close()


def test_a_file_that_is_no_cache_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("hello, this is not a database at all, but a letter " * 40)
    with pytest.raises(RunError, match="delete it or name another"):
        AnswerStore(tmp_path / "a.sqlite")


def filled(path: Path) -> dict[str, Completion]:
    """A file of 300 answers, by their keys."""
    store = AnswerStore(path)
    answers = {f"{number:064}": Completion(f"answer {number}", model="m") for number in range(300)}
    for key, completion in answers.items():
        store.put(key, request(), completion)
    store.spent("m").add_call()
    store.first_told("m", "answers", "m")
    store.close()
    return answers


def spoiled(data: bytes, rng: random.Random) -> bytes:
    """A file with some bytes changed, one bit of a byte changed, or cut short."""
    kind, broken = rng.randrange(3), bytearray(data)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    for _ in range(1 if kind == 1 else rng.randrange(1, 400)):
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(broken)


def used(path: Path, answers: dict[str, Completion]) -> list[Completion | None]:
    """What a file gives for keys when all is done with it that a run does."""
    store = AnswerStore(path)
    try:
        found = [store.get(key) for key in answers]
        assert store.spent("m").calls >= 0
        assert isinstance(store.first_told("m", "answers", "m"), str)
        store.put("new", request(), Completion("new", model="m"))
        store.forget(answers)
        assert len(store) >= 0
    finally:
        store.close()
    return found


def test_a_damaged_file_is_named_or_its_question_asked_again(tmp_path: Path) -> None:
    path, rng, missing = tmp_path / "calls.sqlite", random.Random(11), 0
    named: list[str] = []
    answers = filled(path)
    whole = path.read_bytes()
    assert used(path, answers) == list(answers.values())
    for _ in range(150):
        path.write_bytes(spoiled(whole, rng))
        try:
            found = used(path, answers)
        except RunError as error:
            named.append(str(error))
        else:
            missing += found.count(None)
            assert all(one in (None, known) for one, known in zip(found, answers.values(), strict=True))
        for left in tmp_path.iterdir():
            left.unlink()
    assert len(named) > 20
    assert all(str(path) in message and "delete" in message for message in named)
    assert missing > 20


def test_what_a_damaged_file_says_was_spent_is_not_believed(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "calls.sqlite")
    store.spent("m").add_call()
    store._database.execute("UPDATE spent SET calls = 'many'")
    with pytest.raises(RunError, match=r"calls\.sqlite cannot be read \(.*\); delete the file"):
        store.spent("m")
    store.close()


async def test_a_disk_that_refuses_is_said_so(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    store._database.execute("PRAGMA max_page_count=3")

    def fill() -> None:
        for number in range(200):
            store.put(f"{number}", request(), Completion("x" * 4000, model="m"))

    with pytest.raises(RunError, match="free space and start again"):
        fill()
    store.close()


def test_two_processes_may_read_one_cache(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    store.put("k", request(), Completion("yes", model="m"))
    other = sqlite3.connect(tmp_path / "a.sqlite")
    assert other.execute("SELECT COUNT(*) FROM answers").fetchone() == (1,)
    other.close()
    store.close()
