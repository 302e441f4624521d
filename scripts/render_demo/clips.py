"""The clips, one function each: its scene, its motion, and what goes wrong.

Places, camera and onsets are drawn from a generator of the clip's own, so that a clip stays as it is when
others are added or changed.
"""

from collections.abc import Callable
from zlib import crc32

import numpy as np

from render_demo import faults
from render_demo.arm import OPEN_M
from render_demo.motion import Move, Take, pick_and_place, record
from render_demo.picture import WRIST, Fault, Story
from render_demo.stage import Camera, build
from render_demo.things import Thing

SEED = 7
Generator = np.random.Generator


def pick_place_clean(rng: Generator) -> Story:
    """Clean. The hand hides much of the cube while it grasps, and its shadow runs over the other things."""
    cube, target = Thing("cube", "red", _near(rng, 0.42, -0.16), 0.35), Thing("bin", "green", _near(rng, 0.46, 0.20))
    others = Thing("cup", "blue", (0.58, 0.04)), Thing("ball", "yellow", (0.36, 0.03))
    take = record(build([cube, target, *others], rng), pick_and_place(cube, target.at))
    return _story("pick_place_clean", _task(cube, target), take, rng, side=1)


def cube_teleports(rng: Generator) -> Story:
    """The carried cube is in the tray from one frame to the next, long before the hand."""
    cube, target = Thing("cube", "blue", _near(rng, 0.44, 0.18), -0.2), Thing("tray", "white", _near(rng, 0.44, -0.18))
    others = Thing("can", "orange", (0.57, 0.05)), Thing("ball", "green", (0.35, 0.0))
    take = record(build([cube, target, *others], rng), pick_and_place(cube, target.at))
    onset = take.phases["carry"] + int(rng.integers(8, 12))
    fault = Fault(
        dimension="physical_plausibility",
        type="object_teleportation",
        severity=5,
        description="While the gripper carries the blue cube, the cube jumps out of its fingers into the white tray "
        "within one frame; the hand follows empty.",
        to_see="the cube is in the tray while the closed gripper is still on its way there",
        state=faults.placed(take.scene, cube.name, _pose(take, cube), onset),
    )
    return _story("cube_teleports", _task(cube, target), take, rng, side=-1, faults=(fault,))


def cube_disappears(rng: Generator) -> Story:
    """The cube is put on the tray and then is gone."""
    cube, target = (
        Thing("cube", "yellow", _near(rng, 0.40, -0.17), 0.6),
        Thing("tray", "purple", _near(rng, 0.45, 0.18)),
    )
    others = Thing("cup", "white", (0.57, -0.05)), Thing("can", "teal", (0.33, 0.28))
    plan = [*pick_and_place(cube, target.at)[:-1], Move(1.5, (0.34, 0.04, 0.36), phase="retreat")]
    take = record(build([cube, target, *others], rng), plan)
    onset = take.phases["retreat"] + int(rng.integers(5, 9))
    fault = Fault(
        dimension="object_scene_consistency",
        type="object_disappearance",
        severity=5,
        description="After the yellow cube has been set down on the purple tray, it vanishes while the arm draws "
        "back; nothing touches or hides it.",
        to_see="the tray is empty",
        state=faults.placed(take.scene, cube.name, None, onset),
    )
    return _story("cube_disappears", _task(cube, target), take, rng, side=1, faults=(fault,))


def gripper_through_cup(rng: Generator) -> Story:
    """On its way to the cube the gripper goes through a cup that does not move."""
    cube, target = Thing("cube", "orange", _near(rng, 0.40, -0.20)), Thing("bin", "blue", _near(rng, 0.34, 0.22))
    cup = Thing("cup", "teal", (0.45, 0.03))
    # So low that the palm cuts into the cup's rim, and the fingers are inside its wall.
    x, low = cup.at[0] + 0.012, 0.034
    plan = [
        Move(0.65, (x, 0.14, low), gap=0.015, phase="approach"),
        Move(1.4, (x, -0.07, low), phase="sweep"),
        Move(0.45, (*cube.at, 0.10), gap=OPEN_M, phase="rise"),
        *pick_and_place(cube, target.at, carry_s=1.4)[1:-1],
        Move(0.5, (*target.at, 0.20), phase="retreat"),
    ]
    scene = build([cube, target, cup], rng)
    take = record(scene, plan, ghost=cup.name)
    fault = Fault(
        dimension="physical_plausibility",
        type="object_penetration",
        secondary=("robot_body_consistency",),
        severity=4,
        description="On its way to the orange cube the gripper passes through the teal cup: fingers and palm go in at "
        "one side and come out at the other, and the cup neither moves nor falls.",
        to_see="the hand is inside the cup, and the cup stands as before",
        instead=record(scene, plan),
        during=faults.overlapping(take, cup.name),
    )
    return _story("gripper_through_cup", _task(cube, target), take, rng, side=0, faults=(fault,))


