"""What is true about a clip: in which frames it differs from its clean twin, and what that is called.

Nothing about a span is typed in. An edit of the playback goes wrong in the frames that are drawn otherwise than in the
twin; another course of the motion, where the bodies it affects are visibly elsewhere than in the twin. Two cases have
no twin to differ from in that way: what passes through something does so while the two overlap, and a clip that ends
early goes wrong in the phase that is broken off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.core.clip import Clip
from robogaze.core.events import Event, Evidence
from robogaze.core.time import Span, runs
from robogaze.domains import Domain
from robogaze.forge.simulate.body import HAND, HAND_PARTS
from robogaze.forge.simulate.clip_spec import PLAYBACK, Story
from robogaze.forge.simulate.draw import Frame, Player, edited
from robogaze.forge.simulate.motion import Phase, Take
from robogaze.forge.simulate.recipe import Condition, SimulatedFault, SimulationConfig

TOLERANCE = 1e-4
"""By how much an edited body is drawn otherwise at least: metres, or shares of a colour."""
ELSEWHERE_M = 0.02
"""By how much a body on another course is elsewhere than in the twin at least."""
OVERLAP_M = 1e-3
"""How deep two bodies are in each other at least when one passes through the other."""
_DECISIVE = ("grasp", "release", "press")
_SETTLED = 0.95
_SOURCE = "simulator"


@dataclass(frozen=True)
class Sighting:
    """The frames of a fault, in order; of these, `event` those in which it comes about, while the rest is what it left.

    `bodies` are those that differed at any time.
    """

    frames: tuple[int, ...]
    event: tuple[int, ...]
    bodies: frozenset[str]

    @property
    def onset(self) -> int:
        return self.frames[0]


def sight_in_picture(story: Story, plain: Sequence[Frame]) -> Sighting:
    """Find a fault of the finished picture by comparing its frames with those as they were drawn."""
    changed = tuple(n for n in range(len(plain)) if not np.array_equal(edited(story.film, n, plain), plain[n]))
    return Sighting(changed, changed, frozenset())


def sight(player: Player, story: Story) -> Sighting:
    """Find a fault by comparing the clip with its twin as they are drawn; no frames where they do not differ."""
    if story.course.stop_in is not None:
        first = story.film.take.phase_at(story.film.length - 1).first
        whole = tuple(range(first, story.film.length))
        return Sighting(whole, whole[-1:], frozenset(story.bodies))
    if story.course.overlap:
        inside = _overlapping(story)
        return Sighting(inside, inside, frozenset((story.course.overlap,)))
    return _compared(player, story)


def _compared(player: Player, story: Story) -> Sighting:
    """Where clip and twin are drawn differently."""
    playback = story.make in PLAYBACK
    last = len(story.twin.take.states) - 1
    amounts: dict[int, float] = {}
    bodies: set[str] = set()
    for number in range(story.film.length):
        here = player.look(story.film, number, story.eye)
        found = here.differences(player.look(story.twin, min(number, last), story.eye))
        limit = TOLERANCE if playback else ELSEWHERE_M
        over = {body: by for body, by in found.items() if by > limit and (playback or body in story.bodies)}
        if over:
            amounts[number] = max(over.values())
            bodies |= over.keys()
    if amounts and not playback:
        # Another course may come near the twin's for a moment; it is another one from first to last.
        amounts = {number: amounts.get(number, 0.0) for number in range(min(amounts), max(amounts) + 1)}
    return Sighting(tuple(amounts), _coming_about(amounts), frozenset(bodies))


def _coming_about(amounts: Mapping[int, float]) -> tuple[int, ...]:
    """The frames until the difference is about as large as it ever gets."""
    if not amounts:
        return ()
    full = _SETTLED * max(amounts.values())
    reached = next(number for number, amount in amounts.items() if amount >= full)
    return tuple(number for number in amounts if number <= reached)


def _overlapping(story: Story) -> tuple[int, ...]:
    """The frames in which the hand or what it carries reaches into a ghost."""
    take, job = story.film.take, story.course.jobs[-1]
    model = take.scene.model
    data = mujoco.MjData(model)
    hand = [f"{job.side}{part}" for part in HAND_PARTS]
    movers = [geom for body in (job.thing.name, *hand) for geom in _solid(model, body)]
    pairs = [(one, other) for one in movers for other in _solid(model, story.course.overlap)]
    frames = []
    for number in range(story.film.length):
        data.qpos[:] = take.states[number]
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
    story: Story,
    fault: SimulatedFault,
    sighting: Sighting,
    number: int,
) -> Event:
    """A fault as the event of that number in a report."""
    spans = tuple(
        Span(clip.frame_times_s[first], clip.frame_span(last - 1).end) for first, last in runs(sighting.frames)
    )
    words = _words(recipe, story, sighting.onset)
    onset, shown = sighting.onset, sighting.frames
    looks = (shown[len(sighting.event) - 1], shown[len(shown) // 2], shown[-1])
    return Event(
        id=f"{clip.id}-{number}",
        dimension=domain.dimension_of[fault.type],
        type=fault.type,
        spans=spans,
        severity=fault.level(conditions(story, sighting)),
        confidence=None,
        description=fault.description.format(**words),
        evidence=(
            Evidence(text="before, and when it begins", frames=(max(onset - 1, 0), onset), source=_SOURCE),
            Evidence(text=fault.to_see.format(**words), frames=tuple(dict.fromkeys(looks)), source=_SOURCE),
        ),
        secondary=fault.secondary,
    )


def conditions(story: Story, sighting: Sighting) -> tuple[Condition, ...]:
    """What of that which a severity can depend on holds."""
    found: list[Condition] = []
    if {job.thing.name for job in story.asked} & sighting.bodies:
        found.append("handled")
    if sighting.frames[-1] == story.film.length - 1:
        found.append("lasting")
    if set(sighting.frames) & _decisive(story.film.take):
        found.append("decisive")
    return tuple(found)


def _decisive(take: Take) -> set[int]:
    """The frames in which something is grasped, let go or pressed."""
    ends = [phase.first for phase in take.phases[1:]] + [len(take.states)]
    held = zip(take.phases, ends, strict=True)
    return {number for phase, end in held if phase.name in _DECISIVE for number in range(phase.first, end)}


def _words(recipe: SimulationConfig, story: Story, onset: int) -> dict[str, str]:
    """The names that a description of a fault is made of."""
    job, names = story.asked[-1], story.cast.setting.names
    phase = _phase(recipe, names, story.film.take.phase_at(onset))
    words = {
        "thing": job.thing.name,
        "goal": job.goal.name,
        "into": job.goal.shape.preposition,
        "hand": names[f"{job.side}{HAND}"],
        "phase": phase,
        "Phase": phase[0].upper() + phase[1:],
        **story.facts,
    }
    return words | {f"a_{key}": _with_article(words[key]) for key in ("thing", "other") if key in words}


def _phase(recipe: SimulationConfig, names: Mapping[str, str], phase: Phase) -> str:
    hand = names[f"{phase.side}{HAND}"]
    return recipe.phases[phase.name].format(hand=hand, thing=phase.thing, goal=phase.goal)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
