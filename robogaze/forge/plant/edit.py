"""What a planter answers, and the names of the planters.

A planter is a function of a scene and a source of randomness. It draws where, when and how strongly, and answers with
an edit, or refuses the draw (`Refused`) where the clip would not show it. It changes nothing itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from robogaze.core.events import Box
from robogaze.media.decode import Image

if TYPE_CHECKING:
    from robogaze.forge.plant.recipe import InstructionChange
    from robogaze.forge.plant.scene import PlantingScene

Change = Callable[[int, Image], Image]
"""From the number of a frame and its view to the view with the glitch in it."""

PLANTERS = {
    "smear": "pictures",
    "darken": "pictures",
    "shake": "pictures",
    "blocks": "pictures",
    "tear": "pictures",
    "cover": "cover",
    "hold": "order",
    "skip": "order",
    "cut": "order",
    "reverse": "order",
    "erase": "things",
    "paste": "things",
    "tint": "things",
    "reword": "words",
}
"""The planters, and the modules of this folder in which they stand."""

REWORDS = "reword"
"""The planter that changes the instruction and no picture."""


class Refused(Exception):
    """A draw that a clip does not carry; the message says why, after "because"."""


@dataclass(frozen=True)
class GlitchEdit:
    """A glitch before it is made.

    `sources` are the frames of the clip that are shown, in order. In the frames `first` to `end` (exclusive; counted
    in what is shown) the glitch is to be seen. `change` is applied to the view `view` in these frames, None where the
    pictures stay as they are. `seen` says whether the glitch shows as a difference from the untouched clip in those
    frames; where it lies in what is missing, or in the instruction, it does not. `strength` is in [0, 1]; `amount`
    puts it into words with its unit.
    """

    sources: tuple[int, ...]
    first: int
    end: int
    strength: float
    amount: str
    where: str
    change: Change | None = None
    view: int | None = None
    box: Box | None = None
    seen: bool = True
    instruction: tuple[str, str, str] | None = None
    """The new instruction whole, and the words that were and now are in it."""


Planter = Callable[["PlantingScene", np.random.Generator], GlitchEdit]


def planter(name: str, words: "InstructionChange | None") -> Planter:
    """The planter of a name; `words` are for the one that changes instructions."""
    module = import_module(f"robogaze.forge.plant.{PLANTERS[name]}")
    found: Any = getattr(module, name)
    return found if words is None else lambda scene, rng: found(scene, rng, words)
