"""A domain's prompts: text for models, rendered strictly.

A prompt is a Jinja template `NAME.md.j2`, looked up in the domain's own folder first and on the shared shelf
after it. A variable it uses and no stage provides stops the domain from loading. It may begin with front matter
that declares the free part of the answer's contract (see `robogaze.domains.contract`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from robogaze.domains.contract import record
from robogaze.domains.yaml_files import YamlText, parse_yaml, read_text
from robogaze.errors import DomainError

_FENCE = "---\n"


def quoted(value: Any) -> str:
    """A value as JSON on one line: how text from users, videos and models is fenced as data."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


class _WithoutFrontMatter(jinja2.FileSystemLoader):
    """Loads templates with their front matter blanked, so that line numbers stay true."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        source, filename, up_to_date = super().get_source(environment, template)
        front, body = _split(source)
        return _blank(front) + body, filename, up_to_date


def _split(source: str) -> tuple[str, str]:
    if source.startswith(_FENCE) and (end := source.find("\n" + _FENCE, len(_FENCE) - 1)) >= 0:
        cut = end + 1 + len(_FENCE)
        return source[:cut], source[cut:]
    return "", source


@dataclass(frozen=True)
class Prompts:
    """The prompts of one domain, from folders in order of precedence."""

    folders: tuple[Path, ...]

    @cached_property
    def _environment(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=_WithoutFrontMatter([str(folder) for folder in self.folders]),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # prompts are plain text for a model; the HTML report has an environment of its own
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=False,  # a domain is what it was when it was loaded; its fingerprint says so
        )
        environment.filters["quoted"] = quoted
        return environment

    def path(self, name: str) -> Path:
        """The file of a prompt. Raises DomainError when no folder has it."""
        candidates = [folder / f"{name}.md.j2" for folder in self.folders]
        for path in candidates:
            if path.is_file():
                return path
        tried = ", ".join(str(folder) for folder in self.folders) or "no folder, for there is none"
        raise DomainError(f"this prompt is missing (looked in {tried})", Path(f"{name}.md.j2"))

    def render(self, name: str, variables: Mapping[str, Any]) -> str:
        """The prompt's text. Raises DomainError, with file and line, when a value is missing or of another kind."""
        try:
            return self._environment.get_template(f"{name}.md.j2").render(variables).strip()
        except jinja2.TemplateSyntaxError as error:
            raise DomainError(str(error.message), Path(error.filename or self.path(name)), error.lineno) from error
        except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise DomainError(str(error), *_place(error, self.path(name))) from error

    def check(self, name: str, provided: Sequence[str]) -> None:
        """Raise DomainError when the prompt, or one it includes, uses a variable that is not provided."""
        self._check(self.path(name), frozenset(provided), set())

    def _check(self, path: Path, provided: frozenset[str], seen: set[tuple[Path, frozenset[str]]]) -> None:
        if (path, provided) in seen:
            return
        seen.add((path, provided))
        tree, reads = self._parsed(path)
        for variable in sorted(reads.keys() - provided):
            known = ", ".join(sorted(provided))
            message = f"uses {variable!r}, which no stage provides (there is: {known})"
            raise DomainError(message, path, reads[variable])
        for included, line, visible in _includes(tree, provided | _assigned(tree)):
            try:
                below = self.path(included.removesuffix(".md.j2"))
            except DomainError as error:
                raise DomainError(f"includes what is not there: {error}", path, line) from error
            self._check(below, visible, seen)

    def _parsed(self, path: Path) -> tuple[nodes.Template, dict[str, int]]:
        """A template's syntax tree and, of the variables it does not name itself, where each is first read."""
        front, body = _split(read_text(path))
        try:
            tree = self._environment.parse(_blank(front) + body)
            self._check_words(tree, path)
            undeclared = meta.find_undeclared_variables(tree)
        except jinja2.TemplateSyntaxError as error:
            raise DomainError(str(error.message), path, error.lineno) from error
        loads = sorted(((one.lineno, one.name) for one in tree.find_all(nodes.Name) if one.ctx == "load"), reverse=True)
        return tree, {name: line for line, name in loads if name in undeclared}

    def _check_words(self, tree: nodes.Template, path: Path) -> None:
        """Raise DomainError for an unknown filter or test; in a branch, Jinja would notice only when it is taken."""
        for one in tree.find_all(nodes.Filter):
            if one.name not in self._environment.filters:
                raise DomainError(f"there is no filter {one.name!r}", path, one.lineno)
        for two in tree.find_all(nodes.Test):
            if two.name not in self._environment.tests:
                raise DomainError(f"there is no test {two.name!r}", path, two.lineno)

    @cached_property
    def _contracts(self) -> dict[str, dict[str, Any]]:
        return {}

    def contract(self, name: str) -> dict[str, Any]:
        """The free part of the prompt's answer as declared. Raises DomainError when there is none, or a wrong one."""
        if name not in self._contracts:
            self._contracts[name] = self._read_contract(name)
        return self._contracts[name]

    def _read_contract(self, name: str) -> dict[str, Any]:
        path = self.path(name)
        front, _ = _split(read_text(path))
        if not front:
            raise DomainError("needs front matter that declares its answer", path, 1)
        declared = parse_yaml(front.removeprefix(_FENCE).removesuffix(_FENCE), path, first_line=2)
        fields = self._fields(declared)
        try:
            record(name, fields)
        except ValueError as error:
            raise declared.fault(str(error), ("answer",)) from error
        return fields

    @staticmethod
    def _fields(declared: YamlText) -> dict[str, Any]:
        if not isinstance(declared.content, dict) or set(declared.content) != {"answer"}:
            raise declared.fault("front matter holds one key, 'answer'")
        fields = declared.content["answer"]
        if not isinstance(fields, dict) or not fields:
            raise declared.fault("'answer' is a mapping of field names to kinds", ("answer",))
        return fields


def _blank(front: str) -> str:
    """A comment of as many lines."""
    return "{#" + "\n" * front.count("\n") + "#}" if front else ""


def _includes(node: nodes.Node, visible: frozenset[str]) -> Iterator[tuple[str, int, frozenset[str]]]:
    """The includes below a node: file, line and the names it sees, those of the loops around it and of no other."""
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Include) and isinstance(child.template, nodes.Const):
            yield str(child.template.value), child.lineno, visible
        elif isinstance(child, nodes.For):
            yield from _includes(child, visible | _named([child.target]))
        elif isinstance(child, nodes.With):
            yield from _includes(child, visible | _named(child.targets))
        else:
            yield from _includes(child, visible)


def _assigned(tree: nodes.Template) -> frozenset[str]:
    """The names that {% set %} gives a value, wherever it stands."""
    plain, blocks = tree.find_all(nodes.Assign), tree.find_all(nodes.AssignBlock)
    return _named(one.target for one in plain) | _named(one.target for one in blocks)


def _named(targets: Iterable[nodes.Node]) -> frozenset[str]:
    """The names among the targets of a loop, a {% with %} or a {% set %}."""
    parts = (part for target in targets for part in (target, *target.find_all(nodes.Name)))
    return frozenset(part.name for part in parts if isinstance(part, nodes.Name))


def _place(error: BaseException, fallback: Path) -> tuple[Path, int | None]:
    """The template and line an error was raised in: the innermost frame that belongs to a template."""
    place: tuple[Path, int | None] = (fallback, None)
    trace = error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.endswith(".md.j2"):
            place = (Path(filename), trace.tb_lineno)
        trace = trace.tb_next
    return place
