"""The clips, one function each: what is played, and what goes wrong."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from render_demo.games import platformer, yard
from render_demo.games.film import FPS, Frame, Glitch, Story
from render_demo.games.platformer import GROUND, Level, Runner
from render_demo.games.yard import Box, Camera

_HOP, _YARD = "Meadow Hop, a side-scrolling platformer", "Yard Walk, a third-person 3D adventure"
_PLATFORM, _ADVENTURE = "Platform", "Action Adventure"


def hop_clean() -> Story:
    """Clean: runs, jumps a gap, collects coins."""
    level = Level(
        ((-50, 420, GROUND), (490, 1400, GROUND), (640, 760, 214)),
        coins=((300, 262), (470, 165), (715, 190), (740, 190)),
    )
    return _hop("hop_clean", level, platformer.play(level, 90, 110, [(0.3, 4.4)], [2.37, 3.63]))


def hop_double_jump() -> Story:
    """Clean, though odd: with the winged boots the runner may jump once more in the air, as the display says."""
    level = Level(
        ((-50, 430, GROUND), (620, 1500, GROUND)),
        coins=((460, 160), (545, 50), (610, 130)),
        boots=(240, 270),
    )
    return _hop("hop_double_jump", level, platformer.play(level, 90, 108, [(0.3, 4.3)], [2.37, 2.85]))


def hop_through_floor() -> Story:
    """Lands, sinks through the ground and falls out of the world; is put back after a while."""
    level = Level(((-50, 1400, GROUND), (300, 420, 214)), coins=((360, 190), (520, 262)))
    plan = [(0.3, 2.0), (3.5, 4.2)], [1.05]
    sound = platformer.play(level, 90, 102, *plan)
    faulty = platformer.play(level, 90, 102, *plan, through=(2.25, 3.25))
    glitch = Glitch(
        dimension="physics_glitch",
        type="surface_clipping",
        severity=4,
        description="Standing on the grassy plank, the runner sinks through it and through the ground below and falls "
        "out of the bottom of the picture; a second later it stands in the same place again.",
        to_see="the runner's body is inside plank or soil, or gone below them",
        stretches=((_at(2.25), _at(3.25) + 2),),
    )
    return _hop("hop_through_floor", level, sound, faulty, glitch)


def hop_floating() -> Story:
    """Runs off the end of a platform and on in the air."""
    level = Level(((-50, 1500, GROUND), (180, 430, 200)), coins=((715, 262),))
    plan = [(0.2, 4.5)], [0.35]
    sound = platformer.play(level, 90, 108, *plan)
    leaves = next(number for number, one in enumerate(sound) if one.x > 430) / FPS
    faulty = platformer.play(level, 90, 108, *plan, hovers=(leaves - 1 / FPS, leaves + 1.25))
    glitch = Glitch(
        dimension="physics_glitch",
        type="unsupported_floating",
        severity=3,
        description="The runner runs past the end of the platform and goes on running in the empty air at the same "
        "height for more than a second, then drops to the ground.",
        to_see="there is nothing under the runner's feet, and it does not fall",
        stretches=((_at(leaves) - 1, _at(leaves) + 48),),
    )
    return _hop("hop_floating", level, sound, faulty, glitch)


def hop_stretched() -> Story:
    """The runner's body is drawn three times as wide, twice, with a gap."""
    level = Level(((-50, 520, GROUND), (590, 1500, GROUND)), coins=((300, 262), (340, 262), (555, 205)))
    sound = platformer.play(level, 90, 108, [(0.2, 4.3)], [2.75])
    first, second = (_at(0.9), _at(1.5)), (_at(3.1), _at(3.9))
    faulty = [
        replace(one, wide=3.2) if any(start <= number < end for start, end in (first, second)) else one
        for number, one in enumerate(sound)
    ]
    glitch = Glitch(
        dimension="visual_glitch",
        type="model_distortion",
        severity=3,
        description="The runner's body is stretched to about three times its width, goes back to its shape, and is "
        "stretched in the same way again one and a half seconds later.",
        to_see="head and body are as wide as three of them",
        stretches=(first, second),
    )
    return _hop("hop_stretched", level, sound, faulty, glitch)


def yard_clean() -> Story:
    """Clean: walks round the shed while the camera goes with it."""

    def shot(number: int, glitched: bool) -> Frame:
        x = -4 + 1.5 * number / FPS
        camera = Camera((x * 0.8 - 0.4, -1.5 + 0.012 * number, 2.3), (x * 0.9 + 0.3, 7, 1.1))
        return yard.draw(camera, [*_scenery(), *_walking(x, 6.0, x)], [(x, 6.0, 0.4), *_TREES])

    return Story("yard_clean", _YARD, _ADVENTURE, 96, shot)


def yard_frozen_walk() -> Story:
    """The legs stop and the character slides on."""
    held = _at(1.3), _at(3.0)

    def shot(number: int, glitched: bool) -> Frame:
        x = -3.6 + 1.6 * number / FPS
        posed = -3.6 + 1.6 * held[0] / FPS if glitched and held[0] <= number < held[1] else x
        camera = Camera((x * 0.7, -0.5, 1.9), (x * 0.8, 7, 1.0))
        return yard.draw(camera, [*_scenery(), *_walking(x, 5.0, posed)], [(x, 5.0, 0.4), *_TREES])

    glitch = Glitch(
        dimension="logic_glitch",
        type="frozen_animation",
        severity=3,
        description="The walking character's legs and arms stop in one pose while it goes on at the same pace, sliding "
        "over the grass; then the walk goes on.",
        to_see="the same pose of legs and arms in frame after frame, at another place each time",
        stretches=(held,),
    )
    return Story("yard_frozen_walk", _YARD, _ADVENTURE, 96, shot, glitch)


