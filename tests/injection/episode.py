"""Diagnoses clips concurrently, each with one fault or none, and checks the result of each.

The server is the stub server on loopback, or the same stub without a socket: requests then go through the client and
all middleware, and only the connection is left out.
"""

import asyncio
import json
import os
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import httpx2
from stub_server import Body, Reply, Stub, completion_of, text_of

from injection.plays import DEBATE, PLAYS, QUESTIONS, STAGE_OF, Asked, Way
from injection.table import Fault, OddReply, Spoil
from robogaze.backends import AnswerStore, Completion, Models, ModelsConfig, Request
from robogaze.backends.middleware.retry import RetryPolicy
from robogaze.backends.openai import OpenAIBackend
from robogaze.core.report import Report
from robogaze.core.sampling import Regime
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import OpenClip, diagnose, open_clip
from robogaze.domains import load_domain
from robogaze.run.engines.base import ClipTask, ClipWorker, Result
from robogaze.run.execute import open_run
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline

Extent = Literal["once", "lasting", "everywhere", "server"]
"""At one request; at every request of one call; at every request of a question; at every request about the clip."""
EXTENTS: tuple[Extent, ...] = ("once", "lasting", "everywhere", "server")

AT_ONCE = 8
"""How many clips with a fault are diagnosed concurrently."""

ENDING = ("ground", "observe", "segment", "remember", "recurring")
"""Questions without an answer to which the clip is unscored."""
ENDING_EVERYWHERE = (*ENDING, "scan", "direct")
"""The same where the question is never answered."""

_KINDS = {
    "retried": {"server_fault", "stalled", "unreachable", "rate_limited"},
    "refused": {"refused"},
    "invalid": {"invalid_answer"},
    "undecided": {"undecided"},
}


@dataclass(frozen=True)
class Case:
    """A fault, the call of a clip in which it occurs, and how long it lasts."""

    fault: Fault
    play: str
    way: Way
    question: str
    nth: int
    extent: Extent

    def __str__(self) -> str:
        return f"{self.fault.name} | {self.play}, {self.way} | {self.question} {self.nth + 1} | {self.extent}"

    @property
    def passes(self) -> bool:
        """Whether the report must be the same as without the fault."""
        passing = self.extent == "once" and self.fault.outcome != "refused"
        return passing or self.fault.outcome == "accepted"

    @property
    def leaves_something(self) -> bool:
        """Whether an incomplete report or an invalid reply in the cache is left for the next start."""
        return not self.passes or self.fault.outcome in ("invalid", "undecided")


@dataclass
class Heard:
    """What a server heard about a clip: its calls by question, how often the fault struck, and its whole replies."""

    calls: dict[str, list[tuple[Any, str]]] = field(default_factory=dict)
    struck: int = 0
    answered: int = 0


class FaultyServer:
    """Answers well but for one fault a clip; `cases` are by the clip's number, which its instruction holds."""

    def __init__(self) -> None:
        self.cases: Mapping[int, Case | None] = {}
        self.ways: Mapping[int, Way] = {}
        self.begin({}, {})

    def begin(self, cases: Mapping[int, Case | None], ways: Mapping[int, Way]) -> None:
        """From now on, with these faults."""
        self.cases, self.ways = cases, ways
        self.heard: dict[int, Heard] = {}
        self.asked: dict[int, list[Asked]] = {}

    def behave(self, body: Body) -> Reply:
        """The reply to a request."""
        text = text_of(body)
        number = clip_number(text)
        asked = Asked.of(body, self.ways[number])
        heard, case = self.heard.setdefault(number, Heard()), self.cases.get(number)
        self.asked.setdefault(number, []).append(asked)
        nth = _place(heard.calls.setdefault(asked.question, []), (body.get("seed"), text))
        if case is not None and _strikes(case, asked, nth, heard):
            heard.struck += 1
            if case.fault.is_stored:
                heard.answered += 1
            return case.fault.reply(asked)
        heard.answered += 1
        return Reply(content=json.dumps(asked.good))


def instruction(number: int) -> str:
    """The instruction of a clip, by which a server knows it."""
    return f"Move bar {number:06}"


def clip_number(text: str) -> int:
    """The number of the clip that a request is about."""
    found = re.search(r"Move bar (\d{6})", text)
    assert found is not None, "every question holds the instruction"
    return int(found.group(1))