def camera_shakes(rng: Generator) -> Story:
    """The camera shakes for a second while the ball is carried."""
    ball, target = Thing("ball", "green", _near(rng, 0.42, -0.15)), Thing("bowl", "white", _near(rng, 0.47, 0.18))
    others = Thing("cube", "purple", (0.56, -0.06), 0.5), Thing("can", "red", (0.34, 0.28))
    take = record(build([ball, target, *others], rng), pick_and_place(ball, target.at))
    onset = take.phases["carry"] + int(rng.integers(2, 7))
    fault = Fault(
        dimension="visual_quality",
        type="camera_instability",
        severity=2,
        description="The camera shakes while the green ball is carried to the bowl; table and robot jump in the "
        "picture from frame to frame.",
        to_see="table, wall and robot are shifted together against the frame before",
        camera=faults.shaken(onset, onset + 17, rng),
    )
    return _story("camera_shakes", _task(ball, target), take, rng, side=-1, faults=(fault,))


def blur_then_wrong_bin(rng: Generator) -> Story:
    """The grasp is out of focus; then the cube goes to the other bin."""
    cube = Thing("cube", "red", _near(rng, 0.40, 0.0), 0.2)
    target, other = Thing("bin", "blue", _near(rng, 0.47, 0.21)), Thing("bin", "yellow", _near(rng, 0.47, -0.21))
    scene = build([cube, target, other], rng)
    take = record(scene, pick_and_place(cube, other.at))
    onset = take.phases["descend"] + int(rng.integers(-3, 2))
    blur = Fault(
        dimension="visual_quality",
        type="blur",
        severity=3,
        description="The picture goes out of focus while the gripper comes down on the red cube and closes, so that "
        "the grasp cannot be made out.",
        to_see="edges of gripper and cube are smeared",
        picture=faults.blurred(onset, onset + 15),
    )
    wrong = Fault(
        dimension="instruction_consistency",
        type="wrong_target_location",
        severity=4,
        description="The red cube is carried to the yellow bin and released there, although the instruction names the "
        "blue bin.",
        to_see="the gripper and the cube are on the side of the yellow bin",
        instead=record(scene, pick_and_place(cube, target.at)),
    )
    return _story("blur_then_wrong_bin", _task(cube, target), take, rng, side=0, faults=(blur, wrong))


def multi_view(rng: Generator) -> Story:
    """Two exterior views and the wrist's: a cup that was not there stands on the table."""
    cube, target = (
        Thing("cube", "purple", _near(rng, 0.42, 0.17), 0.3),
        Thing("tray", "yellow", _near(rng, 0.43, -0.17)),
    )
    cup = Thing("cup", "red", (0.56, -0.04), hidden=True)
    take = record(
        build([cube, target, cup, Thing("can", "green", (0.33, -0.02))], rng), pick_and_place(cube, target.at)
    )
    onset = take.phases["carry"] + int(rng.integers(5, 9))
    fault = Fault(
        dimension="object_scene_consistency",
        type="object_hallucination",
        severity=3,
        description="While the purple cube is carried, a red cup appears on the bare table from one frame to the "
        "next, in both exterior views and in the wrist view.",
        to_see="a red cup stands where the table was bare",
        state=faults.placed(take.scene, cup.name, np.array([*cup.at, 0.0, 1, 0, 0, 0]), onset),
    )
    views: dict[str, Camera | str] = {
        "exterior left": _camera(rng, side=1, near=0.92),
        "exterior right": _camera(rng, side=-1, near=0.92),
        "wrist": WRIST,
    }
    layout = f"2x2:{','.join(views)},-"
    return Story("multi_view", _task(cube, target), take, views, (fault,), layout=layout)


