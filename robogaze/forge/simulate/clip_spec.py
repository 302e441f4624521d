"""One clip before it is rendered: recording, edits, cameras and its clean twin; and the frames in which the two differ.

Spans are measured, never entered by hand. A fault made by an edit lasts for the frames that are rendered differently
from the twin; a fault of behaviour lasts while the bodies it affects are visibly elsewhere than in the twin. Two kinds
are measured differently: a body that passes through an object, while the two overlap, and a clip that ends early, in
the phase that is cut short.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.core.clip import Clip, Layout
from robogaze.core.events import Event, Evidence
from robogaze.core.time import Span, runs
from robogaze.domains import Domain
from robogaze.forge.simulate import BEHAVIOURS, EDITS, FROM_BEHIND
from robogaze.forge.simulate.arm import HAND, HAND_PARTS
from robogaze.forge.simulate.behaviours import Behaviour
from robogaze.forge.simulate.playback import HAND_CAMERA, Frame, Playback, PlaybackEdit, Renderer, apply_picture_edits
from robogaze.forge.simulate.recording import Move, Phase, Recording, record
from robogaze.forge.simulate.scene import Camera, build_scene
from robogaze.forge.simulate.scene_sampler import RecordedSetup, SampledScene, TaskSetup, sample_scene
from robogaze.forge.simulate.simulation_config import Condition, SimulatedFault, SimulationConfig, Variation, World
from robogaze.forge.simulate.tasks import Subtask

TOLERANCE = 1e-4
"""The least difference of an edited body: metres, or shares of a colour."""
ELSEWHERE_M = 0.02
"""The least distance between a body's places in the clip and in the twin, for a fault of behaviour."""
OVERLAP_M = 1e-3
"""The least depth at which two bodies overlap when one passes through the other."""
_DECISIVE = ("grasp", "release", "press")
_SETTLED = 0.95
_SOURCE = "simulator"
_GRID_SHARE = 0.12


@dataclass(frozen=True)
class ClipSpec:
    """A clip and its twin; a clean clip is its own twin.

    `fault` is None for a clean clip, for which `make` names the variation; `second_fault` is a fault of the picture
    added to it. `bodies` are those the fault affects, empty for the whole picture. `description_fields` are names for
    its description.
    """

    playback: Playback
    twin: Playback
    fault: SimulatedFault | None
    second_fault: SimulatedFault | None
    make: str
    behaviour: Behaviour
    sampled: SampledScene
    bodies: tuple[str, ...]
    description_fields: Mapping[str, str]
    layout: Layout

    @property
    def is_edited(self) -> bool:
        """Whether an edit, not a behaviour, makes the difference to the twin."""
        return self.make in EDITS

    @property
    def subtasks(self) -> tuple[Subtask, ...]:
        """The subtasks of the instruction."""
        return self.sampled.setup.subtasks

    @property
    def first_camera(self) -> Camera:
        """The first view, which is not the hand's."""
        view = next(iter(self.playback.views.values()))
        assert isinstance(view, Camera)
        return view


def sample_clip(recipe: SimulationConfig, variation: Variation, world: World, rng: np.random.Generator) -> ClipSpec:
    """Draw a clip with a variation in a world. Raises DrawRejected, OutOfReach and UnstableSimulation."""
    fault, make = variation if isinstance(variation, SimulatedFault) else None, variation.make
    sampled = sample_scene(recipe.in_world(world), variation, rng)
    behaviour = BEHAVIOURS.load(make if make in BEHAVIOURS else "plain")(sampled.setup, rng)
    scene = build_scene(sampled.setup.objects, sampled.marks, world, rng)
    recording = record(
        scene, _plan(behaviour.subtasks), intangible=behaviour.intangible, slippery_fingers=behaviour.slippery_fingers
    )
    unlike = fault is not None and (
        behaviour.subtasks != sampled.setup.subtasks or behaviour.intangible or behaviour.slippery_fingers
    )
    twin = record(scene, _plan(sampled.setup.subtasks)) if unlike else recording
    views, layout = _views(recipe, variation, sampled, world, rng)
    # An edit depends on the recording that is shown.
    recorded = RecordedSetup(_played_setup(sampled, behaviour), recording, views)
    edit = EDITS.load(make)(recorded, rng) if make in EDITS else PlaybackEdit()
    frame_count = _frame_count(recording, behaviour)
    second = _second(recipe, edit, rng) if fault is not None and behaviour.cut_in is None else None
    edits = (edit,) if second is None else (edit, EDITS.load(second.make)(recorded, rng))
    shown = Playback(recording, edits, views, frame_count)
    return ClipSpec(
        playback=shown,
        twin=shown if fault is None else Playback(twin, (), views, frame_count),
        fault=fault,
        second_fault=second,
        make=make,
        behaviour=behaviour,
        sampled=sampled,
        bodies=behaviour.bodies or edit.bodies,
        description_fields={**behaviour.description_fields, **edit.description_fields},
        layout=layout,
    )