def _place(calls: list[tuple[Any, str]], call: tuple[Any, str]) -> int:
    """Which call of its question a request is; asked again it begins with the same text."""
    seed, text = call
    for place, (known_seed, known) in enumerate(calls):
        if seed == known_seed and text.startswith(known):
            return place
    calls.append(call)
    return len(calls) - 1


def _strikes(case: Case, asked: Asked, nth: int, heard: Heard) -> bool:
    if not case.fault.fits(asked):
        return False
    if case.extent == "server":
        return True
    if asked.question != case.question:
        return False
    return case.extent == "everywhere" or (nth == case.nth and (case.extent == "lasting" or not heard.struck))


# A server without a socket.

_spoil: ContextVar[Spoil | None] = ContextVar("spoil", default=None)


class _Sent(httpx2.AsyncByteStream):
    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.raw


class InProcess(httpx2.AsyncBaseTransport):
    """Hands requests to a stub's `behave`."""

    def __init__(self, behave: Callable[[Body], Reply]) -> None:
        self.behave = behave

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Reply as the stub server would."""
        body = json.loads(await request.aread())
        reply = self.behave(body)
        _spoil.set(reply.spoil if isinstance(reply, OddReply) else None)
        await asyncio.sleep(0)
        if reply.delay_s:
            raise httpx2.ReadTimeout("the stub stalls", request=request)
        raw = json.dumps(completion_of(body, reply)).encode() if reply.content is not None else reply.raw
        if raw is None:
            raise httpx2.RemoteProtocolError("the stub cuts this connection", request=request)
        return httpx2.Response(reply.status, headers=reply.headers, stream=_Sent(raw), request=request)


def put_in_process(models: Models, behave: Callable[[Body], Reply]) -> None:
    """Let models ask a stub without a socket; what it gives may be spoiled as by a backend of another make."""
    backend = models["vlm"].backend
    while not isinstance(backend, OpenAIBackend):
        backend = backend.inner
    backend.http._client._transport = InProcess(behave)
    complete = backend.complete

    async def spoiled(request: Request) -> Completion:
        completion = await complete(request)
        spoil = _spoil.get()
        return completion if spoil is None else spoil(completion)

    backend.complete = spoiled  # type: ignore[method-assign]


def open_models(url: str, answers: AnswerStore | None, timeout_s: float = 20) -> Models:
    """The models of a stub server, asked without long waits."""
    config = ModelsConfig.read(f"openai:stub@{url}")
    patience = RetryPolicy(attempts=3, first_wait_s=0, longest_wait_s=0.02)
    frames = Regime.parse("uniform 12")
    model = config.models["model"].with_(retry=patience, timeout_s=timeout_s, frames=frames)
    return Models.open(config.with_(models={"model": model}), answers, os.environ)


# Clips, and what comes of them.


@dataclass(frozen=True)
class DecodedOnce:
    """Stands for a Unit over clips that are all the same video, which is decoded once."""

    opened: OpenClip
    pipeline: Pipeline
    models: Models

    async def __call__(self, task: ClipTask, decoding: asyncio.Semaphore) -> Result:
        """Diagnose a clip."""
        clip = self.opened.clip.with_(id=task.clip_id, instruction=task.entry.instruction)
        return Result(task.clip_id, await diagnose(replace(self.opened, clip=clip), self.pipeline, self.models))


@dataclass
class Tally:
    """What went wrong in a number of cases, in words; all of it must be empty."""

    injected: Counter[str] = field(default_factory=Counter)
    clean: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    def add(self, more: "Tally") -> None:
        """Take in what went wrong in other cases."""
        self.injected += more.injected
        for name in FINDINGS:
            getattr(self, name).extend(getattr(more, name))

    @property
    def findings(self) -> list[str]:
        """Everything that went wrong."""
        return [f"{name}: {found}" for name in FINDINGS for found in getattr(self, name)]


FINDINGS = ("clean", "lost", "ended", "stored", "other")
"""What can go wrong: clean by failure, a lost clip, an ended run, a wrong stored answer, other than the table says."""


class CountedStore(AnswerStore):
    """A store that knows how many answers of each clip it was ever given."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.given: dict[str, set[str]] = {}

    def put(self, key: str, request: Request, completion: Completion) -> None:
        """Store an answer."""
        self.given.setdefault(request.clip, set()).add(key)
        super().put(key, request, completion)


