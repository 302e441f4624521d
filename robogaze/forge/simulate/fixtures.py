"""What stands fast and has a part that moves on a joint: a drawer, a door, a button with a lamp. Sizes in metres.

The joint and the moving part are called as the thing is; the rest is its case. The joint reads 0 where a drawer or a
door is shut and a button is up; it slides by metres or turns by radians. How far out something is, is always told in
metres, for a door along the arc of its handle.
"""

import mujoco
import numpy as np

from robogaze.forge.simulate.shapes import TOUCH
from robogaze.forge.simulate.things import SimulatedThing

_PANEL_M, _GAP_M, _BAR_M, _BAR_HALF_M, _BAR_BELOW_TOP_M = 0.008, 0.032, 0.005, 0.034, 0.033
_SHEET_M, _UNDER_M = 0.003, 0.006
_BASE_M, _STAND_OUT_M, _CAP_BACK_M = 0.022, 0.016, 0.010
_CASE = (0.72, 0.70, 0.66, 1.0)
_LAMP_M, _DARK, _LIT = 0.009, (0.16, 0.13, 0.10, 1.0), (1.0, 0.86, 0.25, 1.0)
_LIT_AT = 0.6
"""The share of its way at which a button switches."""

_BOX, _ROUND = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
_Colour = tuple[float, float, float, float]
Place = tuple[float, float, float]


def in_gap(thing: SimulatedThing, out_m: float) -> Place:
    """The middle of the gap behind a handle when it is out so far."""
    return _at_handle(thing, _bar_m(thing) - _BAR_M - _GAP_M / 2, out_m)


def before_handle(thing: SimulatedThing, out_m: float) -> Place:
    """The outer side of a handle when it is out so far."""
    return _at_handle(thing, _bar_m(thing) + _BAR_M, out_m)


def on_cap(thing: SimulatedThing, down_m: float) -> Place:
    """The top of a button that is pressed down so far."""
    return _on_table(thing, -_CAP_BACK_M, 0.0, _BASE_M + _STAND_OUT_M - down_m)


def turned(thing: SimulatedThing, out_m: float) -> float:
    """How far its part is turned about the vertical when it is out so far, in radians; 0 for what slides."""
    return thing.hinge * out_m / thing.lever_m if thing.turns else 0.0


def pivot(thing: SimulatedThing) -> tuple[float, float] | None:
    """Where on the table its part turns about; None for what slides."""
    return _on_table(thing, *_hinge(thing), 0.0)[:2] if thing.turns else None


def slack_m(finger_half_m: float) -> float:
    """How far a finger in the middle of the gap is from the handle."""
    return _GAP_M / 2 - finger_half_m


def is_switched(thing: SimulatedThing, down_m: float) -> bool:
    """Whether a button that is down so far is on."""
    return down_m >= _LIT_AT * thing.way_m


def lamp_of(thing: SimulatedThing) -> str:
    """The name of the geom that is a button's lamp."""
    return f"{thing.name} lamp"


def shine(lamp: mujoco.MjvGeom) -> None:
    """Have a drawn lamp shine."""
    lamp.rgba[:], lamp.emission = _LIT, 0.9


def add_fixture(spec: mujoco.MjSpec, thing: SimulatedThing) -> None:
    """Stand a fixture on the table."""
    case = spec.worldbody.add_body(name=f"{thing.name} case", pos=(*thing.at, 0), quat=_upright(thing.yaw))
    # The moving part's own axes are its case's where it is shut.
    place = (*_moved(thing, 0.0, 0.0, thing.out_m), 0)
    part = case.add_body(name=thing.name, pos=place, quat=_upright(turned(thing, thing.out_m)), gravcomp=1)
    # A body that stands fast is no parent to the rule that a body does not touch its parent.
    spec.add_exclude(bodyname1=case.name, bodyname2=part.name)
    _BUILDERS[thing.shape.form](case, part, thing)


def _upright(yaw: float) -> tuple[float, float, float, float]:
    """The quaternion of a turn about the vertical; radians."""
    return (float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2)))


def _add_drawer(case: mujoco.MjsBody, part: mujoco.MjsBody, thing: SimulatedThing) -> None:
    """A front with a tray behind it, in a case."""
    wide, deep, high = thing.shape.size[:3]
    _add_case(case, thing)
    _add_tray(part, wide - 2 * _SHEET_M - 0.002, deep - 2 * _SHEET_M, high)
    _add_front(part, thing)


def _add_door(case: mujoco.MjsBody, part: mujoco.MjsBody, thing: SimulatedThing) -> None:
    """A door before a case with a shelf."""
    wide, deep, high = thing.shape.size[:3]
    _add_case(case, thing)
    _add_box(case, (deep - _UNDER_M, wide - _SHEET_M, _SHEET_M), (-_UNDER_M, 0, high), _CASE)
    _add_front(part, thing)


def _add_case(case: mujoco.MjsBody, thing: SimulatedThing) -> None:
    """A box without a front."""
    wide, deep, high = thing.shape.size[:3]
    for size, place in (
        ((deep, wide, _SHEET_M), (0, 0, _SHEET_M)),
        ((deep, wide, _SHEET_M), (0, 0, 2 * high - _SHEET_M)),
        ((_SHEET_M, wide, high), (_SHEET_M - deep, 0, high)),
        ((deep, _SHEET_M, high), (0, wide - _SHEET_M, high)),
        ((deep, _SHEET_M, high), (0, _SHEET_M - wide, high)),
    ):
        _add_box(case, size, place, _CASE)


