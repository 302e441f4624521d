"""Planting known glitches into existing clips.

From clip to data set:

    planting_config  reads forge.yaml, which lists a domain's glitches: planter, event type, severity, description
    planting_scene   a clip: its frames in random access, and the measurements that planters need
    planters         functions that take a scene and a random generator, and return an edit or raise DrawRefused:
                     picture_planters, frame_planters, object_planters, instruction_planter
    truth            writes the edited clip and its report
    planted_dataset  makes a data set of planted clips; a run can be resumed

A planter is found by name in PLANTERS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from robogaze.registry import Registry

if TYPE_CHECKING:
    from robogaze.forge.plant.planting_scene import GlitchEdit

_PICTURE, _FRAME, _OBJECT, _INSTRUCTION = (
    f"{__name__}.{module}"
    for module in ("picture_planters", "frame_planters", "object_planters", "instruction_planter")
)

PLANTERS: Registry[Callable[..., GlitchEdit]] = Registry(
    "planters",
    {
        "smear": f"{_PICTURE}:smear",
        "darken": f"{_PICTURE}:darken",
        "shake": f"{_PICTURE}:shake",
        "blocks": f"{_PICTURE}:blocks",
        "tear": f"{_PICTURE}:tear",
        "cover": f"{_PICTURE}:cover",
        "hold": f"{_FRAME}:hold",
        "skip": f"{_FRAME}:skip",
        "cut": f"{_FRAME}:cut",
        "reverse": f"{_FRAME}:reverse",
        "erase": f"{_OBJECT}:erase",
        "paste": f"{_OBJECT}:paste",
        "tint": f"{_OBJECT}:tint",
        "reword": f"{_INSTRUCTION}:reword",
    },
)
"""Planters by name. A planter takes a scene and a random generator; REWORD also takes the change of the instruction."""

REWORD = "reword"
"""The planter that changes only the instruction."""
