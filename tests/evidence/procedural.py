"""Synthetic clips, for tests of signal extractors and for first thresholds.

A table with a random texture and random things on it, and a jointed arm of two bars and two fingers that picks
one of them up, carries it and puts it down. Everything is drawn with sub-pixel positions from a seed. The clip is
clean; `planted` puts faults over it.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.media.decode import Image

Pixels = NDArray[np.float32]
Pose = tuple[float, float, float, float]
"""A camera's offset right and down in shares of the height, its turn in degrees, its zoom."""

FPS = 16
_LEGS = 5  # of a cycle: to the thing, wait, to the place, wait, home; the next cycle brings it back
_PICKED, _PLACED = 1.5, 3.5  # legs after which the fingers close and open
_MARGIN = 0.2  # of the height: what is drawn beyond the picture's edges, for a camera that moves


@dataclass(frozen=True)
class Take:
    """The settings of a clip; by default it is still, evenly lit, noiseless and uncompressed.

    `speed` is in pick-and-place cycles per four seconds; the arm stands still in the frames `pause` and is `arm`
    times as thick as usual. A `shutter` of more than 1 blurs motion, over so many moments of a frame. The victim is
    a thing on the table that the arm leaves alone: `shown` says in which frames it is drawn, `moved` how far it
    has moved, in heights. `ground` makes the table even, of this level. `moment` is which frame each one shows, where
    some are shown twice. `crf` is the quality of an H.264 round trip.
    """

    frames: int = 40
    size: tuple[int, int] = (640, 400)
    speed: float = 1.0
    pause: tuple[int, int] = (0, 0)
    arm: float = 1.0
    shutter: int = 1
    camera: Callable[[float], Pose] = lambda frame: (0.0, 0.0, 0.0, 1.0)
    light: Callable[[int], float] = lambda frame: 1.0
    shown: Callable[[int], bool] = lambda frame: True
    moved: Callable[[int], tuple[float, float]] = lambda frame: (0.0, 0.0)
    ground: float | None = None
    moment: Callable[[int], int] = lambda frame: frame
    noise: float = 0.0
    crf: int | None = None


@dataclass(frozen=True)
class Thing:
    """A textured patch with its outline and the place of its centre, in heights."""

    pixels: Pixels
    outline: Pixels
    at: tuple[float, float]
    turn: float = 0.0


@dataclass(frozen=True)
class World:
    """The scene in front of the camera."""

    table: Pixels
    things: list[Thing]
    bars: list[Thing]
    shoulder: tuple[float, float]
    path: list[tuple[float, float]]
    grip: float


def film(seed: int, take: Take | None = None) -> list[Image]:
    """The frames of a clean clip."""
    take = take or Take()
    rng = np.random.default_rng(seed)
    world = _world(rng, take.size, take.arm)
    if take.ground is not None:
        world = replace(world, table=np.full_like(world.table, take.ground))
    images = [_shoot(world, take, take.moment(frame), rng) for frame in range(take.frames)]
    return images if take.crf is None else encoded(images, take.crf)


def victim_place(seed: int, take: Take | None = None) -> tuple[float, float]:
    """The place of the object that a fault affects, as shares of the picture's width and height."""
    width, height = (take or Take()).size
    x, y = _world(np.random.default_rng(seed), (width, height)).things[1].at
    return x * height / width, y


def _world(rng: np.random.Generator, size: tuple[int, int], arm: float = 1.0) -> World:
    width, height = size
    margin = round(_MARGIN * height)
    wide = width / height
    # The table takes more numbers the larger it is: with its own, a seed gives the same scene at every size.
    table = _texture(rng.spawn(1)[0], (width + 2 * margin, height + 2 * margin), height)
    spots = [(wide * x, y) for x, y in _apart(rng, 5)]
    things = [_thing(rng, height, spot) for spot in spots[:4]]
    shade = rng.uniform(40, 220)
    sizes = ((0.75, 0.16 * arm), (0.7, 0.12 * arm), (0.14, 0.04))
    bars = [_bar(rng, height, length, thick, shade) for length, thick in sizes]
    shoulder = (wide * rng.uniform(0.3, 0.7), rng.choice([-0.12, 1.12]))
    home = (wide * rng.uniform(0.35, 0.65), 0.5)
    pick, place = spots[0], spots[4]
    work = [pick, pick, place, place]
    return World(table, things, bars, shoulder, [home, *work, home, *reversed(work), home], grip=0.045)


