"""A platformer seen from the side: a level, a small runner with simple physics, and how both are drawn.

Lengths are pixels of the picture, y counts downward, times are seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from render_demo.games.film import FPS, HEIGHT_PX, WIDTH_PX, Frame

GROUND = 292.0
_RUN, _JUMP, _GRAVITY = 150.0, 460.0, 950.0
_NOWHERE = 1e9
_STRIDE = 0.075  # radians of the legs' swing a pixel
_SUBPIXEL = 4  # bits

_SKY = ((120, 180, 240), (215, 232, 250))
_HILLS = (((150, 195, 190), 0.15, 70), ((120, 175, 140), 0.3, 45))
_SOIL, _STONE, _GRASS = (134, 96, 67), (112, 80, 56), (94, 168, 72)
_SKIN, _SHIRT, _TROUSERS, _SHOES, _HAIR = (240, 200, 165), (214, 60, 60), (52, 72, 140), (60, 40, 30), (90, 55, 30)
_GOLD, _WHITE, _INK = (250, 200, 50), (255, 255, 255), (40, 40, 50)


@dataclass(frozen=True)
class Level:
    """Stretches that carry: [left, right, height]. `coins` and `boots` are places; the boots allow a second jump."""

    carries: tuple[tuple[float, float, float], ...]
    coins: tuple[tuple[float, float], ...] = ()
    boots: tuple[float, float] | None = None


@dataclass(frozen=True)
class Runner:
    """Where the runner's feet are, and what its body does; `wide` stretches the body sideways."""

    x: float
    y: float
    stride: float = 0.0
    in_air: bool = False
    wide: float = 1.0
    puff_s: float | None = None
    """Seconds since it pushed itself off the air, None when it did not."""


def play(
    level: Level,
    start: float,
    count: int,
    runs: Sequence[tuple[float, float]],
    jumps: Sequence[float],
    through: tuple[float, float] | None = None,
    hovers: tuple[float, float] | None = None,
) -> tuple[Runner, ...]:
    """The runner in every frame: it runs to the right in some stretches of time and jumps at some moments.

    A jump in the air needs the boots. From the first moment of `through` nothing carries it, and at the second it is
    put back where it fell; in `hovers` it does not fall.
    """
    runner, speed = Runner(start, GROUND), 0.0
    puffed: float | None = None
    fell_at: float | None = None
    shown, waiting = [], sorted(jumps)
    for frame in range(count):
        time_s = frame / FPS
        shown.append(replace(runner, puff_s=None if puffed is None else time_s - puffed))
        run = _RUN / FPS if any(first <= time_s < end for first, end in runs) else 0.0
        if waiting and time_s >= waiting[0]:
            waiting.pop(0)
            puffed, speed = (time_s if runner.in_air else puffed), -_JUMP
        falling = bool(through and through[0] <= time_s < through[1])
        if falling and fell_at is None:
            fell_at = runner.y
        if fell_at is not None and not falling:
            runner, speed, fell_at = replace(runner, y=fell_at), 0.0, None
        hovering = bool(hovers and hovers[0] <= time_s < hovers[1])
        speed = 0.0 if hovering else speed + _GRAVITY / FPS
        x, y = runner.x + run, runner.y + speed / FPS
        below = [high for left, right, high in level.carries if left <= x <= right and high >= runner.y - 1]
        floor = _NOWHERE if falling else min(below, default=_NOWHERE)
        if y >= floor:
            y, speed = floor, 0.0
        runner = Runner(x, y, runner.stride + run * _STRIDE, in_air=y < floor and not hovering)
    return tuple(shown)


def draw(level: Level, runner: Runner, before: Sequence[Runner], view_x: float | None = None) -> Frame:
    """A frame: the runner in its level; what it has passed `before` is collected. The view goes with it, or stays."""
    left = max(0.0, (runner.x if view_x is None else view_x) - 240)
    frame = _sky(left)
    for first, end, high in level.carries:
        _block(frame, first - left, end - left, high)
    taken = [place for place in level.coins if any(_near(one, place) for one in before)]
    for x, y in level.coins:
        if (x, y) not in taken:
            _disc(frame, x - left, y, 8, _GOLD)
            _disc(frame, x - left, y, 4, (255, 230, 130))
    has_boots = level.boots is not None and any(_near(one, level.boots) for one in before)
    if level.boots is not None and not has_boots:
        _boots(frame, level.boots[0] - left, level.boots[1])
    if runner.puff_s is not None and runner.puff_s < 0.35:
        _puff(frame, before, runner.puff_s, left)
    _runner(frame, runner, left)
    _display(frame, len(taken), has_boots)
    return frame


def _near(runner: Runner, place: tuple[float, float]) -> bool:
    return abs(runner.x - place[0]) < 20 and abs(runner.y - 26 - place[1]) < 34


def _sky(left: float) -> Frame:
    share = np.linspace(0, 1, HEIGHT_PX)[:, None, None]
    frame = np.broadcast_to((1 - share) * _SKY[0] + share * _SKY[1], (HEIGHT_PX, WIDTH_PX, 3)).astype(np.uint8).copy()
    columns = np.arange(WIDTH_PX)
    for colour, pace, high in _HILLS:
        x = columns + pace * left
        top = 250 - high * (0.6 + 0.4 * np.sin(x / 97) + 0.25 * np.sin(x / 41 + 1))
        points = np.column_stack([columns, top]).round().astype(np.int32)
        cv2.fillPoly(frame, [np.vstack([points, [[WIDTH_PX, HEIGHT_PX], [0, HEIGHT_PX]]])], colour, cv2.LINE_AA)
    return frame


