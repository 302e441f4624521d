"""Parts by name: the package's own, and those that an installed package registers."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import robogaze
from robogaze.errors import InputError
from robogaze.registry import Registry

ROOT = Path(robogaze.__file__).parent
COLOURS: Registry[object] = Registry("colours", {"json": "json:dumps", "module": "json"})


@pytest.fixture
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with entry points in the group of the colours."""
    (tmp_path / "green_package.py").write_text("GREEN = 'green'\n")
    metadata = tmp_path / "green_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: green-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robogaze.colours]\ngreen = green_package:GREEN\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return metadata / "entry_points.txt"


def test_own_part_is_imported_by_its_path() -> None:
    import json

    assert COLOURS.load("json") is json.dumps
    assert COLOURS.load("module") is json


def own_parts() -> Iterator[tuple[str, str]]:
    """Each part that a registry in robogaze/ lists: the registry's file and line, and the part's import path."""
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Registry" and len(node.args) == 2:
                values = node.args[1].values if isinstance(node.args[1], ast.Dict) else ()
                for value in values:
                    if isinstance(value, ast.Constant):
                        yield f"{file.relative_to(ROOT)}:{value.lineno}", str(value.value)


@pytest.mark.parametrize(("place", "path"), [*own_parts()])
def test_every_own_part_exists(place: str, path: str) -> None:
    """Read from the source, because some parts need packages that are not installed."""
    module, _, name = path.partition(":")
    found = find_spec(module)
    assert found is not None, f"{place}: there is no module {module}"
    assert found.origin is not None
    body = ast.parse(Path(found.origin).read_text(encoding="utf-8")).body
    assigned = {
        target.id
        for node in body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in ast.walk(node)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }
    defined = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}
    assert not name or name in defined | assigned, f"{place}: {module} does not define {name}"


def test_the_registries_are_found() -> None:
    assert len({place.split(":")[0] for place, _ in own_parts()}) >= 13


def test_no_part_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from robogaze.registry import Registry; r = Registry('x', {'a': 'wave:open'}); "
        "assert 'a' in r and 'wave' not in sys.modules; r.load('a'); assert 'wave' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.usefixtures("another_package")
def test_installed_package_adds_a_part() -> None:
    assert COLOURS.names() == ("json", "module", "green")
    assert "green" in COLOURS
    assert COLOURS.load("green") == "green"


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'red' is not one of the colours: json, module"):
        COLOURS.load("red")


def test_name_registered_twice_is_refused(another_package: Path) -> None:
    another_package.write_text("[robogaze.colours]\njson = green_package:GREEN\n")
    with pytest.raises(InputError, match="'json' is registered as green_package:GREEN and as json:dumps"):
        COLOURS.load("json")


@pytest.mark.parametrize("path", ["missing_package:GREEN", "green_package:BLUE"])
def test_entry_point_that_cannot_be_imported_is_named_with_its_package(another_package: Path, path: str) -> None:
    another_package.write_text(f"[robogaze.colours]\nblue = {path}\n")
    with pytest.raises(InputError, match=rf"the entry point blue = '{path}' of green-package .* cannot be imported"):
        COLOURS.load("blue")
