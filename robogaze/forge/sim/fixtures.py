"""What stands fast and has a part that moves on a joint: a drawer in its case, a button with a lamp. Sizes in metres.

The joint and the moving part are called as the thing is; the rest is its case. The joint reads 0 where a drawer is
shut and a button is up.
"""

import mujoco
import numpy as np

from robogaze.forge.sim.things import TOUCH, Thing

_PANEL_M, _GAP_M, _BAR_M, _BAR_HALF_M, _BAR_HEIGHT_M = 0.008, 0.032, 0.005, 0.034, 0.045
_SHEET_M, _UNDER_M = 0.003, 0.006
_BASE_M, _STAND_OUT_M, _CAP_BACK_M = 0.022, 0.016, 0.010
_CASE = (0.72, 0.70, 0.66, 1.0)
_LAMP_M, _DARK, _LIT = 0.009, (0.16, 0.13, 0.10, 1.0), (1.0, 0.86, 0.25, 1.0)
_LIT_AT = 0.6
"""The share of its way at which a button switches."""

_BOX, _ROUND = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER
_Colour = tuple[float, float, float, float]
Place = tuple[float, float, float]


def in_gap(thing: Thing, out_m: float) -> Place:
    """The middle of the gap behind a drawer's handle when it is out so far."""
    return _ahead(thing, _bar_m(thing) - _BAR_M - _GAP_M / 2 + out_m, _BAR_HEIGHT_M - 0.003)


def before_handle(thing: Thing, out_m: float) -> Place:
    """The outer side of a drawer's handle when it is out so far."""
    return _ahead(thing, _bar_m(thing) + _BAR_M + out_m, _BAR_HEIGHT_M - 0.003)


def on_cap(thing: Thing, down_m: float) -> Place:
    """The top of a button that is pressed down so far."""
    return _ahead(thing, -_CAP_BACK_M, _BASE_M + _STAND_OUT_M - down_m)


def slack_m(finger_half_m: float) -> float:
    """How far a finger in the middle of the gap is from the handle."""
    return _GAP_M / 2 - finger_half_m


def is_switched(thing: Thing, down_m: float) -> bool:
    """Whether a button that is down so far is on."""
    return down_m >= _LIT_AT * thing.way_m


def lamp_of(thing: Thing) -> str:
    """The name of the geom that is a button's lamp."""
    return f"{thing.name} lamp"


def shine(lamp: mujoco.MjvGeom) -> None:
    """Have a drawn lamp shine."""
    lamp.rgba[:], lamp.emission = _LIT, 0.9


def add_fixture(spec: mujoco.MjSpec, thing: Thing) -> None:
    """Stand a fixture on the table."""
    turned = [np.cos(thing.yaw / 2), 0, 0, np.sin(thing.yaw / 2)]
    case = spec.worldbody.add_body(name=f"{thing.name} case", pos=(*thing.at, 0), quat=turned)
    part = case.add_body(name=thing.name, pos=[thing.out_m, 0, 0], gravcomp=1)
    # A body that stands fast is no parent to the rule that a body does not touch its parent.
    spec.add_exclude(bodyname1=case.name, bodyname2=part.name)
    (_add_drawer if thing.shape.form == "drawer" else _add_button)(case, part, thing)


def _add_drawer(case: mujoco.MjsBody, part: mujoco.MjsBody, thing: Thing) -> None:
    wide, deep, high = thing.shape.size[:3]
    part.add_joint(
        name=thing.name,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[1, 0, 0],
        range=[0, thing.way_m],
        ref=thing.out_m,
        damping=6,
        frictionloss=1.0,
    )
    for size, place in (
        ((deep, wide, _SHEET_M), (0, 0, _SHEET_M)),
        ((deep, wide, _SHEET_M), (0, 0, 2 * high - _SHEET_M)),
        ((_SHEET_M, wide, high), (_SHEET_M - deep, 0, high)),
        ((deep, _SHEET_M, high), (0, wide - _SHEET_M, high)),
        ((deep, _SHEET_M, high), (0, _SHEET_M - wide, high)),
    ):
        _add_box(case, size, place, _CASE)
    _add_tray(part, wide - 2 * _SHEET_M - 0.002, deep - 2 * _SHEET_M, high)
    colour = (*thing.rgb, 1.0)
    front = (_PANEL_M / 2, wide - 0.002, high - _UNDER_M)
    _add_box(part, front, (deep + _PANEL_M / 2, 0, high), colour)
    bar = _bar_m(thing)
    _add_box(part, (_BAR_M, _BAR_HALF_M, _BAR_M), (bar, 0, _BAR_HEIGHT_M), None)
    for side in (-1, 1):
        middle = (deep + _PANEL_M + bar) / 2
        stub = (bar - middle, 0.0035, 0.0035)
        _add_box(part, stub, (middle, side * (_BAR_HALF_M - 0.0035), _BAR_HEIGHT_M), None)


def _add_tray(part: mujoco.MjsBody, wide: float, deep: float, high: float) -> None:
    """What a drawer has behind its front."""
    side, low = 0.6 * high, 2 * _UNDER_M
    _add_box(part, (deep, wide, 0.002), (0, 0, low), _CASE)
    _add_box(part, (0.002, wide, side), (0.002 - deep, 0, low + side), _CASE)
    for sign in (-1, 1):
        _add_box(part, (deep, 0.002, side), (0, sign * (wide - 0.002), low + side), _CASE)


def _add_button(case: mujoco.MjsBody, part: mujoco.MjsBody, thing: Thing) -> None:
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


def _bar_m(thing: Thing) -> float:
    """How far before the middle of its case the bar of a drawer's handle is when it is shut."""
    return thing.shape.size[1] + _PANEL_M + _GAP_M + _BAR_M


def _ahead(thing: Thing, far_m: float, height_m: float) -> Place:
    """A place so far before the middle of a fixture."""
    return (thing.at[0] + far_m * float(np.cos(thing.yaw)), thing.at[1] + far_m * float(np.sin(thing.yaw)), height_m)
