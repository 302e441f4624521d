"""Textures of tables, walls and floors, drawn by arithmetic: pixels of shape (size, size, 3)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.recipe import Surface

Texture = NDArray[np.uint8]


def _grain(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Planks of wood: each with its own shade and its own waves along the board."""
    planks = int(rng.integers(4, 10))
    across, along = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    board = np.minimum((across * planks).astype(int), planks - 1)
    shade, offset = rng.uniform(0.88, 1.06, planks)[board], rng.uniform(0, 50, planks)[board]
    bend = 0.012 * np.sin(9 * along + offset) + 0.006 * np.sin(23 * along + 1.7 * offset)
    rings = np.sin(150 * (across + bend) + offset) + 0.6 * np.sin(410 * (across + 0.7 * bend) + 2 * offset)
    fibre = rng.normal(size=(size, size // 32)).repeat(32, axis=1)
    gap = 1 - 0.35 * (np.abs(across * planks - np.round(across * planks)) < 0.008)
    return _pixels(shade * gap * (1 + 0.035 * rings + 0.018 * fibre), colour)


def _plaster(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """A nearly even surface with soft spots of several sizes."""
    tone = np.ones((size, size))
    for cells, strength in ((8, 0.02), (32, 0.012), (128, 0.01)):
        spots = rng.normal(size=(cells, cells)).repeat(size // cells, axis=0).repeat(size // cells, axis=1)
        tone += strength * _smooth(spots, size // cells)
    return _pixels(tone, colour)


def _weave(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Cloth: fine threads both ways, with a stripe now and then."""
    across, along = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    threads = 0.04 * np.sin(2 * np.pi * 128 * across) * np.sin(2 * np.pi * 128 * along)
    stripes = 0.12 * (np.sin(2 * np.pi * rng.integers(2, 6) * along + rng.uniform(0, 6)) > 0.9)
    return _pixels(1 + threads - stripes + rng.normal(0, 0.015, (size, size)), colour)


def _tiles(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Square tiles of slightly different shades, with joints between them."""
    count = int(rng.integers(4, 9))
    across, along = (grid * count for grid in np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j])
    shade = rng.uniform(0.92, 1.06, (count + 1, count + 1))[across.astype(int), along.astype(int)]
    joint = (across % 1 < 0.03) | (along % 1 < 0.03)
    return _pixels(np.where(joint, 0.7, shade) + rng.normal(0, 0.008, (size, size)), colour)


def _chips(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Polished stone: chips of light and dark in an even ground."""
    tone = np.ones((size, size))
    for cells, share, strength in ((64, 0.12, -0.3), (64, 0.12, 0.2), (128, 0.1, -0.15)):
        chips = (rng.random((cells, cells)) < share).astype(float)
        wide = size // cells
        soft = _smooth(chips.repeat(wide, axis=0).repeat(wide, axis=1), wide)
        tone += strength * (soft > 0.45)
    return _pixels(tone + rng.normal(0, 0.01, (size, size)), colour)


def _boards(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Boards side by side, of one shade, rounded off towards dark joints."""
    across = np.arange(size) / size * int(rng.integers(10, 22)) % 1
    rounded = 1 - 0.35 * np.abs(2 * across - 1) ** 6
    return _pixels(rounded * np.ones((size, 1)) + rng.normal(0, 0.01, (size, size)), colour)


def _checks(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Checked cloth: wide stripes both ways, darker where they cross."""
    stripe = np.arange(size) / size * int(rng.integers(5, 12)) % 1 < 0.5
    depth = rng.uniform(0.1, 0.22)
    tone = 1 - depth * (stripe[:, None].astype(float) + stripe)
    return _pixels(tone + rng.normal(0, 0.012, (size, size)), colour)


def _bricks(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """A brick wall: every second course begins half a brick later, and each brick has a shade of its own."""
    courses = 2 * int(rng.integers(8, 14))
    down, across = (grid * courses for grid in np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j])
    course = np.minimum(down.astype(int), courses - 1)
    along = (across / 2 + 0.5 * (course % 2)) % (courses // 2)
    shade = rng.uniform(0.85, 1.05, (courses, courses // 2))[course, along.astype(int)]
    joint = (down % 1 < 0.09) | (along % 1 < 0.05)
    return _pixels(np.where(joint, 1.08, shade) + rng.normal(0, 0.012, (size, size)), colour)


def _dots(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Cloth with pale dots in rows, every second row begun half a way later."""
    count = 2 * int(rng.integers(6, 12))
    down, across = (grid * count for grid in np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j])
    along = across + 0.5 * (np.floor(down) % 2)
    dot = np.hypot(down % 1 - 0.5, along % 1 - 0.5) < rng.uniform(0.15, 0.3)
    return _pixels(np.where(dot, 1.3, 0.95) + rng.normal(0, 0.012, (size, size)), colour)


def _stripes(colour: NDArray[np.float64], rng: np.random.Generator, size: int = 512) -> Texture:
    """Wallpaper with stripes of several widths."""
    edges = np.sort(rng.integers(0, size, 2 * int(rng.integers(6, 14))))
    dark = np.searchsorted(edges, np.arange(size)) % 2
    return _pixels((1 - 0.15 * dark) * np.ones((size, 1)) + rng.normal(0, 0.01, (size, size)), colour)


SURFACES: dict[Surface, Callable[[NDArray[np.float64], np.random.Generator], Texture]] = {
    "grain": _grain,
    "plaster": _plaster,
    "weave": _weave,
    "tiles": _tiles,
    "chips": _chips,
    "boards": _boards,
    "checks": _checks,
    "bricks": _bricks,
    "dots": _dots,
    "stripes": _stripes,
}
"""What a surface looks like, by its name, given a colour and a generator."""


def _smooth(spots: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """A running mean over `reach` pixels both ways, wrapped round the edges."""
    for axis in (0, 1):
        size = spots.shape[axis]
        total = np.cumsum(np.concatenate([spots, spots.take(range(reach), axis)], axis), axis)
        spots = (total.take(range(reach, reach + size), axis) - total.take(range(size), axis)) / reach
    return spots


def _pixels(tone: NDArray[np.float64], colour: NDArray[np.float64]) -> Texture:
    return np.asarray(np.clip(tone[..., None] * colour, 0, 1) * 255).round().astype(np.uint8)
