"""Edits of the camera, of the light, and of the finished picture. Each function returns an edit of a recording; see
`state_edits`.
"""

from dataclasses import replace

import cv2
import mujoco
import numpy as np

from robogaze.forge.simulate.arm import HAND
from robogaze.forge.simulate.playback import Frame, PlaybackEdit, draw_new
from robogaze.forge.simulate.recorded_setup import Generator, RecordedSetup, ease
from robogaze.forge.simulate.scene import Camera
from robogaze.forge.simulate.scene_sampler import DrawRejected

_BLOCK_PX = 16
_COVER_AT_M = 0.35
"""The distance from the camera at which something covers the view."""

_PART_SHARE = 0.9
"""The size of a small part of a picture, relative to the largest that counts as small."""


def _window(recorded: RecordedSetup, rng: Generator, least: int = 8, most: int = 28) -> tuple[int, int]:
    """A first and an end frame anywhere in the recording."""
    if "short" in recorded.ways:
        return recorded.interval(rng, 2, recorded.frame_count - 1)
    frames = recorded.ramp(rng, least, most + 1)
    if recorded.frame_count < frames + 4:
        raise DrawRejected("too short")
    first = int(rng.integers(2, recorded.frame_count - frames - 1))
    return first, first + frames


def _part(recorded: RecordedSetup, rng: Generator) -> tuple[float, float, float, float] | None:
    """A small part of the middle of a view if the fault is to be small, else None for the whole view."""
    if "small" not in recorded.ways or recorded.difficulty is None:
        return None
    side = float(np.sqrt(_PART_SHARE * recorded.difficulty.largest_share))
    left, top = (float(value) for value in rng.uniform(0.2, 0.8 - side, 2))
    return left, top, left + side, top + side


def _swell(number: int, first: int, last: int, ramp: int) -> float:
    """The strength of something that fades in and out, above 0 and up to 1."""
    return float(min(number - first + 1, last - number, ramp) / ramp)


def _fading(recorded: RecordedSetup, rng: Generator, frames: int) -> int:
    """The number of frames over which something fades in and out again within `frames`."""
    return frames // 2 if "gradual" in recorded.ways else recorded.ramp(rng, 1, 7)


def _whole_width(frame: Frame, part: tuple[float, float, float, float] | None) -> float:
    """The full width, in pixels, of a view that a frame shows only in part."""
    return float(frame.shape[1] / (part[2] - part[0] if part else 1.0))


