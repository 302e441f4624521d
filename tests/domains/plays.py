"""Play drawn by arithmetic: a landscape that a camera moves along, above a status bar, at 30 frames a second.

Nothing is wrong with the pictures of `NORMAL`, however abrupt they are; `BLINKING` is what no game means to show.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

import cv2
import numpy as np

from robogaze.media.decode import Image

FPS = 30
_WIDTH, _HEIGHT, _BAR_PX = 160, 96, 12
_FRAMES = 60
_BLACK = np.zeros((_HEIGHT, _WIDTH, 3), np.uint8)

Frames = list[Image]


def run(seed: int, speeds: Sequence[float] = (2.0,) * _FRAMES) -> Frames:
    """A camera that moves by so many pixels from frame to frame."""
    rng = np.random.default_rng(seed)
    land, bar = _blocks(rng, _HEIGHT, 4 * _WIDTH), _blocks(rng, _BAR_PX, _WIDTH)
    shown = []
    for at in accumulate(speeds):
        image = np.roll(land, -round(at), axis=1)[:, :_WIDTH].copy()
        image[-_BAR_PX:] = bar
        shown.append(image)
    return shown


def _blocks(rng: np.random.Generator, height: int, width: int) -> Image:
    coarse = rng.integers(60, 230, (height // 12 + 1, width // 12 + 1, 3)).astype(np.float32)
    fine = rng.normal(0, 18, (height // 4 + 1, width // 4 + 1, 3)).astype(np.float32)
    picture = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_NEAREST) + cv2.resize(fine, (width, height))
    return np.clip(picture, 0, 255).astype(np.uint8)


def lit(images: Sequence[Image], light: Callable[[int], float]) -> Frames:
    """So many levels more light in each frame, of the landscape and of the bar."""
    changed = (image.astype(np.float32) + light(number) for number, image in enumerate(images))
    return [np.clip(image, 0, 255).astype(np.uint8) for image in changed]


def dimmed(images: Sequence[Image], left: Callable[[int], float]) -> Frames:
    """This share of the light is left in each frame."""
    return [(image * left(number)).astype(np.uint8) for number, image in enumerate(images)]


def without(images: Sequence[Image], frames: Sequence[int]) -> Frames:
    """These frames are black, the bar with them."""
    return [_BLACK if number in frames else image for number, image in enumerate(images)]


def under_a_display(images: Sequence[Image], effect: Sequence[Image]) -> Frames:
    """An effect over the picture that leaves a small display in its corner as it is."""
    shown = [image.copy() for image in effect]
    for image, before in zip(shown, images, strict=True):
        image[:6, :40] = before[:6, :40]
    return shown


def _under_a_menu(images: Sequence[Image], pauses: Sequence[tuple[int, int]]) -> Frames:
    shown = list(images)
    for first, end in pauses:
        menu = (images[first] // 3).astype(np.uint8)
        menu[20:76, 40:120] = (235, 235, 220)
        shown[first:end] = [menu] * (end - first)
    return shown


def _gunfire(seed: int) -> Frames:
    """Ten flashes a second that light half of a dark picture."""
    shown = dimmed(run(seed), lambda number: 0.15)
    for image in shown[::3]:
        cv2.ellipse(image, (_WIDTH // 2, _HEIGHT), (60, 66), 0, 0, 360, (255, 240, 190), -1)
    return shown


def _cuts(seed: int, every: int) -> Frames:
    """Cuts between a bright place and a dark one."""
    bright, dark = run(seed), dimmed(run(seed + 1), lambda number: 0.1)
    return [(bright, dark)[number // every % 2][number] for number in range(_FRAMES)]


NORMAL: dict[str, Callable[[int], Frames]] = {
    "a run": run,
    "nothing moves": lambda seed: run(seed, [0.0] * _FRAMES),
    "the view snaps again and again": lambda seed: run(seed, [22.0 * (n % 20 == 10) for n in range(_FRAMES)]),
    "every frame shown twice": lambda seed: [image for image in run(seed)[: _FRAMES // 2] for _ in range(2)],
    "an explosion": lambda seed: lit(run(seed), lambda n: 220.0 * 0.8 ** (n - 25) * (n >= 25)),
    "lightning": lambda seed: lit(dimmed(run(seed), lambda n: 0.1), lambda n: 180.0 * (n in (20, 23, 24, 27, 31, 35))),
    "gunfire in the dark": _gunfire,
    "a white strobe": lambda seed: lit(run(seed), lambda n: 255.0 * (20 <= n < 44 and n % 2)),
    "a lamp that flickers": lambda seed: dimmed(run(seed), lambda n: 0.15 if 20 <= n < 44 and n % 5 < 2 else 0.8),
    "a lamp that fails, under a display": lambda seed: under_a_display(
        run(seed), without(run(seed), [n for n in range(20, 44) if n % 4 < 2])
    ),
    "a fade to black and back": lambda seed: dimmed(run(seed), lambda n: abs(1 - n / 30)),
    "eyes that blink": lambda seed: dimmed(run(seed), lambda n: abs(n % 8 - 4) / 4),
    "a loading screen": lambda seed: without(run(seed), range(20, 40)),
    "two cuts through black": lambda seed: without(run(seed), (20, 21, 27, 28)),
    "a cut through black every half second": lambda seed: without(run(seed), range(10, 60, 14)),
    "a pause under a menu": lambda seed: _under_a_menu(run(seed), [(20, 40)]),
    "a menu opened again and again": lambda seed: _under_a_menu(run(seed), [(10, 15), (20, 25), (30, 35)]),
    "cuts": lambda seed: _cuts(seed, 15),
    "quick cuts": lambda seed: _cuts(seed, 4),
}
"""Normal play, by what could be mistaken for a fault."""

BLINKING: dict[str, tuple[Callable[[int], Frames], float, float]] = {
    "every other frame is black": (lambda seed: without(run(seed), range(20, 44, 2)), 20 / FPS, 43 / FPS),
    "black now and then": (lambda seed: without(run(seed), (20, 26, 27, 31, 37)), 20 / FPS, 38 / FPS),
}
"""The picture goes out again and again: from when to when."""
