"""Options of all commands: numbers are finite, and paths are not empty."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.running import Shell
from robogaze.cli import cli
from robogaze.cli.shared.types import GivenSource


def parameters(command: click.Command = cli, name: str = "") -> Iterator[tuple[str, click.Parameter]]:
    """Every parameter of every command, with its name."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for part in command.list_commands(context):
            found = command.get_command(context, part)
            assert found is not None
            yield from parameters(found, f"{name} {part}".strip())
    for parameter in command.params:
        yield f"{name} {parameter.name}".strip(), parameter


PARAMETERS = dict(parameters())
NUMBERS = {name: found for name, found in PARAMETERS.items() if "float" in found.type.name}
PATHS = {name: found for name, found in PARAMETERS.items() if isinstance(found.type, click.Path)}
SOURCES = {name: found for name, found in PARAMETERS.items() if isinstance(found.type, GivenSource)}


def test_the_commands_have_such_parameters() -> None:
    assert {"score outage", "compare margin", "env check timeout_s", "forge report level", "agree fps"} <= set(NUMBERS)
    assert {"score out", "forge plant out", "merge runs", "agree ratings"} <= set(PATHS)
    assert {"agree paths", "bench checkpoints", "compare baseline", "domain render clip"} <= set(SOURCES)


def test_every_parameter_that_holds_a_path_checks_it() -> None:
    shown = {name for name, found in PARAMETERS.items() if re.search("PATH|RUN|FILE", found.metavar or "")}
    assert shown - PATHS.keys() - SOURCES.keys() == set()


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_finite(name: str, value: str) -> None:
    with pytest.raises(click.BadParameter):
        NUMBERS[name].type.convert(value, None, None)


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_not_empty(name: str) -> None:
    with pytest.raises(click.BadParameter, match="empty"):
        PATHS[name].type.convert("", None, None)


@pytest.mark.parametrize("value", ["", "new="])
@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_not_empty(name: str, value: str) -> None:
    with pytest.raises(click.BadParameter, match="empty"):
        SOURCES[name].type.convert(value, None, None)


def test_a_file_whose_name_ends_with_an_equals_sign_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "new="
    path.touch()
    assert SOURCES["compare paths"].type.convert(str(path), None, None) == str(path)


@pytest.mark.parametrize("command", ["agree", "bench", "compare", "rank", "domain render full verify"])
def test_an_empty_path_is_not_the_working_directory(robogaze: Shell, command: str) -> None:
    ran = robogaze(*command.split(), "")
    assert ran.code == 2
    assert "the path is empty (is a variable of the shell not set?)" in ran.err


@pytest.mark.parametrize("option", ["--outage", "--max-cost", "--until-idle"])
def test_nan_is_a_usage_error(robogaze: Shell, option: str) -> None:
    ran = robogaze("score", "clips", option, "nan")
    assert ran.code == 2
    assert f"Invalid value for '{option}': 'nan' is not a finite number." in ran.err


def test_an_empty_run_folder_is_a_usage_error(robogaze: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = robogaze("score", "clips", "--out", "")
    assert ran.code == 2
    assert "Invalid value for '--out': the path is empty" in ran.err
    assert not list(tmp_path.iterdir())
