"""Replays, and the fewest commands that still show the same."""

from hypothesis import given
from hypothesis import strategies as st

from interactive.cellar import Cellar
from robogaze.interactive.replay import Commands, ReplayLimit, fewest, replay


async def test_a_replay_starts_afresh() -> None:
    cellar = Cellar()
    await replay(cellar, ("take coin",))
    again = await replay(cellar, ("take coin", "dance"))
    assert [entry.message for entry in again.replies] == [
        "You are in the hall.",
        "You take the coin.",
        "You cannot do that.",
    ]


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=24), st.sets(st.sampled_from("abc"), max_size=3))
async def test_the_fewest_commands_have_nothing_that_can_be_left_out(given: list[str], needed: set[str]) -> None:
    commands = (*given, *sorted(needed), "last")

    async def shows(fewer: Commands) -> bool:
        return needed <= set(fewer) and fewer[-1] == "last"

    found = await fewest(commands, shows)
    assert found[-1] == "last"
    assert sorted(found[:-1]) == sorted(needed), "each needed command once, and nothing else"


async def test_an_order_that_matters_is_kept() -> None:
    async def shows(fewer: Commands) -> bool:
        text = "".join(fewer)
        return "a" in text and "b" in text[text.index("a") :]

    assert await fewest(("b", "a", "x", "b", "y", "last"), shows) == ("a", "b", "last")


async def test_a_limit_of_replays_leaves_what_was_found_so_far() -> None:
    tried = 0

    async def shows(fewer: Commands) -> bool:
        nonlocal tried
        tried += 1
        if tried > 1:
            raise ReplayLimit
        return True

    assert await fewest(("a", "b", "c", "d", "last"), shows) == ("c", "d", "last")


async def test_no_commands_and_one_command_stay_as_they_are() -> None:
    async def shows(fewer: Commands) -> bool:
        return True

    assert await fewest((), shows) == ()
    assert await fewest(("last",), shows) == ("last",)
