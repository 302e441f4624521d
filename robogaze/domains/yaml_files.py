"""YAML read into checked records, with the file and line of every fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from robogaze.core.data import dotted, first_fault
from robogaze.errors import DomainError

Key = tuple[str | int, ...]
T = TypeVar("T")

# The loader in C reads the same YAML about ten times faster, where PyYAML was built with it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class YamlText:
    """Parsed YAML; `lines` holds the 1-based line of every key, by its path of keys and indices."""

    path: Path
    content: Any
    lines: Mapping[Key, int] = field(repr=False)

    def fault(self, message: str, key: Key = ()) -> DomainError:
        """An error that names the file and the line of the key, or of its nearest parent that has one."""
        while key and key not in self.lines:
            key = key[:-1]
        return DomainError(message, self.path, self.lines.get(key))

    def parse(self, kind: type[T], key: Key = ()) -> T:
        """The part of the file below `key` as a record.

        Raises DomainError for the first of what does not fit, and counts the others.
        """
        part = self.content
        for step in key:
            part = part[step]
        try:
            return TypeAdapter(kind).validate_python(part)
        except ValidationError as error:
            place, found = first_fault(error)
            others = _count(error) - 1
            more = f" (and {others} more)" if others else ""
            message = f"{dotted(place)}: {found}{more}" if place else f"{found}{more}"
            raise self.fault(message, (*key, *place)) from error


def _count(error: ValidationError) -> int:
    """How many faults there are.

    pydantic calls a list too short, too, when something in it is wrong: what only follows from a fault further in is
    none of its own.
    """
    places = [fault["loc"] for fault in error.errors(include_url=False)]
    return sum(not any(one != place and one[: len(place)] == place for one in places) for place in places)


def read_yaml(path: Path) -> YamlText:
    """Read a file. Raises DomainError when it is missing, is not YAML, or repeats a key."""
    return parse_yaml(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a file. Raises DomainError when it is missing or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DomainError("this file is missing", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DomainError(f"cannot be read as UTF-8 text: {error}", path) from error


def parse_yaml(text: str, path: Path, first_line: int = 1) -> YamlText:
    """Parse YAML that starts at a line of a file; like `read_yaml` in all else."""
    try:
        root = yaml.compose(text, Loader=_LOADER)
        content = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + first_line if mark else None
        # Only a character that YAML forbids has a reason and no mark.
        problem = getattr(error, "problem", None) or getattr(error, "reason", error)
        raise DomainError(f"not valid YAML: {problem}", path, line) from error
    lines: dict[Key, int] = {}
    if root is not None:
        _collect_lines(root, (), lines, path, first_line)
    return YamlText(path, content, lines)


def _collect_lines(node: yaml.Node, key: Key, lines: dict[Key, int], path: Path, first_line: int) -> None:
    lines.setdefault(key, node.start_mark.line + first_line)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            below = (*key, name.value)
            line = name.start_mark.line + first_line
            if below in lines:
                raise DomainError(f"{name.value}: this key stands twice", path, line)
            lines[below] = line
            _collect_lines(value, below, lines, path, first_line)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _collect_lines(value, (*key, index), lines, path, first_line)