def cube_slips(rng: Generator) -> Story:
    """Slippery fingers close on the cube and lift away without it."""
    cube, target = Thing("cube", "green", _near(rng, 0.45, 0.16), 0.1), Thing("bowl", "orange", _near(rng, 0.45, -0.19))
    others = Thing("cup", "yellow", (0.34, 0.01)), Thing("can", "blue", (0.31, 0.29))
    scene = build([cube, target, *others], rng)
    plan = pick_and_place(cube, target.at)
    fault = Fault(
        dimension="task_progress",
        type="failed_grasp",
        severity=4,
        description="The fingers close on the green cube and slide off it as the hand lifts; the cube stays on the "
        "table and the hand goes on to the bowl empty.",
        to_see="the cube lies on the table while the hand is above it or at the bowl",
        instead=record(scene, plan),
    )
    take = record(scene, plan, slippery=True)
    return _story("cube_slips", _task(cube, target), take, rng, side=1, faults=(fault,))


def second_gripper(rng: Generator) -> Story:
    """For a second, another gripper hangs in the air beside the arm's own."""
    cube, target = Thing("cube", "teal", _near(rng, 0.42, -0.17), 0.5), Thing("bin", "white", _near(rng, 0.42, 0.20))
    others = Thing("ball", "red", (0.57, -0.02)), Thing("cup", "purple", (0.33, 0.02))
    take = record(build([cube, target, *others], rng), pick_and_place(cube, target.at))
    onset = take.phases["carry"] + int(rng.integers(3, 8))
    fault = Fault(
        dimension="robot_body_consistency",
        type="duplicated_arm_or_gripper",
        severity=4,
        description="While the teal cube is carried, a second gripper hangs in the air beside the real one, attached "
        "to nothing.",
        to_see="two grippers, of which one ends in the air",
        scene=faults.second_gripper(take.scene, onset, onset + 18),
    )
    return _story("second_gripper", _task(cube, target), take, rng, side=0, faults=(fault,))


def moving_camera_clean(rng: Generator) -> Story:
    """Clean. The camera goes slowly round the table, and the ball rolls to and fro in the bowl."""
    ball, target = Thing("ball", "orange", _near(rng, 0.44, 0.15)), Thing("bowl", "teal", _near(rng, 0.44, -0.18))
    others = Thing("cube", "white", (0.57, 0.02), 0.4), Thing("can", "purple", (0.32, -0.28))
    plan = pick_and_place(ball, (target.at[0] + 0.04, target.at[1]), drop=0.03)
    take = record(build([ball, target, *others], rng), plan)
    return _story("moving_camera_clean", _task(ball, target), take, rng, side=1, pan=-5.0)


CLIPS: dict[str, Callable[[Generator], Story]] = {
    make.__name__: make
    for make in (
        pick_place_clean,
        cube_teleports,
        cube_disappears,
        gripper_through_cup,
        camera_shakes,
        blur_then_wrong_bin,
        multi_view,
        cube_slips,
        second_gripper,
        moving_camera_clean,
    )
}


def tell(name: str) -> Story:
    """The clip of that name; the same in every run."""
    return CLIPS[name](np.random.default_rng([SEED, crc32(name.encode())]))


def _story(
    name: str, task: str, take: Take, rng: Generator, side: int, faults: tuple[Fault, ...] = (), pan: float = 0.0
) -> Story:
    return Story(name, task, take, {"main": _camera(rng, side, pan=pan)}, faults)


def _camera(rng: Generator, side: int, near: float = 1.02, pan: float = 0.0) -> Camera:
    """A camera in front of the table, to the robot's left (1), right (-1) or between (0)."""
    return Camera(
        lookat=(0.36 + rng.uniform(-0.02, 0.02), rng.uniform(-0.02, 0.02), 0.13),
        distance=near + rng.uniform(0, 0.10),
        azimuth=180 - 32 * side + rng.uniform(-10, 10),
        elevation=-rng.uniform(27, 36),
        pan=pan,
    )


def _near(rng: Generator, x: float, y: float) -> tuple[float, float]:
    """A place within 1.5 cm of another."""
    return (x + rng.uniform(-0.015, 0.015), y + rng.uniform(-0.015, 0.015))


def _task(thing: Thing, target: Thing) -> str:
    return f"Pick up the {thing.name} and place it {'on' if target.kind == 'tray' else 'in'} the {target.name}"


def _pose(take: Take, thing: Thing) -> np.ndarray:
    """Where a thing is at the end of a recording."""
    start = take.scene.model.joint(thing.name).qposadr[0]
    return take.states[-1, start : start + 7].copy()