def _second(recipe: SimulationConfig, edit: PlaybackEdit, rng: np.random.Generator) -> SimulatedFault | None:
    """Sometimes, another fault for a clip whose edit leaves the finished picture unchanged."""
    known = recipe.second_fault_choices
    if edit.edits_picture or not known or rng.random() >= recipe.second_fault_share:
        return None
    return known[rng.integers(len(known))]


def _played_setup(sampled: SampledScene, behaviour: Behaviour) -> TaskSetup:
    own = sampled.setup
    return TaskSetup(behaviour.subtasks, own.bystanders, own.unused_goals, own.hidden_objects, own.part_names)


def _plan(subtasks: tuple[Subtask, ...]) -> dict[str, list[Move]]:
    """The moves of each side, subtask after subtask."""
    plan: dict[str, list[Move]] = {}
    for subtask in subtasks:
        plan.setdefault(subtask.side, []).extend(subtask.moves())
    return plan


def _frame_count(recording: Recording, behaviour: Behaviour) -> int:
    """The number of frames shown."""
    if behaviour.cut_in is None:
        return len(recording.states)
    name, share = behaviour.cut_in
    firsts = [phase.first for phase in recording.phases]
    number = max(number for number, phase in enumerate(recording.phases) if phase.name == name)
    return firsts[number] + max(2, round(share * (firsts[number + 1] - firsts[number])))


def _views(
    recipe: SimulationConfig, variation: Variation, sampled: SampledScene, world: World, rng: np.random.Generator
) -> tuple[dict[str, Camera | str], Layout]:
    """One camera, or two and the hand's."""
    arms = len(sampled.marks)
    if variation.single_view or arms == 2 or rng.random() >= _GRID_SHARE:
        # From directly behind, the arm would hide everything.
        behind = rng.choice([-1, 1]) * rng.uniform(28, 60)
        azimuth = behind if variation.make == FROM_BEHIND else 180 + rng.uniform(*world.azimuth_deg)
        return {"main": _camera(rng, world, azimuth, arms)}, Layout()
    names = recipe.views
    cameras = [_camera(rng, world, 180 + sign * rng.uniform(20, 45), arms) for sign in (-1, 1)]
    views: dict[str, Camera | str] = dict(
        zip(names, [*cameras, f"{sampled.setup.subtasks[0].side}{HAND_CAMERA}"], strict=True)
    )
    return views, Layout(rows=2, columns=2, views=(*names, None))


def _camera(rng: np.random.Generator, world: World, azimuth: float, arms: int) -> Camera:
    x, y, z = rng.uniform(-0.025, 0.025, 3) + np.array([0.36, 0.0, 0.13])
    return Camera(
        lookat=(x, y, z),
        distance=rng.uniform(*world.distance_m) + 0.2 * (arms - 1),
        azimuth=azimuth,
        elevation=-rng.uniform(*world.elevation_deg),
    )


@dataclass(frozen=True)
class FaultFrames:
    """The frames in which a fault shows, in order, and those of them in which it develops; the rest is its result.

    `bodies` are all that differ in any frame.
    """

    shown: tuple[int, ...]
    developing: tuple[int, ...]
    bodies: frozenset[str]

    @property
    def onset(self) -> int:
        return self.shown[0]


def compare_pictures(spec: ClipSpec, plain: Sequence[Frame]) -> FaultFrames:
    """The frames that edits of the finished picture change."""
    changed = tuple(
        n for n in range(len(plain)) if not np.array_equal(apply_picture_edits(spec.playback, n, plain), plain[n])
    )
    return FaultFrames(changed, changed, frozenset())


def compare_with_twin(renderer: Renderer, spec: ClipSpec) -> FaultFrames:
    """The frames in which the clip is rendered differently from its twin; empty if there are none."""
    if spec.behaviour.cut_in is not None:
        first = spec.playback.recording.phase_at(spec.playback.frame_count - 1).first
        whole = tuple(range(first, spec.playback.frame_count))
        return FaultFrames(whole, whole[-1:], frozenset(spec.bodies))
    if spec.behaviour.passes_through:
        inside = _overlapping(spec)
        return FaultFrames(inside, inside, frozenset((spec.behaviour.passes_through,)))
    return _compared(renderer, spec)


def _compared(renderer: Renderer, spec: ClipSpec) -> FaultFrames:
    """The frames of a difference between clip and twin."""
    edited = spec.is_edited
    last = len(spec.twin.recording.states) - 1
    amounts: dict[int, float] = {}
    bodies: set[str] = set()
    for number in range(spec.playback.frame_count):
        here = renderer.frame_state(spec.playback, number, spec.first_camera)
        found = here.differences(renderer.frame_state(spec.twin, min(number, last), spec.first_camera))
        limit = TOLERANCE if edited else ELSEWHERE_M
        over = {body: by for body, by in found.items() if by > limit and (edited or body in spec.bodies)}
        if over:
            amounts[number] = max(over.values())
            bodies |= over.keys()
    if amounts and not edited:
        # Another motion may come near the twin's for a moment; the difference still lasts from first to last.
        amounts = {number: amounts.get(number, 0.0) for number in range(min(amounts), max(amounts) + 1)}
    return FaultFrames(tuple(amounts), _developing(amounts), frozenset(bodies))