@dataclass
class Bench:
    """A play on a video where cases are tried; `good` are the reports of clips without a fault."""

    play: str
    video: Path
    server: FaultyServer
    worker: Any
    answers: CountedStore
    stub: Stub | None = None
    good: dict[Way, Report] = field(default_factory=dict)
    calls: dict[Way, list[Asked]] = field(default_factory=dict)
    _next: int = 0

    async def prepare(self) -> None:
        """Play every way without a fault."""
        for way in PLAYS[self.play].ways:
            (number,) = numbers = self._numbers(1)
            report = (await self._run(numbers, [None], [way]))[number]
            assert (report.failures, report.clean) == ((), way != "found"), (self.play, way)
            assert report.status == "complete", (self.play, way)
            self.good[way], self.calls[way] = report, list(self.server.asked[number])

    def draw(self, rng: random.Random, fault: Fault, extent: Extent, at: str | None = None) -> Case | None:
        """A case of a fault at a place that it fits, every question being as likely; None where it fits none."""
        places: dict[str, list[tuple[Way, int]]] = {}
        for way, calls in self.calls.items():
            counts: Counter[str] = Counter()
            for asked in calls:
                if at in (None, asked.question) and fault.fits(asked):
                    places.setdefault(asked.question, []).append((way, counts[asked.question]))
                counts[asked.question] += 1
        if not places:
            return None
        if extent == "lasting" and fault.outcome == "undecided":
            extent = "everywhere"  # what is put again is another call
        question = rng.choice(sorted(places))
        way, nth = rng.choice(places[question])
        return Case(fault, self.play, way, question, nth, extent)

    async def report(self, case: Case) -> Report:
        """The report of a clip with a fault."""
        (number,) = numbers = self._numbers(1)
        return (await self._run(numbers, [case], [case.way]))[number]

    async def attempt(self, cases: Sequence[Case | None], ways: Sequence[Way]) -> Tally:
        """Try cases side by side, and start those that left something once more without faults; what went wrong.

        When the run ends, each case is tried alone to say which ended it.
        """
        numbers = self._numbers(len(cases))
        try:
            return await self._attempt(numbers, cases, ways)
        except Exception as error:  # noqa: BLE001 - whatever ends a run is what is looked for
            if len(cases) == 1:
                return Tally(ended=[f"{cases[0]}: {_first(error)!r}"])
        tally = Tally()
        for case, way in zip(cases, ways, strict=True):
            tally.add(await self.attempt([case], [way]))
        return tally

    async def attempt_all(self, cases: Sequence[Case], rng: random.Random) -> Tally:
        """Try cases in batches, each with a clip without a fault among them."""
        tally = Tally()
        for start in range(0, len(cases), AT_ONCE):
            batch: list[Case | None] = [*cases[start : start + AT_ONCE]]
            batch.insert(rng.randrange(len(batch) + 1), None)
            ways = [rng.choice(PLAYS[self.play].ways) if case is None else case.way for case in batch]
            tally.add(await self.attempt(batch, ways))
        return tally

    async def _attempt(self, numbers: Sequence[int], cases: Sequence[Case | None], ways: Sequence[Way]) -> Tally:
        tally = Tally()
        reports = await self._run(numbers, cases, ways)
        heard = self.server.heard
        for number, case, way in zip(numbers, cases, ways, strict=True):
            if number in reports:
                self._judge(tally, reports[number], heard[number], case, way)
            else:
                tally.lost.append(str(case))
        unsettled = [n for n, case in zip(numbers, cases, strict=True) if case is not None and case.leaves_something]
        resumed = await self._run(unsettled, [None] * len(unsettled), [ways[numbers.index(n)] for n in unsettled])
        for number, case, way in zip(numbers, cases, ways, strict=True):
            if number not in unsettled:
                continue
            if number not in resumed:
                tally.lost.append(f"started again: {case}")
            elif fault := differs(resumed[number], self.good[way]):
                tally.other.append(f"started again: {case}: {fault}")
        return tally

    def _judge(self, tally: Tally, report: Report, heard: "Heard", case: Case | None, way: Way) -> None:
        """Write down what is wrong with a report."""
        good, given = self.good[way], len(self.answers.given.get(report.clip.id, ()))
        if case is not None and heard.struck:
            tally.injected[case.fault.level] += 1
        elif case is not None:
            tally.other.append(f"{case}: the fault was never met")
        passes = case is None or case.passes
        if report.clean and not (passes and good.clean):
            tally.clean.append(str(case))
        if given != heard.answered:
            tally.stored.append(f"{case}: {given} stored, {heard.answered} answered")
        if case is None or case.passes:
            fault = differs(report, good) or (None if case is None else _asked_otherwise(report, case))
        else:
            fault = _not_written_down(report, case)
        if fault is not None:
            tally.other.append(f"{case}: {fault}")

    def _numbers(self, count: int) -> range:
        self._next += count
        return range(self._next - count, self._next)

    async def _run(
        self, numbers: Sequence[int], cases: Sequence[Case | None], ways: Sequence[Way]
    ) -> dict[int, Report]:
        """The reports of clips by number."""
        self.server.begin(dict(zip(numbers, cases, strict=True)), dict(zip(numbers, ways, strict=True)))
        if self.stub is not None:
            self.stub.behave = self.server.behave
        entries = [ManifestEntry(path=self.video, clip_id=f"{n:06}", instruction=instruction(n)) for n in numbers]
        setup = RunSetup("", self.worker.pipeline)
        with (
            patch("robogaze.run.engines.local.ClipWorker", lambda *_: self.worker),
            open_run(entries, setup, models=self.worker.models, answers=self.answers) as run,
        ):
            async for _ in run.execute():
                pass
            return {int(report.clip.id): report for report in run.reports()}


