"""Instructions that are changed, and those that are left alone."""

from typing import Any, cast

import numpy as np
import pytest

from robogaze.forge.plant.instruction_planter import reword
from robogaze.forge.plant.planting_config import InstructionChange, PlantingConfig
from robogaze.forge.plant.planting_scene import DrawRefused, FrameArray, PlantingScene


def changed(config: PlantingConfig, name: str, instruction: str | None, seed: int = 0) -> str:
    """An instruction after a glitch of the built-in domain."""
    frames = FrameArray(np.zeros((4, 8, 8, 3), np.uint8), (0.0, 0.1, 0.2, 0.3), 0.4, cast(Any, None))
    found = reword(
        _Scene(frames, instruction),
        np.random.default_rng(seed),
        cast(InstructionChange, config.glitches[name].instruction_change),
    )
    assert found.instruction is not None
    return found.instruction[0]


class _Scene(PlantingScene):
    """A scene whose frames are not used."""

    def view_name(self, view: int) -> str:
        return "the picture"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("other_hand", "Use the left hand to wave", "Use the right hand to wave"),
        ("other_hand", "With the right robot arm, push", "With the left robot arm, push"),
        ("other_object", "Pick up the red cube and place it in the bin", "Pick up the {} and place it in the bin"),
        ("other_object", "Open the drawer.", "Open the {}."),
        ("other_colour", "Grasp the red cube", "Grasp the {} cube"),
        ("other_place", "Move the cup from the table to the pot", "Move the cup from the table to the {}"),
        ("other_place", "put a fork into a bowl with the left hand", "put a fork into a {} with the left hand"),
        ("other_order", "Open the drawer, then take the cup.", "Take the cup, then open the drawer."),
        ("other_order", "First push the box and then close the lid", "First close the lid and then push the box"),
    ],
)
def test_words_are_replaced(config: PlantingConfig, name: str, old: str, new: str) -> None:
    before, _, after = new.partition("{}")
    for seed in range(6):
        found = changed(config, name, old, seed)
        assert found.startswith(before)
        assert found.endswith(after)
        assert found != old


@pytest.mark.parametrize(
    ("name", "instruction", "reason"),
    [
        ("other_hand", "Pick up the cup", "matches no words of the instruction"),
        ("other_hand", "Pass the cup from the left hand to the right hand", "every replacement"),
        ("other_hand", "Turn left at the table", "matches no words of the instruction"),
        ("other_object", "Pick and place the novel object to the pot", r"is ambiguous \(object\)"),
        ("other_colour", "Grasp the orange cube", "matches no words of the instruction"),
        ("other_place", "Push the cup to the left of the table", r"is ambiguous \(left\)"),
        ("other_order", "Pick up the cup, then place it on the tray", r"is ambiguous \(it\)"),
        ("other_order", "Pick up the cup and place it on the tray", "matches no words of the instruction"),
        ("other_object", None, "the clip has no instruction"),
    ],
)
def test_an_instruction_without_replaceable_words_is_refused(
    config: PlantingConfig, name: str, instruction: str | None, reason: str
) -> None:
    with pytest.raises(DrawRefused, match=reason):
        changed(config, name, instruction)


def test_a_replacement_shares_no_word_with_the_instruction(config: PlantingConfig) -> None:
    found = {changed(config, "other_colour", "Put the red cube beside the blue one", seed) for seed in range(40)}
    assert found == {f"Put the {colour} cube beside the blue one" for colour in ("green", "yellow", "white", "black")}
