"""Runs the command line in this process, as its users do: arguments in, exit code, stdout and stderr out."""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from robogaze.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left."""

    code: int
    out: str
    err: str


class Shell:
    """Runs `robogaze` with arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: Any) -> Ran:
        self._monkeypatch.setattr(sys, "argv", ["robogaze", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = self._capsys.readouterr()
        return Ran(int(end.value.code or 0), captured.out, captured.err)
