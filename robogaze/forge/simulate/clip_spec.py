"""A clip before it is rendered: its tasks and how they are done, its recording, edits, cameras, and clean twin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from robogaze.core.clip import Layout
from robogaze.forge.simulate import BEHAVIOURS, EDITS, FROM_BEHIND
from robogaze.forge.simulate.behaviours import Behaviour
from robogaze.forge.simulate.playback import HAND_CAMERA, Playback, PlaybackEdit
from robogaze.forge.simulate.recorded_setup import RecordedSetup
from robogaze.forge.simulate.recording import Recording, record
from robogaze.forge.simulate.scene import Camera, build_scene
from robogaze.forge.simulate.scene_sampler import ClipRequest, DrawRejected, SampledScene, sample_scene
from robogaze.forge.simulate.simulation_config import SimulatedFault, SimulationConfig, Variation, Way, WorldConfig
from robogaze.forge.simulate.tasks import Subtask

_PLAIN = "plain"
_GRID_SHARE = 0.12
_EDIT_DRAWS = 60
_BEFORE_S, _AFTER_S = 0.4, 1.0
"""How long around the onset of a fault the whole picture stays unchanged by others."""


@dataclass(frozen=True)
class PlacedFault:
    """A fault of a clip, made by an edit of the playback or by the behaviour of the arm in a subtask.

    `bodies` are the affected bodies, empty for the whole picture. `ways` says what makes the fault hard to see, such as
    `small` or `short`. `description_fields` are the names that are filled into the fault's description.
    """

    fault: SimulatedFault
    bodies: tuple[str, ...]
    description_fields: Mapping[str, str]
    ways: frozenset[Way]
    edit: PlaybackEdit | None = None
    behaviour: Behaviour | None = None
    subtask: int = 0


@dataclass(frozen=True)
class ClipSpec:
    """A clip and its twin, in which every task is done as instructed and nothing is edited.

    `played` are the subtasks as they are done. `behaviours` has a behaviour for each task. `unusual` are the names of
    the variations that are no faults.
    """

    request: ClipRequest
    sampled: SampledScene
    behaviours: tuple[Behaviour, ...]
    played: tuple[Subtask, ...]
    playback: Playback
    twin: Playback
    faults: tuple[PlacedFault, ...]
    unusual: tuple[str, ...]
    layout: Layout

    @property
    def subtasks(self) -> tuple[Subtask, ...]:
        """The subtasks of the instruction."""
        return self.sampled.setup.subtasks

    @property
    def first_camera(self) -> Camera:
        """The first view, which is not the hand's."""
        view = self.playback.views[self.playback.first_view]
        assert isinstance(view, Camera)
        return view

    def only(self, *edits: PlaybackEdit) -> Playback:
        """The playback with only these edits."""
        return replace(self.playback, edits=edits)


def sample_clip(
    config: SimulationConfig, request: ClipRequest, world: WorldConfig, rng: np.random.Generator
) -> ClipSpec:
    """Draw a clip in a world. Raises DrawRejected, OutOfReach and UnstableSimulation."""
    sampled = sample_scene(config.in_world(world), request, rng)
    views, layout = _views(config, request, sampled, world, rng)
    first = next(iter(views.values()))
    assert isinstance(first, Camera)
    sampled = replace(sampled, setup=replace(sampled.setup, eye=first.place))
    by_task = _behaviours(sampled, request, rng)
    played = _numbered([behaviour for _, behaviour in by_task])
    scene = build_scene(sampled.setup.objects, sampled.marks, world, rng)
    through = [behaviour.passes_through for _, behaviour in by_task if behaviour.passes_through]
    recording = record(scene, [subtask.stage for subtask in played], intangible=through, fps=request.fps)
    twin = _twin(sampled, by_task, played, recording, bool(through))
    frame_count = _frame_count(recording, by_task[-1][1], len(played) - 1)
    faults = [
        _placed(sampled, number, variation, behaviour, request)
        for number, (variation, behaviour) in enumerate(by_task)
        if isinstance(variation, SimulatedFault)
    ]
    recorded = RecordedSetup(
        replace(sampled.setup, subtasks=played), recording, views, frame_count, difficulty=request.difficulty
    )
    unusual, edited = _edited(recorded, request, rng)
    faults += edited
    edits = (*unusual.values(), *(placed.edit for placed in faults if placed.edit is not None))
    done = [
        variation.make
        for variation, _ in by_task
        if variation is not None and not isinstance(variation, SimulatedFault) and variation.make != _PLAIN
    ]
    return ClipSpec(
        request=request,
        sampled=sampled,
        behaviours=tuple(behaviour for _, behaviour in by_task),
        played=played,
        playback=Playback(recording, edits, views, frame_count),
        twin=Playback(twin, tuple(unusual.values()), views, len(twin.states)),
        faults=tuple(faults),
        unusual=(*done, *unusual),
        layout=layout,
    )


