"""What a clip is about before anything is wrong with it: the jobs, the bystanders, and how they were recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.forge.simulate.motion import Take
from robogaze.forge.simulate.scene import Camera
from robogaze.forge.simulate.tasks import MoveJob
from robogaze.forge.simulate.things import SimulatedThing

NEAR_M, FAR_M, ASIDE_M = 0.31, 0.56, 0.29
"""The part of the table that an arm reaches: x from NEAR_M to FAR_M, y up to ASIDE_M both ways."""
_GAP_M = 0.012


class NoRoom(Exception):
    """A clip as it was drawn leaves no room for what is to happen in it; it is drawn anew."""


@dataclass(frozen=True)
class Setting:
    """Who takes part: the jobs in the order in which they are to be done, bystanders, goals nothing is brought to.

    `spares` are hidden far below, to appear when they are called for. `names` is how descriptions call bodies.
    """

    jobs: tuple[MoveJob, ...]
    others: tuple[SimulatedThing, ...]
    idle_goals: tuple[SimulatedThing, ...]
    spares: tuple[SimulatedThing, ...]
    names: Mapping[str, str]

    @property
    def things(self) -> tuple[SimulatedThing, ...]:
        """Everything there is, each once."""
        own = [one for job in self.jobs for one in (job.thing, job.goal)]
        return tuple(dict.fromkeys((*own, *self.others, *self.idle_goals, *self.spares)))


@dataclass(frozen=True)
class StagedSetting:
    """A setting with its recording, and where it is seen from."""

    setting: Setting
    take: Take
    views: Mapping[str, Camera | str]

    @property
    def carried(self) -> tuple[MoveJob, ...]:
        """The jobs in which a loose thing is brought somewhere."""
        return tuple(job for job in self.setting.jobs if job.thing.loose)

    @property
    def length(self) -> int:
        """The number of frames of the recording."""
        return len(self.take.states)

    def begins(self, phase: str, job: MoveJob) -> int:
        """The frame at which a phase of a job begins. Raises NoRoom when it has none of that name."""
        for one in self.take.phases:
            if (one.name, one.thing) == (phase, job.thing.name):
                return one.first
        raise NoRoom(f"no {phase}")

    def free_spot(self, rng: np.random.Generator, size_m: float) -> tuple[float, float]:
        """A place on the table where nothing stands at any time, with room for a thing. Raises NoRoom."""
        taken = list(self._taken())
        return spot(rng, size_m, taken)

    def _taken(self) -> list[tuple[float, float, float]]:
        shown = [thing for thing in self.setting.things if not thing.hidden]
        goals = [circle for thing in shown for circle in thing.ground]
        loose = [
            (*self.take.pose(number, thing.name)[:2], thing.reach_m)
            for thing in shown
            if thing.loose
            for number in range(0, self.length, 4)
        ]
        return goals + loose


def in_reach(x: float, y: float) -> bool:
    """Whether an arm reaches a place on the table."""
    return NEAR_M <= x <= FAR_M and abs(y) <= ASIDE_M


def spot(
    rng: np.random.Generator, size_m: float, taken: Sequence[tuple[float, float, float]], tries: int = 200
) -> tuple[float, float]:
    """A place in reach that keeps clear of circles (x, y, radius). Raises NoRoom."""
    for _ in range(tries):
        x, y = rng.uniform(NEAR_M, FAR_M), rng.uniform(-ASIDE_M, ASIDE_M)
        if all(np.hypot(x - a, y - b) > size_m + radius + _GAP_M for a, b, radius in taken):
            return float(x), float(y)
    raise NoRoom("no free place on the table")
