"""Runs a generated program in a process of its own: commands come in on fd 0, and replies go out on fd 1.

The process is started with `python -I` and imports only the standard library. Before it runs generated code, it limits
its memory and its processor time, and it can no longer start processes, open files or write files. The first line is
{"code": ..., "memory_bytes": ..., "cpu_s": ...}; each further line is {"command": ...}. Each reply is one line:
{"message", "state", "finished"}, or {"error"}.
"""

import builtins
import contextlib
import importlib
import json
import os
import resource
from typing import Any

MODULES = ("collections", "copy", "enum", "functools", "itertools", "math", "re", "string")
"""What a program may import."""

_WITHOUT = (
    "open", "exec", "eval", "compile", "input", "breakpoint", "help", "exit", "quit", "globals", "vars", "memoryview",
)  # fmt: skip
"""The built-in names that a program does not have."""


def main() -> None:
    """Serve one session until fd 0 is closed."""
    with os.fdopen(0, encoding="utf-8") as received, os.fdopen(1, "w", encoding="utf-8") as sent:
        first = json.loads(received.readline())
        for name in MODULES:
            importlib.import_module(name)
        _limit(first["memory_bytes"], first["cpu_s"])
        functions: dict[str, Any] = {"__builtins__": _builtins(), "__name__": "program"}
        state: dict[str, Any] = {}
        for reply in _replies(first["code"], functions, state, received):
            sent.write(json.dumps(reply) + "\n")
            sent.flush()


def _replies(code: str, functions: dict[str, Any], state: dict[str, Any], received: Any) -> Any:
    try:
        exec(code, functions)
        state.update(functions["start"]())
        yield _shown(str(functions["opening"](state)), functions, state)
    except Exception as error:  # noqa: BLE001 (whatever generated code raises is its reply)
        yield {"error": f"{type(error).__name__}: {error}"[:500]}
        return
    for line in received:
        command = json.loads(line)["command"]
        try:
            yield _shown(str(functions["act"](state, command)), functions, state)
        except Exception as error:  # noqa: BLE001
            yield {"error": f"{type(error).__name__}: {error}"[:500]}


def _shown(message: str, functions: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    visible = json.loads(json.dumps(functions["visible"](state), allow_nan=False))
    return {"message": message, "state": visible, "finished": bool(functions["finished"](state))}


def _limit(memory_bytes: int, cpu_s: int) -> None:
    open_files = 3  # the two pipes and stderr
    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        with contextlib.suppress(ValueError, OSError):  # already lower
            resource.setrlimit(limit, (value, value))


def _builtins() -> dict[str, Any]:
    def imported(name: str, *rest: Any) -> Any:
        if name not in MODULES:
            raise ImportError(f"a program may import {', '.join(MODULES)}, not {name}")
        return importlib.import_module(name)

    kept = {name: value for name, value in vars(builtins).items() if name not in _WITHOUT}
    return {**kept, "__import__": imported, "print": lambda *texts, **options: None}


if __name__ == "__main__":
    main()
