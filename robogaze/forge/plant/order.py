"""Planters that change which frames are shown: each needs motion where it is planted, or nobody could tell."""

import numpy as np

from robogaze.forge.plant.edit import GlitchEdit, Refused
from robogaze.forge.plant.scene import PlantingScene

_HELD_S, _SKIPPED_S, _REVERSED_S = (0.35, 1.6), (0.35, 1.6), (0.6, 2.0)
_LEAST_MOVED = 0.01
"""Of the view: how much the frames on both sides must differ."""

_LEAST_JUMP = 2.5
"""How many times the usual change from frame to frame a jump in time must be."""

_CUT_LEAST, _CUT_MOST = 0.4, 0.7  # of the clip: what comes last may only be the way back
_MOVING_S = 0.25


def hold(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A frozen picture for 0.35 to 1.6 s (half of the clip at most), then a jump to where the clip would have been."""
    first, end = _inner_stretch(scene, rng, _HELD_S)
    _check_moves(scene, first - 1, end - 1)
    sources = tuple(first - 1 if first <= number < end else number for number in scene.as_shown())
    return _edit(scene, sources, first, end, _strength(scene, end - first, _HELD_S))


def skip(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """0.35 to 1.6 s are left out; the glitch is the frame after the gap."""
    first, end = _inner_stretch(scene, rng, _SKIPPED_S)
    _check_moves(scene, first - 1, end)
    beside = range(max(1, first - 3), min(scene.count, first + 4))
    usual = float(np.median([scene.moved(number - 1, number) for number in beside]))
    if scene.moved(first - 1, end) < _LEAST_JUMP * usual:
        raise Refused("a jump there is no larger than the motion beside it")
    sources = (*range(first), *range(end, scene.count))
    return _edit(scene, sources, first, first + 1, _strength(scene, end - first, _SKIPPED_S), left_out=end - first)


def reverse(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """0.6 to 2 s are shown backwards in their place."""
    first, end = _inner_stretch(scene, rng, _REVERSED_S)
    end -= (end - first) % 2  # of an odd number the middle one would stay where it is
    _check_moves(scene, first, end - 1)
    sources = (*range(first), *range(end - 1, first - 1, -1), *range(end, scene.count))
    return _edit(scene, sources, first, end, _strength(scene, end - first, _REVERSED_S))


def cut(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """The last 40 to 70 % of the clip are left out, while something moves; the glitch is the last frame shown."""
    share = float(rng.uniform(_CUT_LEAST, _CUT_MOST))
    end = max(2, round((1 - share) * scene.count))
    before = range(max(1, end - scene.frames(_MOVING_S)), min(end + 1, scene.count))
    if min(scene.moved(number - 1, number) for number in before) == 0:
        raise Refused("nothing moves where the clip would end")
    _check_moves(scene, end - 1, scene.count - 1)
    left_out = scene.count - end
    strength = (share - _CUT_LEAST) / (_CUT_MOST - _CUT_LEAST)
    return _edit(scene, tuple(range(end)), end - 1, end, strength, left_out=left_out)


def _inner_stretch(scene: PlantingScene, rng: np.random.Generator, seconds: tuple[float, float]) -> tuple[int, int]:
    """A stretch that something follows, or there would be no jump at its end."""
    first, end = scene.stretch(rng, *seconds)
    if end == scene.count:
        raise Refused("nothing follows there")
    return first, end


def _check_moves(scene: PlantingScene, before: int, after: int) -> None:
    if scene.moved(before, after) < _LEAST_MOVED:
        raise Refused("too little moves there")


def _strength(scene: PlantingScene, frames: int, seconds: tuple[float, float]) -> float:
    least, most = (scene.frames(one) for one in seconds)
    return float(np.clip((frames - least) / max(1, most - least), 0, 1))


def _edit(
    scene: PlantingScene, sources: tuple[int, ...], first: int, end: int, strength: float, left_out: int | None = None
) -> GlitchEdit:
    lasts_s = (end - first if left_out is None else left_out) * scene.reel.duration_s / scene.count
    return GlitchEdit(sources, first, end, strength, f"{lasts_s:.2f} s", "the picture", seen=left_out is None)
