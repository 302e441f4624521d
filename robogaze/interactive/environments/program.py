"""The engine `program`: environments whose rules are generated Python, run in a process of their own.

A definition has `title` and `code`: the parts of a module by name, each a list of lines that defines one function or
one constant. The module must define

    start() -> dict                a new state, of JSON values
    opening(state) -> str          the first message
    act(state, command) -> str     changes the state, returns the reply; never fails, whatever the command is
    visible(state) -> dict         what a player sees of the state, of JSON values
    finished(state) -> bool        whether it is over

A build with a bug has other lines in one of the parts, so the source that an agent may read is the program that runs.

**What the process protects from.** Accidents: endless loops (processor time, and a time limit for each reply), memory,
opening and writing files, starting processes (unless it runs as root), printing into the protocol, imports beyond a few
modules of the standard library. Where the system allows it (`unshare`), the process has no network. Before it runs,
code is refused that imports anything else, uses names with two leading underscores, or asks for `open`, `exec`, `eval`
and the like.

**What it does not protect from.** Code that is written to break out. Checks in Python can be evaded, the process runs
as the same user and sees the same files, and a fault in the interpreter is not contained. Run code that you do not
trust in a container or a virtual machine as well.
"""

import ast
import json
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.domains.yaml_files import YamlText
from robogaze.interactive.environments import program_process
from robogaze.interactive.environments.base import EnvironmentFault, Observation
from robogaze.interactive.environments.in_process import StartWorld

REQUIRED = ("start", "opening", "act", "visible", "finished")
"""The functions of a program."""

_MEMORY_BYTES = 512 << 20
_CPU_S = 20
_LONGEST_REPLY = 1 << 20
_FORBIDDEN = {
    "open", "exec", "eval", "compile", "input", "breakpoint", "globals", "locals", "vars", "getattr", "setattr",
    "delattr", "type", "object", "super", "memoryview", "id", "hash",
}  # fmt: skip
"""Names that a program has no use for. `id` and `hash` would make it differ from run to run."""


class Program(Data):
    """The definition of a program."""

    engine: str
    title: str = Field(min_length=1)
    code: dict[str, tuple[str, ...]] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_allowed(self) -> "Program":
        if problem := problem_in(self.code):
            raise ValueError(problem)
        return self

    @property
    def source(self) -> str:
        """The module."""
        return source_of(self.code)


def source_of(code: Mapping[str, tuple[str, ...]]) -> str:
    """The module of some parts, in their order."""
    return "\n\n\n".join("\n".join(lines) for lines in code.values()) + "\n"


def problem_in(code: Mapping[str, tuple[str, ...]]) -> str:
    """Why a program is refused before it runs; empty if it is not."""
    for name, lines in code.items():
        if problem := problem_in_part(name, "\n".join(lines)):
            return f"code.{name}: {problem}"
    missing = [name for name in REQUIRED if name not in code]
    return f"code: there is no part {', '.join(missing)}" if missing else ""


def problem_in_part(name: str, text: str) -> str:
    """Why a part is refused; empty if it is not."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"is not Python: {error}"
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    defined = [node for node in tree.body if node not in imports]
    if len(defined) != 1 or name not in _names_of(defined[0]):
        found = ", ".join(other for node in defined for other in _names_of(node))
        return f"defines {found or 'nothing'}, not {name} alone"
    for node in ast.walk(tree):
        if problem := _refused(node):
            return f"line {getattr(node, 'lineno', 1)}: {problem}"
    return ""


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return [type(node).__name__]


def _refused(node: ast.AST) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        other = [name for name in names if name not in program_process.MODULES]
        return f"imports {other[0]}; allowed are {', '.join(program_process.MODULES)}" if other else ""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name.startswith("__") or (isinstance(node, ast.Name) and name in _FORBIDDEN):
        return f"uses {name}"
    if isinstance(node, ast.Attribute) and name in ("format", "format_map", "gi_frame", "cr_frame", "f_globals"):
        return f"uses .{name}, which reaches into objects; use an f-string"
    return ""


def load(definition: YamlText) -> StartWorld:
    """The sessions of a definition, each a process. Raises DomainError where it is invalid."""
    program = definition.parse(Program)
    return lambda: ProgramWorld(program.title, program.source)


class ProgramWorld:
    """One session. Raises EnvironmentFault: `invalid_reply` if the program fails, `unreachable` if its process ends."""

    def __init__(self, title: str, source: str) -> None:
        self.log: list[str] = []
        self._title = title
        self._turn = 0
        command = [*_without_network(), sys.executable, "-I", str(Path(program_process.__file__))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, cwd="/"
        )
        # A session that nobody closes ends with the last reference to it.
        self._end = weakref.finalize(self, _end, self._process)
        try:
            self._last = self._sent({"code": source, "memory_bytes": _MEMORY_BYTES, "cpu_s": _CPU_S})
        except EnvironmentFault:
            self.close()
            raise

    def act(self, command: str) -> Observation:
        if not self._last.finished:
            self._turn += 1
            self.log.append(f"turn {self._turn}: {command[:200]!r}")
            self._last = self._sent({"command": command})
        return self._last

    def observe(self) -> Observation:
        return self._last

    def close(self) -> None:
        self._end()

    def _sent(self, request: Mapping[str, Any]) -> Observation:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline(_LONGEST_REPLY)
        except (OSError, ValueError) as error:
            raise EnvironmentFault(f"the process of {self._title} has ended", "unreachable") from error
        if not line.endswith(b"\n"):
            why = "replied too much" if line else "has ended; it may have used up its memory or processor time"
            raise EnvironmentFault(f"the process of {self._title} {why}", "invalid_reply" if line else "unreachable")
        reply = json.loads(line)
        if "error" in reply:
            raise EnvironmentFault(f"the program of {self._title} failed: {reply['error']}", "invalid_reply")
        return Observation(reply["message"], reply["state"], self._turn, reply["finished"])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # what was not sent to a process that has ended
                pipe.close()


@cache
def _without_network() -> tuple[str, ...]:
    """The command that takes the network from a process; empty where the system does not allow it."""
    unshare = which("unshare")
    if unshare is None:
        return ()
    command = (unshare, "--user", "--map-current-user", "--net", "--")
    tried = subprocess.run([*command, sys.executable, "-I", "-c", ""], capture_output=True, timeout=30, check=False)
    return command if tried.returncode == 0 else ()


def without_network() -> bool:
    """Whether programs run without network on this system."""
    return bool(_without_network())