def _apart(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Places in the unit square, away from its edges and from each other."""
    places: list[tuple[float, float]] = []
    while len(places) < count:
        x, y = rng.uniform(0.14, 0.86), rng.uniform(0.2, 0.8)
        if all(np.hypot(1.6 * (x - a), y - b) > 0.28 for a, b in places):
            places.append((x, y))
    return places


def _texture(rng: np.random.Generator, size: tuple[int, int], height: int) -> Pixels:
    """Boards, stains and grain around a random colour."""
    width, high = size
    colour = rng.uniform(70, 190, 3)
    picture = np.broadcast_to(colour, (high, width, 3)).astype(np.float32).copy()
    for scale, strength in ((0.3, 22), (0.06, rng.uniform(3, 14)), (0.012, rng.uniform(1, 8))):
        step = max(1, round(scale * height))
        grain = rng.normal(0, strength, (high // step + 2, width // step + 2)).astype(np.float32)
        picture += cv2.resize(grain, size, interpolation=cv2.INTER_CUBIC)[..., None]
    for _ in range(int(rng.integers(3, 9))):
        corner, span = rng.uniform(0, 1, 2) * size, rng.uniform(0.05, 0.5, 2) * height
        box = cv2.boxPoints(
            ((float(corner[0]), float(corner[1])), (float(span[0]), float(span[1])), rng.uniform(0, 90))
        )
        cv2.fillPoly(picture, [np.round(box * 16).astype(np.int32)], rng.uniform(30, 225, 3).tolist(), cv2.LINE_AA, 4)
    return np.clip(picture, 0, 255)


def _thing(rng: np.random.Generator, height: int, at: tuple[float, float]) -> Thing:
    side = round(rng.uniform(0.09, 0.15) * height)
    colour = np.array([rng.uniform(150, 250), rng.uniform(20, 120), rng.uniform(20, 90)])[rng.permutation(3)]
    pixels = np.full((side, side, 3), colour, dtype=np.float32)
    stains = rng.normal(0, 25, (5, 5)).astype(np.float32)
    pixels += cv2.resize(stains, (side, side), interpolation=cv2.INTER_CUBIC)[..., None]
    outline = np.zeros((side, side), np.float32)
    if rng.random() < 0.5:
        cv2.circle(outline, (side // 2, side // 2), side // 2 - 2, 1.0, -1, cv2.LINE_AA)
    else:
        outline[2:-2, 2 + side // 8 : -2 - side // 8] = 1.0
    return Thing(np.clip(pixels, 0, 255), outline, at, rng.uniform(0, 180))


def _bar(rng: np.random.Generator, height: int, length: float, thick: float, shade: float) -> Thing:
    """A bar that starts at its left end; shaded across, with marks along it."""
    long, high = round(length * height), max(4, round(thick * height))
    across = np.sin(np.linspace(0.3, np.pi - 0.3, high, dtype=np.float32))[:, None, None]
    pixels = np.full((high, long, 3), shade, np.float32) * (0.6 + 0.4 * across)
    for start in rng.uniform(0, long, 5).astype(int):
        pixels[:, start : start + max(2, long // 25)] = rng.uniform(20, 230, 3)
    outline = np.zeros((high, long), np.float32)
    outline[1:-1, 1:-1] = 1.0
    return Thing(np.clip(pixels, 0, 255), outline, (0.0, 0.0))


def _shoot(world: World, take: Take, frame: int, rng: np.random.Generator) -> Image:
    moments = [_moment(world, take, frame, part / take.shutter) for part in range(take.shutter)]
    picture = np.mean(moments, axis=0) * take.light(frame)
    if take.noise:
        picture = picture + rng.standard_normal(picture.shape, dtype=np.float32) * take.noise
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


def _moment(world: World, take: Take, number: int, part: float) -> Pixels:
    height = take.size[1]
    frame = number + 0.6 * part  # the shutter is open for six tenths of a frame
    canvas = world.table.copy()
    phase = _phase(take, frame) % (2 * _LEGS)
    tip = _along(world.path, phase)
    held = _PICKED <= phase % _LEGS < _PLACED
    for index, thing in enumerate(world.things):
        if index == 0:
            rest = world.path[3] if _PLACED <= phase < _LEGS + _PICKED else world.path[1]
            _draw(canvas, thing, tip if held else rest, thing.turn, height)
        elif index > 1 or take.shown(number):
            right, down = take.moved(number) if index == 1 else (0.0, 0.0)
            _draw(canvas, thing, (thing.at[0] + right, thing.at[1] + down), thing.turn, height)
    opening = float(np.interp(phase % _LEGS, (_PICKED - 0.4, _PICKED, _PLACED, _PLACED + 0.4), (1, 0, 0, 1)))
    _draw_arm(canvas, world, tip, opening, height)
    return _view(canvas, take.camera(frame), take.size)


def _phase(take: Take, frame: float) -> float:
    """The position of the arm on its path, in segments."""
    start, end = take.pause
    moving = frame - max(0, min(frame, end) - start)
    return _LEGS * moving * take.speed / (4 * FPS)


def _along(path: Sequence[tuple[float, float]], phase: float) -> tuple[float, float]:
    """A point on the path; between waypoints the speed rises and falls smoothly (least jerk)."""
    leg, part = divmod(phase, 1.0)
    ease = part**3 * (10 - 15 * part + 6 * part**2)
    (ax, ay), (bx, by) = path[int(leg)], path[int(leg) + 1]
    return ax + ease * (bx - ax), ay + ease * (by - ay)


def _draw_arm(canvas: Pixels, world: World, tip: tuple[float, float], opening: float, height: int) -> None:
    upper, lower, finger = world.bars
    (sx, sy), (tx, ty) = world.shoulder, tip
    first, second = upper.pixels.shape[1] / height, lower.pixels.shape[1] / height
    reach = min(float(np.hypot(tx - sx, ty - sy)), 0.999 * (first + second))
    towards = np.arctan2(ty - sy, tx - sx)
    bend = np.arccos(np.clip((first**2 + reach**2 - second**2) / (2 * first * reach), -1, 1))
    elbow = (sx + first * np.cos(towards + bend), sy + first * np.sin(towards + bend))
    wrist = np.arctan2(ty - elbow[1], tx - elbow[0])
    stop = (tx - 0.14 * np.cos(wrist), ty - 0.14 * np.sin(wrist))
    _draw_bar(canvas, upper, world.shoulder, elbow, height)
    _draw_bar(canvas, lower, (stop[0] - second * np.cos(wrist), stop[1] - second * np.sin(wrist)), stop, height)
    gap = world.grip * (1.0 + 0.5 * opening)
    for side in (-gap, gap):
        x, y = stop[0] - side * np.sin(wrist), stop[1] + side * np.cos(wrist)
        _draw_bar(canvas, finger, (x, y), (x + 0.14 * np.cos(wrist), y + 0.14 * np.sin(wrist)), height)


def _draw_bar(canvas: Pixels, bar: Thing, start: tuple[float, float], end: tuple[float, float], height: int) -> None:
    turn = np.degrees(np.arctan2(end[1] - start[1], end[0] - start[0]))
    _draw(canvas, bar, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), turn, height)


def _draw(canvas: Pixels, thing: Thing, at: tuple[float, float], turn: float, height: int) -> None:
    """Draw a patch on the canvas, rotated clockwise, with its centre at a place in heights."""
    high, long = thing.outline.shape
    x, y = at[0] * height + _MARGIN * height, at[1] * height + _MARGIN * height
    radius = int(np.hypot(high, long) / 2) + 2
    left, top = int(x) - radius, int(y) - radius
    x0, y0 = max(left, 0), max(top, 0)
    x1, y1 = min(left + 2 * radius, canvas.shape[1]), min(top + 2 * radius, canvas.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    place = cv2.getRotationMatrix2D((long / 2, high / 2), -turn, 1.0)
    place[:, 2] += (x - x0 - long / 2, y - y0 - high / 2)
    size = (x1 - x0, y1 - y0)
    cover = cv2.warpAffine(thing.outline, place, size)[..., None]
    pixels = cv2.warpAffine(thing.pixels, place, size, borderMode=cv2.BORDER_REPLICATE)
    canvas[y0:y1, x0:x1] += cover * (pixels - canvas[y0:y1, x0:x1])


def _view(canvas: Pixels, pose: Pose, size: tuple[int, int]) -> Pixels:
    right, down, turn, zoom = pose
    height, width = canvas.shape[:2]
    place = cv2.getRotationMatrix2D((width / 2, height / 2), turn, zoom)
    place[:, 2] += (size[0] / 2 - width / 2 - right * size[1], size[1] / 2 - height / 2 - down * size[1])
    if right == down == turn == 0.0 and zoom == 1.0:
        place = np.round(place)
    return np.asarray(cv2.warpAffine(canvas, place, size, borderMode=cv2.BORDER_REFLECT), dtype=np.float32)


def encoded(images: Sequence[Image], crf: int = 23) -> list[Image]:
    """The same frames after H.264 compression."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        # Without mbtree=0 x264 gives slightly different pictures from run to run, even on one thread.
        options = {"crf": str(crf), "preset": "fast", "x264-params": "mbtree=0"}
        stream = container.add_stream("libx264", rate=FPS, options=options)
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.thread_count = 1
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode(None))
    buffer.seek(0)
    return list(_decoded(buffer))


def _decoded(buffer: io.BytesIO) -> Iterator[Image]:
    with av.open(buffer) as container:
        for frame in container.decode(video=0):
            yield np.ascontiguousarray(frame.to_ndarray(format="rgb24"))
