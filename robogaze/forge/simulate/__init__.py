"""Simulated clips of a machine at work, faulty and clean, with annotations that are exact to the frame.

From configuration to clip:

    simulation_config  the configuration, simulate.yaml of a domain: objects, goals, tasks, worlds and faults
      |                load_config: loads and checks it
    scene_sampler      one or several tasks with objects, places and instruction, drawn at random
      |                tasks: a subtask as moves of an arm, and whether it is done
    behaviours         how the motion departs from the task, for faults of the motion
      |
    scene              the model of table, room and light, with the parts from arm, objects and fixtures
      |
    recording          physics, recorded once
      |
    recorded_setup     what edits need to know about a recording: which objects rest or are carried, and when
      |
    playback           renders a recording, with edits
      |                state_edits: what objects do; scene_edits: how bodies look; camera_edits: camera and picture
    clip_spec          the tasks, recording and edits of one clip, and its clean twin
      |
    fault_frames       the frames in which a fault shows, and those that its annotation covers
      |
    checks             whether the clip is accepted; if not, it is drawn again
      |
    generate           one clip: drawn, checked, rendered and written with its report
      |
    simulated_dataset  many clips, resumable

The Python code contains no event type. The configuration file maps each change of a clip (jump, vanish, hover) to a
type and a description. An edit or a behaviour is found by name in EDITS or BEHAVIOURS.
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


def _paths(module: str, names: str) -> dict[str, str]:
    """The import paths of functions of a module of this package; `names` are separated by spaces."""
    return {name: f"{__name__}.{module}:{name}" for name in names.split()}


EDITS: Registry[Callable[[RecordedSetup, Generator], PlaybackEdit]] = Registry(
    "simulated_edits",
    {
        **_paths("state_edits", "jump vanish appear swap hover sink slide move_by_itself hop trail"),
        **_paths("scene_edits", "double shear drift_in_size melt recolour fade_out fade_in morph"),
        **_paths("scene_edits", "lose_part copy_hand graft bend swap_marks"),
        **_paths("camera_edits", "defocus smear dim fog scramble tear freeze shake look_away cover"),
        **_paths("camera_edits", "change_light move_lamp go_round"),
    },
)
"""Edits of a recording by name. An edit is made by a function of a recorded setup and a random generator."""

BEHAVIOURS: Registry[Callable[[TaskSetup, Generator], Behaviour]] = Registry(
    "simulated_behaviours",
    {
        **_paths("behaviours", "plain hurry grasp_again retry cover_bystander drop detour"),
        **_paths(
            "behaviours", "miss fall_short slip stall give_up let_go_beside take_other bring_elsewhere swap_order"
        ),
        **_paths("behaviours", "use_other_arm brush_past pass_through stop_early"),
    },
)
"""Behaviours by name. A behaviour is made by a function of a task setup and a random generator."""

FROM_BEHIND = "from_behind"
"""The variation that needs no edit and no behaviour: the camera is behind the arm, which hides much of its work."""


def require_simulator() -> None:
    """Raise MissingExtra if MuJoCo is not installed."""
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MissingExtra("mujoco", "forge") from error
