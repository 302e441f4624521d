"""`check` passes the built-in environments and finds what is wrong in others."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from interactive.environments.hubs import PublicHub, serving
from robogaze.interactive.environments import Observation, built_in_environments, load_folder
from robogaze.interactive.environments.check import check_folder, check_protocol
from robogaze.interactive.environments.rooms import RoomsWorld


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(copytree(load_folder("castle").path, tmp_path / "castle"))


async def problems(folder: Path) -> dict[str, str]:
    return {check.name: check.problem for check in await check_folder(load_folder(str(folder))) if check.problem}


def reproduce(folder: Path, bug: str, commands: list[str]) -> None:
    """Replace the minimal reproduction of a bug."""
    path = folder / "bugs" / "1.json"
    content = json.loads(path.read_text())
    for entry in content["bugs"]:
        if entry["id"] == bug:
            entry["minimal_reproduction"] = commands
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", built_in_environments())
async def test_built_in_environments_pass(name: str) -> None:
    checks = (*await check_protocol(name), *await check_folder(load_folder(name)))
    assert [check for check in checks if check.problem] == []
    assert sum("shows in its reproduction" in check.name for check in checks) == 6


async def test_the_public_hub_passes_the_protocol() -> None:
    with serving(PublicHub().app) as address:
        assert [check for check in await check_protocol(address) if check.problem] == []


async def test_a_walkthrough_that_does_not_win(folder: Path) -> None:
    commands = json.loads((folder / "walkthrough.json").read_text())
    (folder / "walkthrough.json").write_text(json.dumps(commands[:-1]))
    found = await problems(folder)
    assert set(found) == {"the walkthrough wins in the build with every bug", "the walkthrough wins in the clean build"}
    assert all(problem.startswith("it is not at its end; the last reply is '[Hall]") for problem in found.values())


async def test_a_walkthrough_that_goes_on_after_the_end(folder: Path) -> None:
    commands = json.loads((folder / "walkthrough.json").read_text())
    (folder / "walkthrough.json").write_text(json.dumps([*commands, "look"]))
    assert set((await problems(folder)).values()) == {"it ends after 36 of 37 commands"}


async def test_a_bug_that_makes_no_difference(folder: Path) -> None:
    text = (folder / "faults.yaml").read_text()
    (folder / "faults.yaml").write_text(text.replace("value: 2", "value: 3"))
    found = await problems(folder)
    assert [name.partition(" ")[0] for name in found] == ["fragments", "fragments"]
    assert set(found.values()) == {"with and without the bug all replies are the same"}


async def test_a_reproduction_that_is_longer_than_needed(folder: Path) -> None:
    reproduce(folder, "drawer", ["north", "east", "look"])
    assert set((await problems(folder)).values()) == {"it shows already after 2 of 3 commands"}


async def test_a_world_that_does_not_repeat_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(10_000))
    act = RoomsWorld.act

    def acting(self: RoomsWorld, command: str) -> Observation:
        seen = act(self, command)
        return replace(seen, message=f"{next(numbers)}: {seen.message}")

    monkeypatch.setattr(RoomsWorld, "act", acting)
    checks = await check_protocol(str(folder))
    assert [check.name for check in checks if check.problem == "the replies differ in message"] == [
        "the same commands give the same replies"
    ]
    assert (await problems(folder))["the walkthrough gives the same replies again"] == "they differ"