def defocus(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """The picture goes out of focus and back."""
    (first, last), part = _window(recorded, rng), _part(recorded, rng)
    most, ramp = rng.uniform(0.006, 0.013), int(rng.integers(1, 5))

    def picture(number: int, frame: Frame) -> Frame:
        depth = most * _whole_width(frame, part) * _swell(number, first, last, ramp)
        return np.asarray(cv2.GaussianBlur(frame, (0, 0), depth), np.uint8)

    return PlaybackEdit((first, last), picture=picture, part=part)


def smear(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """The picture is smeared along one direction, as if by a moving camera."""
    (first, last), part = _window(recorded, rng), _part(recorded, rng)
    share, angle = rng.uniform(0.03, 0.06), rng.uniform(0, np.pi)

    def picture(number: int, frame: Frame) -> Frame:
        size = int(share * _whole_width(frame, part)) | 1
        kernel = np.zeros((size, size), np.float32)
        reach = np.array([np.cos(angle), np.sin(angle)]) * (size // 2)
        ends = [tuple(int(value) for value in np.round(size // 2 + sign * reach)) for sign in (-1, 1)]
        cv2.line(kernel, ends[0], ends[1], 1.0)
        return np.asarray(cv2.filter2D(frame, -1, kernel / kernel.sum()), np.uint8)

    return PlaybackEdit((first, last), picture=picture, part=part)


def dim(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Almost no light is left."""
    first, last = _window(recorded, rng, least=12)
    left, ramp = rng.uniform(0.06, 0.14), _fading(recorded, rng, last - first)
    noise = int(rng.integers(2**31))

    def picture(number: int, frame: Frame) -> Frame:
        light = 1 - (1 - left) * _swell(number, first, last, ramp)
        grain = np.random.default_rng([noise, number]).normal(0, 2.0, frame.shape)
        return np.asarray(np.clip(frame * light + grain, 0, 255), np.uint8)

    return PlaybackEdit((first, last), picture=picture)


def fog(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Contrast is lost in a grey haze."""
    first, last = _window(recorded, rng, least=12)
    left, ramp, grey = rng.uniform(0.06, 0.14), _fading(recorded, rng, last - first), rng.uniform(110, 200)

    def picture(number: int, frame: Frame) -> Frame:
        share = (1 - left) * _swell(number, first, last, ramp)
        return np.asarray(frame * (1 - share) + grey * share, np.uint8)

    return PlaybackEdit((first, last), picture=picture)


def scramble(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Blocks of the picture show another part of the picture, or a plain colour."""
    (first, last), part = _window(recorded, rng, least=6, most=20), _part(recorded, rng)
    share, seed = rng.uniform(0.08, 0.3), int(rng.integers(2**31))

    def picture(number: int, frame: Frame) -> Frame:
        own = np.random.default_rng([seed, number])
        blocks = frame.copy()
        rows, columns = frame.shape[0] // _BLOCK_PX, frame.shape[1] // _BLOCK_PX
        for _ in range(round(share * rows * columns / 3)):
            (y, x), (v, u) = (own.integers(0, (rows, columns - 3)) * _BLOCK_PX for _ in range(2))
            there = np.s_[y : y + _BLOCK_PX, x : x + 3 * _BLOCK_PX]
            plain = own.random() < 0.3
            blocks[there] = own.integers(0, 256, 3) if plain else frame[v : v + _BLOCK_PX, u : u + 3 * _BLOCK_PX]
        return blocks

    return PlaybackEdit((first, last), picture=picture, part=part)


def tear(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Bands of rows are shifted sideways."""
    (first, last), part = _window(recorded, rng, least=6, most=20), _part(recorded, rng)
    seed = int(rng.integers(2**31))

    def picture(number: int, frame: Frame) -> Frame:
        own = np.random.default_rng([seed, number])
        height, width = frame.shape[:2]
        for _ in range(int(own.integers(2, 6))):
            top = int(own.integers(0, max(height - 20, 1)))
            band = np.s_[top : top + int(own.integers(10, max(height // 4, 11)))]
            frame[band] = np.roll(frame[band], int(own.integers(max(width // 20, 2), max(width // 4, 3))), axis=1)
        return frame

    return PlaybackEdit((first, last), picture=picture, part=part)


def freeze(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """The picture freezes while an arm moves, and then jumps."""
    subtask = recorded.setup.subtasks[rng.integers(len(recorded.setup.subtasks))]
    low, high = recorded.first_frame(subtask.main_phase, subtask), recorded.first_frame(subtask.ending_phase, subtask)
    frames = int(rng.integers(8, 14))
    if high - low < frames + 2:
        raise DrawRejected("too short")
    first = int(rng.integers(low + 1, high - frames))
    last = first + frames
    return PlaybackEdit((first, last), time=lambda number: first - 1)


def shake(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """The camera jitters from frame to frame."""
    first, last = _window(recorded, rng, least=10)
    knocks = rng.normal(size=(last - first, 5)) * rng.uniform(0.7, 1.3) * [1.4, 1.1, 0.006, 0.013, 0.013]

    def camera(number: int, view: Camera) -> Camera:
        azimuth, elevation, *shift = knocks[number - first]
        x, y, z = np.add(view.lookat, shift)
        return replace(view, lookat=(x, y, z), azimuth=view.azimuth + azimuth, elevation=view.elevation + elevation)

    return PlaybackEdit((first, last), camera=camera)


def look_away(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Before the object is released at the goal, the camera turns away from the goal towards the arm's base, and stays
    there.
    """
    subtask = recorded.setup.subtasks[-1]
    last = recorded.first_frame("release", subtask)
    first, frames = last - int(rng.integers(8, 18)), int(rng.integers(8, 20))
    aside = 0.3 if subtask.goal.at[1] < 0 else -0.3

    def camera(number: int, view: Camera) -> Camera:
        share = ease(number, first, frames)
        x, y, z = np.add(view.lookat, share * np.array([-0.25, aside, 0.2]))
        return replace(view, lookat=(x, y, z), distance=view.distance * (1 - 0.4 * share))

    names = (subtask.goal.name, subtask.obj.name)
    return PlaybackEdit(
        (first, recorded.frame_count),
        hides=names,
        description_fields=dict(zip(("goal", "object"), names, strict=True)),
        camera=camera,
    )


def cover(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """When the hand grasps the object or lets go of it, something dark hides the hand for a moment."""
    subtask = recorded.setup.subtasks[rng.integers(len(recorded.setup.subtasks))]
    middle = recorded.first_frame(
        "grasp" if subtask.action == "place" and rng.random() < 0.5 else subtask.ending_phase, subtask
    )
    half, ramp = int(rng.integers(7, 12)), 4
    first, last = max(middle - half, 2), min(middle + half, recorded.frame_count - 2)
    hand = recorded.place_of(f"{subtask.side}{HAND}", middle) - [0, 0, 0.09]
    rgba = np.array([*(rng.uniform(0.04, 0.16) * np.array([1.0, 0.85, 0.7])), 1.0])
    size = np.array([rng.uniform(0.05, 0.08), rng.uniform(0.05, 0.08), rng.uniform(0.14, 0.2)])
    lean, side = rng.uniform(-0.5, 0.5), rng.choice([-1, 1])
    kind = (mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_ELLIPSOID)[rng.integers(2)]

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        eye = drawn.camera[0]
        ahead, up = np.array(eye.forward), np.array(eye.up)
        right = np.cross(ahead, up)
        way = hand - eye.pos
        place = eye.pos + way * (_COVER_AT_M / (way @ ahead))
        place = place + side * right * 0.4 * (1 - _swell(number, first, last, ramp))
        axis = np.cos(lean) * up + np.sin(lean) * right
        turn = np.stack([np.cross(axis, ahead), ahead, axis], axis=1)
        draw_new(drawn, kind, size, place, turn, rgba)

    return PlaybackEdit((first, last), bodies=("",), hides=(f"{subtask.side}{HAND}",), scene=scene)


def change_light(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """No fault: the light slowly becomes brighter or darker, and everything stays visible."""
    first, last = int(rng.integers(4, recorded.frame_count - 8)), recorded.frame_count
    most, ramp = rng.choice([rng.uniform(0.66, 0.8), rng.uniform(1.2, 1.35)]), int(rng.integers(12, 24))

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        for light in drawn.lights[: drawn.nlight]:
            factor = 1 + (most - 1) * ease(number, first, ramp)
            light.ambient[:] = light.ambient * factor
            light.diffuse[:] = light.diffuse * factor

    return PlaybackEdit((first, last), scene=scene)


def move_lamp(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """No fault: the lamp moves, and all shadows move with it."""
    first, last = int(rng.integers(4, recorded.frame_count - 8)), recorded.frame_count
    ramp = int(rng.uniform(1.5, 4.0) * recorded.recording.fps)
    way = np.array([rng.uniform(-0.25, 0.25), rng.choice([-1, 1]) * rng.uniform(0.35, 0.7), 0.0])

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp)
        for light in drawn.lights[: drawn.nlight]:
            if light.castshadow:
                light.dir[:] = light.dir + share * way
                light.pos[:] = light.pos - 1.6 * share * way

    return PlaybackEdit((first, last), scene=scene)


def go_round(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """No fault: the camera moves slowly around the table."""
    # Over a long clip, the camera moves to and fro.
    speed, most = rng.choice([-1, 1]) * rng.uniform(3.0, 7.0) / recorded.recording.fps, 30.0

    def camera(number: int, view: Camera) -> Camera:
        turned = most * np.sin(speed * number / most)
        return replace(view, azimuth=view.azimuth + turned)

    return PlaybackEdit((0, recorded.frame_count), camera=camera)
