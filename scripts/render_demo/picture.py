"""Playing a recording back as pictures, with or without faults.

A fault changes what a frame shows in one of four places: the state (things move or vanish), the drawn scene
(copies of geoms), the camera, or the finished picture. A fault that lies in the motion itself has another
recording to compare with. What is not changed is drawn exactly alike, so the frames in which a fault can be seen
are the frames that differ from its clean twin: the same clip with that one fault undone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from render_demo.motion import FPS, Take
from render_demo.stage import Camera

WIDTH_PX, HEIGHT_PX = 640, 480
WRIST = "wrist"
_UNSEEN_GROUP = 4
_VISIBLE_LEVELS, _VISIBLE_PIXELS = 12, 12

Frame = NDArray[np.uint8]
State = NDArray[np.float64]
_T = TypeVar("_T")


def _same(number: int, value: _T) -> _T:
    return value


@dataclass(frozen=True)
class Fault:
    """Something wrong in a clip: what is to be said of it, and how it is made.

    The four changes are given a frame's number and what they may change. `instead` is the recording in which the
    fault did not happen; `during` narrows the span to frames in which something measured in the model holds.
    """

    dimension: str
    type: str
    severity: int
    description: str
    to_see: str
    secondary: tuple[str, ...] = ()
    state: Callable[[int, State], State] = _same
    scene: Callable[[int, mujoco.MjvScene], object] = _same
    camera: Callable[[int, Camera], Camera] = _same
    picture: Callable[[int, Frame], Frame] = _same
    instead: Take | None = None
    during: frozenset[int] | None = None


@dataclass(frozen=True)
class Story:
    """A clip: its task, what was recorded, from where it is seen, and what is wrong with it.

    `views` maps the names of the layout's views, in reading order, to a camera or to WRIST.
    """

    name: str
    instruction: str
    take: Take
    views: dict[str, Camera | str]
    faults: tuple[Fault, ...] = ()
    family: str = "pick and place"
    layout: str = "single"

    def without(self, fault: Fault) -> "Story":
        """The clean twin: this clip with one fault undone."""
        rest = tuple(other for other in self.faults if other is not fault)
        return replace(self, faults=rest, take=fault.instead or self.take)


class Player:
    """Draws the frames of clips of one scene; use it in a `with` statement."""

    def __init__(self, story: Story) -> None:
        self._model = story.take.scene.model
        self._data = mujoco.MjData(self._model)
        self._rows = 1 if len(story.views) == 1 else 2
        height, width = HEIGHT_PX // self._rows, WIDTH_PX // self._rows
        self._renderer = mujoco.Renderer(self._model, height, width)
        self._option = mujoco.MjvOption()
        self._option.geomgroup[_UNSEEN_GROUP] = 0
        self._option.sitegroup[:] = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._renderer.close()

    def frames(self, story: Story) -> Iterator[Frame]:
        """Every frame of a clip: one view, or a 2x2 grid whose missing views are black."""
        for number in range(len(story.take.states)):
            panels = [self._panel(story, number, view) for view in story.views.values()]
            if self._rows == 2:
                panels += [np.zeros_like(panels[0])] * (4 - len(panels))
                panels = [np.vstack([np.hstack(panels[:2]), np.hstack(panels[2:])])]
            yield _passed_on(number, panels[0], [fault.picture for fault in story.faults])

    def _panel(self, story: Story, number: int, view: Camera | str) -> Frame:
        state = story.take.states[number].copy()
        self._data.qpos[:] = _passed_on(number, state, [fault.state for fault in story.faults])
        mujoco.mj_forward(self._model, self._data)
        if isinstance(view, Camera):
            view = _passed_on(number, view, [fault.camera for fault in story.faults])
        self._renderer.update_scene(self._data, _placed(view, number), self._option)
        self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        for fault in story.faults:
            fault.scene(number, self._renderer.scene)
        return np.asarray(self._renderer.render())


def _passed_on(number: int, value: _T, changes: Sequence[Callable[[int, _T], _T]]) -> _T:
    for change in changes:
        value = change(number, value)
    return value


def _placed(view: Camera | str, number: int) -> mujoco.MjvCamera | str:
    if isinstance(view, str):
        return view
    camera = mujoco.MjvCamera()
    camera.lookat[:] = view.lookat
    camera.distance = view.distance
    camera.azimuth = view.azimuth + view.pan * number / FPS
    camera.elevation = view.elevation
    return camera


def differ(frame: Frame, twin: Frame) -> bool:
    """Whether a viewer could tell two pictures apart: some pixels differ by more than a shade."""
    change = np.abs(frame.astype(np.int16) - twin).max(axis=2)
    return int((change > _VISIBLE_LEVELS).sum()) >= _VISIBLE_PIXELS
