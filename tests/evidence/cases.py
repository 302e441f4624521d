"""Synthetic clips for thresholds: clean ones of every kind that could be mistaken for a fault, and planted faults.

`python -m tests.evidence.survey` applies the rules to many seeds of each.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from robogaze.media.decode import Image

from . import planted as p
from .procedural import Pose, Take, encoded, film

_SIZE = (480, 304)
"""Smaller than usual frames, for speed, but larger than the reduced picture, so that it is reduced."""

_FRAMES = 20
_START, _END = 8, 14
"""The number of frames of a clip with a fault of the picture, and the frames of the fault."""


def _sway(frame: float) -> Pose:
    """A hand-held or wrist-mounted camera, which never rests and moves by up to 1 % of the height per frame."""
    return (
        0.09 * math.sin(frame / 9),
        0.06 * math.cos(frame / 7),
        2 * math.sin(frame / 11),
        1.06 + 0.05 * math.sin(frame / 13),
    )


def _pan(frame: float) -> Pose:
    """A camera that starts and stops suddenly."""
    along = min(max(frame - 10, 0), 15)
    return (0.012 * along, 0.0, 0.3 * along, 1.0)


CLEAN: dict[str, Take] = {
    "plain": Take(),
    "noisy, low quality": Take(noise=3, crf=30),
    "fast arm": Take(speed=2, crf=23),
    "very fast arm, motion blur": Take(speed=3.5, shutter=4, crf=23),
    "thick arm": Take(arm=2.2, speed=1.6, noise=1),
    "arm waits": Take(speed=2, pause=(6, 24)),
    "arm waits in full motion": Take(speed=2, pause=(16, 26), crf=23),
    "camera pans": Take(camera=_pan, noise=1, shutter=2),
    "camera sways": Take(camera=_sway, noise=1, crf=23),
    "light drifts": Take(light=lambda frame: 0.8 + 0.2 * math.sin(frame / 6), crf=23),
    "lamp switched": Take(light=lambda frame: 0.7 if frame >= 16 else 1.0, crf=23),
    "dim scene": Take(light=lambda frame: 0.4, noise=2, crf=23),
    "white table": Take(ground=255.0, crf=23),
    "plain table": Take(ground=120.0, noise=1, crf=23),
    "plain table, thick arm": Take(ground=120.0, arm=2.2, speed=1.6, crf=23),
    "frames held": Take(speed=2, moment=lambda frame: frame - (frame % 4 == 3), crf=23),
    "frames held, fast arm": Take(speed=3.5, moment=lambda frame: frame - (frame % 3 == 2), noise=1, crf=23),
    "object leaves the picture": Take(moved=lambda frame: (0.05 * max(0, frame - 12), 0.0), noise=1),
}
"""Clean clips, by what could be mistaken for a fault."""


@dataclass(frozen=True)
class Planted:
    """A clip with one fault in the frames [start, end); `types` are the accepted event types."""

    images: list[Image]
    start: int
    end: int
    types: tuple[str, ...]


def _over(
    plant: Callable[..., list[Image]], *types: str, start: int = _START, end: int = _END, **how: float
) -> Callable[[int], Planted]:
    """A fault of the picture, added to a clean clip and compressed with it."""

    def make(seed: int) -> Planted:
        clean = film(seed, Take(noise=1, frames=_FRAMES, size=_SIZE))
        return Planted(encoded(plant(clean, start, end, **how)), start, end, types)

    return make


def _within(take: Callable[[int], Take], *types: str, start: int, end: int) -> Callable[[int], Planted]:
    """A fault of the scene."""
    return lambda seed: Planted(
        film(seed, replace(take(seed), frames=22, noise=1, crf=23, size=_SIZE)), start, end, types
    )


FAULTS: dict[str, Callable[[int], Planted]] = {
    "strong blur": _over(p.blurred, "blur", sigma_px=3),
    "blur": _over(p.blurred, "blur", sigma_px=2.5),
    "blur throughout": _over(p.blurred, "blur", sigma_px=4, start=0, end=_FRAMES),
    "overexposure": _over(p.overexposed, "low_visibility", by=150),
    "overexposure throughout": _over(p.overexposed, "low_visibility", by=150, start=0, end=_FRAMES),
    "noise": _over(p.noisy, "frame_corruption", strength=60),
    "noise throughout": _over(p.noisy, "frame_corruption", strength=60, start=0, end=_FRAMES),
    "half of the picture green": _over(p.flooded, "frame_corruption", share=0.5),
    "darkness": _over(p.dimmed, "low_visibility", gain=0.06),
    "fog": _over(p.fogged, "low_visibility", left=0.12),
    "garbled blocks, 8 %": _over(p.garbled, "frame_corruption", share=0.08),
    "torn frames": _over(p.torn, "frame_corruption", row=0.45, shift=0.05),
    "shake": _within(lambda s: Take(camera=p.shaking(s, 6, 16, 0.01)), "camera_instability", start=6, end=17),
    "frames missing while the arm moves slowly": _within(
        lambda s: Take(speed=0.35, moment=lambda f: f if f < 10 else f + 40), "frame_corruption", start=10, end=11
    ),
    "object jumps": _within(
        lambda s: Take(moved=lambda f: (0.0, 0.0) if f < 15 else (0.22, 0.12)),
        "object_teleportation",
        start=15,
        end=16,
    ),
}
"""Clips with one fault."""
