"""Which pairs a judge is asked about: those that can change a figure, and the figures are as if it were asked all."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evaluation.made_up import SameWords, clip, event
from metrics.cases import Pair, corpus

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.clip_rows import Groups, count_clip
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.tables import SystemTables, floor_table, system_tables
from robogaze.judges.base import DescriptionPair, Judgement
from robogaze.judges.unjudged import ask_ahead
from robogaze.metrics.breakdown import dimension_of, groups_in, type_of


class KnownSimilarities:
    """The similarities of made-up clips, by the events' places; keeps what it was asked."""

    name, note = "known", ""
    identity: dict[str, Any] = {}

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.known = {
            (pair.reference.clip_id, known.id, other.id): float(pair.similarity[row, column])
            for pair in pairs
            for row, known in enumerate(pair.reference.findings)
            for column, other in enumerate(pair.predicted)
        }
        self.asked: list[tuple[str, str, str]] = []

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        named = [(pair.clip_id, pair.reference_id, pair.prediction_id) for pair in pairs]
        self.asked += named
        return [Judgement(self.known[name]) for name in named]


class AskedAhead(SameWords):
    """A judge that is given all pairs first."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    async def ask_ahead(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        self.batches.append(len(pairs))
        return await self.rate(pairs)


def groups(*annotations: ClipAnnotation | None) -> Groups:
    """The labels that occur."""
    given = [annotation for annotation in annotations if annotation is not None]
    return Groups(groups_in(given, dimension_of), groups_in(given, type_of))


def labels(pairs: Sequence[Pair]) -> Groups:
    return groups(*(pair.reference for pair in pairs), *(pair.prediction for pair in pairs))


def tables(pairs: Sequence[Pair], judge: Any, config: EvaluationConfig) -> SystemTables:
    references = [pair.reference for pair in pairs]
    predictions = {pair.reference.clip_id: pair.prediction for pair in pairs if pair.prediction is not None}
    return asyncio.run(system_tables(references, predictions, judge, config, labels(pairs)))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("convention", ["robogaze", "glide-paper", "descriptions"])
def test_figures_are_those_with_all_pairs_judged(convention: str, tied: bool) -> None:
    pairs, config = corpus(7, 300, tied=tied), EvaluationConfig.of(convention)
    judge = KnownSimilarities(pairs)
    found = tables(pairs, judge, config)
    wanted = [count_clip(pair.reference, pair.prediction, pair.similarity, config, labels(pairs)) for pair in pairs]
    for name in ("base", "repaired", "by_bonus", "dimensions", "types"):
        expected = np.moveaxis(np.stack([getattr(rows, name) for rows in wanted]), 0, -2)
        assert np.array_equal(getattr(found, name), expected), name
    assert np.array_equal(found.errors, sum(rows.errors for rows in wanted))
    assert repr(found.matches) == repr(tuple(rows.matches for rows in wanted))
    assert len(judge.asked) == len(set(judge.asked)), "no pair is asked about twice"
    assert len(judge.asked) < len(judge.known) or convention == "descriptions"


def asked_of(reference: Any, prediction: Any) -> list[tuple[str, str]]:
    """The descriptions of the pairs that a judge is asked about."""
    judge = SameWords()
    asyncio.run(system_tables([reference], {"c": prediction}, judge, EvaluationConfig(), groups(reference, prediction)))
    return [(pair.reference, pair.prediction) for pair in judge.asked]


def test_pairs_without_overlap_are_asked_only_where_both_remain_unmatched() -> None:
    matched = clip("c", event(0, 1, "a"), event(8, 9, "b"))
    assert asked_of(matched, clip("c", event(0, 1, "a"))) == [("a", "a")]
    assert asked_of(matched, clip("c", event(0, 1, "a"), event(4, 5, "x"))) == [("a", "a"), ("b", "x")]
    assert asked_of(matched, clip("c", event(0, 1, "a"), event(8, 9, "b"))) == [("a", "a"), ("b", "b")]


def test_events_that_the_reference_cannot_judge_are_not_asked_about() -> None:
    covers_d = replace(clip("c", event(0, 1, "a")), coverage={"d": "examined", "e": "not_examined"})
    assert asked_of(covers_d, clip("c", event(0, 1, "x", dimension="e"))) == []


def test_floors_need_overlapping_pairs_only() -> None:
    judge, reference = SameWords(), clip("c", event(0, 1, "a"))
    moved = {"c": clip("c", event(0, 2, "x"), event(5, 6, "y"))}
    asyncio.run(floor_table([reference], moved, judge, EvaluationConfig()))
    assert [(pair.reference, pair.prediction) for pair in judge.asked] == [("a", "x")]


def test_a_judge_that_is_asked_ahead_gets_the_overlapping_pairs_first_and_then_what_remains() -> None:
    judge = AskedAhead()
    reference = clip("c", event(0, 1, "a"), event(8, 9, "b"))
    system = clip("c", event(0, 1, "a"), event(4, 5, "x"))
    of = groups(reference, system)
    asyncio.run(
        ask_ahead(judge, lambda planned: system_tables([reference], {"c": system}, planned, EvaluationConfig(), of))
    )
    assert judge.batches == [1, 1]
    assert [(pair.reference, pair.prediction) for pair in judge.asked] == [("a", "a"), ("b", "x")]
