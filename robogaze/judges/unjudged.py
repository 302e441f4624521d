"""Lists the pairs that a judge did not judge, or that it is about to be asked about, so that a viewer or a model can
judge them blind.

A line has the clip, its instruction and the two descriptions; nothing says which system an event comes from. Pairs that
several systems share are listed once, in an order that does not depend on the systems. As soon as its similarities are
filled in, the list is a table that `robogaze.judges.table` can read.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from robogaze.judges.base import AsksAhead, DescriptionPair, Judge, Judgement, unscored


class RecordingJudge:
    """Asks another judge and keeps the pairs that it does not judge."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._unjudged: dict[tuple[str, str, str], DescriptionPair] = {}

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def identity(self) -> Mapping[str, Any]:
        return self._judge.identity

    @property
    def note(self) -> str:
        return self._judge.note

    @property
    def unjudged(self) -> tuple[DescriptionPair, ...]:
        """The pairs that have no similarity although both sides have a description, without repeats."""
        return tuple(self._unjudged[key] for key in sorted(self._unjudged, key=_blind))

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        judged = await self._judge.rate(pairs)
        for pair, judgement in zip(pairs, judged, strict=True):
            if judgement.similarity is None and pair.silent is None:
                self._unjudged.setdefault((pair.clip_id, pair.reference, pair.prediction), pair)
        return judged


def _blind(key: tuple[str, str, str]) -> tuple[str, str, str]:
    """The sort key: the clip, the reference, then a hash of the prediction; the hash does not reveal the system."""
    clip, reference, prediction = key
    return clip, reference, sha256(prediction.encode()).hexdigest()


class _PlanningJudge:
    """Returns the judgements that are known; every other pair is unscored."""

    name, note = "none", ""
    identity: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.known: dict[DescriptionPair, Judgement] = {}

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        return [pair.silent or self.known.get(_texts(pair), unscored("not asked")) for pair in pairs]


async def ask_ahead(judge: Judge, use: Callable[[Judge], Awaitable[object]]) -> None:
    """Ask a judge in advance about all pairs that `use` will ask about, if the judge supports this. The pairs are in
    the order of `RecordingJudge.unjudged`.

    `use` is called until it asks about no new pair, each time with a judge that returns only the answers known so far.
    """
    if not isinstance(judge, AsksAhead):
        return
    planning = _PlanningJudge()
    while True:
        recording = RecordingJudge(planning)
        await use(recording)
        pairs = [pair for pair in recording.unjudged if _texts(pair) not in planning.known]
        if not pairs:
            return
        planning.known.update(zip(map(_texts, pairs), await judge.ask_ahead(pairs), strict=True))


def _texts(pair: DescriptionPair) -> DescriptionPair:
    """The pair without ids and types, which may differ between systems that report the same descriptions."""
    return replace(pair, reference_id="", prediction_id="", reference_type=None, prediction_type=None)


def unjudged_lines(pairs: Iterable[DescriptionPair]) -> str:
    """The pairs as JSONL with similarities to fill in."""
    lines = (
        {
            "clip_id": pair.clip_id,
            "instruction": pair.instruction,
            "reference": pair.reference,
            "prediction": pair.prediction,
            "similarity": None,
        }
        for pair in pairs
    )
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
