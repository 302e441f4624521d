"""YAML with the line of every fault."""

from pathlib import Path

import pytest
from pydantic import Field

from robogaze.core.data import Data
from robogaze.domains.yaml_files import parse_yaml, read_yaml
from robogaze.errors import DomainError

PATH = Path("cups.yaml")


class Cup(Data):
    colour: str
    sizes: tuple[int, ...] = ()


class Shelf(Data):
    cups: tuple[Cup, ...]


class Cupboard(Data):
    shelves: tuple[Shelf, ...] = Field(min_length=1)


class House(Data):
    cupboards: tuple[Cupboard, ...] = Field(min_length=1)


def fault(text: str, first_line: int = 1) -> DomainError:
    with pytest.raises(DomainError) as caught:
        parse_yaml(text, PATH, first_line).parse(Shelf)
    return caught.value


def test_what_fits_becomes_a_record() -> None:
    text = "cups:\n  - colour: red\n    sizes: [1, 2]\n  - {colour: blue}\n"
    assert parse_yaml(text, PATH).parse(Shelf) == Shelf(cups=(Cup(colour="red", sizes=(1, 2)), Cup(colour="blue")))


def test_a_part_can_be_read_by_its_key() -> None:
    text = "shelves:\n  - cups: []\n  - cups:\n      - {colour: red}\n"
    assert parse_yaml(text, PATH).parse(Shelf, ("shelves", 1)) == Shelf(cups=(Cup(colour="red"),))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("cups:\n  - colour: red\n    size: 3\n", 3, "cups.0.size: unknown key"),
        ("cups:\n  - colour: red\n  - colour: 5\n", 3, "cups.1.colour: Input should be a valid string"),
        (
            "cups:\n  - colour: red\n    sizes:\n      - 1\n      - big\n",
            5,
            "cups.0.sizes.1: Input should be a valid int",
        ),
        ("cups:\n  - colour: red\n  - {}\n", 3, "cups.1.colour: Field required"),  # the line of what lacks it
        ("cups:\n  - colour: red\n    colour: blue\n", 3, "colour: this key stands twice"),
        ("cups:\n  - {colour: red, colour: blue}\n", 2, "colour: this key stands twice"),
        ("cups:\n  - colour: [red\n", 3, "not valid YAML"),
        ("cups:\n\t- colour: red\n", 2, "not valid YAML"),
        ("cups: []\n---\ncups: []\n", 2, "not valid YAML"),
        ("cups: !!python/name:os.system\n", 1, "not valid YAML"),
        ("? [cups]\n: 1\n", 1, "not valid YAML"),
        ("- colour: red\n", 1, "Input should be a valid dictionary"),
    ],
)
def test_a_fault_has_its_line(text: str, line: int, message: str) -> None:
    error = fault(text)
    assert (error.path, error.line) == (PATH, line)
    assert message in str(error)
    assert str(error).startswith(f"cups.yaml:{line}: ")


def test_of_several_faults_one_is_told_and_the_others_counted() -> None:
    assert str(fault("cups:\n  - colour: 5\n  - colour: 6\n")) == (
        "cups.yaml:2: cups.0.colour: Input should be a valid string (and 1 more)"
    )


def test_of_several_faults_a_misspelt_key_is_told_first() -> None:
    assert str(fault("cups:\n  - color: red\n")) == "cups.yaml:2: cups.0.color: unknown key (and 1 more)"


@pytest.mark.parametrize(
    ("cups", "more"), [("[{colour: 5}]", ""), ("[{colour: 5}, {colour: 6}]", " (and 1 more)"), ("7", "")]
)
def test_a_list_is_no_shorter_for_what_is_wrong_in_it(cups: str, more: str) -> None:
    text = f"cupboards:\n  - shelves:\n      - cups: {cups}\n"
    with pytest.raises(DomainError) as caught:
        parse_yaml(text, PATH).parse(House)
    assert caught.value.line == 3
    assert caught.value.message.endswith(more)
    assert ("more)" in caught.value.message) is bool(more)


def test_a_list_that_is_too_short_is_a_fault_of_its_own() -> None:
    with pytest.raises(DomainError, match=r"cupboards\.0\.shelves: Tuple should have at least 1 item") as caught:
        parse_yaml("cupboards:\n  - shelves: []\n  - {}\n", PATH).parse(House)
    assert caught.value.message.endswith("(and 1 more)")


def test_lines_count_from_where_the_text_begins_in_its_file() -> None:
    assert fault("cups:\n  - colour: 5\n", first_line=10).line == 11
    assert fault("cups:\n  - colour: [\n", first_line=10).line == 12


def test_a_character_that_yaml_forbids_is_told_in_one_line() -> None:
    assert "\n" not in str(fault("cups: \0\n"))
    assert "characters are not allowed" in str(fault("cups: \0\n"))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "cups.yaml"
    path.write_bytes(b"\xef\xbb\xbfcups: []\r\n")
    assert read_yaml(path).parse(Shelf) == Shelf(cups=())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=r"cups\.yaml: this file is missing"):
        read_yaml(tmp_path / "cups.yaml")


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cups.yaml"
    path.write_bytes("cups: [{colour: grün}]".encode("latin-1"))
    with pytest.raises(DomainError, match=r"cups\.yaml: cannot be read as UTF-8 text"):
        read_yaml(path)
