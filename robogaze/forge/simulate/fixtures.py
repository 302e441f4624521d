"""Fixtures with a jointed part: drawers, doors, and buttons that have a lamp. Sizes are in metres.

The joint and the moving part have the name of the object; the fixed part is the case. The joint is at 0 when a drawer
or a door is shut or a button is up. The joint of a drawer or a button is measured in metres, that of a door in radians.
An `offset_m` is always in metres; a door's offset is measured along the arc of its handle.
"""

import mujoco
import numpy as np

from robogaze.forge.simulate.objects import NO_TOUCH, TOUCH, SimulatedObject, upright

_PANEL_M, _GAP_M, _BAR_M, _BAR_HALF_M, _BAR_BELOW_TOP_M = 0.008, 0.032, 0.005, 0.034, 0.033
_SHEET_M, _UNDER_M = 0.003, 0.006
_BASE_M, _STAND_OUT_M, _CAP_BACK_M = 0.022, 0.016, 0.010
_CASE = (0.72, 0.70, 0.66, 1.0)
_LAMP_M, _DARK, _LIT = 0.009, (0.16, 0.13, 0.10, 1.0), (1.0, 0.86, 0.25, 1.0)
_LIT_AT = 0.6
"""The share of its travel at which a button switches."""

_BOX, _ROUND = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
_Colour = tuple[float, float, float, float]
Place = tuple[float, float, float]


def in_gap(obj: SimulatedObject, offset_m: float) -> Place:
    """The middle of the gap behind the handle when the moving part is at `offset_m`."""
    return _at_handle(obj, _bar_m(obj) - _BAR_M - _GAP_M / 2, offset_m)


def before_handle(obj: SimulatedObject, offset_m: float) -> Place:
    """The outer side of the handle when the moving part is at `offset_m`."""
    return _at_handle(obj, _bar_m(obj) + _BAR_M, offset_m)


def on_cap(obj: SimulatedObject, down_m: float) -> Place:
    """The top of a button's cap when the cap is pressed down by `down_m`."""
    return _on_table(obj, -_CAP_BACK_M, 0.0, _BASE_M + _STAND_OUT_M - down_m)


def turned(obj: SimulatedObject, offset_m: float) -> float:
    """The rotation of the moving part about the vertical, in radians; 0 if the part slides."""
    return obj.hinge * offset_m / obj.lever_m if obj.is_hinged else 0.0


def pivot(obj: SimulatedObject) -> tuple[float, float] | None:
    """The place on the table about which the moving part turns; None if the part slides."""
    return _on_table(obj, *_hinge(obj), 0.0)[:2] if obj.is_hinged else None


def slack_m(finger_half_m: float) -> float:
    """The clearance between the handle and a finger that is in the middle of the gap."""
    return _GAP_M / 2 - finger_half_m


def is_switched(obj: SimulatedObject, down_m: float) -> bool:
    """Whether a button that is pressed down by `down_m` has its lamp on."""
    return down_m >= _LIT_AT * obj.travel_m


def lamp_of(obj: SimulatedObject) -> str:
    """The name of the geom of a button's lamp."""
    return f"{obj.name} lamp"


def shine(lamp: mujoco.MjvGeom) -> None:
    """Light a rendered lamp."""
    lamp.rgba[:], lamp.emission = _LIT, 0.9


def add_fixture(spec: mujoco.MjSpec, obj: SimulatedObject) -> None:
    case = spec.worldbody.add_body(name=f"{obj.name} case", pos=(*obj.at, 0), quat=upright(obj.yaw))
    # The axes of a shut moving part equal the axes of its case.
    place = (*_moved(obj, 0.0, 0.0, obj.offset_m), 0)
    part = case.add_body(name=obj.name, pos=place, quat=upright(turned(obj, obj.offset_m)), gravcomp=1)
    # MuJoCo lets parent and child collide when the parent is static.
    spec.add_exclude(bodyname1=case.name, bodyname2=part.name)
    _BUILDERS[obj.shape.form](case, part, obj)