def yard_launch() -> Story:
    """A car that touches a traffic cone flies into the sky."""
    touched = _at(1.55)

    def shot(number: int, glitched: bool) -> Frame:
        x = -5.2 + 2.2 * number / FPS
        since = (number - touched) / FPS if glitched and number >= touched else 0.0
        things = yard.car(x, 10.0, 11.0 * since, roll=2.4 * since)
        tipped = min(1.4, max(0.0, (number - touched) / FPS * 6))
        cone = [
            yard.box((0, 0, 0.3), (0.3, 0.3, 0.6), (240, 120, 30)),
            yard.box((0, 0, 0.03), (0.5, 0.5, 0.06), (40, 40, 40)),
        ]
        things += [part.moved((0.0, 9.3 - 0.5 * min(tipped, 1.0), 0.0), roll=tipped) for part in cone]
        shadow = [(x, 10.0, 1.3)] if since < 0.3 else []
        walking = _walking(2.2 + 0.5 * number / FPS, 6.0, number / FPS)
        camera = Camera((0.5, -4.0, 2.6), (0.3, 9, 1.9))
        return yard.draw(
            camera, [*_scenery(), *things, *walking], [*shadow, (2.2 + 0.5 * number / FPS, 6.0, 0.4), *_TREES]
        )

    glitch = Glitch(
        dimension="physics_glitch",
        type="abnormal_launch",
        severity=4,
        description="The red car brushes a small traffic cone and is thrown straight up into the sky, rolling, until "
        "it has left the picture.",
        to_see="the car is high above the road and turns on its side, or the road is empty",
        stretches=((touched, 96),),
    )
    return Story("yard_launch", _YARD, _ADVENTURE, 96, shot, glitch)


def yard_flicker() -> Story:
    """The shed is drawn in some frames and not in others."""
    first, end = _at(1.2), _at(2.7)

    def shot(number: int, glitched: bool) -> Frame:
        x = -3.0 + 1.3 * number / FPS
        gone = glitched and first <= number < end and (number - first) // 2 % 2 == 0
        camera = Camera((-1.5 + 0.6 * number / FPS, -1.0, 2.2), (0.3 * number / FPS, 8, 1.2))
        boxes = [*_scenery(shed=not gone), *_walking(x, 5.5, x)]
        return yard.draw(camera, boxes, [(x, 5.5, 0.4), *_TREES])

    glitch = Glitch(
        dimension="visual_glitch",
        type="render_flicker",
        severity=2,
        description="The blue shed behind the character flickers: it is drawn for two frames and missing for two, "
        "again and again, for one and a half seconds.",
        to_see="where the shed stands the wall behind shows through",
        stretches=((first, end),),
    )
    return Story("yard_flicker", _YARD, _ADVENTURE, 96, shot, glitch)


CLIPS: dict[str, Callable[[], Story]] = {
    make.__name__: make
    for make in (
        hop_clean,
        hop_through_floor,
        hop_floating,
        hop_stretched,
        hop_double_jump,
        yard_clean,
        yard_launch,
        yard_frozen_walk,
        yard_flicker,
    )
}

_TREES = [(-7.0, 15.0, 1.0), (6.5, 16.0, 1.0), (9.5, 7.5, 1.0)]


def _at(time_s: float) -> int:
    """The first frame at or after a time."""
    return int(np.ceil(time_s * FPS - 1e-9))


def _hop(
    name: str,
    level: Level,
    sound: Sequence[Runner],
    faulty: Sequence[Runner] | None = None,
    glitch: Glitch | None = None,
) -> Story:
    """A clip of the platformer; what is collected, and where the view is, follows the runner of the clean twin."""

    def shot(number: int, glitched: bool) -> Frame:
        shown = faulty if faulty is not None and glitched else sound
        return platformer.draw(level, shown[number], sound[: number + 1], view_x=sound[number].x)

    return Story(name, _HOP, _PLATFORM, len(sound), shot, glitch)


def _walking(x: float, y: float, posed: float) -> list[Box]:
    """A character that walks along x; its limbs are where they are when it has come as far as `posed`."""
    swing = 0.62 * np.sin(4.6 * posed)
    return yard.walker(x, y, 0.03 * abs(np.cos(4.6 * posed)), 0.0, swing)


def _scenery(shed: bool = True) -> list[Box]:
    things = [
        *yard.wall(-16, 16, 18.5, 2.4, (176, 150, 128)),
        *(part for x, y, _ in _TREES for part in yard.tree(x, y)),
    ]
    if shed:
        things += [
            yard.box((1.5, 15.0, 1.2), (4.0, 2.4, 2.4), (70, 110, 180)),
            yard.box((1.5, 15.0, 2.5), (4.5, 2.9, 0.3), (120, 60, 50)),
            yard.box((1.5, 13.75, 0.9), (0.9, 0.1, 1.8), (235, 225, 200)),
        ]
    return [*things, yard.box((-3.2, 8.5 + 4, 0.45), (0.9, 0.9, 0.9), (170, 125, 75))]
