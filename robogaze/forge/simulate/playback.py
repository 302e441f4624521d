"""Rendering: a recording is played back as pictures, with or without edits.

An edit changes one of five things: the time of a frame (another frame of the recording is shown), the state (objects
move or disappear), the rendered scene (geoms change, are hidden or copied), the camera, or the finished picture.
Everything else is rendered as in the clean twin, which is the same recording without the edit.
"""

import sys
from collections.abc import Callable, Collection, Mapping
from ctypes.util import find_library
from dataclasses import dataclass, field
from importlib import import_module
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.errors import RobogazeError
from robogaze.forge.simulate.arm import Vector
from robogaze.forge.simulate.fixtures import shine
from robogaze.forge.simulate.objects import UNSEEN_GROUP
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.scene import Camera

HAND_CAMERA = "camera"
"""The name of the camera on a hand."""
LIGHT, CAMERA = "*light", "*camera"
"""Names for differences of the light and the camera, among the names of bodies."""
_MOST_GEOMS = 1200
_RGBA = 4
"""The last numbers of a geom are its colour and opacity."""
_LENS_PX = 0.6
"""The softness of the lens (pixels), in place of several samples a pixel, which take twice the time."""
_SHADES_M = tuple(np.linspace(-0.002, 0.006, 7))
"""How far the sheets of a contact shadow reach beyond the foot of the object."""
_SHADE_OPACITY = 0.055
_SHADE_UP_M, _SHADE_HALF_M, _TOUCHES_M = 0.0008, 0.0001, 0.012

Frame = NDArray[np.uint8]
Gl = Literal["auto", "egl", "osmesa"]
_T = TypeVar("_T")


def _same(number: int, value: _T) -> _T:
    return value


def _nothing(number: int, changed: object) -> None:
    pass


@dataclass(frozen=True)
class PlaybackEdit:
    """A change of the playback.

    `frames` are two numbers: the first frame that the edit may change, and the frame after the last frame that it may
    change. The five functions are called for these frames only. `time` returns the number of the frame to show instead.
    The other functions take the number of a frame and the data that they may change: `state` and `scene` change their
    argument in place; `camera` and `picture` return the changed value.

    `bodies` are the bodies that are rendered differently ("" for added bodies), empty for edits of time, light, camera
    or picture. `hides` are the bodies that are invisible when the edit is at its strongest. An edit with a `view` shows
    in this view only. An edit of the picture that has a `part` shows in this part of a view only; `part` is (left, top,
    right, bottom) in fractions of the view. `description_fields` are the names that are filled into the fault's
    description.
    """

    frames: tuple[int, int] = (0, 0)
    bodies: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    description_fields: Mapping[str, str] = field(default_factory=dict)
    time: Callable[[int], int] = lambda number: number
    state: Callable[[int, Vector], None] = _nothing
    scene: Callable[[int, mujoco.MjvScene], None] = _nothing
    camera: Callable[[int, Camera], Camera] = _same
    picture: Callable[[int, Frame], Frame] = _same
    view: str | None = None
    part: tuple[float, float, float, float] | None = None

    @property
    def edits_picture(self) -> bool:
        """Whether the edit changes only the finished picture."""
        return self.picture is not _same

    @property
    def part_share(self) -> float:
        """The share of a view that the part fills."""
        left, top, right, bottom = self.part or (0.0, 0.0, 1.0, 1.0)
        return (right - left) * (bottom - top)

    def covers(self, number: int) -> bool:
        """Whether the edit may change a frame."""
        return self.frames[0] <= number < self.frames[1]


@dataclass(frozen=True)
class Playback:
    """The content of a clip: the first `frame_count` frames of a recording, the edits, and the views by name. A view is
    a camera, or an arm's HAND_CAMERA.
    """

    recording: Recording
    edits: tuple[PlaybackEdit, ...]
    views: Mapping[str, Camera | str]
    frame_count: int

    @property
    def first_view(self) -> str:
        return next(iter(self.views))


