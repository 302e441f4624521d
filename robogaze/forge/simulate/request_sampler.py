"""Decides what each clip of a data set shows: faults, and what makes them hard to see, or no fault."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from robogaze.forge.simulate import EDITS
from robogaze.forge.simulate.scene_sampler import ClipRequest
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig, Variation, Way

_Name = TypeVar("_Name", bound=str)
_OPPOSITES = frozenset[Way](("short", "gradual"))


class RequestSampler:
    """Draws requests for clips; every way and every hard negative is used about equally often.

    `seconds` and `fps` are ranges: (least, most). The lengths of `clips` clips are drawn so that their logarithms are
    spread evenly. Raises InputError for an unknown difficulty.
    """

    def __init__(
        self,
        config: SimulationConfig,
        difficulty: str | None,
        seconds: tuple[float, float] | None,
        fps: tuple[int, int],
        clips: int,
        rng: np.random.Generator,
    ) -> None:
        self._config = config
        self._difficulty = None if difficulty is None else config.difficulty(difficulty)
        self._fps, self._rng = fps, rng
        self._lengths_s: list[float] = []
        if seconds is not None:
            low, high = np.log(seconds)
            self._lengths_s = [float(np.exp(low + (high - low) * (n + 0.5) / clips)) for n in rng.permutation(clips)]
        self._used: dict[str, int] = {}

    def faulty(self, fault: SimulatedFault) -> ClipRequest:
        """A clip with a fault, and sometimes with further faults."""
        ways = self._ways(fault)
        others: list[Variation] = []
        if self._difficulty is not None and "several" in ways:
            low, high = self._difficulty.several
            others = self._others(fault, int(self._rng.integers(low, high + 1)) - 1)
        elif self._difficulty is None and self._rng.random() < self._config.second_fault_share:
            known = [other for other in self._config.faults if other.make in self._config.second_faults]
            others = [known[self._rng.integers(len(known))]] if known and not fault.last else []
        return self._request((fault, *others), ways)

    def clean(self, number: int) -> ClipRequest:
        """A clean clip: with the next clean variation, or with hard negatives."""
        if self._difficulty is None:
            return self._request((self._config.clean[number % len(self._config.clean)],), frozenset())
        low, high = self._difficulty.negatives_per_clip
        names = self._least_used(list(self._difficulty.negatives), int(self._rng.integers(low, high + 1)))
        # The first variation decides the main task.
        negatives = sorted(
            (self._difficulty.negatives[name] for name in names), key=lambda variation: not variation.tasks
        )
        ways: frozenset[Way] = frozenset(("clutter",) if self._rng.random() < 1 / 3 else ())
        return self._request(tuple(negatives), ways)

    def _request(self, variations: tuple[Variation, ...], ways: frozenset[Way]) -> ClipRequest:
        fps = int(self._rng.integers(self._fps[0], self._fps[1] + 1))
        return ClipRequest(variations, ways, self._difficulty, self._length_s(variations), fps)

    def _length_s(self, variations: tuple[Variation, ...]) -> float | None:
        """The length of the next clip; a clip with two arms, which do a single task, gets the shortest remaining
        length.
        """
        if not self._lengths_s:
            return None
        two_arms = any(variation.arms == 2 for variation in variations)
        return self._lengths_s.pop(int(np.argmin(self._lengths_s)) if two_arms else -1)

    def _ways(self, fault: SimulatedFault) -> frozenset[Way]:
        """Ways that are possible for a fault, the least used first."""
        if self._difficulty is None:
            return frozenset()
        low, high = self._difficulty.ways_per_clip
        possible = [way for way in fault.ways if way != "several" or self._fitting(fault)]
        ways: list[Way] = []
        for way in self._least_used(possible, int(self._rng.integers(low, high + 1))):
            if not {*ways, way} >= _OPPOSITES:
                ways.append(way)
        return frozenset(ways)

    def _least_used(self, names: Sequence[_Name], count: int) -> list[_Name]:
        shuffled = [names[place] for place in self._rng.permutation(len(names))]
        chosen = sorted(shuffled, key=lambda name: self._used.get(name, 0))[:count]
        for name in chosen:
            self._used[name] = self._used.get(name, 0) + 1
        return chosen

    def _others(self, fault: SimulatedFault, count: int) -> list[Variation]:
        """Other faults for a clip, each of another type; fewer than `count` if not enough types fit."""
        fitting = self._fitting(fault)
        chosen: dict[str, Variation] = {}
        for place in self._rng.permutation(len(fitting)):
            if len(chosen) < count:
                chosen.setdefault(fitting[place].type, fitting[place])
        return list(chosen.values())

    def _fitting(self, fault: SimulatedFault) -> list[SimulatedFault]:
        """The faults of other types, made by edits, that fit into the same clip as a fault."""
        return [
            other
            for other in self._config.faults
            if other.make in EDITS
            and other.type != fault.type
            and not other.tasks
            and not other.last
            and other.arms <= fault.arms
            and not other.single_view
        ]
