"""YAML read into checked records, with the file and line of every fault.

All YAML that RoboGaze reads goes through here: files come from other people, so size, depth and aliases have bounds.
"""

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

LARGEST_FILE = 16 << 20
"""In bytes."""

MOST_VALUES = 100_000
"""Keys, texts, numbers, lists and mappings in a file, with what aliases stand for written out."""

DEEPEST = 50
"""How many lists and mappings lie within one another at most."""

_LONGEST_NUMBER = 100
_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_SCALARS = {"int": "whole number", "float": "number", "bool": "true or false", "null": "null", "timestamp": "date"}


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
    """Read a file. Raises DomainError when it is missing, is not YAML, repeats a key, or is beyond the bounds."""
    return parse_yaml(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a file.

    Raises DomainError when it is missing, is no regular file, holds more than LARGEST_FILE bytes or is not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise DomainError("is not a regular file", path)
        with path.open("rb") as file:
            written = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise DomainError("this file is missing", path) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise DomainError(f"cannot be read as UTF-8 text: {error}", path) from error
    if len(written) > LARGEST_FILE:
        raise DomainError(f"holds more than {LARGEST_FILE >> 20} MiB", path)
    try:
        return written.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DomainError(f"cannot be read as UTF-8 text: {error}", path) from error


def parse_yaml(text: str, path: Path, first_line: int = 1) -> YamlText:
    """Parse YAML that starts at a line of a file; like `read_yaml` in all else.

    Values are texts, numbers, true and false, null, dates, lists and mappings. Aliases are allowed as long as the
    content they stand for stays within the bounds on values and depth.
    """
    try:
        _check_depth(text, path, first_line)
        loader = _LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return YamlText(path, None, {})
            _check_nodes(root, loader, path, first_line)
            lines: dict[Key, int] = {}
            _collect_lines(root, (), lines, path, first_line)
            return YamlText(path, loader.construct_document(root), lines)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        line = mark.line + first_line if mark is not None else None
        # Only a character that YAML forbids has a reason and no mark.
        problem = getattr(error, "problem", None) or getattr(error, "reason", error)
        if "nesting depth" in str(problem):  # libyaml has a limit of its own, which lies deeper
            raise DomainError(f"nests deeper than {DEEPEST} levels", path, line) from error
        raise DomainError(f"not valid YAML: {problem}", path, line) from error


def _check_depth(text: str, path: Path, first_line: int) -> None:
    """Raise DomainError when the text holds too much or nests too deeply to be composed, which recurses."""
    depth = values = 0
    for event in yaml.parse(text, Loader=_LOADER):
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = _line(event) + first_line
        if depth > DEEPEST:
            raise DomainError(f"nests deeper than {DEEPEST} levels", path, line)
        if values > MOST_VALUES:
            raise DomainError(f"holds more than {MOST_VALUES:,} values", path, line)


def _check_nodes(root: yaml.Node, loader: Any, path: Path, first_line: int) -> None:
    """Raise DomainError for aliases that recurse or multiply, and for a scalar that is not what it looks like."""
    sizes: dict[int, tuple[int, int]] = {}
    open_: set[int] = set()

    def measure(node: yaml.Node) -> tuple[int, int]:
        """The number of values and the depth that a node stands for."""
        line = _line(node) + first_line
        if id(node) in open_:
            raise DomainError("an alias stands within what it names", path, line)
        if id(node) not in sizes:
            open_.add(id(node))
            parts = [measure(part) for part in _parts(node)]
            open_.remove(id(node))
            if isinstance(node, yaml.ScalarNode):
                _check_scalar(node, loader, path, line)
            elif node.tag not in _COLLECTIONS:
                raise DomainError(f"not valid YAML: the tag {node.tag} is not used here", path, line)
            size, depth = 1 + sum(part[0] for part in parts), 1 + max((part[1] for part in parts), default=0)
            if size > MOST_VALUES:
                raise DomainError(f"holds more than {MOST_VALUES:,} values, aliases written out", path, line)
            if depth > DEEPEST + 1:
                raise DomainError(f"nests deeper than {DEEPEST} levels, aliases written out", path, line)
            sizes[id(node)] = size, depth
        return sizes[id(node)]

    measure(root)


def _line(marked: Any) -> int:
    return int(marked.start_mark.line)


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _check_scalar(node: yaml.ScalarNode, loader: Any, path: Path, line: int) -> None:
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    shown = node.value if len(node.value) <= 40 else f"{node.value[:40]}..."
    if kind == "str":
        if not node.value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in node.value):
            raise DomainError("not valid YAML: a text holds half a character", path, line)
        return
    if kind == "merge" and node.value == "<<":
        return
    if kind not in _SCALARS:
        raise DomainError(f"not valid YAML: the tag {node.tag} of {shown!r} is not used here", path, line)
    try:
        if len(node.value) > _LONGEST_NUMBER:
            raise ValueError(f"it has {len(node.value):,} signs")
        loader.construct_object(node)
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError) as error:
        message = f"not valid YAML: {shown!r} is no {_SCALARS[kind]}; quote it if it is a text"
        raise DomainError(message, path, line) from error


def _collect_lines(node: yaml.Node, key: Key, lines: dict[Key, int], path: Path, first_line: int) -> None:
    lines.setdefault(key, node.start_mark.line + first_line)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            line = name.start_mark.line + first_line
            if not isinstance(name, yaml.ScalarNode):
                raise DomainError("not valid YAML: a key is a text or a number", path, line)
            below = (*key, name.value)
            if below in lines:
                raise DomainError(f"{name.value}: this key stands twice", path, line)
            lines[below] = line
            _collect_lines(value, below, lines, path, first_line)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _collect_lines(value, (*key, index), lines, path, first_line)
