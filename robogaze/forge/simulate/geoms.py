"""What can be done to a drawn scene: find the geoms of bodies, move their points, draw further ones."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.draw import body_of
from robogaze.forge.simulate.kinematics import Vector
from robogaze.forge.simulate.stage import StagedSetting

Matrix = NDArray[np.float64]


def geoms_of(stage: StagedSetting, drawn: mujoco.MjvScene, bodies: tuple[str, ...]) -> Iterator[mujoco.MjvGeom]:
    """The drawn geoms of some bodies."""
    model = stage.take.scene.model
    for geom in drawn.geoms[: drawn.ngeom]:
        if body_of(model, geom) in bodies:
            yield geom


def transform(geoms: list[mujoco.MjvGeom], pivot: Vector, matrix: Matrix) -> None:
    """Move the points of some drawn geoms by a matrix about a pivot."""
    for geom in geoms:
        geom.pos[:] = pivot + matrix @ (geom.pos - pivot)
        geom.mat[:] = matrix @ geom.mat


def draw_copy(drawn: mujoco.MjvScene, geom: mujoco.MjvGeom, place: Vector, turn: Matrix) -> None:
    """Draw a geom once more, at a place and with a turn."""
    copy = draw_new(drawn, int(geom.type), np.array(geom.size), place, turn, np.array(geom.rgba))
    for name in ("matid", "dataid", "emission", "specular", "shininess", "reflectance", "category"):
        setattr(copy, name, getattr(geom, name))


def draw_new(
    drawn: mujoco.MjvScene, kind: int, size: Vector, place: Vector, turn: Matrix, rgba: Vector
) -> mujoco.MjvGeom:
    """Draw a geom that belongs to no body."""
    geom = drawn.geoms[drawn.ngeom]
    mujoco.mjv_initGeom(geom, kind, size, place, np.ravel(turn), rgba)
    # What is not set here is whatever the memory held.
    geom.label = ""
    geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_UNKNOWN.value, -1, drawn.ngeom
    geom.category, geom.transparent, geom.camdist = mujoco.mjtCatBit.mjCAT_DYNAMIC.value, 0, 0.0
    drawn.ngeom += 1
    return geom
