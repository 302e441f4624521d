"""The castle without its bugs follows its design document; each bug breaks one rule of it."""

import pytest

from interactive.environments.playing import played, said
from robogaze.domains.yaml_files import parse_yaml
from robogaze.errors import DomainError
from robogaze.interactive.environments import load_folder
from robogaze.interactive.environments.rooms import load

CASTLE = "castle:clean"
TO_BEDROOM = ("north", "east")
SMALL_KEY = (*TO_BEDROOM, "open drawer", "take small key")
TO_STORAGE = (*SMALL_KEY, "west", "south", "unlock storage", "west")


def test_the_world_has_eight_rooms_three_fragments_and_room_for_six_things() -> None:
    world = load_folder("castle").build(frozenset()).content
    assert len(world["rooms"]) == 8
    assert sum(name.startswith("fragment") for name in world["things"]) == 3
    assert world["carry_limit"] == 6


def test_a_seventh_thing_is_refused() -> None:
    six = ("take matches", "take candlestick", "east", "take bucket", "take ladder", "west", *SMALL_KEY, "take diary")
    last = played(CASTLE, *six, "west", "west", "take scroll")[-1]
    assert last.message == "Your hands are full: 6 things are the most you can carry. Drop one first."
    assert len(last.state["inventory"]) == 6  # type: ignore[arg-type]
    assert said(CASTLE, *six, "west", "west", "drop bucket", "take scroll") == "You take the scroll."


def test_what_is_in_a_closed_container_is_not_seen() -> None:
    for command in ("look", "examine drawer", "take small key", "examine small key", "inventory"):
        last = played(CASTLE, *TO_BEDROOM, command)[-1]
        assert "small key" not in last.message.replace("You see no small key here.", "")
        assert "small_key" not in str(last.state)
    assert said(CASTLE, *TO_BEDROOM, "open drawer") == "The drawer slides open with a squeak. Inside: small key."
    assert said(CASTLE, *TO_BEDROOM, "open drawer", "look").count("small key") == 1
    assert "small key" not in said(CASTLE, *TO_BEDROOM, "open drawer", "close drawer", "look")


def test_a_description_changes_at_once_with_take_and_drop() -> None:
    assert "On the floor: candlestick." in said(CASTLE, "take matches", "look")
    assert "On the floor: matches, candlestick." in said(CASTLE, "take matches", "drop matches", "look")


def test_the_basement_is_dark_without_a_burning_lamp() -> None:
    dark = played(CASTLE, "down")[-1]
    assert dark.message.startswith("[Basement]\nIt is pitch dark.")
    assert (dark.state["can_see"], dark.state["items"]) == (False, [])
    assert said(CASTLE, "down", "examine wine barrels") == "It is too dark to see anything."
    carried = (*TO_STORAGE, "take lamp", "east", "down")
    assert played(CASTLE, *carried)[-1].state["can_see"] is False
    burning = ("take matches", *TO_STORAGE, "take lamp", "light lamp", "east", "down")
    lit = played(CASTLE, *burning)[-1]
    assert lit.state["can_see"] is True
    assert "A vault with a wet floor." in lit.message
    assert "A vault" in said(CASTLE, *burning, "drop lamp", "look")
    assert "pitch dark" in said(CASTLE, *burning[:-1], "drop lamp", "down")


LIBRARY = ("east", "take ladder", "west", "north", "west")
ATTIC = (*LIBRARY, "place ladder", "up")


@pytest.mark.parametrize(
    ("commands", "reply"),
    [
        ((*TO_STORAGE, "take lamp", "light lamp"), "You have nothing to light it with."),
        (("west",), "The door to the storage room is locked. It has a small keyhole."),
        (("unlock storage",), "You have nothing that fits the small keyhole."),
        ((*SMALL_KEY, "unlock storage"), "The door to the storage room is in the hall."),
        (TO_STORAGE, "[Storage room]"),
        ((*LIBRARY, "up"), "The hatch is far above your head. You need something to climb on."),
        (ATTIC, "[Attic]"),
        ((*LIBRARY, "place ladder", "take ladder"), "The ladder stays where it is."),
        ((*ATTIC, "open chest"), "The lid does not move."),
        ((*ATTIC, "say open"), "Nothing happens: 'say open' is not a command. Type help for the commands."),
        ((*ATTIC, "say MISTRAL", "open chest"), "The lid lifts by itself. Inside: key fragment a."),
    ],
)
def test_an_action_needs_what_the_design_says(commands: tuple[str, ...], reply: str) -> None:
    assert said(CASTLE, *commands).startswith(reply)


def test_a_lit_lamp_is_shown_in_the_inventory() -> None:
    lit = played(CASTLE, "take matches", *TO_STORAGE, "take lamp", "light the oil lamp with a match")[-1]
    assert {"id": "lamp", "name": "lamp", "state": {"lit": True}} in lit.state["inventory"]  # type: ignore[operator]


def test_combine_needs_three_fragments_and_with_the_bug_two() -> None:
    two = next(bug for bug in load_folder("castle").bugs if bug.id == "fragments").minimal_reproduction
    refused = "The pieces you have do not make a key yet."
    assert said(CASTLE, "combine") == refused
    assert said(CASTLE, *two) == refused
    assert said("castle:+fragments", *two) == "The pieces join without a seam. You hold the great key."
    assert said("castle:+fragments", *two[:16], "combine") == refused, "one fragment is not enough"


@pytest.mark.parametrize("command", ["go to the kitchen", "walk east", "e", "go east", "East.", "GO  EAST"])
def test_a_direction_has_several_forms(command: str) -> None:
    assert said(CASTLE, command).startswith("[Kitchen]")


@pytest.mark.parametrize(
    "command", ["dance", "", "take", "go", "go nowhere", "take sword", "drop matches", "close drawer"]
)
def test_a_command_that_does_nothing_changes_only_the_turn(command: str) -> None:
    first, last = played(CASTLE, command)
    assert {**last.state, "turn_count": 0} == first.state
    assert last.turn == 1


FAULTY_WORLDS = {
    "start: cellar": r"world.yaml:\d+: no room is called cellar",
    "carry_limit: 0": r"world.yaml:\d+: carry_limit: Input should be greater than or equal to 1",
    "light: [torch_lit, lamp]": "no flag is called torch_lit",
    "colour: red": r"world.yaml:\d+: colour: unknown key",
}


@pytest.mark.parametrize("line", FAULTY_WORLDS)
def test_an_invalid_world_names_file_and_key(line: str) -> None:
    path = load_folder("castle").path / "world.yaml"
    key = line.partition(":")[0]
    kept = [kept for kept in path.read_text().splitlines() if not kept.startswith(f"{key}:")]
    with pytest.raises(DomainError, match=FAULTY_WORLDS[line]):
        load(parse_yaml("\n".join([*kept, line]), path))