def _developing(amounts: Mapping[int, float]) -> tuple[int, ...]:
    """The frames until the difference reaches nearly its maximum."""
    if not amounts:
        return ()
    full = _SETTLED * max(amounts.values())
    reached = next(number for number, amount in amounts.items() if amount >= full)
    return tuple(number for number in amounts if number <= reached)


def _overlapping(spec: ClipSpec) -> tuple[int, ...]:
    """The frames in which the hand or what it carries overlaps an intangible object."""
    recording, subtask = spec.playback.recording, spec.behaviour.subtasks[-1]
    model = recording.scene.model
    data = mujoco.MjData(model)
    hand = [f"{subtask.side}{part}" for part in HAND_PARTS]
    movers = [geom for body in (subtask.obj.name, *hand) for geom in _solid(model, body)]
    pairs = [(moving, fixed) for moving in movers for fixed in _solid(model, spec.behaviour.passes_through)]
    frames = []
    for number in range(spec.playback.frame_count):
        data.qpos[:] = recording.states[number]
        mujoco.mj_forward(model, data)
        if any(mujoco.mj_geomDistance(model, data, *pair, 0.05, None) < -OVERLAP_M for pair in pairs):
            frames.append(number)
    return tuple(frames)


def _solid(model: mujoco.MjModel, body: str) -> list[int]:
    own = np.flatnonzero(model.geom_bodyid == model.body(body).id)
    return [int(geom) for geom in own if model.geom_contype[geom]]


def event_of(
    recipe: SimulationConfig,
    domain: Domain,
    clip: Clip,
    spec: ClipSpec,
    fault: SimulatedFault,
    fault_frames: FaultFrames,
    number: int,
) -> Event:
    """A fault as an event with this number in a report."""
    spans = tuple(
        Span(clip.frame_times_s[first], clip.frame_span(last - 1).end) for first, last in runs(fault_frames.shown)
    )
    names = _names(recipe, spec, fault_frames.onset)
    onset, shown = fault_frames.onset, fault_frames.shown
    evidence_frames = (shown[len(fault_frames.developing) - 1], shown[len(shown) // 2], shown[-1])
    return Event(
        id=f"{clip.id}-{number}",
        dimension=domain.dimension_of[fault.type],
        type=fault.type,
        spans=spans,
        severity=fault.level(conditions(spec, fault_frames)),
        confidence=None,
        description=fault.description.format(**names),
        evidence=(
            Evidence(text="before it begins, and at its begin", frames=(max(onset - 1, 0), onset), source=_SOURCE),
            Evidence(text=fault.evidence.format(**names), frames=tuple(dict.fromkeys(evidence_frames)), source=_SOURCE),
        ),
        secondary=fault.secondary,
    )


def conditions(spec: ClipSpec, fault_frames: FaultFrames) -> tuple[Condition, ...]:
    """The conditions of severity rules that hold."""
    found: list[Condition] = []
    if {subtask.obj.name for subtask in spec.subtasks} & fault_frames.bodies:
        found.append("handled")
    if fault_frames.shown[-1] == spec.playback.frame_count - 1:
        found.append("lasting")
    if set(fault_frames.shown) & _decisive(spec.playback.recording):
        found.append("decisive")
    return tuple(found)


def _decisive(recording: Recording) -> set[int]:
    """The frames in which something is grasped, released or pressed."""
    ends = [phase.first for phase in recording.phases[1:]] + [len(recording.states)]
    held = zip(recording.phases, ends, strict=True)
    return {number for phase, end in held if phase.name in _DECISIVE for number in range(phase.first, end)}


def _names(recipe: SimulationConfig, spec: ClipSpec, onset: int) -> dict[str, str]:
    """The names for the description of a fault."""
    subtask, part_names = spec.subtasks[-1], spec.sampled.setup.part_names
    phase = _phase(recipe, part_names, spec.playback.recording.phase_at(onset))
    names = {
        "object": subtask.obj.name,
        "goal": subtask.goal.name,
        "into": subtask.goal.shape.preposition,
        "hand": part_names[f"{subtask.side}{HAND}"],
        "phase": phase,
        "Phase": phase[0].upper() + phase[1:],
        **spec.description_fields,
    }
    return names | {f"an_{key}": _with_article(names[key]) for key in ("object", "other") if key in names}


def _phase(recipe: SimulationConfig, names: Mapping[str, str], phase: Phase) -> str:
    hand = names[f"{phase.side}{HAND}"]
    return recipe.phases[phase.name].format(hand=hand, object=phase.obj, goal=phase.goal)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