_Done = tuple[Variation | None, Behaviour]


def _behaviours(sampled: SampledScene, request: ClipRequest, rng: np.random.Generator) -> list[_Done]:
    """How each task is done: the first variation in the main task, other variations in the tasks that fill a chain."""
    numbers, plain = range(len(sampled.tasks)), BEHAVIOURS.load(_PLAIN)
    done: list[_Done] = [(None, plain(sampled.of_task(number), rng)) for number in numbers]
    free = [number for number in numbers if number != sampled.main and sampled.tasks[number].goals]
    for variation in request.variations:
        is_first = variation is request.variations[0]
        if variation.make in BEHAVIOURS and (is_first or (variation.chained and free)):
            number = sampled.main if is_first else free.pop(rng.integers(len(free)))
            done[number] = (variation, BEHAVIOURS.load(variation.make)(sampled.of_task(number), rng))
    return done


def _numbered(behaviours: Sequence[Behaviour]) -> tuple[Subtask, ...]:
    subtasks = chain.from_iterable(behaviour.subtasks for behaviour in behaviours)
    return tuple(replace(subtask, number=number) for number, subtask in enumerate(subtasks))


def _twin(
    sampled: SampledScene, by_task: Sequence[_Done], played: tuple[Subtask, ...], recording: Recording, again: bool
) -> Recording:
    """The recording in which no task has a fault."""
    right = _numbered(
        [
            Behaviour(sampled.of_task(number).subtasks) if isinstance(variation, SimulatedFault) else behaviour
            for number, (variation, behaviour) in enumerate(by_task)
        ]
    )
    if right == played and not again:
        return recording
    return record(recording.scene, [subtask.stage for subtask in right], fps=recording.fps)


def _placed(
    sampled: SampledScene, task: int, fault: SimulatedFault, behaviour: Behaviour, request: ClipRequest
) -> PlacedFault:
    first, end = sampled.parts[task]
    return PlacedFault(
        fault=fault,
        bodies=behaviour.bodies,
        description_fields=behaviour.description_fields,
        ways=request.ways & frozenset(fault.ways),
        behaviour=behaviour,
        subtask=first if behaviour.at_first else end - 1,
    )


def _edited(
    recorded: RecordedSetup, request: ClipRequest, rng: np.random.Generator
) -> tuple[dict[str, PlaybackEdit], list[PlacedFault]]:
    """The edits that are no faults, by name, and the faults made by edits."""
    unusual: dict[str, PlaybackEdit] = {}
    faults: list[PlacedFault] = []
    for variation in request.variations:
        if variation.make not in EDITS:
            continue
        if not isinstance(variation, SimulatedFault):
            unusual[variation.make] = EDITS.load(variation.make)(recorded, rng)
            continue
        ways = request.ways & frozenset(variation.ways)
        edit = _edit(replace(recorded, ways=ways), variation.make, [placed.edit for placed in faults], rng)
        faults.append(PlacedFault(variation, edit.bodies, edit.description_fields, ways, edit=edit))
    return unusual, faults