def _first(error: BaseException) -> BaseException:
    """The error itself, out of the groups that tasks raise."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def differs(report: Report, good: Report) -> str | None:
    """How a report differs from that of a clip without a fault, but for its ledger; None where it does not."""
    for name in ("status", "verdict", "coverage", "failures", "events", "hypotheses", "unseen", "notes"):
        if (now := getattr(report, name)) != (then := getattr(good, name)):
            return f"{name} {now!s:.300} and not {then!s:.300}"
    return None


def _asked_otherwise(report: Report, case: Case) -> str | None:
    """What is wrong with the ledger of a clip that a fault passed by."""
    invalid = [call.stage for call in report.provenance.calls if call.outcome == "invalid"]
    expected = [STAGE_OF[case.question]] if case.fault.outcome == "invalid" else []
    return None if invalid == expected else f"invalid answers in {invalid}, not in {expected}"


def _not_written_down(report: Report, case: Case) -> str | None:
    """What is wrong with the report of a clip that a fault did not pass by."""
    kinds, stages = {failure.kind for failure in report.failures}, {failure.stage for failure in report.failures}
    if not kinds & _KINDS[case.fault.outcome]:
        return f"failures {report.failures!s:.300}"
    if case.extent == "server":
        everything = case.fault.questions == QUESTIONS
        return (
            None if report.status in {"unscored", *(() if everything else ("partial",))} else f"status {report.status}"
        )
    if stages != {STAGE_OF[case.question]} and stages != {"vote", "direct"}:
        return f"failures of {stages}"
    missed = {failure.dimension for failure in report.failures}
    unexamined = {name for name, each in report.coverage.items() if each.state == "not_examined"}
    if case.question == "propose" and missed != unexamined:
        return f"failures in {missed}, not examined {unexamined}"
    ending = ENDING if case.extent in ("once", "lasting") else ENDING_EVERYWHERE
    first_look = case.play == "full" and case.question == "direct"  # specialists follow it
    status = "unscored" if case.question in ending and not first_look else "partial"
    ended = (status, "faulty" if report.events else "undecided")
    if (report.status, report.verdict) != ended:
        return f"{report.status}, {report.verdict} and not {' and '.join(ended)}"
    if case.question in ("verify", *DEBATE) and not any(
        hypothesis.verdict == "unverified" for hypothesis in report.hypotheses
    ):
        return "no hypothesis stays unverified"
    return None


@asynccontextmanager
async def prepared(
    play: str, video: Path, folder: Path, served: tuple[Stub, str] | None = None
) -> AsyncIterator[Bench]:
    """A bench on a stub at an address, or on one without a socket."""
    domain, server = load_domain(PLAYS[play].domain), FaultyServer()
    pipeline = Pipeline.build(domain, PLAYS[play].pipeline)
    with ExitStack() as stack:
        answers = CountedStore(folder / f"{play}.sqlite")
        stack.callback(answers.close)
        models = open_models("http://in.process/v1" if served is None else served[1], answers)
        if served is None:
            put_in_process(models, server.behave)
            opened = stack.enter_context(open_clip(ManifestEntry(path=video), pipeline, models))
            bench = Bench(play, video, server, DecodedOnce(opened, pipeline, models), answers)
        else:
            bench = Bench(play, video, server, ClipWorker(pipeline, models), answers, served[0])
        try:
            await bench.prepare()
            yield bench
        finally:
            await models.close()
