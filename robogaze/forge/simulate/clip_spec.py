"""A clip as it is meant to be: what is recorded, what is edited, from where it is seen, and its clean twin."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robogaze.core.clip import Layout
from robogaze.forge.simulate.behaviours import COURSES, Course
from robogaze.forge.simulate.body_edits import LIMB_EDITS
from robogaze.forge.simulate.camera_edits import SIGHT_EDITS
from robogaze.forge.simulate.draw import ON_HAND, Film, PlaybackEdit
from robogaze.forge.simulate.edits import EDITS
from robogaze.forge.simulate.motion import Move, Take, record
from robogaze.forge.simulate.recipe import Doing, SimulatedFault, SimulationConfig, World
from robogaze.forge.simulate.scene import Camera, build
from robogaze.forge.simulate.scene_sampler import Cast, draw_cast
from robogaze.forge.simulate.shape_edits import FORM_EDITS
from robogaze.forge.simulate.stage import Setting, StagedSetting
from robogaze.forge.simulate.tasks import MoveJob

PLAYBACK = {**EDITS, **FORM_EDITS, **LIMB_EDITS, **SIGHT_EDITS}
"""The edits of a recording, by name."""
FROM_BEHIND = "from_behind"
"""The way to look at a scene in which the arm hides what it handles."""
MAKES = frozenset({*PLAYBACK, *COURSES, FROM_BEHIND})
_GRID_SHARE = 0.12


@dataclass(frozen=True)
class Story:
    """A clip and its twin, which is the clip itself where it is clean.

    `fault` is None for a clean one, whose `make` says what is unusual about it; `second` is a fault of the picture
    that comes on top. `bodies` are those the fault affects, empty when it is the picture as a whole; `facts` are
    names for its description.
    """

    film: Film
    twin: Film
    fault: SimulatedFault | None
    second: SimulatedFault | None
    make: str
    course: Course
    cast: Cast
    bodies: tuple[str, ...]
    facts: Mapping[str, str]
    layout: Layout

    @property
    def asked(self) -> tuple[MoveJob, ...]:
        """The jobs of the instruction."""
        return self.cast.setting.jobs

    @property
    def eye(self) -> Camera:
        """The first view, which no hand carries."""
        view = next(iter(self.film.views.values()))
        assert isinstance(view, Camera)
        return view


def tell(recipe: SimulationConfig, doing: Doing, world: World, rng: np.random.Generator) -> Story:
    """Draw a clip of a world in which something is done: a fault, or else something that is right.

    Raises NoRoom and OutOfReach where the draw does not come out.
    """
    fault, make = doing if isinstance(doing, SimulatedFault) else None, doing.make
    cast = draw_cast(recipe.within(world), doing, rng)
    course = COURSES[make if make in COURSES else "plain"](cast.setting, rng)
    scene = build(cast.setting.things, cast.marks, world, rng)
    take = record(scene, _plan(course.jobs), ghosts=course.ghosts, slippery=course.slippery)
    unlike = fault is not None and (course.jobs != cast.setting.jobs or course.ghosts or course.slippery)
    twin = record(scene, _plan(cast.setting.jobs)) if unlike else take
    views, layout = _views(recipe, doing, cast, world, rng)
    # What a recording is edited by is found in the recording that is shown.
    stage = StagedSetting(_setting(cast, course), take, views)
    edit = PLAYBACK[make](stage, rng) if make in PLAYBACK else PlaybackEdit()
    length = _length(take, course)
    second = _second(recipe, edit, rng) if fault is not None and course.stop_in is None else None
    edits = (edit,) if second is None else (edit, PLAYBACK[second.make](stage, rng))
    shown = Film(take, edits, views, length)
    return Story(
        film=shown,
        twin=shown if fault is None else Film(twin, (), views, length),
        fault=fault,
        second=second,
        make=make,
        course=course,
        cast=cast,
        bodies=course.bodies or edit.bodies,
        facts={**course.facts, **edit.facts},
        layout=layout,
    )


def _second(recipe: SimulationConfig, edit: PlaybackEdit, rng: np.random.Generator) -> SimulatedFault | None:
    """Another fault on top of an edit that leaves the picture as it is, now and then."""
    known = recipe.seconds
    if edit.on_picture or not known or rng.random() >= recipe.second_share:
        return None
    return known[rng.integers(len(known))]


def _setting(cast: Cast, course: Course) -> Setting:
    own = cast.setting
    return Setting(course.jobs, own.others, own.idle_goals, own.spares, own.names)


def _plan(jobs: tuple[MoveJob, ...]) -> dict[str, list[Move]]:
    """The moves of each side, one job after the other."""
    plan: dict[str, list[Move]] = {}
    for job in jobs:
        plan.setdefault(job.side, []).extend(job.moves())
    return plan


def _length(take: Take, course: Course) -> int:
    """How many frames are shown."""
    if course.stop_in is None:
        return len(take.states)
    name, share = course.stop_in
    firsts = [phase.first for phase in take.phases]
    number = max(number for number, phase in enumerate(take.phases) if phase.name == name)
    return firsts[number] + max(2, round(share * (firsts[number + 1] - firsts[number])))


def _views(
    recipe: SimulationConfig, doing: Doing, cast: Cast, world: World, rng: np.random.Generator
) -> tuple[dict[str, Camera | str], Layout]:
    """One camera, or two and one on the hand."""
    arms = len(cast.marks)
    if doing.single_view or arms == 2 or rng.random() >= _GRID_SHARE:
        # From right behind, the arm would hide all that it does and not just some.
        behind = rng.choice([-1, 1]) * rng.uniform(28, 60)
        azimuth = behind if doing.make == FROM_BEHIND else 180 + rng.uniform(*world.azimuth)
        return {"main": _camera(rng, world, azimuth, arms)}, Layout()
    names = recipe.views
    cameras = [_camera(rng, world, 180 + sign * rng.uniform(20, 45), arms) for sign in (-1, 1)]
    views: dict[str, Camera | str] = dict(zip(names, [*cameras, f"{cast.setting.jobs[0].side}{ON_HAND}"], strict=True))
    return views, Layout(rows=2, columns=2, views=(*names, None))


def _camera(rng: np.random.Generator, world: World, azimuth: float, arms: int) -> Camera:
    x, y, z = rng.uniform(-0.025, 0.025, 3) + np.array([0.36, 0.0, 0.13])
    return Camera(
        lookat=(x, y, z),
        distance=rng.uniform(*world.distance) + 0.2 * (arms - 1),
        azimuth=azimuth,
        elevation=-rng.uniform(*world.elevation),
    )
