"""YAML with the line of every fault."""

import os
import time
from datetime import date
from pathlib import Path

import pytest

from robogaze.backends import ModelsConfig
from robogaze.backends.scripted import ScriptedBackend
from robogaze.core.data import Data
from robogaze.domains.yaml_files import LARGEST_FILE, parse_yaml, read_yaml
from robogaze.errors import DomainError, InputError

PATH = Path("cups.yaml")


class Cup(Data):
    colour: str
    sizes: tuple[int, ...] = ()


class Shelf(Data):
    cups: tuple[Cup, ...]


def fault(text: str, first_line: int = 1) -> DomainError:
    with pytest.raises(DomainError) as caught:
        parse_yaml(text, PATH, first_line).parse(Shelf)
    return caught.value


def test_a_valid_file_becomes_a_record() -> None:
    text = "cups:\n  - colour: red\n    sizes: [1, 2]\n  - {colour: blue}\n"
    assert parse_yaml(text, PATH).parse(Shelf) == Shelf(cups=(Cup(colour="red", sizes=(1, 2)), Cup(colour="blue")))


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
        ("cups:\n  - colour: red\n    sizes: big\n", 3, "cups.0.sizes: Input should be a list"),
        ("cups:\n  - colour: red\n  - {}\n", 3, "cups.1.colour: Field required"),  # the line of what lacks it
        ("cups:\n  - colour: red\n    colour: blue\n", 3, "colour: this key is repeated"),
        ("cups:\n  - {colour: red, colour: blue}\n", 2, "colour: this key is repeated"),
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


def test_of_several_errors_a_misspelt_key_comes_first() -> None:
    assert str(fault("cups:\n  - color: red\n")) == "cups.yaml:2: cups.0.color: unknown key"


def test_lines_count_from_where_the_text_begins_in_its_file() -> None:
    assert fault("cups:\n  - colour: 5\n", first_line=10).line == 11
    assert fault("cups:\n  - colour: [\n", first_line=10).line == 12


def test_the_error_about_a_forbidden_character_has_one_line() -> None:
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


# Files from other people.

_LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(9)
)
_MERGES = "m0: &m0 {k: 1}\n" + "".join(f"m{n + 1}: &m{n + 1} {{<<: [*m{n}, *m{n}]}}\n" for n in range(40))
_CHAIN = "c0: &c0 [x]\n" + "".join(f"c{n + 1}: &c{n + 1} [*c{n}]\n" for n in range(60))

HOSTILE = {
    "aliases that multiply": (_LAUGHS, 5, "holds more than 100,000 values with aliases expanded"),
    "merges that multiply": (_MERGES, None, "holds more than 100,000 values with aliases expanded"),
    "aliases that deepen": (_CHAIN, None, "nests deeper than 50 levels with aliases expanded"),
    "a list in itself": ("cups: &a [*a]\n", 1, "an alias refers to a value that contains the alias"),
    "a mapping in itself": ("cups: &a\n  b: *a\n", 1, "an alias refers to a value that contains the alias"),
    "a date that is none": ("a: 1\ncups: 2001-99-99\n", 2, "'2001-99-99' is not a date; quote it if it is a text"),
    "a time that is none": ("cups: 2001-01-01 25:61:61\n", 1, "is not a date"),
    "a number without digits": ("cups: 0x_\n", 1, "'0x_' is not a whole number"),
    "a number of 5,000 digits": (f"cups: {'9' * 5000}\n", 1, "is not a whole number"),
    "a number of many parts": (f"cups: 1{':1' * 5000}\n", 1, "is not a whole number"),
    "a long hexadecimal number": (f"cups: 0x{'f' * 5000}\n", 1, "is not a whole number"),
    "a word as a number": ("cups: !!int abc\n", 1, "'abc' is not a whole number"),
    "nothing as a number": ("cups: !!int ''\n", 1, "'' is not a whole number"),
    "a word as a date": ("cups: !!timestamp abc\n", 1, "'abc' is not a date"),
    "bytes": ("cups: !!binary abc\n", 1, "not valid YAML: the tag tag:yaml.org,2002:binary"),
    "an object": ("a:\n  - !!python/object/apply:os.system [id]\n", 2, "not valid YAML: the tag"),
    "a tag of its own": ("cups: !cup red\n", 1, "not valid YAML: the tag !cup"),
    "a list as a number": ("cups: !!int [1]\n", 1, "not valid YAML"),
    "an equals sign": ("cups: =\n", 1, "not valid YAML"),
    "deep lists": ("cups:\n  " + "[" * 100_000, 2, "nests deeper than 50 levels"),
    "deep mappings": ("{a: " * 100_000, 1, "nests deeper than 50 levels"),
    "deep lines": ("".join(" " * n + "-\n" for n in range(80)), 51, "nests deeper than 50 levels"),
    "a key that is a list": ("a: 1\n? [b]\n: 1\n", 2, "not valid YAML: a key must be a text or a number"),
    "a key that is an alias of a list": ("a: &a [b]\n*a : 1\n", 1, "not valid YAML: a key must be a text or a number"),
    "a key twice": ("a: 1\na: 2\n", 2, "a: this key is repeated"),
    "half a character": ('cups: "\\ud800"\n', 1, "not valid YAML"),
    "an alias of nothing": ("cups: *a\n", 1, "not valid YAML"),
    "too many values": ("- a\n" * 200_001, 100_000, "holds more than 100,000 values"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_its_line_within_seconds(tmp_path: Path, name: str) -> None:
    text, line, message = HOSTILE[name]
    path = tmp_path / "cups.yaml"
    path.write_text(text, encoding="utf-8")
    started = time.process_time()
    with pytest.raises(DomainError) as caught:
        read_yaml(path)
    assert time.process_time() - started < 5
    assert message in str(caught.value)
    assert caught.value.path == path
    assert caught.value.line == line or (line is None and caught.value.line is not None)
    assert len(str(caught.value)) < 500 + len(str(path))


def test_a_models_file_and_a_script_have_the_same_bounds(tmp_path: Path) -> None:
    path = tmp_path / "cups.yaml"
    path.write_text(_LAUGHS, encoding="utf-8")
    for read in (lambda: ModelsConfig.read(str(path)), lambda: ScriptedBackend.read(path)):
        with pytest.raises(InputError, match=r"cups\.yaml:5: holds more than 100,000 values"):
            read()


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cups.yaml"
    path.write_bytes(b"#" * (LARGEST_FILE + 1))
    with pytest.raises(DomainError, match=r"cups\.yaml: holds more than 16 MiB"):
        read_yaml(path)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    for path in (Path("/dev/zero"), tmp_path / "fifo.yaml", tmp_path):
        with pytest.raises(DomainError, match="is not a regular file"):
            read_yaml(path)


def test_aliases_and_merges_within_the_bounds_are_written_out() -> None:
    text = "base: &base {colour: red, size: 3}\ncups:\n  - *base\n  - {<<: *base, colour: blue}\n"
    assert parse_yaml(text, PATH).content["cups"] == [{"colour": "red", "size": 3}, {"colour": "blue", "size": 3}]


def test_values_are_those_of_yaml() -> None:
    text = "[1, 0x1f, 1.5, .inf, true, ~, 2001-01-01, '2001-99-99', text]"
    assert parse_yaml(text, PATH).content == [
        1, 31, 1.5, float("inf"), True, None, date(2001, 1, 1), "2001-99-99", "text",
    ]  # fmt: skip
