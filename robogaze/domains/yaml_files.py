"""Reads YAML into checked records; errors name the file and the line.

All YAML that RoboGaze reads goes through here. Files may come from other people, so size, depth and aliases are
limited.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from robogaze.core.data import dotted, first_fault
from robogaze.errors import DomainError

Key = tuple[str | int, ...]
T = TypeVar("T")

# The C loader reads the same YAML about ten times faster, if PyYAML was built with it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

LARGEST_FILE = 16 << 20
"""In bytes."""

MOST_VALUES = 100_000
"""Keys, texts, numbers, lists and mappings in a file, with aliases expanded."""

DEEPEST = 50
"""The maximum nesting of lists and mappings."""

_LONGEST_NUMBER = 100
_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_SCALARS = {"int": "whole number", "float": "number", "bool": "boolean", "null": "null", "timestamp": "date"}


@dataclass(frozen=True)
class YamlText:
    """Parsed YAML. `lines` gives the line of every key and list item, counted from 1; its keys are paths such as
    `("stages", 0, "name")`.
    """

    path: Path
    content: Any
    lines: Mapping[Key, int] = field(repr=False)

    def fault(self, message: str, key: Key = ()) -> DomainError:
        """An error that names the file and the line of the key. If the line of the key is not known, the error names
        the line of the nearest parent whose line is known.
        """
        while key and key not in self.lines:
            key = key[:-1]
        return DomainError(message, self.path, self.lines.get(key))

    def parse(self, kind: type[T]) -> T:
        """The content as a record. Raises DomainError for the first error."""
        try:
            return TypeAdapter(kind).validate_python(self.content)
        except ValidationError as error:
            place, found = first_fault(error)
            message = f"{dotted(place)}: {found}" if place else found
            raise self.fault(message, place) from error


def read_yaml(path: Path) -> YamlText:
    """Read a file. Raises DomainError if the file is missing, is not YAML, repeats a key, or exceeds the limits."""
    return parse_yaml(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a file.

    Raises DomainError if the file is missing, is not a regular file, has more than LARGEST_FILE bytes or is not UTF-8.
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


@lru_cache(maxsize=256)
def parse_yaml(text: str, path: Path, first_line: int = 1) -> YamlText:
    """Like `read_yaml`, but for YAML that starts at a line of a file.

    Values are texts, numbers, true and false, null, dates, lists and mappings. Aliases are allowed if their expanded
    content is within the limits on values and depth. The result is cached, so callers must not change it.
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
        # Only an error about a forbidden character has a reason and no mark.
        problem = getattr(error, "problem", None) or getattr(error, "reason", error)
        if "nesting depth" in str(problem):  # the limit of libyaml, which is deeper
            raise DomainError(f"nests deeper than {DEEPEST} levels", path, line) from error
        raise DomainError(f"not valid YAML: {problem}", path, line) from error


def _check_depth(text: str, path: Path, first_line: int) -> None:
    """Raise DomainError if the text is too large or too deeply nested for the recursive composer."""
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
    """Raise DomainError for aliases that recurse or multiply, and for a scalar that its tag does not allow."""
    sizes: dict[int, tuple[int, int]] = {}
    open_: set[int] = set()

    def measure(node: yaml.Node) -> tuple[int, int]:
        """The number of values and the depth of a node, with aliases expanded."""
        line = _line(node) + first_line
        if id(node) in open_:
            raise DomainError("an alias refers to a value that contains the alias", path, line)
        if id(node) not in sizes:
            open_.add(id(node))
            parts = [measure(part) for part in _parts(node)]
            open_.remove(id(node))
            if isinstance(node, yaml.ScalarNode):
                _check_scalar(node, loader, path, line)
            elif node.tag not in _COLLECTIONS:
                raise DomainError(f"not valid YAML: the tag {node.tag} is not allowed here", path, line)
            size, depth = 1 + sum(part[0] for part in parts), 1 + max((part[1] for part in parts), default=0)
            if size > MOST_VALUES:
                raise DomainError(f"holds more than {MOST_VALUES:,} values with aliases expanded", path, line)
            if depth > DEEPEST + 1:
                raise DomainError(f"nests deeper than {DEEPEST} levels with aliases expanded", path, line)
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
            raise DomainError("not valid YAML: a text contains an incomplete character (a lone surrogate)", path, line)
        return
    if kind == "merge" and node.value == "<<":
        return
    if kind not in _SCALARS:
        raise DomainError(f"not valid YAML: the tag {node.tag} of {shown!r} is not allowed here", path, line)
    try:
        if len(node.value) > _LONGEST_NUMBER:
            raise ValueError(f"it has {len(node.value):,} characters")
        loader.construct_object(node)
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError) as error:
        message = f"not valid YAML: {shown!r} is not a {_SCALARS[kind]}; quote it if it is a text"
        raise DomainError(message, path, line) from error


def _collect_lines(node: yaml.Node, key: Key, lines: dict[Key, int], path: Path, first_line: int) -> None:
    lines.setdefault(key, node.start_mark.line + first_line)
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            line = name.start_mark.line + first_line
            if not isinstance(name, yaml.ScalarNode):
                raise DomainError("not valid YAML: a key must be a text or a number", path, line)
            below = (*key, name.value)
            if below in lines:
                raise DomainError(f"{name.value}: this key is repeated", path, line)
            lines[below] = line
            _collect_lines(value, below, lines, path, first_line)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _collect_lines(value, (*key, index), lines, path, first_line)
