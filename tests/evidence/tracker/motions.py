"""Usual and unusual motions for synthetic clips: what a flag must find and what it must ignore."""

from collections.abc import Iterator

import numpy as np

from .moving import DIAGONAL_PX, FPS, HEIGHT, WIDTH, Path, Point, Scene

FLOOR = 300.0
SECONDS = 2.5


def usual(rng: np.random.Generator) -> dict[str, Path]:
    """Motions that raise no flag."""
    x, y = rng.uniform(120, 240), rng.uniform(120, 220)
    speed = rng.uniform(100, 180)
    return {
        "line": lambda t: (x + speed * t, y),
        "eased": lambda t: (x + 260 * _eased(t, 0.3, 1.6), y + 80 * _eased(t, 0.3, 1.6)),
        "lifted and put down": lambda t: (
            x + 200 * _eased(t, 0.7, 1.7),
            FLOOR - 150 * (_eased(t, 0.1, 0.6) - _eased(t, 1.8, 2.3)),
        ),
        "swings": lambda t: (320 + 140 * np.sin(3 * t), 120 + 60 * np.cos(3 * t) ** 2),
        "falls and stays": lambda t: (x, min(80 + 0.5 * 900 * t**2, FLOOR)),
        "bounces": lambda t: (x + 80 * t, FLOOR - 150 * abs(np.sin(np.pi * t / 0.7))),
        "rests": lambda t: (x, y),
        "walks and hops": lambda t: (x + 90 * t, FLOOR - max(0.0, 470 * (t - 1) - 0.5 * 1300 * (t - 1) ** 2) * (t > 1)),
        "starts and stops": lambda t: (x + 150 * _eased(t, 0.4, 0.9) + 120 * _eased(t, 1.5, 2.0), y),
    }


def odd(rng: np.random.Generator) -> dict[str, list[tuple[str, Path]]]:
    """Motions with one unusual moment, chosen by `rng`, by the flag that they should raise."""
    made: dict[str, list[tuple[str, Path]]] = {"jump": [], "still": [], "burst": [], "shake": []}
    at = float(rng.uniform(0.7, 1.5))
    for name, path in usual(rng).items():
        far, way = rng.uniform(0.08, 0.3) * DIAGONAL_PX, rng.uniform(0, 2 * np.pi)
        made["jump"].append((name, _jumping(path, at, (far * np.cos(way), 0.5 * far * np.sin(way)))))
        wide = rng.uniform(0.006, 0.02) * DIAGONAL_PX
        made["shake"].append((name, _shaking(path, at - 0.3, at + 0.6, wide)))
    moving = usual(rng)
    for name in ("line", "swings", "bounces", "eased"):
        made["still"].append((name, _held(moving[name], at, float(rng.uniform(0.35, 0.8)))))
    # Upward from the floor, so that it can be seen for some frames before it leaves the view.
    for name in ("line", "rests", "eased"):
        low = _plus_always(moving[name], (0.0, FLOOR - (moving[name](at) or (0.0, 0.0))[1]))
        made["burst"].append((name, _burst(low, at, float(rng.uniform(1.0, 1.6)))))
    return made


def scene(path: Path, rng: np.random.Generator) -> Scene:
    """A synthetic clip of a motion, with a panning camera in half of the cases."""
    pan = (float(rng.uniform(-25, 25)), float(rng.uniform(-8, 8))) if rng.random() < 0.5 else (0.0, 0.0)
    kind = str(rng.choice(["ball", "plain", "box"]))
    size = int(rng.integers(28, 60))
    return Scene(path, seconds=SECONDS, kind=kind, size_px=size, pan=pan, seed=int(rng.integers(1 << 30)))


def _eased(t: float, start: float, end: float) -> float:
    """From 0 to 1 with a smooth start and end."""
    share = float(np.clip((t - start) / (end - start), 0, 1))
    return share * share * (3 - 2 * share)


def _jumping(path: Path, at: float, by: Point) -> Path:
    # Which way it jumps is settled at that moment, not again in every frame.
    x, y = path(at) or (0.0, 0.0)
    right = by[0] if 60 < x + by[0] < WIDTH - 60 else -by[0]
    down = by[1] if 40 < y + by[1] < HEIGHT - 40 else -by[1]
    return lambda t: _plus(path(t), (right, down) if t >= at else (0.0, 0.0))


def _shaking(path: Path, start: float, end: float, wide: float) -> Path:
    return lambda t: _plus(path(t), (0.0, wide * (-1) ** round(t * FPS) if start <= t < end else 0.0))


def _held(path: Path, at: float, seconds: float) -> Path:
    return lambda t: path(t if t < at else max(at, t - seconds))


def _burst(path: Path, at: float, speed: float) -> Path:
    return lambda t: _plus(path(t), (0.0, -speed * DIAGONAL_PX * max(0.0, t - at)))


def _plus_always(path: Path, by: Point) -> Path:
    return lambda t: _plus(path(t), by)


def _plus(point: Point | None, by: Point) -> Point | None:
    return None if point is None else (point[0] + by[0], point[1] + by[1])


def drawn(count: int, seed: int) -> Iterator[tuple[str, str, Scene]]:
    """Scenes with the flag that each should raise (empty for none) and the name of its motion."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        for name, path in usual(rng).items():
            yield "", name, scene(path, rng)
        for kind, paths in odd(rng).items():
            for name, path in paths:
                yield kind, name, scene(path, rng)