def _block(frame: Frame, left: float, right: float, top: float) -> None:
    """A stretch of ground down to the picture's edge, or a plank where it is high up."""
    bottom = HEIGHT_PX if top >= GROUND else top + 26
    _box(frame, left, top, right, bottom, _SOIL)
    for row, y in enumerate(np.arange(top + 16, bottom, 22)):
        for x in np.arange(left + 10 + 20 * (row % 2), right - 12, 40):
            _box(frame, x, y, min(x + 18, right), min(y + 9, bottom), _STONE)
    _box(frame, left, top, right, top + 8, _GRASS)
    for x in np.arange(left, right - 6, 9):
        _triangle(frame, (x, top + 1), (x + 7, top + 1), (x + 3, top - 5), _GRASS)


def _runner(frame: Frame, runner: Runner, left: float) -> None:
    x, feet = runner.x - left, runner.y
    swing = 0.9 if runner.in_air else np.sin(runner.stride) * 0.8
    for turn, colour in ((-swing, (40, 56, 112)), (swing, _TROUSERS)):
        knee = x + 15 * np.sin(turn) * runner.wide, feet - 21 + 13 * np.cos(turn) - 2
        _limb(frame, (x, feet - 22), knee, 8, colour)
        _disc(frame, knee[0] + 2 * runner.wide, min(knee[1] + 7, feet - 3), 5, _SHOES)
    for turn in (swing, -swing):
        hand = x + 14 * np.sin(turn) * runner.wide, feet - 37 + 12 * np.cos(turn)
        _limb(frame, (x, feet - 38), hand, 6, _SKIN)
    _box(frame, x - 8 * runner.wide, feet - 43, x + 8 * runner.wide, feet - 20, _SHIRT)
    _oval(frame, x + 1, feet - 52, 10 * runner.wide, 10, _SKIN)
    _oval(frame, x - 1, feet - 57, 10 * runner.wide, 6, _HAIR)
    _disc(frame, x + 5 * runner.wide, feet - 52, 2, _INK)


def _boots(frame: Frame, x: float, y: float) -> None:
    _box(frame, x - 8, y - 10, x, y + 6, (60, 130, 220))
    _box(frame, x - 8, y, x + 9, y + 8, (60, 130, 220))
    _triangle(frame, (x - 8, y - 8), (x - 8, y + 2), (x - 20, y - 12), _WHITE)


def _puff(frame: Frame, before: Sequence[Runner], age_s: float, left: float) -> None:
    pushed = before[-1 - round(age_s * FPS)] if round(age_s * FPS) < len(before) else before[0]
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        reach = 8 + 60 * age_s
        _disc(
            frame,
            pushed.x - left + reach * np.cos(angle),
            pushed.y + 0.4 * reach * np.sin(angle),
            6 - 12 * age_s,
            _WHITE,
        )


def _display(frame: Frame, coins: int, has_boots: bool) -> None:
    _disc(frame, 22, 22, 8, _GOLD)
    cv2.putText(frame, f"x {coins}", (36, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.6, _INK, 2, cv2.LINE_AA)
    if has_boots:
        _boots(frame, 110, 22)
        cv2.putText(frame, "DOUBLE JUMP", (126, 28), cv2.FONT_HERSHEY_SIMPLEX, 0.55, _INK, 2, cv2.LINE_AA)


def _fixed(*values: float) -> tuple[int, ...]:
    return tuple(round(value * 2**_SUBPIXEL) for value in values)


def _box(frame: Frame, left: float, top: float, right: float, bottom: float, colour: tuple[int, ...]) -> None:
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    points = (corners * 2**_SUBPIXEL).round().astype(np.int32)
    cv2.fillConvexPoly(frame, points, colour, cv2.LINE_AA, _SUBPIXEL)


def _triangle(frame: Frame, *corners_and_colour: tuple[float, ...]) -> None:
    *corners, colour = corners_and_colour
    points = (np.array(corners) * 2**_SUBPIXEL).round().astype(np.int32)
    cv2.fillConvexPoly(frame, points, colour, cv2.LINE_AA, _SUBPIXEL)


def _disc(frame: Frame, x: float, y: float, radius: float, colour: tuple[int, ...]) -> None:
    _oval(frame, x, y, radius, radius, colour)


def _oval(frame: Frame, x: float, y: float, wide: float, high: float, colour: tuple[int, ...]) -> None:
    middle, axes = _fixed(x, y), _fixed(max(wide, 1), max(high, 1))
    cv2.ellipse(frame, middle, axes, 0, 0, 360, colour, -1, cv2.LINE_AA, _SUBPIXEL)


def _limb(
    frame: Frame, start: tuple[float, float], end: tuple[float, float], thick: int, colour: tuple[int, ...]
) -> None:
    cv2.line(frame, _fixed(*start), _fixed(*end), colour, thick, cv2.LINE_AA, _SUBPIXEL)
