"""The changes that make a fault: each function gives one, from the frame `first` to before the frame `last`."""

from collections.abc import Callable, Iterator

import cv2
import mujoco
import numpy as np

from render_demo.arm import FINGERS, HAND
from render_demo.motion import Take
from render_demo.picture import Frame, State
from render_demo.stage import Camera, Scene

_FAR_BELOW = np.array([0, 0, -5.0, 1, 0, 0, 0])


def placed(scene: Scene, thing: str, pose: State | None, first: int) -> Callable[[int, State], State]:
    """From a frame on, a thing is where `pose` (m and quaternion) says, or nowhere when it is None."""
    start = scene.model.joint(thing).qposadr[0]

    def change(number: int, state: State) -> State:
        if number >= first:
            state[start : start + 7] = _FAR_BELOW if pose is None else pose
        return state

    return change


def shaken(first: int, last: int, rng: np.random.Generator) -> Callable[[int, Camera], Camera]:
    """The camera is knocked about by a degree or two from frame to frame."""
    knocks = rng.normal(size=(last - first, 5)) * [1.3, 1.1, 0.006, 0.012, 0.012]

    def change(number: int, camera: Camera) -> Camera:
        if not first <= number < last:
            return camera
        azimuth, elevation, *shift = knocks[number - first]
        return Camera(
            tuple(np.add(camera.lookat, shift)),
            camera.distance,
            camera.azimuth + azimuth,
            camera.elevation + elevation,
            camera.pan,
        )

    return change


def blurred(first: int, last: int, most_px: float = 5.5, ease: int = 3) -> Callable[[int, Frame], Frame]:
    """The picture goes out of focus within `ease` frames, and back."""

    def change(number: int, frame: Frame) -> Frame:
        depth = min(number - first + 1, last - number, ease) / ease
        return np.asarray(cv2.GaussianBlur(frame, (0, 0), most_px * depth), np.uint8) if depth > 0 else frame

    return change


def second_gripper(scene: Scene, first: int, last: int) -> Callable[[int, mujoco.MjvScene], None]:
    """A copy of the gripper floats beside it, turned and held by nothing."""
    bodies = {scene.model.body(name).id for name in (HAND, *FINGERS)}
    turn = np.array([[0.88, -0.44, 0.17], [0.47, 0.86, -0.19], [-0.06, 0.25, 0.97]])

    def change(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            geoms = list(_geoms_of(scene, drawn, bodies))
            pivot = np.mean([geom.pos for geom in geoms], axis=0)
            for geom in geoms:
                place = pivot + turn @ (geom.pos - pivot) + [0.03, 0.15, 0.04]
                _draw_copy(drawn, geom, place, turn @ geom.mat)

    return change


def _geoms_of(scene: Scene, drawn: mujoco.MjvScene, bodies: set[int]) -> Iterator[mujoco.MjvGeom]:
    for geom in drawn.geoms[: drawn.ngeom]:
        is_geom = geom.objtype == mujoco.mjtObj.mjOBJ_GEOM
        if is_geom and scene.model.geom_bodyid[geom.objid] in bodies:
            yield geom


def _draw_copy(drawn: mujoco.MjvScene, geom: mujoco.MjvGeom, place: np.ndarray, turn: np.ndarray) -> None:
    copy = drawn.geoms[drawn.ngeom]
    colour = np.array(geom.rgba)
    mujoco.mjv_initGeom(copy, geom.type, np.array(geom.size), place, np.ravel(turn), colour)
    copy.label = ""  # otherwise whatever the memory held is written beside it
    for name in ("matid", "emission", "specular", "shininess", "reflectance", "category"):
        setattr(copy, name, getattr(geom, name))
    drawn.ngeom += 1


def overlapping(take: Take, thing: str, deeper_than_m: float = 0.001) -> frozenset[int]:
    """The frames in which the gripper reaches into a thing; a hollow thing counts as solid."""
    model = take.scene.model
    data = mujoco.MjData(model)
    hand = [g for name in (HAND, *FINGERS) for g in _solid_geoms(model, name)]
    pairs = [(one, other) for one in hand for other in _solid_geoms(model, thing)]
    frames = set()
    for number, state in enumerate(take.states):
        data.qpos[:] = state
        mujoco.mj_forward(model, data)
        if any(mujoco.mj_geomDistance(model, data, *pair, 0.05, None) < -deeper_than_m for pair in pairs):
            frames.add(number)
    return frozenset(frames)


def _solid_geoms(model: mujoco.MjModel, body: str) -> list[int]:
    own = np.flatnonzero(model.geom_bodyid == model.body(body).id)
    return [int(geom) for geom in own if model.geom_contype[geom]]
