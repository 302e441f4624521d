"""The trace of a play: which reply shows what, and when a play repeats itself."""

from typing import Any

import pytest

from interactive.cellar import Cellar
from robogaze.interactive.environments import Observation
from robogaze.interactive.play_trace import PlayEntry, PlayTrace, shown, shows_again


def reply(message: str = "", turn: int | None = None, **state: Any) -> PlayEntry:
    return PlayEntry(step=0, kind="act", tool="act", command="look", message=message, state=state, turn=turn)


@pytest.mark.parametrize(
    ("sign", "is_shown"),
    [
        ("a small key", True),
        ("A  small\nkey", True),
        (r"a small\nkey", True),
        ('"sack": ["lamp"]', True),
        ("{'sack': ['lamp']}", True),
        ('{"sack": ["lamp"]}', True),
        ("There is ... key", True),
        ("key ... There is", False),
        ("...", False),
        ("a large key", False),
        ("", False),
        ("{}", False),
    ],
)
def test_a_sign_is_found_whatever_its_spaces_quotation_marks_and_case(sign: str, is_shown: bool) -> None:
    assert reply("There is a small\nkey.", sack=["lamp"], room="hall").shows(sign) is is_shown


def test_a_picture_is_a_sign_by_its_hash() -> None:
    entry = PlayEntry.of(Observation("", {}, 1, False, (b"png",)), step=1, kind="act", tool="act", command="look")
    assert entry.shows(entry.screens[0])
    assert not reply().shows(entry.screens[0])


@pytest.mark.parametrize(
    ("messages", "signs", "is_shown"),
    [
        (["taken", "nothing", "here"], ["taken", "here"], True),
        (["here", "taken"], ["taken", "here"], False),
        (["taken", "here", "nothing"], ["taken", "here"], False),
        (["taken and here"], ["taken", "here"], True),
        (["here", "taken", "here"], ["taken", "here"], True),
        (["here"], [], False),
        ([], ["here"], False),
    ],
)
def test_signs_show_again_in_their_order_with_the_last_in_the_last_reply(
    messages: list[str], signs: list[str], is_shown: bool
) -> None:
    assert shows_again([reply(message) for message in messages], signs) is is_shown


def test_replies_are_the_same_apart_from_what_counts_the_turns() -> None:
    assert reply("x", 3, turns=3, sack=[]).same_reply(reply("x", 5, turns=5, sack=[]))
    assert not reply("x", 3, turns=3, sack=[]).same_reply(reply("x", 5, turns=5, sack=["lamp"]))
    assert reply("x", 1, turns=1, lit=True, score=1).same_reply(reply("x", 2, turns=2, lit=True, score=1))
    assert not reply("x", 1, lit=True).same_reply(reply("x", 1, lit=False))
    assert not reply("x", 1, lit=True).same_reply(reply("x", 1))
    assert not reply("x", None, turns=3).same_reply(reply("x", None, turns=5))


def test_prompts_show_of_the_state_what_changed() -> None:
    rows = shown([reply(room="hall", sack=[]), reply(room="hall", sack=["lamp"]), reply(room="hall")], None, 100)
    assert [row["state"] for row in rows] == [{"room": "hall", "sack": []}, {"sack": ["lamp"]}, {"sack": None}]


def test_prompts_show_the_beginning_of_what_is_long() -> None:
    (row,) = shown([reply("x" * 30, map="y" * 30, room="hall")], None, 10)
    assert row["message"] == "xxxxxxxxxx [20 more characters]"
    assert row["state"] == {"map": '"yyyyyyyyy [22 more characters]', "room": "hall"}


async def test_the_session_since_its_last_start() -> None:
    cellar, trace = Cellar(), PlayTrace()
    trace.entries.append(PlayEntry.of(await cellar.reset(), step=0, kind="start", tool="start"))
    trace.entries.append(PlayEntry.of(await cellar.act("look"), step=1, kind="act", tool="act", command="look"))
    trace.entries.append(PlayEntry.of(await cellar.reset(), step=2, kind="restart", tool="restart"))
    trace.entries.append(PlayEntry(step=2, kind="read", tool="read_log"))
    trace.entries.append(PlayEntry(step=3, kind="replay", tool="act", command="down"))
    assert [entry.kind for entry in trace.since_restart()] == ["restart"]
    assert (trace.last.kind, trace.steps) == ("read", 3)
