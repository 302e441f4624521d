"""Folders of domains for tests, and how to break them."""

import shutil
from pathlib import Path

from robogaze.domains.scaffold import scaffold


def make_folder(parent: Path, name: str = "kitchen") -> Path:
    """A small domain of a user's own."""
    folder = parent / name
    scaffold(folder)
    return folder


def change(path: Path, old: str, new: str) -> None:
    """Replace the one place where a text stands in a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def line_of(path: Path, text: str) -> int:
    """The 1-based line on which a text first stands."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def write(path: Path, text: str) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def move(folder: Path, parent: Path) -> Path:
    """The folder at another place."""
    parent.mkdir(parents=True)
    return Path(shutil.move(folder, parent / folder.name))
