"""What things can be made to look like that they cannot: stretched, smaller or larger, or of another colour."""

from collections.abc import Callable

import mujoco
import numpy as np

from robogaze.forge.simulate.draw import PlaybackEdit
from robogaze.forge.simulate.edits import SHORTEST, Generator, actor, carried_thing, ease, stretch
from robogaze.forge.simulate.geoms import Matrix, geoms_of, transform
from robogaze.forge.simulate.stage import NoRoom, StagedSetting


def shear(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A rigid thing is stretched and slanted, from its foot up, and may come back to its shape."""
    thing, low, high = actor(stage, rng) if rng.random() < 0.5 or not stage.carried else carried_thing(stage, rng)
    first, last = stretch(rng, low, high)
    slant = rng.uniform(0.5, 1.0, 2) * rng.choice([-1, 1], 2)
    tall, wide = rng.uniform(0.4, 1.1), rng.uniform(-0.35, 0.5, 2)
    change = np.array([[wide[0], 0, slant[0]], [0, wide[1], slant[1]], [0, 0, tall]])
    return _reshaped(stage, thing, change, first, last, ramp=int(rng.integers(4, 10)), back=True)


def drift_in_size(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing slowly becomes smaller or larger and stays so."""
    thing, low, high = actor(stage, rng)
    first = int(rng.integers(low, high - SHORTEST))
    share = rng.choice([rng.uniform(-0.45, -0.3), rng.uniform(0.35, 0.6)])
    return _reshaped(stage, thing, np.eye(3) * share, first, high, ramp=int(rng.integers(12, 28)), back=False)


def _reshaped(
    stage: StagedSetting, thing: str, change: Matrix, first: int, last: int, ramp: int, back: bool
) -> PlaybackEdit:
    """A thing's points are moved by a matrix about its foot, more and more over `ramp` frames."""
    start = stage.take.scene.place_of(thing)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            share = ease(number, first, ramp)
            if back and last < stage.length:
                share *= 1 - ease(number, last - ramp, ramp + 1)
            foot = stage.take.states[number, start : start + 3]
            transform(list(geoms_of(stage, drawn, (thing,))), foot, np.eye(3) + share * change)

    return PlaybackEdit(bodies=(thing,), facts={"thing": thing}, scene=scene)


def recolour(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing slowly takes on another colour and keeps it."""
    thing, low, high = actor(stage, rng)
    first, ramp = int(rng.integers(low, high - SHORTEST)), int(rng.integers(8, 24))
    old = next(one.rgb for one in stage.setting.things if one.name == thing)
    far = [one for one in stage.setting.spares if np.abs(np.subtract(one.rgb, old)).max() > 0.4]
    if not far:
        raise NoRoom("no other colour")
    new = np.array(far[rng.integers(len(far))].rgb)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp) if number >= first else 0.0
        for geom in geoms_of(stage, drawn, (thing,)):
            geom.rgba[:3] = geom.rgba[:3] * (1 - share) + new * share

    return PlaybackEdit(bodies=(thing,), facts={"thing": thing}, scene=scene)


FORM_EDITS: dict[str, Callable[[StagedSetting, Generator], PlaybackEdit]] = {
    make.__name__: make for make in (shear, drift_in_size, recolour)
}
"""The edits of what things look like, by name."""