def _add_drawer(case: mujoco.MjsBody, part: mujoco.MjsBody, obj: SimulatedObject) -> None:
    """A case with a front and a tray behind it."""
    wide, deep, high = obj.shape.size[:3]
    _add_case(case, obj)
    _add_tray(part, wide - 2 * _SHEET_M - 0.002, deep - 2 * _SHEET_M, high)
    _add_front(part, obj)


def _add_door(case: mujoco.MjsBody, part: mujoco.MjsBody, obj: SimulatedObject) -> None:
    """A case with a shelf and a door."""
    wide, deep, high = obj.shape.size[:3]
    _add_case(case, obj)
    _add_box(case, (deep - _UNDER_M, wide - _SHEET_M, _SHEET_M), (-_UNDER_M, 0, high), _CASE)
    _add_front(part, obj)


def _add_case(case: mujoco.MjsBody, obj: SimulatedObject) -> None:
    """A box without a front."""
    wide, deep, high = obj.shape.size[:3]
    for size, place in (
        ((deep, wide, _SHEET_M), (0, 0, _SHEET_M)),
        ((deep, wide, _SHEET_M), (0, 0, 2 * high - _SHEET_M)),
        ((_SHEET_M, wide, high), (_SHEET_M - deep, 0, high)),
        ((deep, _SHEET_M, high), (0, wide - _SHEET_M, high)),
        ((deep, _SHEET_M, high), (0, _SHEET_M - wide, high)),
    ):
        _add_box(case, size, place, _CASE)


def _add_front(part: mujoco.MjsBody, obj: SimulatedObject) -> None:
    """A front with a handle on its joint; friction and damping at the handle do not depend on the joint."""
    wide, deep, high = obj.shape.size[:3]
    kind, axis, place = mujoco.mjtJoint.mjJNT_SLIDE, (1, 0, 0), (0.0, 0.0)
    if obj.is_hinged:
        kind, axis, place = mujoco.mjtJoint.mjJNT_HINGE, (0, 0, obj.hinge), _hinge(obj)
    part.add_joint(
        name=obj.name,
        type=kind,
        axis=axis,
        pos=(*place, 0),
        range=[0, obj.travel_m / obj.lever_m],
        ref=obj.offset_m / obj.lever_m,
        damping=6 * obj.lever_m**2,
        frictionloss=obj.lever_m,
    )
    front = (_PANEL_M / 2, wide - 0.002, high - _UNDER_M)
    _add_box(part, front, (deep + _PANEL_M / 2, 0, high), (*obj.rgb, 1.0))
    bar, aside, up = _bar_m(obj), _handle_aside_m(obj), _bar_height_m(obj)
    _add_box(part, (_BAR_M, _BAR_HALF_M, _BAR_M), (bar, aside, up), None)
    for side in (-1, 1):
        middle = (deep + _PANEL_M + bar) / 2
        stub = (bar - middle, 0.0035, 0.0035)
        _add_box(part, stub, (middle, aside + side * (_BAR_HALF_M - 0.0035), up), None)


def _add_tray(part: mujoco.MjsBody, wide: float, deep: float, high: float) -> None:
    """The tray behind a drawer's front."""
    side, low = 0.6 * high, 2 * _UNDER_M
    _add_box(part, (deep, wide, 0.002), (0, 0, low), _CASE)
    _add_box(part, (0.002, wide, side), (0.002 - deep, 0, low + side), _CASE)
    for sign in (-1, 1):
        _add_box(part, (deep, 0.002, side), (0, sign * (wide - 0.002), low + side), _CASE)


