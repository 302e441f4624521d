"""Whatever is played in the clean builds, their design documents hold; the same play in a bug's build breaks one."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interactive.environments.playing import with_changes
from robogaze.interactive.environments import ENGINES, Observation, load_folder
from robogaze.interactive.environments.grid import load
from robogaze.interactive.environments.in_process import World

CASTLE = load_folder("castle")
THINGS = CASTLE.build(frozenset()).content["things"]
PORTABLE = {name for name, thing in THINGS.items() if thing.get("portable")}
COMMANDS = sorted(
    {
        *CASTLE.walkthrough,
        *(f"{verb} {thing['name']}" for verb in ("take", "drop", "examine") for thing in THINGS.values()),
        *(f"{verb} {thing}" for verb in ("open", "close") for thing in ("drawer", "toolbox", "chest", "iron grate")),
        *"nsewud",
        "look",
        "combine",
    }
)
SMALL_MAP = """
#########
#@$P.rbL#
#..RB.GX#
#########
"""
STEPS = ["north", "south", "east", "west", "undo", "look", "jump"]
FEW = settings(max_examples=25)


def begin(folder: Any, *bugs: str) -> World:
    engine = ENGINES.load(folder.engine)
    return engine(folder.build(frozenset(bugs)))()


def names(listed: Any) -> set[str]:
    return {thing["name"] for thing in listed}


def broken_rule(seen: Observation, turn: int) -> str:
    """The rule of the castle's design document that a reply breaks, empty for none."""
    state: Any = seen.state
    description = state["room"]["description"]
    listed = description.partition("On the floor: ")[2].partition(".\n")[0]
    on_floor = set(listed.split(", ")) - {""}
    seen_here = {thing["name"] for thing in state["items"] if thing["id"] in PORTABLE}
    in_open = {
        thing["name"]
        for thing in THINGS.values()
        if (lid := THINGS.get(thing["at"], {}).get("lid")) is not None and state["flags"][lid["flag"]]
    }
    if len(state["inventory"]) > 6:
        return "six things"
    if state["can_see"] and not on_floor <= seen_here <= on_floor | in_open:
        return "the description names what lies on the floor"
    if "small key" in description.replace(listed, "") and not state["flags"]["drawer_open"]:
        return "a closed container is not looked into"
    if state["flags"]["key_assembled"] and names(state["items"] + state["inventory"]) & {
        f"key fragment {x}" for x in "abc"
    }:
        return "the great key is made of all three fragments"
    return "" if seen.turn == turn == state["turn_count"] else "each command is one turn"


def rules_broken(commands: list[str], *bugs: str) -> set[str]:
    world = begin(CASTLE, *bugs)
    found = {broken_rule(world.observe(), 0)}
    for turn, command in enumerate(commands, 1):
        seen = world.act(command)
        found.add(broken_rule(seen, turn) if not seen.finished else "")
    return found - {""}


@given(st.lists(st.sampled_from(COMMANDS), max_size=60))
@example(list(CASTLE.walkthrough))
@FEW
def test_the_clean_castle_follows_its_design(commands: list[str]) -> None:
    assert rules_broken(commands) == set()


@pytest.mark.parametrize(
    ("bug", "rule"),
    [
        ("drawer", "a closed container is not looked into"),
        ("dropped", "the description names what lies on the floor"),
    ],
)
def test_a_bug_breaks_a_rule(bug: str, rule: str) -> None:
    (commands,) = (list(known.minimal_reproduction) for known in CASTLE.bugs if known.id == bug)
    assert rules_broken(commands, bug) == {rule}


@given(st.lists(st.sampled_from(STEPS), max_size=40))
@example(["east", "east", "west", "south", *["east"] * 6])
@FEW
def test_undo_takes_back_every_move(commands: list[str]) -> None:
    world = load(with_changes(map=SMALL_MAP))()
    first = seen = world.observe()
    for command in commands:
        seen = world.act(command)
    if seen.finished:
        return
    moves: Any = seen.state["moves"]
    for _ in range(moves):
        seen = world.act("undo")
    assert seen.pictures == first.pictures
    assert {**seen.state, "turn_count": 0} == first.state
    assert world.act("undo").message == "There is nothing to take back."


@given(st.lists(st.sampled_from(STEPS), max_size=40))
@FEW
def test_a_screen_changes_with_every_move_and_with_nothing_else(commands: list[str]) -> None:
    world = load(with_changes(map=SMALL_MAP))()
    before = world.observe()
    for command in commands:
        after = world.act(command)
        assert (after.pictures == before.pictures) == (after.state["moves"] == before.state["moves"])
        before = after
