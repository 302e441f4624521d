"""A yard in three dimensions: boxes in perspective, with flat light, far ones drawn first.

Lengths are metres; x goes right, y away, z up. Angles are radians; a yaw of 0 looks along x.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from render_demo.games.film import HEIGHT_PX, WIDTH_PX, Frame

Points = NDArray[np.float64]
Place = tuple[float, float, float]
Colour = tuple[int, int, int]

_FOCAL_PX, _NEAR_M = 560.0, 0.4
_LIGHT = np.array([-0.45, -0.6, 0.66])
_HAZE, _HAZE_M = np.array([205.0, 220.0, 232.0]), 90.0
_TILES = ((116, 150, 92), (108, 142, 86))
_ROAD = (96, 98, 104)
_SKIN, _JACKET, _LEGS, _BOOTS, _HAIR = (232, 190, 155), (230, 150, 40), (60, 70, 95), (45, 40, 40), (70, 45, 30)
_SUBPIXEL = 4

# A box's corners by sign, and its sides as corners in turn.
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@dataclass(frozen=True)
class Box:
    """Eight corners, in the order of `_CORNERS`, and a colour."""

    corners: Points
    colour: Colour

    def moved(self, by: Place, yaw: float = 0.0, roll: float = 0.0) -> "Box":
        """Turned about the origin, first about the x axis by `roll`, then about the z axis by `yaw`, then moved."""
        return Box(self.corners @ _about_x(roll).T @ _about_z(yaw).T + by, self.colour)


@dataclass(frozen=True)
class Camera:
    """Where it stands and what it looks at."""

    place: Place
    at: Place


def box(middle: Place, size: Place, colour: Colour) -> Box:
    """A box by its middle and its size."""
    return Box(_CORNERS * np.array(size) / 2 + middle, colour)


def walker(x: float, y: float, z: float, yaw: float, swing: float) -> list[Box]:
    """A character whose soles are at a place; its legs and arms swing by an angle."""
    body = [
        box((0, 0, 1.12), (0.28, 0.46, 0.62), _JACKET),
        box((0, 0, 1.62), (0.28, 0.28, 0.30), _SKIN),
        box((-0.02, 0, 1.80), (0.31, 0.31, 0.10), _HAIR),
    ]
    for side in (-1, 1):
        body += _limb((0, 0.12 * side, 0.82), 0.82, 0.19, side * swing, _LEGS, _BOOTS)
        body += _limb((0, 0.31 * side, 1.40), 0.62, 0.14, -side * swing, _JACKET, _SKIN)
    return [one.moved((x, y, z), yaw) for one in body]


def _limb(joint: Place, length: float, thick: float, turn: float, upper: Colour, end: Colour) -> list[Box]:
    """A limb that hangs from a joint, turned forward about the y axis."""
    parts = [
        box((0, 0, -length * 0.4), (thick, thick, length * 0.8), upper),
        box((thick * 0.15, 0, -length * 0.9), (thick * 1.25, thick, length * 0.2), end),
    ]
    cos, sin = np.cos(turn), np.sin(turn)
    about_y = np.array([[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
    return [Box(part.corners @ about_y.T + joint, part.colour) for part in parts]


def car(x: float, y: float, z: float, roll: float = 0.0) -> list[Box]:
    """A car that looks along x, with its wheels at a height; rolled about its middle."""
    parts = [
        box((0, 0, 0.05), (3.4, 1.5, 0.55), (190, 45, 50)),
        box((-0.2, 0, 0.55), (1.8, 1.35, 0.5), (190, 215, 230)),
        box((-0.2, 0, 0.83), (1.7, 1.3, 0.08), (170, 40, 45)),
        *(
            box((along, across, -0.3), (0.62, 0.2, 0.62), (35, 35, 38))
            for along in (-1.1, 1.1)
            for across in (-0.72, 0.72)
        ),
    ]
    return [part.moved((x, y, z + 0.62), roll=roll) for part in parts]


def wall(left: float, right: float, y: float, high: float, colour: Colour) -> list[Box]:
    """A wall across the view, in pieces of about 2 m so that they can be told near from far."""
    pieces = max(1, round((right - left) / 2))
    wide = (right - left) / pieces
    return [
        box((left + wide * (number + 0.5), y, high / 2), (wide, 0.3, high), _shade(colour, 1 - 0.06 * (number % 2)))
        for number in range(pieces)
    ]


def tree(x: float, y: float) -> list[Box]:
    """A tree."""
    return [
        box((x, y, 0.8), (0.35, 0.35, 1.6), (104, 78, 52)),
        box((x, y, 2.1), (1.7, 1.7, 1.1), (70, 128, 70)),
        box((x, y, 2.9), (1.1, 1.1, 0.7), (84, 144, 80)),
    ]


def draw(camera: Camera, boxes: Iterable[Box], shadows: Sequence[tuple[float, float, float]] = ()) -> Frame:
    """A frame; each shadow is a disc on the ground: x, y and radius."""
    frame = _sky()
    forward = np.subtract(camera.at, camera.place).astype(np.float64)
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(right, forward), forward])
    for corners, colour in _ground():
        _face(frame, (corners - camera.place) @ axes.T, colour)
    dark = frame.copy()
    for x, y, radius in shadows:
        turns = np.linspace(0, 2 * np.pi, 20, endpoint=False)
        disc = np.column_stack([x + radius * np.cos(turns), y + radius * np.sin(turns), np.full(20, 0.01)])
        _face(dark, (disc - camera.place) @ axes.T, (0, 0, 0))
    frame = np.asarray(cv2.addWeighted(frame, 0.65, dark, 0.35, 0), np.uint8)
    faces = []
    for one in boxes:
        seen = (one.corners - camera.place) @ axes.T
        for side in _SIDES:
            a, b, c = (one.corners[side[number]] for number in range(3))
            normal = np.cross(b - a, c - b)
            normal /= np.linalg.norm(normal)
            outward = normal if normal @ (a - one.corners.mean(axis=0)) > 0 else -normal
            if outward @ (a - camera.place) < 0:
                light = 0.62 + 0.38 * max(0.0, float(outward @ _LIGHT))
                faces.append((float(seen[list(side), 2].mean()), seen[list(side)], _shade(one.colour, light)))
    for _, corners, colour in sorted(faces, key=lambda face: -face[0]):
        _face(frame, corners, colour)
    return frame


def _ground() -> Iterable[tuple[Points, Colour]]:
    for row in range(-2, 30):
        for column in range(-14, 15):
            x, y = 2.0 * column, 2.0 * row
            corners = np.array([[x, y, 0], [x + 2, y, 0], [x + 2, y + 2, 0], [x, y + 2, 0]])
            yield corners, _ROAD if row in (4, 5) else _TILES[(row + column) % 2]


def _face(frame: Frame, seen: Points, colour: Colour) -> None:
    """Draw a flat face given in the camera's axes (right, up, forward); what reaches behind the camera is left out."""
    depth = seen[:, 2]
    if depth.min() < _NEAR_M:
        return
    haze = min(0.75, float(depth.mean()) / _HAZE_M)
    x = WIDTH_PX / 2 + _FOCAL_PX * seen[:, 0] / depth
    y = HEIGHT_PX / 2 - _FOCAL_PX * seen[:, 1] / depth
    if x.max() < 0 or x.min() > WIDTH_PX or y.max() < 0 or y.min() > HEIGHT_PX:
        return
    points = (np.column_stack([x, y]) * 2**_SUBPIXEL).round().astype(np.int32)
    hazy = tuple(int(level) for level in (1 - haze) * np.array(colour) + haze * _HAZE)
    cv2.fillConvexPoly(frame, points, hazy, cv2.LINE_AA, _SUBPIXEL)


def _sky() -> Frame:
    share = np.linspace(0, 1, HEIGHT_PX)[:, None, None] ** 0.8
    sky = (1 - share) * np.array([96.0, 152.0, 214.0]) + share * _HAZE
    return np.broadcast_to(sky, (HEIGHT_PX, WIDTH_PX, 3)).astype(np.uint8).copy()


def _shade(colour: Colour, light: float) -> Colour:
    red, green, blue = (min(255, round(level * light)) for level in colour)
    return red, green, blue


def _about_x(turn: float) -> Points:
    cos, sin = np.cos(turn), np.sin(turn)
    return np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])


def _about_z(turn: float) -> Points:
    cos, sin = np.cos(turn), np.sin(turn)
    return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