def _add_button(case: mujoco.MjsBody, part: mujoco.MjsBody, obj: SimulatedObject) -> None:
    radius = obj.shape.size[0]
    # The spring holds the cap up against its stop.
    part.add_joint(
        name=obj.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[0, 0, -1],
        range=[0, obj.travel_m],
        stiffness=180,
        springref=-0.006,
        damping=3,
        armature=0.05,
    )
    _add_box(case, (radius + 0.026, radius + 0.012, _BASE_M / 2), (0, 0, _BASE_M / 2), _CASE)
    half = _STAND_OUT_M / 2 + obj.travel_m / 2
    middle = _BASE_M + _STAND_OUT_M - half
    look = {"rgba": (*obj.rgb, 1.0), "material": "painted", "mass": 0.05}
    part.add_geom(type=_ROUND, size=[radius, half, 0], pos=[-_CAP_BACK_M, 0, middle], **look, **TOUCH)
    ring = {"size": [radius + 0.005, 0.002, 0], "pos": [-_CAP_BACK_M, 0, _BASE_M]}
    case.add_geom(type=_ROUND, material="metal", **ring, **NO_TOUCH)
    lamp = {"size": [_LAMP_M, 0, 0], "pos": [radius + 0.012, 0, _BASE_M], "rgba": _DARK}
    case.add_geom(name=lamp_of(obj), type=mujoco.mjtGeom.mjGEOM_SPHERE, **lamp, **NO_TOUCH)


def _add_box(body: mujoco.MjsBody, size: Place, place: Place, colour: _Colour | None) -> None:
    """A box with half sizes, in a colour, or in metal if the colour is None."""
    look = {"material": "metal"} if colour is None else {"material": "painted", "rgba": colour}
    body.add_geom(type=_BOX, size=size, pos=place, density=350, **look, **TOUCH)


def _bar_m(obj: SimulatedObject) -> float:
    """The distance of a shut front's handle from the middle of the case."""
    return obj.shape.size[1] + _PANEL_M + _GAP_M + _BAR_M


def _bar_height_m(obj: SimulatedObject) -> float:
    return 2 * obj.shape.size[2] - _BAR_BELOW_TOP_M


def _handle_aside_m(obj: SimulatedObject) -> float:
    """How far the handle is to the left of the middle; a door's handle is near the edge that is not hinged."""
    return obj.hinge * (obj.shape.size[0] - obj.lever_m) if obj.is_hinged else 0.0


def _hinge(obj: SimulatedObject) -> tuple[float, float]:
    """A door's hinge in the axes of its case: how far ahead of and to the left of the middle."""
    return (obj.shape.size[1], obj.hinge * obj.shape.size[0])


def _moved(obj: SimulatedObject, far_m: float, aside_m: float, offset_m: float) -> tuple[float, float]:
    """The place, in the axes of the case, of a point of the moving part at an offset; when the fixture is shut, the
    point is at (`far_m`, `aside_m`).
    """
    if not obj.is_hinged:
        return (far_m + offset_m, aside_m)
    ahead, left = _hinge(obj)
    x, y, angle = far_m - ahead, aside_m - left, turned(obj, offset_m)
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    return (ahead + x * cos - y * sin, left + x * sin + y * cos)


def _at_handle(obj: SimulatedObject, far_m: float, offset_m: float) -> Place:
    """A place that moves with the handle, at the height of the handle; when the fixture is shut, the place is `far_m`
    ahead of the middle.
    """
    ahead, aside = _moved(obj, far_m, _handle_aside_m(obj), offset_m)
    return _on_table(obj, ahead, aside, _bar_height_m(obj) - 0.003)


def _on_table(obj: SimulatedObject, ahead_m: float, aside_m: float, height_m: float) -> Place:
    """The place `ahead_m` ahead of and `aside_m` to the left of the middle of a fixture."""
    cos, sin = float(np.cos(obj.yaw)), float(np.sin(obj.yaw))
    return (obj.at[0] + ahead_m * cos - aside_m * sin, obj.at[1] + ahead_m * sin + aside_m * cos, height_m)


_BUILDERS = {"drawer": _add_drawer, "door": _add_door, "button": _add_button}
