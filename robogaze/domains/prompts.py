"""A domain's prompts: text for models, rendered strictly.

A prompt is a Jinja template `NAME.md.j2` in a sandbox (see `robogaze.domains.sandbox`), looked up in the domain's own
folder first and in the shared folder after it. A variable it uses and no stage provides stops the domain from loading.
It may begin with front matter that declares the free part of the answer's contract (see `robogaze.domains.contract`).
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
from robogaze.domains.links import check_inside
from robogaze.domains.rendering import LIMITS, RenderLimits, concat, metered
from robogaze.domains.sandbox import SandboxedTemplates
from robogaze.domains.yaml_files import YamlText, parse_yaml, read_text
from robogaze.errors import DomainError

SUFFIX = ".md.j2"
_FENCE = "---\n"
_RENDERING = (
    jinja2.TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    MemoryError,
    SyntaxError,
)
"""What a template can raise that passed its check."""


def quoted(value: Any) -> str:
    """A value as JSON on one line: how text from users, videos and models is fenced as data."""
    return "".join(_ENCODER.iterencode(value))


def _quoted(value: Any) -> str:
    """The filter `quoted`: what it makes is counted while it is made."""
    return concat(_ENCODER.iterencode(value))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)


def _split(source: str) -> tuple[str, str]:
    if source.startswith(_FENCE) and (end := source.find("\n" + _FENCE, len(_FENCE) - 1)) >= 0:
        cut = end + 1 + len(_FENCE)
        return source[:cut], source[cut:]
    return "", source


@dataclass(frozen=True)
class Prompts:
    """The prompts of one domain, from folders in order of precedence.

    No file below `home`, the folder of a user's domain, leads out of it. `limits` bound each rendering.
    """

    folders: tuple[Path, ...]
    home: Path | None = None
    limits: RenderLimits = LIMITS

    @cached_property
    def _environment(self) -> SandboxedTemplates:
        return SandboxedTemplates(jinja2.FunctionLoader(self._source), {"quoted": _quoted})

    def _source(self, template: str) -> tuple[str, str, None]:
        """A template with its front matter blanked, so that line numbers stay true; and its file."""
        path = self.path(template.removesuffix(SUFFIX))
        front, body = _split(read_text(path))
        return _blank(front) + body, str(path), None

    def path(self, name: str) -> Path:
        """The file of a prompt. Raises DomainError when no folder has it, or when it leads out of its folder."""
        parts = Path(name).parts
        if not parts or ".." in parts or Path(name).is_absolute() or "\0" in name:
            raise DomainError("a prompt is named by a path below its folder", Path(f"{name!r}"[1:-1] + SUFFIX))
        for folder in self.folders:
            path = folder / f"{name}{SUFFIX}"
            if path.is_file():
                if self.home is not None and folder.is_relative_to(self.home):
                    check_inside(path, self.home)
                return path
        tried = ", ".join(str(folder) for folder in self.folders) or "no folder, for there is none"
        raise DomainError(f"this prompt is missing (looked in {tried})", Path(f"{name}{SUFFIX}"))

    def render(self, name: str, variables: Mapping[str, Any]) -> str:
        """The prompt's text.

        Raises DomainError, with file and line, when a value is missing or of another kind, and when the template does
        what the sandbox refuses or does not end within its limits.
        """
        try:
            with metered(self.limits):
                return self._environment.get_template(f"{name}{SUFFIX}").render(variables).strip()
        except jinja2.TemplateSyntaxError as error:
            raise DomainError(str(error.message), Path(error.filename or self.path(name)), error.lineno) from error
        except _RENDERING as error:
            raise DomainError(_said(error), *_place(error, self.path(name))) from error

    def check(self, name: str, provided: Sequence[str]) -> None:
        """Raise DomainError when the prompt, or one it includes, uses a variable that is not provided."""
        with metered(self.limits):
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
                below = self.path(included.removesuffix(SUFFIX))
            except DomainError as error:
                raise DomainError(f"includes what is not there: {error}", path, line) from error
            self._check(below, visible, seen)

    def _parsed(self, path: Path) -> tuple[nodes.Template, dict[str, int]]:
        """A template's syntax tree and, of the variables it does not name itself, where each is first read."""
        front, body = _split(read_text(path))
        try:
            tree = self._environment.parse(_blank(front) + body, filename=str(path))
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


def _said(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "goes deeper than a rendering may: it includes or calls itself"
    return str(error) or type(error).__name__


def _place(error: BaseException, fallback: Path) -> tuple[Path, int | None]:
    """The template and line an error was raised in: the innermost frame that belongs to a template."""
    place: tuple[Path, int | None] = (fallback, None)
    trace = error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.endswith(SUFFIX):
            place = (Path(filename), trace.tb_lineno)
        trace = trace.tb_next
    return place
