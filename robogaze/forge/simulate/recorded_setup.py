"""What edits need to know about a recording: where objects rest or are carried, which places stay free, and when an
edit may happen.

If a fault should be hard to see because it is short or gradual, its intervals and ramps are chosen accordingly.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.simulate.arm import HAND, Vector
from robogaze.forge.simulate.recording import FPS, Recording
from robogaze.forge.simulate.scene import Camera
from robogaze.forge.simulate.scene_sampler import DrawRejected, TaskSetup, spot
from robogaze.forge.simulate.simulation_config import Difficulty, Way
from robogaze.forge.simulate.tasks import Subtask

Generator = np.random.Generator

SHORTEST = 8
"""The least number of frames of an edit that is not to be short."""
_LEAST_FRAMES = 2
_MOVES_M_PER_S = 0.03


def ease(number: int, first: int, frames: int) -> float:
    """A smooth ramp from 0 to 1 over `frames` frames. It is 0 before the frame `first`, and already above 0 in this
    frame.
    """
    share = min(max((number - first + 1) / frames, 0.0), 1.0)
    return share * share * (3 - 2 * share)


@dataclass(frozen=True)
class RecordedSetup:
    """A setup with its recording and the cameras. `frame_count` frames of the recording are shown."""

    setup: TaskSetup
    recording: Recording
    views: Mapping[str, Camera | str]
    frame_count: int
    ways: frozenset[Way] = frozenset()
    difficulty: Difficulty | None = None

    @property
    def carried_subtasks(self) -> tuple[Subtask, ...]:
        """The subtasks in which a movable object is brought to a goal."""
        return tuple(subtask for subtask in self.setup.subtasks if subtask.obj.movable)

    def first_frame(self, phase: str, subtask: Subtask) -> int:
        """The first frame of a phase of a subtask. Raises DrawRejected if the subtask does not have this phase."""
        first = self.recording.first_frame(phase, subtask.number)
        if first is None:
            raise DrawRejected(f"no {phase}")
        return first

    def start(self) -> int:
        """A frame near the start; edits may begin at this frame or later."""
        return min(round(0.1 * self.frame_count), self.recording.fps)

    def interval(self, rng: Generator, low: int, high: int, lasting_share: float = 0.5) -> tuple[int, int]:
        """A random interval between the frames `low` and `high`: its first frame, and the frame after its last. The
        interval ends at `high` with the probability `lasting_share`; if the fault should be short it never does, and if
        the fault should be gradual it always does. Raises DrawRejected.
        """
        if "short" in self.ways and self.difficulty is not None:
            most = max(_LEAST_FRAMES, int(self.difficulty.longest_s * self.recording.fps - 1e-6))
            if high - low < most + 2:
                raise DrawRejected("too short")
            frames = int(rng.integers(_LEAST_FRAMES, most + 1))
            first = int(rng.integers(low, high - frames))
            return first, first + frames
        need = SHORTEST
        if "gradual" in self.ways and self.difficulty is not None:
            need = round(self.difficulty.gradual_s[1] * self.recording.fps) + 2
        if high - low < need + 2:
            raise DrawRejected("too short")
        first = int(rng.integers(low, high - need))
        lasts = rng.random() < lasting_share or "gradual" in self.ways
        return first, high if lasts else int(rng.integers(first + need, high + 1))

    def ramp(self, rng: Generator, low: int, high: int) -> int:
        """The number of frames over which an edit develops, between `low` and `high` at 16 frames a second."""
        if "short" in self.ways:
            return 1
        if "gradual" in self.ways and self.difficulty is not None:
            return round(rng.uniform(*self.difficulty.gradual_s) * self.recording.fps)
        return max(1, round(rng.integers(low, high) * self.recording.fps / FPS))

    def free_spot(self, rng: Generator, size_m: float) -> tuple[float, float]:
        """A place on the table where an object of the radius `size_m` fits for the whole clip. Raises DrawRejected."""
        shown = [obj for obj in self.setup.objects if not obj.hidden]
        goals = [circle for obj in shown for circle in obj.footprint]
        loose = {
            (*np.round(self.recording.pose(number, obj.name)[:2], 2), obj.radius_m)
            for obj in shown
            if obj.movable
            for number in range(0, self.frame_count, 4)
        }
        return spot(rng, size_m, goals + [(float(x), float(y), radius) for x, y, radius in sorted(loose)])

    def bystander(self, rng: Generator) -> str:
        """The name of a bystander."""
        return self.setup.bystanders[rng.integers(len(self.setup.bystanders))].name

    def resting_object(self, rng: Generator, to_end: bool = False) -> tuple[str, int, int]:
        """A random object at rest: a bystander, or a carried object after its release. Returns the object's name, and
        the first and end frame of its rest.

        With `to_end`, the object rests until the clip ends. Raises DrawRejected.
        """
        if not self.carried_subtasks or rng.random() < 0.5:
            return self.bystander(rng), self.start(), self.frame_count
        carried = self.carried_subtasks
        number = int(rng.integers(len(carried)))
        low = self.first_frame("retreat", carried[number]) + 3
        again = [later for later in carried[number + 1 :] if later.obj.name == carried[number].obj.name]
        high = self.first_frame("descend", again[0]) if again else self.frame_count
        if to_end and again:
            raise DrawRejected("the object is picked up again")
        return carried[number].obj.name, low, high

    def carried_object(self, rng: Generator) -> tuple[Subtask, int, int]:
        """A subtask in which an arm carries an object, and the frames in which the object is carried."""
        if not self.carried_subtasks:
            raise DrawRejected("nothing is carried")
        subtask = self.carried_subtasks[rng.integers(len(self.carried_subtasks))]
        return subtask, self.first_frame("carry", subtask) + 5, self.first_frame("release", subtask) - 2

    def resting_or_carried_object(self, rng: Generator, resting_share: float) -> tuple[str, int, int]:
        """An object at rest, with the probability `resting_share`, or otherwise a carried object. Returns the object's
        name, and the first and end frame of the rest or of the carry.
        """
        if rng.random() < resting_share or not self.carried_subtasks:
            return self.resting_object(rng)
        subtask, low, high = self.carried_object(rng)
        return subtask.obj.name, low, high

    def hand_distance_m(self, body: str, number: int) -> float:
        """How far the nearest moving hand is from a body at a frame; infinite if no hand moves."""
        before, now = (self._places(other) for other in (max(number - 1, 0), number))
        least = float("inf")
        for side in self.recording.scene.sides:
            hand = self._id(f"{side}{HAND}")
            if np.linalg.norm(now[hand] - before[hand]) * self.recording.fps >= _MOVES_M_PER_S:
                # The palm is above what the fingers hold.
                least = min(least, float(np.linalg.norm((now[hand] - now[self._id(body)])[:2])))
        return least

    def place_of(self, body: str, number: int) -> Vector:
        """The place of a body at a frame (m)."""
        return np.array(self._places(number)[self._id(body)])

    def _id(self, body: str) -> int:
        return int(self.recording.scene.model.body(body).id)

    def _places(self, number: int) -> Vector:
        model = self.recording.scene.model
        data = mujoco.MjData(model)
        data.qpos[:] = self.recording.states[number]
        mujoco.mj_kinematics(model, data)
        return np.array(data.xpos)
