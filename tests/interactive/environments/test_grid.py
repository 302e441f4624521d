"""The warehouse without its bugs follows its design document; each bug breaks one rule of it."""

import cv2
import numpy as np
import pytest

from interactive.environments.playing import played, said, with_changes
from robogaze.errors import DomainError
from robogaze.interactive.environments import Observation, load_folder
from robogaze.interactive.environments.grid import load
from robogaze.interactive.environments.grid_screen import CELL_PX, TOP_PX

WAREHOUSE = "warehouse:clean"
ON_PLATE = ("east", "south", "south")
BOTH_KEYS = (*["east"] * 3, *["south"] * 5, *["west"] * 3)
AT_RED_DOOR = (*["east"] * 3, *["north"] * 4)


def pixels_of(seen: Observation) -> np.ndarray:
    (picture,) = seen.pictures
    decoded = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    return decoded[:, :, ::-1]


def cells_that_changed(before: Observation, after: Observation) -> set[tuple[int, int]]:
    rows, columns = np.nonzero((pixels_of(before) != pixels_of(after))[TOP_PX:].any(axis=2))
    return {*zip((rows // CELL_PX).tolist(), (columns // CELL_PX).tolist(), strict=True)}


def test_a_step_moves_and_is_counted() -> None:
    first, last = played(WAREHOUSE, "east")
    assert last.message == "You go east."
    assert (first.state["moves"], last.state["moves"]) == (0, 1)
    assert cells_that_changed(first, last) == {(1, 1), (1, 2)}


def test_a_blocked_step_is_not_counted() -> None:
    first, last = played(WAREHOUSE, "north")
    assert last.message == "The way is blocked: wall."
    assert {**last.state, "turn_count": 0} == first.state
    assert last.pictures == first.pictures


def test_bug_counter_counts_a_blocked_step() -> None:
    assert played("warehouse:+counter", "north")[-1].state["moves"] == 1


def test_a_crate_on_the_plate_opens_the_gate_for_as_long_as_it_is_there() -> None:
    *_, before, opened, closed = played(WAREHOUSE, *ON_PLATE, "south")
    assert opened.message == "You go south. You push the crate. A gate opens."
    assert (6, 5) in cells_that_changed(before, opened)
    assert closed.message == "You go south. You push the crate. A gate closes."
    assert (6, 5) in cells_that_changed(opened, closed)
    to_gate = ("east", "east", "south", "south", "south", "east")
    assert said(WAREHOUSE, *ON_PLATE, *to_gate) == "You go east."
    assert (
        said(WAREHOUSE, "south", "south", "south", "south", "south", *["east"] * 4)
        == "The way is blocked: closed gate."
    )


def test_bug_gate_leaves_the_gate_open() -> None:
    *_, opened, after = played("warehouse:+gate", *ON_PLATE, "south")
    assert after.message == "You go south. You push the crate."
    assert (6, 5) not in cells_that_changed(opened, after)


def test_a_crate_is_pushed_onto_free_cells_only() -> None:
    against_wall = ("south", "south", "east", "east", "east")
    assert said(WAREHOUSE, *against_wall[:-1]) == "You go east. You push the crate."
    assert said(WAREHOUSE, *against_wall) == "The crate does not move."
    two = load(with_changes(map="#@$$.X#"))()
    assert two.act("east").message == "The crate does not move."
    before_a_key = load(with_changes(map="#@$b.X#"))()
    assert before_a_key.act("east").message == "The crate does not move."


def test_a_door_uses_up_the_key_of_its_colour_and_keeps_the_other() -> None:
    opened = played(WAREHOUSE, *BOTH_KEYS, *AT_RED_DOOR, "east")[-1]
    assert opened.message == "You go east. The red door opens, and a key is used up."
    assert opened.state["keys"] == 1
    assert said(WAREHOUSE, *BOTH_KEYS, *AT_RED_DOOR, "east", "west", "south", "south", "east").startswith(
        "You go east. The blue door opens"
    )
    assert said(WAREHOUSE, *["east"] * 3, "south", "south", "south", "east").startswith("You go east. The blue door")
    assert said(WAREHOUSE, "south", "east", "east", "east", "east") == "The red door is locked."


def test_bug_keys_uses_up_the_key_that_was_taken_first() -> None:
    at_blue_door = (*BOTH_KEYS, *AT_RED_DOOR, "east", "west", "south", "south", "east")
    faulty, mended = played("warehouse:+keys", *at_blue_door), played(WAREHOUSE, *at_blue_door)
    assert faulty[:-1] == mended[:-1], "nothing shows before the blue door"
    assert faulty[-1].message == "The blue door is locked."


def test_the_exit_needs_every_lantern() -> None:
    without = (*ON_PLATE, "east", "east", "south", "south", "south", *["east"] * 7)
    assert said(WAREHOUSE, *without) == "The exit stays shut: 2 of 3 are missing."


def test_look_names_what_is_around_and_is_no_move() -> None:
    last = played(WAREHOUSE, "east", "south", "look")[-1]
    assert last.message == "north: floor; south: crate; east: floor; west: floor."
    assert last.state["moves"] == 2


FAULTY_MAPS = {
    "#@@X": "the map needs one tile of kind start",
    "#@.": "the map needs one tile of kind exit",
    "#@X ##": "the map is not a rectangle of at most 40 cells a side",
    "#@X?": r"the map has signs that are no tiles: \?",
    "": "the map is not a rectangle",
}


@pytest.mark.parametrize("rows", FAULTY_MAPS)
def test_an_invalid_map_is_explained(rows: str) -> None:
    with pytest.raises(DomainError, match=FAULTY_MAPS[rows]):
        load(with_changes(map=rows))


def test_a_key_without_a_door_is_refused() -> None:
    tiles = load_folder("warehouse").build(frozenset()).content["tiles"]
    with pytest.raises(DomainError, match="no door is named in `fits` of blue key"):
        load(with_changes(tiles={**tiles, "b": {**tiles["b"], "fits": "L"}}))