class Renderer:
    """Renders playbacks of one model; use it in a `with` statement.

    Raises RobogazeError if this machine cannot render.
    """

    def __init__(self, model: mujoco.MjModel, size: tuple[int, int], gl: Gl = "auto") -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        self.width, self.height = size
        self._canvas = _canvas(gl, max(size[0], 16), max(size[1], 16))
        self._canvas.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        self.drawn = mujoco.MjvScene(model, _MOST_GEOMS)
        self.drawn.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        self._option = mujoco.MjvOption()
        self._option.geomgroup[UNSEEN_GROUP] = 0
        self._option.sitegroup[:] = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._canvas.make_current()
        self._context.free()
        self._canvas.free()

    def frame(self, playback: Playback, number: int) -> Frame:
        """A frame before the edits of the finished picture are applied.

        The frame is one view, or a 2x2 grid in which missing views are black.
        """
        single = len(playback.views) == 1
        size = (self.width, self.height) if single else (self.width // 2, self.height // 2)
        panels = []
        for view in playback.views:
            self.update_scene(playback, number, view)
            self._add_contact_shadows(playback)
            panels.append(np.asarray(cv2.GaussianBlur(self._render(size), (3, 3), _LENS_PX), np.uint8))
        if single:
            return panels[0]
        panels += [np.zeros_like(panels[0])] * (4 - len(panels))
        return np.vstack([np.hstack(panels[:2]), np.hstack(panels[2:])])

    def update_scene(self, playback: Playback, number: int, view: str) -> None:
        """Update the rendered scene to a frame and a view."""
        in_view = [edit for edit in playback.edits if edit.view in (None, view)]
        for edit in in_view:
            if edit.covers(number):
                number = edit.time(number)
        edits = [edit for edit in in_view if edit.covers(number)]
        state = playback.recording.states[number].copy()
        for edit in edits:
            edit.state(number, state)
        self._data.qpos[:] = state
        mujoco.mj_forward(self._model, self._data)
        shown = playback.views[view]
        if isinstance(shown, Camera):
            for edit in edits:
                shown = edit.camera(number, shown)
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        camera = self._camera(shown)
        mujoco.mjv_updateScene(self._model, self._data, self._option, None, camera, everything, self.drawn)
        lamps = playback.recording.scene.lit_lamp_geoms(state)
        for geom in self.drawn.geoms[: self.drawn.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.objid in lamps:
                shine(geom)
        for edit in edits:
            edit.scene(number, self.drawn)

    def _add_contact_shadows(self, playback: Playback) -> None:
        """Add soft dark sheets under the things on the table, where the lamp's shadow alone looks detached."""
        opacity: dict[str, float] = {}
        for geom in self.drawn.geoms[: self.drawn.ngeom]:
            body = body_of(self._model, geom)
            opacity[body] = max(opacity.get(body, 0.0), float(geom.rgba[3]))
        for obj in playback.recording.scene.objects.values():
            place = self._data.body(obj.name).xpos
            if obj.is_fixture or obj.is_flat or not -_TOUCHES_M < place[2] < _TOUCHES_M:
                continue
            shade = np.array([0, 0, 0, _SHADE_OPACITY * opacity.get(obj.name, 0.0)])
            for beyond in _SHADES_M:
                wide, deep = obj.foot_m[0] + beyond, obj.foot_m[1] + beyond
                # MuJoCo reads the half length of a cylinder from the second number.
                kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, np.array([wide, _SHADE_HALF_M, 0.0])
                if obj.is_square:
                    kind, size = mujoco.mjtGeom.mjGEOM_BOX, np.array([wide, deep, _SHADE_HALF_M])
                above = np.add(place, (0, 0, _SHADE_UP_M))
                geom = draw_new(self.drawn, kind, size, above, self._data.body(obj.name).xmat, shade)
                # A decoration casts no shadow and has no number in a segmentation.
                geom.transparent, geom.segid, geom.category = 1, -1, mujoco.mjtCatBit.mjCAT_DECOR.value

    def _camera(self, view: Camera | str) -> mujoco.MjvCamera:
        camera = mujoco.MjvCamera()
        if isinstance(view, str):
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self._model.camera(view).id
            return camera
        camera.lookat[:] = view.lookat
        camera.distance = view.distance
        camera.azimuth = view.azimuth
        camera.elevation = view.elevation
        return camera

    def _render(self, size: tuple[int, int]) -> Frame:
        pixels = np.empty((size[1], size[0], 3), np.uint8)
        where = mujoco.MjrRect(0, 0, *size)
        self._canvas.make_current()  # another renderer may have drawn since
        mujoco.mjr_render(where, self.drawn, self._context)
        mujoco.mjr_readPixels(pixels, None, where, self._context)
        return np.flipud(pixels)

    def visible_share(self, playback: Playback, number: int, view: str, bodies: Collection[str]) -> float:
        """The share of a view's pixels, in [0, 1], that show any of `bodies`; "" stands for bodies that edits add."""
        self.update_scene(playback, number, view)
        flags = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)
        for flag in flags:
            self.drawn.flags[flag] = 1
        coded = self._render((self.width, self.height)).astype(np.int32)
        for flag in flags:
            self.drawn.flags[flag] = 0
        numbers = coded[..., 0] + 256 * coded[..., 1] + 65536 * coded[..., 2] - 1
        geoms = self.drawn.geoms[: self.drawn.ngeom]
        shown = [geom.segid for geom in geoms if body_of(self._model, geom) in bodies]
        return float(np.isin(numbers, shown).mean())

    def frame_state(self, playback: Playback, number: int, view: str) -> "FrameState":
        """The rendered scene of a frame, which can be compared with that of another frame."""
        self.update_scene(playback, number, view)
        geoms = self.drawn.geoms[: self.drawn.ngeom]
        lights = [np.concatenate([light.ambient, light.diffuse]) for light in self.drawn.lights[: self.drawn.nlight]]
        eye = self.drawn.camera[0]
        rows = [np.concatenate([geom.pos, np.ravel(geom.mat), geom.size, geom.rgba]) for geom in geoms]
        return FrameState(
            bodies=tuple(body_of(self._model, geom) for geom in geoms),
            geoms=np.array(rows, np.float32),
            lights=np.array(lights, np.float32),
            camera=np.concatenate([eye.pos, eye.forward, eye.up]),
        )


@dataclass(frozen=True)
class FrameState:
    """The rendered scene of a frame: its geoms, its lights and its camera.

    `bodies` names the body of each geom. Each row of `geoms` has the place, rotation, size and colour of a geom. Each
    row of `lights` has the ambient and the diffuse colour of a light.
    """

    bodies: tuple[str, ...]
    geoms: NDArray[np.float32]
    lights: NDArray[np.float32]
    camera: NDArray[np.float32]

    def differences(self, other: "FrameState") -> dict[str, float]:
        """The difference of each body between two states, in metres or in shares of a colour; equal bodies are left
        out.

        If one of the states has more geoms than the other, the result has the key "". Differences of the light and of
        the camera have the keys LIGHT and CAMERA.
        """
        shared = min(len(self.geoms), len(other.geoms))
        change = np.abs(self.geoms[:shared] - other.geoms[:shared])
        # The change of a geom that fades in at another place counts as far as the geom is opaque.
        seen = change[:, :-_RGBA].max(axis=1) * self.geoms[:shared, -1]
        apart = np.maximum(seen, change[:, -_RGBA:].max(axis=1))
        found: dict[str, float] = {"": 1.0} if len(self.geoms) != len(other.geoms) else {}
        for number in np.flatnonzero(apart):
            body = self.bodies[number]
            found[body] = max(found.get(body, 0.0), float(apart[number]))
        found[LIGHT] = float(np.abs(self.lights - other.lights).max())
        found[CAMERA] = float(np.abs(self.camera - other.camera).max())
        return {name: amount for name, amount in found.items() if amount > 0}


def draw_new(
    drawn: mujoco.MjvScene, kind: int, size: Vector, place: Vector, turn: Vector, rgba: Vector
) -> mujoco.MjvGeom:
    """Render a geom that belongs to no body."""
    geom = drawn.geoms[drawn.ngeom]
    mujoco.mjv_initGeom(geom, kind, size, place, np.ravel(turn), rgba)
    # Fields that are not set contain arbitrary memory.
    geom.label = ""
    geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_UNKNOWN.value, -1, drawn.ngeom
    geom.category, geom.transparent, geom.camdist = mujoco.mjtCatBit.mjCAT_DYNAMIC.value, 0, 0.0
    drawn.ngeom += 1
    return geom


def body_of(model: mujoco.MjModel, geom: mujoco.MjvGeom) -> str:
    """The name of a rendered geom's body, "" for geoms that were added to the scene."""
    if geom.objtype != mujoco.mjtObj.mjOBJ_GEOM:
        return ""
    return str(model.body(model.geom_bodyid[geom.objid]).name)


def apply_picture_edits(playback: Playback, number: int, frame: Frame) -> Frame:
    """The frame with the edits that change the finished picture; the same array if no edit changes it."""
    for edit in playback.edits:
        if edit.edits_picture and edit.covers(number):
            frame = frame.copy()
            for view in playback.views if edit.view is None else (edit.view,):
                panel = frame[_panel(playback, view, frame)]
                height, width = panel.shape[:2]
                left, top, right, bottom = edit.part or (0, 0, 1, 1)
                part = np.s_[round(top * height) : round(bottom * height), round(left * width) : round(right * width)]
                panel[part] = edit.picture(number, panel[part].copy())
    return frame


def _panel(playback: Playback, view: str, frame: Frame) -> tuple[slice, slice]:
    """Where a view is in a frame."""
    if len(playback.views) == 1:
        return np.s_[:, :]
    height, width = frame.shape[0] // 2, frame.shape[1] // 2
    row, column = divmod(list(playback.views).index(view), 2)
    return np.s_[row * height : (row + 1) * height, column * width : (column + 1) * width]


def _canvas(gl: Gl, width: int, height: int) -> Any:
    """An offscreen context: EGL if available, else OSMesa, else the system's default context."""
    kind = gl
    if kind == "auto" and sys.platform == "linux":
        kind = "egl" if find_library("EGL") else "osmesa"
    module = "mujoco.gl_context" if kind == "auto" else f"mujoco.{kind}"
    try:
        return import_module(module).GLContext(width, height)
    except (ImportError, AttributeError, RuntimeError) as error:
        raise RobogazeError(
            f"{kind} cannot draw pictures on this machine ({error}); install libegl1 or libosmesa6, or choose "
            f"another --gl"
        ) from error
