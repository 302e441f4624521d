"""What a recording that passes for clean is measured for: things in each other, jumps, things that hang in the air."""

from dataclasses import dataclass

import numpy as np

from robogaze.forge.simulate.motion import FPS, Take
from robogaze.forge.simulate.stage import Setting

DEEPEST_M = 0.0025
"""How far two solid bodies may be in each other."""
LONGEST_STEP_M = 0.12
"""How far a thing may come within a frame: a fall from 15 cm, or twice the fastest carry."""
LONGEST_UNHELD = 2
"""For how many frames a thing may touch nothing and not fall."""
_FALL_M = 0.25 * 9.81 / FPS**2
"""How far a thing has come down within a frame, at least, that has been falling for a quarter of one."""


@dataclass(frozen=True)
class Audit:
    """The largest of what was measured over a recording, and what of it is beyond its limit."""

    depth_m: float
    step_m: float
    unheld_frames: int

    @property
    def findings(self) -> tuple[str, ...]:
        """What is beyond its limit, in words."""
        limits = (
            (self.depth_m, DEEPEST_M, "penetration"),
            (self.step_m, LONGEST_STEP_M, "jump"),
            (self.unheld_frames, LONGEST_UNHELD, "without support"),
        )
        return tuple(name for value, limit, name in limits if value > limit)


def audit(take: Take, setting: Setting) -> Audit:
    """Measure a recording."""
    loose = [thing.name for thing in setting.things if thing.loose and not thing.hidden]
    return Audit(
        depth_m=float(take.depth_m.max()),
        step_m=max((_step(take, name) for name in loose), default=0.0),
        unheld_frames=max((_unheld(take, name) for name in loose), default=0),
    )


def _places(take: Take, thing: str) -> np.ndarray:
    start = take.scene.place_of(thing)
    return take.states[:, start : start + 3]


def _step(take: Take, thing: str) -> float:
    return float(np.linalg.norm(np.diff(_places(take, thing), axis=0), axis=1).max())


def _unheld(take: Take, thing: str) -> int:
    """The longest run of frames in which a thing touches nothing and yet does not fall."""
    falls = np.diff(_places(take, thing)[:, 2]) < -_FALL_M
    longest = run = 0
    for number, falling in enumerate(falls):
        alone = not any(thing in pair for pair in take.touched[number])
        run = run + 1 if alone and not falling else 0
        longest = max(longest, run)
    return longest