def _add_front(part: mujoco.MjsBody, thing: SimulatedThing) -> None:
    """A front with a handle, on the joint that it slides or turns by; what slows it is the same at the handle."""
    wide, deep, high = thing.shape.size[:3]
    kind, axis, place = mujoco.mjtJoint.mjJNT_SLIDE, (1, 0, 0), (0.0, 0.0)
    if thing.turns:
        kind, axis, place = mujoco.mjtJoint.mjJNT_HINGE, (0, 0, thing.hinge), _hinge(thing)
    part.add_joint(
        name=thing.name,
        type=kind,
        axis=axis,
        pos=(*place, 0),
        range=[0, thing.way_m / thing.lever_m],
        ref=thing.out_m / thing.lever_m,
        damping=6 * thing.lever_m**2,
        frictionloss=thing.lever_m,
    )
    front = (_PANEL_M / 2, wide - 0.002, high - _UNDER_M)
    _add_box(part, front, (deep + _PANEL_M / 2, 0, high), (*thing.rgb, 1.0))
    bar, aside, up = _bar_m(thing), _handle_aside_m(thing), _bar_height_m(thing)
    _add_box(part, (_BAR_M, _BAR_HALF_M, _BAR_M), (bar, aside, up), None)
    for side in (-1, 1):
        middle = (deep + _PANEL_M + bar) / 2
        stub = (bar - middle, 0.0035, 0.0035)
        _add_box(part, stub, (middle, aside + side * (_BAR_HALF_M - 0.0035), up), None)


def _add_tray(part: mujoco.MjsBody, wide: float, deep: float, high: float) -> None:
    """What a drawer has behind its front."""
    side, low = 0.6 * high, 2 * _UNDER_M
    _add_box(part, (deep, wide, 0.002), (0, 0, low), _CASE)
    _add_box(part, (0.002, wide, side), (0.002 - deep, 0, low + side), _CASE)
    for sign in (-1, 1):
        _add_box(part, (deep, 0.002, side), (0, sign * (wide - 0.002), low + side), _CASE)


def _add_button(case: mujoco.MjsBody, part: mujoco.MjsBody, thing: SimulatedThing) -> None:
    radius = thing.shape.size[0]
    # The spring holds the cap up against its stop.
    part.add_joint(
        name=thing.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[0, 0, -1],
        range=[0, thing.way_m],
        stiffness=180,
        springref=-0.006,
        damping=3,
        armature=0.05,
    )
    _add_box(case, (radius + 0.026, radius + 0.012, _BASE_M / 2), (0, 0, _BASE_M / 2), _CASE)
    half = _STAND_OUT_M / 2 + thing.way_m / 2
    middle = _BASE_M + _STAND_OUT_M - half
    part.add_geom(
        type=_ROUND,
        size=[radius, half, 0],
        pos=[-_CAP_BACK_M, 0, middle],
        rgba=(*thing.rgb, 1.0),
        material="painted",
        mass=0.05,
        **TOUCH,
    )
    flat = {"contype": 0, "conaffinity": 0}
    ring = [-_CAP_BACK_M, 0, _BASE_M]
    case.add_geom(type=_ROUND, size=[radius + 0.005, 0.002, 0], pos=ring, material="metal", **flat)
    case.add_geom(
        name=lamp_of(thing),
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[_LAMP_M, 0, 0],
        pos=[radius + 0.012, 0, _BASE_M],
        rgba=_DARK,
        **flat,
    )


def _add_box(body: mujoco.MjsBody, size: Place, place: Place, colour: _Colour | None) -> None:
    """A box with half sizes, of a colour or of metal."""
    look = {"material": "metal"} if colour is None else {"material": "painted", "rgba": colour}
    body.add_geom(type=_BOX, size=size, pos=place, density=350, **look, **TOUCH)


def _bar_m(thing: SimulatedThing) -> float:
    """How far before the middle of its case the bar of a handle is when it is shut."""
    return thing.shape.size[1] + _PANEL_M + _GAP_M + _BAR_M


def _bar_height_m(thing: SimulatedThing) -> float:
    return 2 * thing.shape.size[2] - _BAR_BELOW_TOP_M


def _handle_aside_m(thing: SimulatedThing) -> float:
    """How far to the left of the middle a handle is: a door's is near the edge that is not hinged."""
    return thing.hinge * (thing.shape.size[0] - thing.lever_m) if thing.turns else 0.0


def _hinge(thing: SimulatedThing) -> tuple[float, float]:
    """How far before and to the left of the middle of its case a door's hinge is: at the front edge of a side."""
    return (thing.shape.size[1], thing.hinge * thing.shape.size[0])


def _moved(thing: SimulatedThing, far_m: float, aside_m: float, out_m: float) -> tuple[float, float]:
    """Where in its case's axes a point of the moving part is when it is out so far, told by where it is when shut."""
    if not thing.turns:
        return (far_m + out_m, aside_m)
    ahead, left = _hinge(thing)
    x, y, angle = far_m - ahead, aside_m - left, turned(thing, out_m)
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    return (ahead + x * cos - y * sin, left + x * sin + y * cos)


def _at_handle(thing: SimulatedThing, far_m: float, out_m: float) -> Place:
    """A place at the height where a handle is worked, so far before the middle when shut, gone out with the handle."""
    ahead, aside = _moved(thing, far_m, _handle_aside_m(thing), out_m)
    return _on_table(thing, ahead, aside, _bar_height_m(thing) - 0.003)


def _on_table(thing: SimulatedThing, ahead_m: float, aside_m: float, height_m: float) -> Place:
    """A place so far before and to the left of the middle of a fixture."""
    cos, sin = float(np.cos(thing.yaw)), float(np.sin(thing.yaw))
    return (thing.at[0] + ahead_m * cos - aside_m * sin, thing.at[1] + ahead_m * sin + aside_m * cos, height_m)


_BUILDERS = {"drawer": _add_drawer, "door": _add_door, "button": _add_button}
