"""The shape of the package: imports, words, sizes, and how fast it starts."""

import ast
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import robogaze
from robogaze.domains import domain_folders, load_domain

PACKAGE = Path(robogaze.__file__).parent

TIERS = (
    {"errors", "threads", "version"},
    {"registry", "sync", "dataframes", "paths"},
    {"core"},
    {"domains", "store", "matching"},
    {"media", "backends", "datasets", "metrics", "stats"},
    {"evidence", "judges", "annotations", "reports"},
    {"stages", "evaluation"},
    {"diagnose", "comparison", "agreement", "ranking", "doctor"},
    {"rehearse"},
    {"forge", "interactive", "render"},
    {"reporting"},
    {"run"},
    {"web"},
    {"cli"},
)
"""The parts of the package from the ground up. A part imports from the tiers below its own and from itself."""

TIER_OF = {part: number for number, tier in enumerate(TIERS) for part in tier}

HUB_FORMAT = "robogaze/interactive/environments/hub_format.py"
GBQA_FORMAT = "robogaze/datasets/formats/gbqa.py"
"""The files with the keys of a foreign format that are words of a domain."""

MODULE_LINES, FUNCTION_LINES = 400, 60
HEAVY = {"av", "cv2", "httpx2", "numpy", "scipy", "sklearn", "torch"}
HELP_CPU_S = 0.6
_YAML = ("yaml", "ruamel", "omegaconf", "strictyaml")


@dataclass(frozen=True)
class Module:
    """A file of the package."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE.parent).as_posix()

    @property
    def part(self) -> str:
        """The part of the package it belongs to; `robogaze` for the package's own `__init__` and `__main__`."""
        first = self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        return "robogaze" if first in ("__init__", "__main__") else first

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(path, text, ast.parse(text)))
    return tuple(found)


def imported(module: Module) -> Iterator[tuple[int, str]]:
    """The parts of the package a module imports, by line: also for types only, within functions, and by name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"robogaze(\.\w+)+", str(node.value)):
            names = [str(node.value)]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "robogaze" and rest:
                yield node.lineno, rest.split(".")[0]


# Imports.


def test_every_part_of_the_package_has_its_tier() -> None:
    unplaced = {module.part for module in modules()} - TIER_OF.keys() - {"robogaze"}
    assert not unplaced, f"place {', '.join(sorted(unplaced))} in TIERS (design: imports point down only)"


def test_imports_point_down_only() -> None:
    wrong = [
        f"{module.name}:{line} imports {part}"
        for module in modules()
        if module.part != "robogaze"
        for line, part in imported(module)
        if part != module.part and TIER_OF.get(part, len(TIERS)) >= TIER_OF.get(module.part, -1)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_evaluated_comes_from_reports_alone() -> None:
    wrong = [
        f"{module.name}:{line} imports {part}"
        for module in modules()
        if module.part in ("evaluation", "comparison", "agreement", "ranking")
        for line, part in imported(module)
        if part in ("stages", "media", "backends")
    ]
    assert not wrong, "\n".join(wrong)


# Output, environment, threads, YAML.


def test_only_the_command_line_prints_and_reads_the_environment() -> None:
    uses = {
        f"{module.name}:{node.lineno} uses {what}": module.part
        for module in modules()
        for node in ast.walk(module.tree)
        if (what := _outward(node)) is not None
    }
    # `robogaze.score`, `bench` and `play` take the keys of servers from the environment, as the commands do.
    public = ("robogaze/run/score.py", "robogaze/run/bench.py", "robogaze/interactive/play.py")
    wrong = [use for use, part in uses.items() if part != "cli" and not use.startswith(public)]
    assert not wrong, "\n".join(wrong)
    assert {use.partition(" uses ")[2] for use in uses} >= {"import click", "os.environ", "sys.stdout"}  # it finds them


def test_no_thread_keeps_the_program_from_ending() -> None:
    """`robogaze.threads.in_thread` in place of `asyncio.to_thread`, for whose threads Python waits at its end."""
    wrong = [hit for module in modules() for hit in hits(module, re.compile(r"asyncio\.to_thread\(|ThreadPool"))]
    assert not wrong, "\n".join(wrong)


def test_yaml_is_read_in_one_place() -> None:
    """That place has bounds and names file and line; YAML is read nowhere else."""
    found = [
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Import) and any(alias.name.split(".")[0] in _YAML for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in _YAML)
        or (isinstance(node, ast.Constant) and node.value in _YAML)
    ]
    assert found == ["robogaze/domains/yaml_files.py"]


def _outward(node: ast.AST) -> str | None:
    """The input or output that a node uses, None for nothing."""
    code = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name | ast.Import | ast.ImportFrom) else ""
    found = re.fullmatch(r"(os\.environ|os\.getenv|sys\.stdout|sys\.stderr|print)", code) or re.match(
        r"(import click|from click import|from os import .*(environ|getenv))\b", code
    )
    return found and found.group()


# Words of a domain.


@cache
def domain_words() -> tuple[str, ...]:
    """The ids and names of everything in the built-in domains."""
    found: set[str] = set()
    for name in domain_folders():
        domain = load_domain(name)
        for item in (*domain.dimensions.values(), *domain.types.values()):
            found |= {item.id, item.name.lower()}
    return tuple(sorted(found))


def whole(words: Iterator[str] | tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of some words or phrases as such; a phrase may go over a line's end."""
    phrases = (re.escape(word).replace(r"\ ", r"[\s#]+") for word in words)
    return re.compile(rf"(?<!\w)({'|'.join(phrases)})(?!\w)", re.IGNORECASE)


