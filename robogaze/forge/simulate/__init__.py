"""Clips of a simulated machine at work, glitchy and clean, whose truth is known to the frame.

    recipe   what there is to make, from the domain's simulate.yaml: things, goals, tasks, faults
    cast     who takes part, and the instruction          \\
    courses  how the motion goes: right, or wrong          |  drawn from the clip's generator
    scene    table, arms (body), things, fixtures, light   |
    motion   physics, recorded once                        |  tasks: the moves of a job, and whether it is done;
    edits    what things do that they cannot do            |  kinematics: an arm's joints
    forms    ... and look like                             |
    limbs    ... and arms                                  |  changes of the playback (geoms: of what is drawn)
    sight    ... and picture, camera and light            /
    story    all of that: the clip, and its clean twin
    draw     playing a recording back as pictures
    truth    in which frames clip and twin differ, and what that is called
    accept   whether the clip may be kept; audit measures what passes for clean
    reel     writing a film and its report
    make     one clip; folder: a data set of them

Nothing here names a type of event or a part of a machine as people call it: the recipe binds what bodies do (jump,
vanish, hover) to types and to sentences.
"""

from robogaze.errors import MissingExtra


def load_simulator() -> None:
    """Raises MissingExtra when the simulator is not installed."""
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        raise MissingExtra("mujoco", "forge") from error
