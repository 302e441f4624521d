"""Folders of environments: builds by their switches, versions of bugs, and files that are wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from robogaze.datasets.builds import parse_switches
from robogaze.errors import DomainError, InputError
from robogaze.interactive.environments import built_in_environments, load_folder, open_environment

BUGS = ("a", "b", "c")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(copytree(load_folder("castle").path, tmp_path / "castle"))


@pytest.mark.parametrize(
    ("switches", "bugs"),
    [
        ("", "abc"),
        ("clean", ""),
        ("+a", "a"),
        ("+a+c", "ac"),
        ("-a", "bc"),
        ("-a-b", "c"),
        ("+a+b-a", "b"),
        ("-a+a", "abc"),
    ],
)
def test_switches_choose_the_bugs_of_a_build(switches: str, bugs: str) -> None:
    assert parse_switches(switches, BUGS) == frozenset(bugs)


@pytest.mark.parametrize("switches", ["a", "+", "dirty", "clean+a", "+a ", "--a"])
def test_other_switches_are_refused(switches: str) -> None:
    with pytest.raises(InputError, match=r"is not a build; use clean, \+BUG or -BUG, where BUG is one of: a, b, c"):
        parse_switches(switches, BUGS)


def test_an_unknown_bug_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="'d' is not one of the bugs: a, b, c"):
        parse_switches("+d", BUGS)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("castle", "castle"),
        ("castle:clean", "castle-clean"),
        ("castle:+dropped+drawer", "castle+drawer+dropped"),
        ("castle:-fragments", "castle+drawer+dropped"),
        ("castle:+drawer+dropped+fragments", "castle"),
    ],
)
def test_a_build_has_the_name_of_its_bugs(spec: str, name: str) -> None:
    assert open_environment(spec, mode="player").name == name


def test_a_build_differs_in_the_values_of_its_bugs_alone() -> None:
    castle = load_folder("castle")
    clean, faulty = castle.build(frozenset()).content, castle.build(frozenset({"fragments"})).content
    assert clean["actions"]["combine"]["needs"][1]["carried"].pop("at_least") == 3
    assert faulty["actions"]["combine"]["needs"][1]["carried"].pop("at_least") == 2
    assert faulty == clean
    assert castle.build(frozenset()).content != clean, "each build is a copy"


async def test_no_document_names_a_bug() -> None:
    for name in built_in_environments():
        documents = open_environment(name, mode="qa").documents()
        assert documents is not None
        assert [path.rpartition(".")[2] for path in await documents.files()] == ["md", "py", "json"]
        for bug in load_folder(name).bugs:
            assert await documents.search(bug.observed_fault[:30]) == ()
        assert await documents.search("faults") == ()
        assert await documents.search("minimal_reproduction") == ()


def test_the_last_version_of_the_bugs_is_used(folder: Path) -> None:
    first = json.loads((folder / "bugs" / "1.json").read_text())
    (folder / "bugs" / "2.json").write_text(json.dumps({**first, "bug_version": "2", "bugs": first["bugs"][:1]}))
    assert load_folder(str(folder)).bug_ids == ("fragments",)


def test_a_name_that_is_none_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError,
        match=r"'dungeon' is neither a built-in environment \(castle, lighthouse, warehouse\) nor a folder with",
    ):
        open_environment("dungeon", mode="player")


def changed(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


FAULTS = {
    "no walkthrough": (without("walkthrough.json"), r"walkthrough.json: this file is missing"),
    "no design": (without("design.md"), r"design.md: this file is missing"),
    "no bugs": (without("bugs/1.json"), r"has no list of bugs: the file bugs/VERSION.json is missing"),
    "no faults": (without("faults.yaml"), r"faults.yaml: this file is missing"),
    "an unknown engine": (
        changed("world.yaml", "engine: rooms", "engine: maze"),
        "'maze' is not one of the environments",
    ),
    "a bug without changes": (
        changed("faults.yaml", "dropped:", "other:"),
        "faults.yaml: changes are missing for these bugs of bugs/1.json: dropped",
    ),
    "a change of nothing": (
        changed("faults.yaml", "needs, 1,", "needs, 7,"),
        r"faults.yaml: world.yaml has no value at actions.combine.needs.7.carried.at_least",
    ),
    "a change to nonsense": (
        changed("faults.yaml", "value: 2", "value: many"),
        r"world.yaml:\d+: .*at_least: Input should",
    ),
    "a new difficulty": (changed("bugs/1.json", '"easy"', '"trivial"'), r"1.json: bugs.0.difficulty: Input should be"),
    "no list of commands": (changed("walkthrough.json", "[", "{"), r"walkthrough.json: Invalid JSON"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_file_is_named(fault: str, folder: Path) -> None:
    change, message = FAULTS[fault]
    change(folder)
    with pytest.raises((DomainError, InputError), match=message):
        open_environment(str(folder), mode="qa")