def hits(module: Module, pattern: re.Pattern[str], text: str | None = None, first_line: int = 1) -> Iterator[str]:
    for found in pattern.finditer(module.text if text is None else text):
        line = first_line + (module.text if text is None else text).count("\n", 0, found.start())
        yield f"{module.name}:{line}: {found.group()}"


def literals(module: Module) -> Iterator[ast.Constant]:
    """The texts in a module's code, without the docstrings."""
    prose = {id(node.value) for node in module.nodes(ast.Expr) if isinstance(node, ast.Expr)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


def test_no_word_of_a_domain_is_in_code_prose_or_comment() -> None:
    """An id or a name of several words belongs to a domain, and so do the names of the things judged."""
    phrases = tuple(word for word in domain_words() if "_" in word or " " in word)
    things = re.compile(r"(?<![A-Za-z])(robot|gripper|game)s?(?![A-Za-z])", re.IGNORECASE)
    found = [
        hit
        for module in modules()
        if module.name not in (HUB_FORMAT, GBQA_FORMAT)
        for pattern in (whole(phrases), things)
        for hit in hits(module, pattern)
    ]
    assert not found, "\n".join(found)


def test_no_word_of_a_domain_is_a_value_in_code() -> None:
    """An id that is an ordinary word may be in prose, but code does not compare with it or write it."""
    pattern = whole(tuple(word for word in domain_words() if word.isalpha()))
    found = [
        hit
        for module in modules()
        for node in literals(module)
        for hit in hits(module, pattern, str(node.value), node.lineno)
    ]
    assert not found, "\n".join(found)


# Names.


def test_no_two_public_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for module in modules():
        for node in module.nodes(ast.ClassDef):
            assert isinstance(node, ast.ClassDef)
            if not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(f"{module.name}:{node.lineno}")
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice, "\n".join(f"{name}: {', '.join(places)}" for name, places in twice.items())


# Sizes.


def test_no_module_is_too_long() -> None:
    long = [f"{module.name}: {lines}" for module in modules() if (lines := module.text.count("\n")) > MODULE_LINES]
    assert not long, "\n".join(long)


def test_no_function_is_longer_than_a_page() -> None:
    long = []
    for module in modules():
        for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                long.append(f"{module.name}:{node.lineno} {node.name}: {lines}")
    assert not long, "\n".join(long)


# Start.


_HELP = "import sys; sys.argv[1:] = ['--help']; from robogaze.cli import main"


@pytest.mark.parametrize("what", ["import robogaze", _HELP])
def test_nothing_heavy_is_loaded_before_it_is_needed(what: str) -> None:
    code = f"""
import json, sys
{what}
try:
    main() if "main" in globals() else None
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY & set(json.loads(done.stderr)) == set()
    assert ("Usage: " in done.stdout) is ("--help" in what)


MISTYPED = (
    "annotate MISSING --as ann",
    "annotate --review MISSING --as ann",
    "annotations MISSING",
    "dataset check MISSING",
    "dataset export MISSING --to csv --out OUT",
    "dataset import MISSING",
    "domain check MISSING",
    "env check MISSING",
    "domain render full verify MISSING.mp4",
    "forge plant MISSING --out OUT",
    "forge report MISSING --reference MISSING",
    "judge-check MISSING",
    "merge MISSING --out OUT",
    "play MISSING --model scripted:MODEL --out OUT",
    "report MISSING",
    "score MISSING",
    "score . --domain MISSING",
)


def test_mistyped_path_is_an_error_before_anything_heavy_is_loaded() -> None:
    """All commands in one process, because starting Python takes longer than each of them."""
    code = f"""
import contextlib, io, json, sys
from robogaze.cli import main
for command in {MISTYPED}:
    sys.argv[1:] = command.split()
    with contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            print(json.dumps([command, end.code, err.getvalue(), sorted({HEAVY} & sys.modules.keys())]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert [command for command, *_ in ended] == list(MISTYPED)
    for command, exit_code, err, loaded in ended:
        assert exit_code in (1, 2), command
        assert "MISSING" in err, command
        assert loaded == [], command


def test_help_answers_at_once() -> None:
    def cpu_s() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "robogaze", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cpu_s() for _ in range(3)) < HELP_CPU_S


def test_every_public_name_is_there() -> None:
    assert [name for name in robogaze.__all__ if getattr(robogaze, name, None) is None] == []
    assert set(dir(robogaze)) == set(robogaze.__all__)
    assert len(robogaze.__all__) <= 27


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        AttributeError, match="module 'robogaze' has no attribute 'diagnoze'; it has: AgreementConfig, BenchResult, "
    ):
        _ = robogaze.diagnoze
