"""Making one clip: drawn, recorded, checked, drawn anew until it passes, and written with what is true about it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from robogaze.core.data import Data
from robogaze.core.report import Report
from robogaze.core.time import runs
from robogaze.domains import Domain
from robogaze.errors import RobogazeError
from robogaze.forge.simulate.accept import faults_of_motion, faults_of_sight
from robogaze.forge.simulate.audit import audit
from robogaze.forge.simulate.clip_io import ClipFile, report_of
from robogaze.forge.simulate.clip_spec import Story, tell
from robogaze.forge.simulate.draw import Frame, Gl, Player, edited
from robogaze.forge.simulate.kinematics import OutOfReach
from robogaze.forge.simulate.motion import Unstable
from robogaze.forge.simulate.recipe import Doing, SimulatedFault, SimulationConfig
from robogaze.forge.simulate.stage import NoRoom
from robogaze.forge.simulate.truth import Sighting, sight, sight_in_picture

TRIES = 60
"""How often a clip is drawn anew before it is given up."""


@dataclass(frozen=True)
class ClipOrder:
    """A clip to make: its name, its place in the run, and what is done in it.

    `twin` is the name of the twin's clip, empty where none is asked for.
    """

    name: str
    number: int
    doing: Doing
    twin: str = ""


@dataclass(frozen=True)
class Workshop:
    """What all clips of a run have in common. `seed` and a clip's number decide everything that is drawn.

    `world` names one of the recipe's worlds, None for all there is.
    """

    folder: Path
    domain: Domain
    recipe: SimulationConfig
    seed: int
    size: tuple[int, int]
    gl: Gl = "auto"
    world: str | None = None


class Made(Data):
    """A clip that was made: its report and its twin's, what truth.jsonl says, and why earlier draws were turned down.

    There is a twin's report where a glitchy clip was made and twins are asked for.
    """

    reports: tuple[Report, ...] = Field(min_length=1, max_length=2)
    truth: dict[str, Any]
    rejected: dict[str, int]


class GivenUp(RobogazeError):
    """No draw of a clip passed. `rejected` counts the reasons."""

    def __init__(self, name: str, make: str, rejected: Mapping[str, int]) -> None:
        super().__init__(name, make, dict(rejected))
        self.name, self.make, self.rejected = name, make, dict(rejected)

    def __str__(self) -> str:
        told = ", ".join(f"{reason} ({count})" for reason, count in self.rejected.items())
        return f"{self.name} ({self.make}) was drawn {TRIES} times and never passed: {told}; take another --seed"


def make(shop: Workshop, order: ClipOrder) -> Made:
    """Make a clip and write its film to the folder. Raises GivenUp, and RobogazeError where nothing can be drawn."""
    rejected: Counter[str] = Counter()
    for attempt in range(TRIES):
        try:
            rng = np.random.default_rng([shop.seed, order.number, attempt])
            story = tell(shop.recipe, order.doing, shop.recipe.world(shop.world), rng)
        except (NoRoom, OutOfReach, Unstable) as error:
            rejected[_reason(error)] += 1
            continue
        reason = faults_of_motion(story)
        if reason is None:
            with Player(story.film.take.scene.model, shop.size, shop.gl) as player:
                done = _shot(player, story, with_twin=bool(order.twin))
            if isinstance(done, RenderedClip):
                return _written(shop, order, attempt, story, done, rejected)
            reason = done
        rejected[reason] += 1
    raise GivenUp(order.name, order.doing.make, rejected)


def _reason(error: NoRoom | OutOfReach | Unstable) -> str:
    """Why a draw came to nothing."""
    if isinstance(error, NoRoom):
        return f"no room: {error}"
    return "out of reach" if isinstance(error, OutOfReach) else "the simulation is unstable"


@dataclass(frozen=True)
class RenderedClip:
    """A clip's pictures, its faults and where they show, none for a clean clip; its twin's pictures, if asked for."""

    frames: Sequence[Frame]
    found: tuple[tuple[SimulatedFault, Sighting], ...]
    twin: Sequence[Frame] = ()


def _shot(player: Player, story: Story, with_twin: bool) -> RenderedClip | str:
    """Draw a clip, or say why it is turned down; what can be found out without drawing it all comes first."""
    found = []
    of_picture = story.fault is not None and story.film.edits[0].on_picture
    if story.fault is not None and not of_picture:
        sighting = sight(player, story)
        reason = faults_of_sight(story, player, sighting)
        if reason is not None:
            return reason
        found.append((story.fault, sighting))
    plain = [player.frame(story.film, number) for number in range(story.film.length)]
    fault = story.fault if of_picture else story.second
    if fault is not None:
        found.append((fault, sight_in_picture(story, plain)))
    if len(found) == 2 and set(found[0][1].event) & set(found[1][1].frames):
        return "one fault hides the other"
    frames = [edited(story.film, number, plain) for number in range(len(plain))]
    return RenderedClip(frames, tuple(found), _twin(player, story, plain) if with_twin and found else ())


def _twin(player: Player, story: Story, plain: Sequence[Frame]) -> Sequence[Frame]:
    """The twin's pictures, to the end of its recording; what an edit of the picture starts from is the twin's."""
    if story.film.edits[0].on_picture:
        return plain
    whole = replace(story.twin, length=len(story.twin.take.states))
    return [player.frame(whole, number) for number in range(whole.length)]


def _written(
    shop: Workshop, order: ClipOrder, attempt: int, story: Story, shot: RenderedClip, rejected: Mapping[str, int]
) -> Made:
    twin = order.twin if shot.twin else ""
    planted = {
        "source": order.name,
        "untouched": twin,
        "plant": order.doing.make if story.fault else "",
        "seed": shop.seed,
    }
    reel = _set_down(shop, order.name, shot.frames)
    reports = [report_of(shop.domain, shop.recipe, reel, story, planted, shot.found)]
    if twin:
        reel, untouched = _set_down(shop, twin, shot.twin), {**planted, "plant": ""}
        reports.append(report_of(shop.domain, shop.recipe, reel, story, untouched, ()))
    truth = _truth(shop, order, attempt, story, shot)
    return Made(reports=tuple(reports), truth=truth, rejected=dict(rejected))


def _set_down(shop: Workshop, name: str, frames: Sequence[Frame]) -> ClipFile:
    """Write a film into the folder."""
    reel = ClipFile(shop.folder, name)
    reel.write(frames)
    return reel


def _truth(shop: Workshop, order: ClipOrder, attempt: int, story: Story, shot: RenderedClip) -> dict[str, Any]:
    """What a report has no room for: how the clip came about, in frames, and what the auditor measured."""
    own = audit(story.twin.take, story.cast.setting)
    phases = [phase for phase in story.film.take.phases if phase.first < story.film.length]
    return {
        "clip_id": order.name,
        "twin": order.twin if shot.twin else None,
        "make": order.doing.make,
        "type": story.fault.type if story.fault else None,
        "seed": [shop.seed, order.number, attempt],
        "bodies": sorted(name for name in story.bodies if name),
        "faults": [
            {
                "make": fault.make,
                "type": fault.type,
                "frames": runs(sighting.frames),
                "event_frames": runs(sighting.event),
            }
            for fault, sighting in shot.found
        ],
        "phases": [{"name": phase.name, "first": phase.first, "thing": phase.thing} for phase in phases],
        "audit": {
            "depth_mm": round(1000 * own.depth_m, 2),
            "step_mm": round(1000 * own.step_m, 1),
            "unheld_frames": own.unheld_frames,
            "findings": list(own.findings),
        },
    }
