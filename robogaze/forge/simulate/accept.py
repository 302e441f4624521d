"""Whether a clip may be kept: grasps hold, nothing is in anything else, the task is as the label says, the fault shows.

Each check gives the reason for which a clip is turned down, None where there is none; reasons are counted. A clip that
is turned down is drawn anew, with the same fault.
"""

from collections.abc import Callable

import mujoco
import numpy as np

from robogaze.forge.simulate.audit import DEEPEST_M, audit
from robogaze.forge.simulate.body import FINGERS
from robogaze.forge.simulate.clip_spec import PLAYBACK, Story
from robogaze.forge.simulate.draw import CAMERA, Frame, Player
from robogaze.forge.simulate.motion import Take
from robogaze.forge.simulate.tasks import MoveJob, all_done
from robogaze.forge.simulate.truth import Sighting

SLIP_M = 0.012
"""How far a thing may move in the hand that holds it."""
STIRRED_M = 0.008
"""How far a bystander may move that nothing should touch."""
LEAST_SHARE = 0.0012
"""Which share of the picture the affected bodies fill at the onset at least."""
HIDDEN_SHARE = 0.25
"""Which share of what would be seen may still be seen of what is hidden."""
TOWARDS_EYE = 0.2
"""The cosine of the angle between the way a front faces and the way to the camera, at least."""
APART_M = 0.04
"""How far another course takes a body it affects from where it is in the twin, at least."""
_VISIBLE_LEVELS, _VISIBLE_PIXELS = 12, 20
_LEAST_FRAMES = 2


def faults_of_motion(story: Story) -> str | None:
    """What is wrong with the recordings themselves."""
    return next((reason for check in _OF_MOTION if (reason := check(story)) is not None), None)


def faults_of_sight(story: Story, player: Player, sighting: Sighting) -> str | None:
    """What is wrong with how the fault shows."""
    return next((reason for check in _OF_SIGHT if (reason := check(story, player, sighting)) is not None), None)


def _penetration(story: Story) -> str | None:
    depth = max(story.film.take.depth_m.max(), story.twin.take.depth_m.max())
    return "penetration" if depth > DEEPEST_M else None


def _outcome(story: Story) -> str | None:
    """The twin does the task; the clip does it or does not, as the label says."""
    twin = story.twin.take
    if not all_done(twin, story.asked, len(twin.states) - 1):
        return "the task is not done in the twin"
    wanted = True if story.fault is None else story.fault.done
    done = all_done(story.film.take, story.asked, story.film.length - 1)
    return None if wanted is None or done == wanted else "the outcome is not what the label says"


def _fronts(story: Story) -> str | None:
    """What is asked for can be seen: a front that is opened or shut is not turned away from the camera."""
    turn = np.radians(story.eye.azimuth)
    to_eye = -np.array([np.cos(turn), np.sin(turn)])
    for thing in (job.thing for job in story.asked if job.thing.has_front):
        if to_eye @ [np.cos(thing.yaw), np.sin(thing.yaw)] < TOWARDS_EYE:
            return f"a {thing.shape.form} is turned away from the camera"
    return None


def _grasps(story: Story) -> str | None:
    jobs = [(story.film.take, job) for job in story.course.jobs if story.course.holds]
    jobs += [(story.twin.take, job) for job in story.asked if story.twin.take is not story.film.take]
    return None if all(held(take, job) for take, job in jobs) else "a grasp does not hold"


def held(take: Take, job: MoveJob) -> bool:
    """Whether both fingers touch a thing in every frame in which it is carried, and it stays where it is in the hand.

    True where it is not taken up: pushed, or left.
    """
    first = _begins(take, "carry", job) or _begins(take, "hold", job)
    if job.manner != "place" or first is None:
        return True
    end = _begins(take, "release", job) or len(take.states)
    for number in range(first + 2, end - 1):
        touching = take.touched[number]
        if any(frozenset((job.thing.name, f"{job.side}{finger}")) not in touching for finger in FINGERS):
            return False
    places = np.array([_in_hand(take, job, number) for number in range(first + 2, end - 1)])
    return bool(np.ptp(places, axis=0).max() <= SLIP_M)


def _in_hand(take: Take, job: MoveJob, number: int) -> np.ndarray:
    """How high a thing is under the tool, and how far beside it; the hand looks down all the time."""
    model = take.scene.model
    data = mujoco.MjData(model)
    data.qpos[:] = take.states[number]
    mujoco.mj_kinematics(model, data)
    tool, thing = data.site(f"{job.side}tool").xpos, take.pose(number, job.thing.name)[:3]
    return np.array([tool[2] - thing[2], np.linalg.norm(tool[:2] - thing[:2])])


