"""Planters that change which frames are shown. Without motion, the change would be invisible."""

import numpy as np

from robogaze.forge.plant.planting_scene import DrawRefused, GlitchEdit, PlantingScene

_HELD_S, _SKIPPED_S, _REVERSED_S = (0.35, 1.6), (0.35, 1.6), (0.6, 2.0)
_LEAST_MOVED = 0.01
"""The least share of the view that must differ between the frames on both sides."""

_LEAST_JUMP = 2.5
"""The least ratio of a jump in time to the usual change between frames."""

_CUT_LEAST, _CUT_MOST = 0.4, 0.7  # of the clip: after that the arm may only be moving back
_MOVING_S = 0.25


def hold(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """The picture freezes for 0.35 to 1.6 s (half of the clip at most), then jumps ahead."""
    first, end = _inner_interval(scene, rng, _HELD_S)
    _check_moves(scene, first - 1, end - 1)
    sources = tuple(first - 1 if first <= number < end else number for number in scene.all_frames())
    return _edit(scene, sources, first, end, _strength(scene, end - first, _HELD_S))


def skip(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """0.35 to 1.6 s are left out; the glitch is the frame after the gap."""
    first, end = _inner_interval(scene, rng, _SKIPPED_S)
    _check_moves(scene, first - 1, end)
    nearby = range(max(1, first - 3), min(scene.frame_count, first + 4))
    usual = float(np.median([scene.moved(number - 1, number) for number in nearby]))
    if scene.moved(first - 1, end) < _LEAST_JUMP * usual:
        raise DrawRefused("the jump is no larger than the motion around it")
    sources = (*range(first), *range(end, scene.frame_count))
    return _edit(scene, sources, first, first + 1, _strength(scene, end - first, _SKIPPED_S), left_out=end - first)


def reverse(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """0.6 to 2 s are shown backwards."""
    first, end = _inner_interval(scene, rng, _REVERSED_S)
    end -= (end - first) % 2  # an even number, or the middle frame would not move
    _check_moves(scene, first, end - 1)
    sources = (*range(first), *range(end - 1, first - 1, -1), *range(end, scene.frame_count))
    return _edit(scene, sources, first, end, _strength(scene, end - first, _REVERSED_S))


def cut(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """The last 40 to 70 % of the clip is left out while something moves; the glitch is the last frame shown."""
    share = float(rng.uniform(_CUT_LEAST, _CUT_MOST))
    end = max(2, round((1 - share) * scene.frame_count))
    before = range(max(1, end - scene.to_frames(_MOVING_S)), min(end + 1, scene.frame_count))
    if min(scene.moved(number - 1, number) for number in before) == 0:
        raise DrawRefused("nothing moves at the time when the clip would end")
    _check_moves(scene, end - 1, scene.frame_count - 1)
    left_out = scene.frame_count - end
    strength = (share - _CUT_LEAST) / (_CUT_MOST - _CUT_LEAST)
    return _edit(scene, tuple(range(end)), end - 1, end, strength, left_out=left_out)


def _inner_interval(scene: PlantingScene, rng: np.random.Generator, seconds: tuple[float, float]) -> tuple[int, int]:
    """A run of frames that does not end with the clip, so that there is a jump at its end."""
    first, end = scene.sample_interval(rng, *seconds)
    if end == scene.frame_count:
        raise DrawRefused("no frames follow")
    return first, end


def _check_moves(scene: PlantingScene, before: int, after: int) -> None:
    if scene.moved(before, after) < _LEAST_MOVED:
        raise DrawRefused("too little moves")


def _strength(scene: PlantingScene, frames: int, seconds: tuple[float, float]) -> float:
    least, most = (scene.to_frames(limit) for limit in seconds)
    return float(np.clip((frames - least) / max(1, most - least), 0, 1))


def _edit(
    scene: PlantingScene, sources: tuple[int, ...], first: int, end: int, strength: float, left_out: int | None = None
) -> GlitchEdit:
    lasts_s = (end - first if left_out is None else left_out) * scene.frames.duration_s / scene.frame_count
    return GlitchEdit(sources, first, end, strength, f"{lasts_s:.2f} s", "the picture", seen=left_out is None)
