"""Simulated clips of a machine at work, faulty and clean, with annotations that are exact to the frame.

From recipe to clip:

    simulation_config  the recipe, simulate.yaml of a domain: objects, goals, tasks, worlds and faults
      |
    scene_sampler      one or several tasks with objects, places and instruction, drawn at random
      |                tasks: a subtask as moves of an arm, and whether it is done
    behaviours         how the motion departs from the task, for faults of the motion
      |
    scene              table, room and light; arm, objects and fixtures are its parts
      |
    recording          physics, recorded once
      |
    recorded_setup     a recording as edits see it: what rests or is carried, and when
      |
    playback           renders a recording, with edits
      |                state_edits: what objects do; scene_edits: how bodies look; camera_edits: camera and picture
    clip_spec          all of this for one clip and its clean twin
      |
    fault_frames       the frames in which a fault shows, and those that its annotation covers
      |
    checks             whether the clip is accepted; if not, it is drawn again
      |
    generate           one clip: drawn, checked, rendered and written with its report
      |
    simulated_dataset  many clips, resumable

Python knows no event type. The recipe maps each change of a clip (jump, vanish, hover) to a type and a description. An
edit or a behaviour is found by name in EDITS or BEHAVIOURS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from robogaze.errors import MissingExtra
from robogaze.registry import Registry

if TYPE_CHECKING:
    from numpy.random import Generator

    from robogaze.forge.simulate.behaviours import Behaviour
    from robogaze.forge.simulate.playback import PlaybackEdit
    from robogaze.forge.simulate.recorded_setup import RecordedSetup
    from robogaze.forge.simulate.scene_sampler import TaskSetup

_STATE, _SCENE, _CAMERA, _BEHAVIOURS = (
    f"{__name__}.{module}" for module in ("state_edits", "scene_edits", "camera_edits", "behaviours")
)

EDITS: Registry[Callable[[RecordedSetup, Generator], PlaybackEdit]] = Registry(
    "simulated_edits",
    {
        "jump": f"{_STATE}:jump",
        "vanish": f"{_STATE}:vanish",
        "appear": f"{_STATE}:appear",
        "swap": f"{_STATE}:swap",
        "hover": f"{_STATE}:hover",
        "sink": f"{_STATE}:sink",
        "slide": f"{_STATE}:slide",
        "move_by_itself": f"{_STATE}:move_by_itself",
        "hop": f"{_STATE}:hop",
        "trail": f"{_STATE}:trail",
        "double": f"{_SCENE}:double",
        "shear": f"{_SCENE}:shear",
        "drift_in_size": f"{_SCENE}:drift_in_size",
        "melt": f"{_SCENE}:melt",
        "recolour": f"{_SCENE}:recolour",
        "fade_out": f"{_SCENE}:fade_out",
        "fade_in": f"{_SCENE}:fade_in",
        "morph": f"{_SCENE}:morph",
        "lose_part": f"{_SCENE}:lose_part",
        "copy_hand": f"{_SCENE}:copy_hand",
        "graft": f"{_SCENE}:graft",
        "bend": f"{_SCENE}:bend",
        "swap_marks": f"{_SCENE}:swap_marks",
        "defocus": f"{_CAMERA}:defocus",
        "smear": f"{_CAMERA}:smear",
        "dim": f"{_CAMERA}:dim",
        "fog": f"{_CAMERA}:fog",
        "scramble": f"{_CAMERA}:scramble",
        "tear": f"{_CAMERA}:tear",
        "freeze": f"{_CAMERA}:freeze",
        "shake": f"{_CAMERA}:shake",
        "look_away": f"{_CAMERA}:look_away",
        "cover": f"{_CAMERA}:cover",
        "change_light": f"{_CAMERA}:change_light",
        "move_lamp": f"{_CAMERA}:move_lamp",
        "go_round": f"{_CAMERA}:go_round",
    },
)
"""Edits of a recording by name: a recorded setup and a random generator -> an edit."""

BEHAVIOURS: Registry[Callable[[TaskSetup, Generator], Behaviour]] = Registry(
    "simulated_behaviours",
    {
        "plain": f"{_BEHAVIOURS}:plain",
        "hurry": f"{_BEHAVIOURS}:hurry",
        "grasp_again": f"{_BEHAVIOURS}:grasp_again",
        "retry": f"{_BEHAVIOURS}:retry",
        "cover_bystander": f"{_BEHAVIOURS}:cover_bystander",
        "drop": f"{_BEHAVIOURS}:drop",
        "detour": f"{_BEHAVIOURS}:detour",
        "miss": f"{_BEHAVIOURS}:miss",
        "fall_short": f"{_BEHAVIOURS}:fall_short",
        "slip": f"{_BEHAVIOURS}:slip",
        "stall": f"{_BEHAVIOURS}:stall",
        "give_up": f"{_BEHAVIOURS}:give_up",
        "let_go_beside": f"{_BEHAVIOURS}:let_go_beside",
        "take_other": f"{_BEHAVIOURS}:take_other",
        "bring_elsewhere": f"{_BEHAVIOURS}:bring_elsewhere",
        "swap_order": f"{_BEHAVIOURS}:swap_order",
        "use_other_arm": f"{_BEHAVIOURS}:use_other_arm",
        "brush_past": f"{_BEHAVIOURS}:brush_past",
        "pass_through": f"{_BEHAVIOURS}:pass_through",
        "stop_early": f"{_BEHAVIOURS}:stop_early",
    },
)
"""Behaviours by name: a task setup and a random generator -> a behaviour."""

FROM_BEHIND = "from_behind"
"""The variation without an edit or a behaviour: a camera behind the arm, which hides much of its work."""


def require_simulator() -> None:
    """Raise MissingExtra if MuJoCo is not installed."""
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MissingExtra("mujoco", "forge") from error