def _begins(take: Take, phase: str, job: MoveJob) -> int | None:
    found = [one.first for one in take.phases if (one.name, one.thing) == (phase, job.thing.name)]
    return found[0] if found else None


def _bystanders(story: Story) -> str | None:
    """Nothing moves that no label speaks of."""
    twin, film = story.twin.take, story.film.take
    setting = story.cast.setting
    for thing in (*setting.others, *(one for one in setting.idle_goals if one.fixture)):
        if _stirred(twin, thing.name) or (thing.name not in story.bodies and _stirred(film, thing.name)):
            return "a bystander is touched"
    return None


def _stirred(take: Take, thing: str) -> bool:
    return bool(take.moved_m(thing).max() > STIRRED_M)


def _audited(story: Story) -> str | None:
    findings = audit(story.twin.take, story.cast.setting).findings
    return f"audit: {findings[0]}" if findings else None


def _differs(story: Story, player: Player, sighting: Sighting) -> str | None:
    if len(sighting.frames) < _LEAST_FRAMES:
        return "no difference from the twin"
    if story.make in PLAYBACK:
        allowed = story.bodies or (CAMERA,)
        return None if sighting.bodies <= set(allowed) else "more differs from the twin than the edit is about"
    return None


def _far_apart(story: Story, player: Player, sighting: Sighting) -> str | None:
    """Another course ends up visibly elsewhere."""
    if story.make in PLAYBACK or story.course.stop_in or story.course.overlap:
        return None
    if all(job.thing.fixture for job in story.asked):
        return None  # whether it is done is read off the joint, and the label holds that against the twin
    last = story.film.length - 1
    twin_last = min(last, len(story.twin.take.states) - 1)
    for thing in {*story.bodies} & {one.name for one in story.cast.setting.things if one.loose}:
        apart = story.film.take.pose(last, thing)[:3] - story.twin.take.pose(twin_last, thing)[:3]
        if np.linalg.norm(apart) > APART_M:
            return None
    # Where things end up alike, it is the way there that is another.
    return None if story.fault is not None and story.fault.done else "too little differs from the twin"


def _visible(story: Story, player: Player, sighting: Sighting) -> str | None:
    """What is affected can be seen at the onset, in the clip or, where it is gone, in the twin."""
    if not story.bodies:
        return None
    for number in (sighting.onset, sighting.event[-1]):
        twin_number = min(number, len(story.twin.take.states) - 1)
        where = [(story.film, number)] if story.course.overlap else [(story.film, number), (story.twin, twin_number)]
        seen = [player.share_seen(film, at, story.eye, story.bodies) for film, at in where]
        if max(seen) < LEAST_SHARE:
            return "what is affected is out of sight at the onset"
    return None


def _hidden(story: Story, player: Player, sighting: Sighting) -> str | None:
    """What an edit hides is hidden when it is at its strongest: at its middle, or from there to the clip's end."""
    for edit in story.film.edits:
        if edit.hides:
            lasting = sighting.frames[-1] == story.film.length - 1
            number = sighting.frames[-1] if lasting else sighting.frames[len(sighting.frames) // 2]
            before, after = (
                player.share_seen(film, number, story.eye, edit.hides) for film in (story.twin, story.film)
            )
            if before < LEAST_SHARE or after > HIDDEN_SHARE * before or (lasting and after > 0):
                return "what should be hidden is not"
    return None


def _exact(story: Story, player: Player, sighting: Sighting) -> str | None:
    """The frame before the onset is drawn exactly as in the twin, and the event can be told from it."""
    if story.make not in PLAYBACK or not story.film.edits[0].bodies:
        return None
    if sighting.onset < 1:
        return "it begins before the clip"
    before, at = (
        [player.frame(film, number) for film in (story.film, story.twin)]
        for number in (sighting.onset - 1, sighting.event[-1])
    )
    if not np.array_equal(before[0], before[1]):
        return "the clip differs from the twin before the onset"
    return None if _told_apart(at[0], at[1]) else "the event cannot be told from the twin"


def _told_apart(frame: Frame, twin: Frame) -> bool:
    """Whether a viewer could tell two pictures apart: some pixels differ by more than a shade."""
    change = np.abs(frame.astype(np.int16) - twin).max(axis=2)
    return int((change > _VISIBLE_LEVELS).sum()) >= _VISIBLE_PIXELS


_OF_MOTION: tuple[Callable[[Story], str | None], ...] = (
    _fronts,
    _outcome,
    _penetration,
    _grasps,
    _bystanders,
    _audited,
)
_OF_SIGHT: tuple[Callable[[Story, Player, Sighting], str | None], ...] = (
    _differs,
    _far_apart,
    _visible,
    _hidden,
    _exact,
)
