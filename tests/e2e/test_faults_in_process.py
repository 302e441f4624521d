"""Faults of the table at every question of every pipeline, without a socket: a sample, stratified and seeded."""

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from injection.episode import EXTENTS, Bench, Case, prepared
from injection.plays import PLAYS
from injection.table import FAULTS, Outcome
from synthetic import write_clip

from robogaze.core.time import Span

OUTCOMES: tuple[Outcome, ...] = ("accepted", "retried", "refused", "invalid", "undecided")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six seconds, three windows."""
    return write_clip(tmp_path_factory.mktemp("play") / "4f2x.mp4", frames=48, fps=8, width=96, height=64)


def sample(bench: Bench, rng: random.Random) -> Iterator[Case]:
    """A fault of each outcome at each question: one that passes, and, where that makes a difference, one that lasts."""
    for question, outcome, passes in product(PLAYS[bench.play].questions, OUTCOMES, (True, False)):
        fitting = [fault for fault in FAULTS.values() if fault.outcome == outcome and question in fault.questions]
        same_either_way = (outcome == "accepted" and not passes) or (outcome == "refused" and passes)
        if not same_either_way and (fitting := [fault for fault in fitting if not fault.rare]):
            fault = rng.choice(fitting)
            yield bench.draw(rng, fault, "once" if passes else rng.choice(EXTENTS[1:]), question)


@pytest.mark.parametrize("play", PLAYS)
async def test_every_question_meets_every_kind_of_fault(play: str, clip: Path, tmp_path: Path) -> None:
    rng = random.Random(15)
    async with prepared(play, clip, tmp_path) as bench:
        cases = list(sample(bench, rng))
        tally = await bench.attempt_all(cases, rng)
    assert tally.findings == []
    assert tally.injected.total() == len(cases) >= 6 * len(PLAYS[play].questions)


async def test_faults_that_take_long(clip: Path, tmp_path: Path) -> None:
    rng = random.Random(15)
    async with prepared("vanilla", clip, tmp_path) as bench:
        cases = [bench.draw(rng, fault, "once") for fault in FAULTS.values() if fault.rare]
        tally = await bench.attempt_all(cases, rng)
    assert tally.findings == []
    assert tally.injected.total() == len(cases) >= 5


async def test_every_fault_of_the_table_applies_to_a_question(clip: Path, tmp_path: Path) -> None:
    unmet = set(FAULTS)
    for play in PLAYS:
        async with prepared(play, clip, tmp_path) as bench:
            asked = {call.question: call for call in reversed(bench.calls["found"])}
            unmet -= {name for name in unmet if any(map(FAULTS[name].fits, asked.values()))}
    assert unmet == set()


async def test_the_checks_find_a_fault_that_is_accepted(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks themselves: with a reader that believes every completion they all speak up."""
    for module in ("backends.middleware.reply_checks.check_finished", "backends.answer_parsing.check_finished"):
        monkeypatch.setattr(f"robogaze.{module}", lambda completion: None)
    monkeypatch.setattr("robogaze.backends.middleware.cache.is_answer", lambda completion: True)
    fault = FAULTS["completion: finish_reason 'content_filter' beside an answer that reports nothing"]
    async with prepared("vote3", clip, tmp_path) as bench:
        case = Case(fault, "vote3", "found", "direct", 0, "everywhere")
        tally = await bench.attempt_all([case], random.Random(1))
    assert tally.clean == [str(case)]
    assert len(tally.stored) == 1
    assert any(finding.startswith(f"{case}: failures ()") for finding in tally.other)


async def test_the_checks_find_a_run_that_an_exception_ends(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise AttributeError("as it was before replies were read by one reader")

    fault = FAULTS["completion: choices 5 beside its answer"]
    async with prepared("vote3", clip, tmp_path) as bench:
        monkeypatch.setattr("robogaze.backends.reply._fault", broken)
        case = Case(fault, "vote3", "found", "direct", 0, "once")
        tally = await bench.attempt_all([case], random.Random(1))
    assert [finding.partition(": Attr")[0] for finding in tally.ended] == [str(case)]
    assert tally.lost == []


# What a lasting fault leaves of what was decided before it.


@pytest.mark.parametrize("question", ["same", "visible", "edge"])
async def test_what_was_decided_before_a_fault_is_kept(question: str, clip: Path, tmp_path: Path) -> None:
    fault = FAULTS["transport: status 500"]
    async with prepared("glide", clip, tmp_path) as bench:
        report = await bench.report(Case(fault, "glide", "found", question, 0, "everywhere"))
    starts_s = {"same": 0.75, "visible": 2.0, "edge": 0.9375}
    assert report.status == "partial"
    expected = [(Span(0, 0.1875),), (Span(starts_s[question], 2.1875),)]
    assert [event.spans for event in report.events] == expected, "followed to 0.94 s, set to the frame at 0.75 s"


async def test_without_a_fault_every_event_is_found(clip: Path, tmp_path: Path) -> None:
    spans = {
        "full": [(Span(0, 6),)],
        "vote3": [(Span(0, 6),)],
        "glide": [(Span(0, 0.1875),), (Span(0.75, 2.1875),)],
        "vanilla": [(Span(0, 1), Span(3, 4.5))],
    }
    for play, expected in spans.items():
        async with prepared(play, clip, tmp_path) as bench:
            assert [event.spans for event in bench.good["found"].events] == expected
            assert {asked.question for asked in bench.calls["found"]} == set(PLAYS[play].questions)