def _edit(
    recorded: RecordedSetup, make: str, others: Sequence[PlaybackEdit | None], rng: np.random.Generator
) -> PlaybackEdit:
    """Draw an edit until it fits the other edits and the ways in which the fault should be hard to see. Raises
    DrawRejected.
    """
    reason = ""
    for _ in range(_EDIT_DRAWS):
        try:
            edit = EDITS.load(make)(recorded, rng)
        except DrawRejected as error:
            reason = str(error)
            continue
        if "one_view" in recorded.ways:
            named = [name for name, view in recorded.views.items() if isinstance(view, Camera)]
            edit = replace(edit, view=named[rng.integers(len(named))])
        if any(other is not None and _conflict(edit, other, recorded.recording.fps) for other in others):
            reason = "one fault hides the other"
        elif "nearby_hand" in recorded.ways and not _is_near_hand(recorded, edit):
            reason = "no moving hand nearby"
        else:
            return edit
    raise DrawRejected(reason)


def _is_near_hand(recorded: RecordedSetup, edit: PlaybackEdit) -> bool:
    assert recorded.difficulty is not None
    return recorded.hand_distance_m(edit.bodies[0], edit.frames[0]) <= recorded.difficulty.nearby_m


def _conflict(edit: PlaybackEdit, other: PlaybackEdit, fps: int) -> bool:
    """Whether two edits change the same body, or an edit changes the whole picture around the onset of the other."""
    if set(edit.bodies) & set(other.bodies):
        return True
    return any(
        not whole.bodies
        and whole.frames[0] < hidden.frames[0] + _AFTER_S * fps
        and hidden.frames[0] - _BEFORE_S * fps < whole.frames[1]
        for whole, hidden in ((edit, other), (other, edit))
    )


def _frame_count(recording: Recording, behaviour: Behaviour, subtask: int) -> int:
    """The number of frames shown."""
    if behaviour.cut_in is None:
        return len(recording.states)
    name, share = behaviour.cut_in
    firsts = [phase.first for phase in recording.phases]
    number = max(
        number for number, phase in enumerate(recording.phases) if (phase.name, phase.subtask) == (name, subtask)
    )
    return firsts[number] + max(2, round(share * (firsts[number + 1] - firsts[number])))


def _views(
    config: SimulationConfig, request: ClipRequest, sampled: SampledScene, world: WorldConfig, rng: np.random.Generator
) -> tuple[dict[str, Camera | str], Layout]:
    """One camera, or two cameras and the hand's camera."""
    arms, single = len(sampled.marks), any(variation.single_view for variation in request.variations)
    share = 1.0 if "one_view" in request.ways else _GRID_SHARE
    if single or arms == 2 or rng.random() >= share:
        if share == 1.0:
            raise DrawRejected("a grid of views is not possible")
        # From directly behind, the arm would hide everything.
        behind = rng.choice([-1, 1]) * rng.uniform(28, 60)
        from_behind = request.variations[0].make == FROM_BEHIND
        azimuth = behind if from_behind else 180 + rng.uniform(*world.azimuth_deg)
        return {"main": _camera(rng, world, azimuth, arms)}, Layout()
    names = config.views
    cameras = [_camera(rng, world, 180 + sign * rng.uniform(20, 45), arms) for sign in (-1, 1)]
    views: dict[str, Camera | str] = dict(
        zip(names, [*cameras, f"{sampled.setup.subtasks[0].side}{HAND_CAMERA}"], strict=True)
    )
    return views, Layout(rows=2, columns=2, views=(*names, None))


def _camera(rng: np.random.Generator, world: WorldConfig, azimuth: float, arms: int) -> Camera:
    x, y, z = rng.uniform(-0.025, 0.025, 3) + np.array([0.36, 0.0, 0.13])
    return Camera(
        lookat=(x, y, z),
        distance=rng.uniform(*world.distance_m) + 0.2 * (arms - 1),
        azimuth=azimuth,
        elevation=-rng.uniform(*world.elevation_deg),
    )
