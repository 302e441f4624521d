"""The prompts of a domain, rendered strictly.

A prompt is a Jinja template `NAME.md.j2` in a sandbox (`robogaze.domains.sandbox`). A prompt is looked up in the
domain's own folder first, then in the shared folders. Building a pipeline fails if one of its prompts uses a variable
that its stage does not provide. Front matter may declare the part of the answer that depends on the domain
(`robogaze.domains.contract`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from robogaze.domains.contract import record
from robogaze.domains.links import check_inside
from robogaze.domains.render_limits import LIMITS, RenderLimits, concat, metered
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
"""The errors that a checked template can raise when it is rendered."""


def quoted(value: Any) -> str:
    """A value as JSON on one line. Prompts use this form for text from users, videos and models, so that a model can
    recognise the text as data.
    """
    return "".join(_ENCODER.iterencode(value))


def _quoted(value: Any) -> str:
    """The filter `quoted`, whose output is counted."""
    return concat(_ENCODER.iterencode(value))


_FILTERS = {"quoted": _quoted}


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

    No link below `domain_path`, the folder of a user's domain, may lead out of it. `limits` apply to each rendering.
    """

    folders: tuple[Path, ...]
    domain_path: Path | None = None
    limits: RenderLimits = LIMITS

    @cached_property
    def _environment(self) -> SandboxedTemplates:
        return SandboxedTemplates(jinja2.FunctionLoader(self._source), _FILTERS)

    def _source(self, template: str) -> tuple[str, str, None]:
        """A template and its file; a comment replaces the template's front matter to keep line numbers."""
        path = self.path(template.removesuffix(SUFFIX))
        front, body = _split(read_text(path))
        return _blank(front) + body, str(path), None

    def path(self, name: str) -> Path:
        """The file of a prompt. Raises DomainError if no folder has it, or if it leads out of its folder."""
        parts = Path(name).parts
        if not parts or ".." in parts or Path(name).is_absolute() or "\0" in name:
            raise DomainError(
                "the name of a prompt must be a path below the folder of the prompts", Path(f"{name!r}"[1:-1] + SUFFIX)
            )
        for folder in self.folders:
            path = folder / f"{name}{SUFFIX}"
            if path.is_file():
                if self.domain_path is not None and folder.is_relative_to(self.domain_path):
                    check_inside(path, self.domain_path)
                return path
        tried = ", ".join(str(folder) for folder in self.folders) or "no folder, because there is none"
        raise DomainError(f"this prompt is missing (looked in {tried})", Path(f"{name}{SUFFIX}"))

    def render(self, name: str, variables: Mapping[str, Any]) -> str:
        """The text of a prompt.

        Raises DomainError with file and line if a value is missing or has another type. Also raises DomainError if the
        template does something that the sandbox refuses, or exceeds the sandbox's limits.
        """
        try:
            with metered(self.limits):
                return self._environment.get_template(f"{name}{SUFFIX}").render(variables).strip()
        except jinja2.TemplateSyntaxError as error:
            raise DomainError(str(error.message), Path(error.filename or self.path(name)), error.lineno) from error
        except _RENDERING as error:
            raise DomainError(_message(error), *_place(error, self.path(name))) from error

    def check(self, name: str, provided: Sequence[str]) -> None:
        """Raise DomainError if the prompt, or a prompt that it includes, uses a variable that is not provided."""
        with metered(self.limits):
            self._check(self.path(name), frozenset(provided), set())

    def _check(self, path: Path, provided: frozenset[str], seen: set[tuple[Path, frozenset[str]]]) -> None:
        if (path, provided) in seen:
            return
        seen.add((path, provided))
        tree, reads = _parsed(read_text(path), path)
        for variable in sorted(reads.keys() - provided):
            known = ", ".join(sorted(provided))
            message = f"uses {variable!r}, which its stage does not provide (it provides: {known})"
            raise DomainError(message, path, reads[variable])
        for included, line, visible in _includes(tree, provided | _assigned(tree)):
            try:
                below = self.path(included.removesuffix(SUFFIX))
            except DomainError as error:
                raise DomainError(f"includes a file that does not exist: {error}", path, line) from error
            self._check(below, visible, seen)

    @cached_property
    def _contracts(self) -> dict[str, dict[str, Any]]:
        return {}

    def contract(self, name: str) -> dict[str, Any]:
        """The fields that the prompt's front matter declares. Raises DomainError if the front matter declares no
        fields, or invalid fields.
        """
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
            raise declared.fault("front matter must have exactly one key, 'answer'")
        fields = declared.content["answer"]
        if not isinstance(fields, dict) or not fields:
            raise declared.fault("'answer' must be a mapping of field names to kinds", ("answer",))
        return fields


@lru_cache(maxsize=256)
def _parsed(source: str, path: Path) -> tuple[nodes.Template, Mapping[str, int]]:
    """A template's syntax tree, and, for each variable that the template does not define, the line at which it is first
    read.

    Kept, because the pipelines of a domain share most of their prompts.
    """
    environment = SandboxedTemplates(jinja2.DictLoader({}), _FILTERS)
    front, body = _split(source)
    try:
        tree = environment.parse(_blank(front) + body, filename=str(path))
        _check_words(tree, environment, path)
        undeclared = meta.find_undeclared_variables(tree)
    except jinja2.TemplateSyntaxError as error:
        raise DomainError(str(error.message), path, error.lineno) from error
    names = (name for name in tree.find_all(nodes.Name) if name.ctx == "load")
    loads = sorted(((name.lineno, name.name) for name in names), reverse=True)
    return tree, {name: line for line, name in loads if name in undeclared}


def _check_words(tree: nodes.Template, environment: SandboxedTemplates, path: Path) -> None:
    """Raise DomainError for an unknown filter or test, which Jinja would only find when its branch is rendered."""
    for filter_ in tree.find_all(nodes.Filter):
        if filter_.name not in environment.filters:
            raise DomainError(f"there is no filter {filter_.name!r}", path, filter_.lineno)
    for test in tree.find_all(nodes.Test):
        if test.name not in environment.tests:
            raise DomainError(f"there is no test {test.name!r}", path, test.lineno)


def _blank(front: str) -> str:
    """A Jinja comment with as many lines."""
    return "{#" + "\n" * front.count("\n") + "#}" if front else ""


def _includes(node: nodes.Node, visible: frozenset[str]) -> Iterator[tuple[str, int, frozenset[str]]]:
    """The includes below a node: file, line and visible names, including the names of the loops around the include."""
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
    """The names that any {% set %} assigns."""
    plain, blocks = tree.find_all(nodes.Assign), tree.find_all(nodes.AssignBlock)
    return _named(node.target for node in plain) | _named(node.target for node in blocks)


def _named(targets: Iterable[nodes.Node]) -> frozenset[str]:
    """The names among the targets of a loop, a {% with %} or a {% set %}."""
    parts = (part for target in targets for part in (target, *target.find_all(nodes.Name)))
    return frozenset(part.name for part in parts if isinstance(part, nodes.Name))


def _message(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply: it includes or calls itself"
    return str(error) or type(error).__name__


def _place(error: BaseException, fallback: Path) -> tuple[Path, int | None]:
    """The template and line in which an error was raised: the innermost frame that belongs to a template."""
    place: tuple[Path, int | None] = (fallback, None)
    trace = error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.endswith(SUFFIX):
            place = (Path(filename), trace.tb_lineno)
        trace = trace.tb_next
    return place
