"""The template language of prompts: a subset of Jinja that reads its variables and does nothing else.

A domain folder may come from anybody, so a template is data. A template can print, branch, loop and include. A template
cannot read an attribute that begins with an underscore, build lists of variables, or change anything. A template can
call only its own macros, `get` and `items`. A rendering is limited in steps, characters and time.

Everything that is not allowed raises `jinja2.exceptions.SecurityError` at its line of the template.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import BuiltinMethodType, GeneratorType
from typing import Any

import jinja2
from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import SandboxedEnvironment
from jinja2.tests import TESTS

from robogaze.domains.special_tokens import broken_up

TEMPLATE_CHARACTERS = 131_072
STEPS, CHARACTERS, SECONDS = 200_000, 2_000_000, 10.0
"""The limits of one rendering; an iteration of a loop, a call, an include and a printed value are one step each."""

_LARGEST_NUMBER = 2**63
_DEEPEST_NODE = 60
_DEEPEST_STATEMENT = 15

_ALLOWED = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.With,
    nodes.Include,
    nodes.Assign,
    nodes.AssignBlock,
    nodes.Name,
    nodes.Const,
    nodes.List,
    nodes.Tuple,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
    nodes.Keyword,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.CondExpr,
    nodes.Neg,
    nodes.Add,
    nodes.Sub,
    nodes.Mul,
    nodes.Div,
)
_FILTERS = (
    "capitalize",
    "default",
    "first",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "reject",
    "rejectattr",
    "reverse",
    "select",
    "selectattr",
    "sort",
    "title",
    "trim",
    "unique",
    "upper",
)
_TESTS = (
    "boolean",
    "defined",
    "even",
    "false",
    "iterable",
    "mapping",
    "none",
    "number",
    "odd",
    "sequence",
    "string",
    "true",
    "undefined",
)

_PLAIN = (str, int, float)
_FORMAT = re.compile(r"%(?:%|[-+ #0]{0,5}\d{0,3}(?:\.\d{0,2})?[sdifeEgGxX])")


class _Meter:
    """Counts the steps of one rendering."""

    def __init__(self) -> None:
        self.steps = 0
        self.deadline = time.monotonic() + SECONDS

    def step(self) -> None:
        """Count one step. Raises SecurityError beyond the limits on steps and time."""
        self.steps += 1
        if self.steps > STEPS:
            raise SecurityError(f"rendering takes more than {STEPS:,} steps")
        if time.monotonic() > self.deadline:
            raise SecurityError(f"rendering takes more than {SECONDS:g} s")


_METER: ContextVar[_Meter] = ContextVar("_METER")


@contextmanager
def metered() -> Iterator[None]:
    """Count the steps of the templates rendered in this block, and stop rendering at the limits."""
    token = _METER.set(_Meter())
    try:
        yield
    finally:
        _METER.reset(token)


def concat(parts: Iterable[str]) -> str:
    """The parts as one text. Raises SecurityError if the text is longer than the limit."""
    found, length = [], 0
    for part in parts:
        length += len(part)
        if length > CHARACTERS:
            error = SecurityError(f"rendering makes more than {CHARACTERS:,} characters")
            if isinstance(parts, GeneratorType):
                parts.throw(error)  # raises it at the line of the template that made the part
            raise error
        found.append(part)
    return "".join(found)


class SandboxedTemplates(SandboxedEnvironment):
    """The Jinja environment of prompts; see the docstring of the module.

    Templates are compiled and rendered inside `metered`.
    """

    intercepted_binops: frozenset[str] = frozenset(("+", "-", "*", "/"))
    concat = staticmethod(concat)

    def __init__(self, loader: jinja2.BaseLoader, more_filters: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(
            loader=loader,
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # prompts are plain text for a model; HTML pages use another environment
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=False,  # a domain stays as it was when it was loaded, as its fingerprint says
            optimized=False,
            finalize=_finalize,
        )
        own = {"format": _format, "join": _join, "_counted": _counted}
        self.filters = {**{name: FILTERS[name] for name in _FILTERS}, **own, **more_filters}
        self.tests = {name: TESTS[name] for name in _TESTS}
        self.globals = {}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > TEMPLATE_CHARACTERS:
            raise jinja2.TemplateSyntaxError(f"longer than {TEMPLATE_CHARACTERS:,} characters", 1, name, filename)
        parser = Parser(self, source, name, filename)
        try:
            tree = parser.parse()
        except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
            message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise jinja2.TemplateSyntaxError(message, parser.stream.current.lineno, name, filename) from error
        for node, depth, blocks in _below(tree):
            if (fault := self._fault(node, depth, blocks)) is not None:
                raise jinja2.TemplateSyntaxError(fault, node.lineno, name, filename)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, "_counted", [], [], None, None, lineno=loop.lineno)
        tree.set_environment(tree.environment)  # type: ignore[arg-type]
        return tree

    def _fault(self, node: nodes.Node, depth: int, blocks: int) -> str | None:
        """An error if a template may not contain this node, else None."""
        if depth > _DEEPEST_NODE or blocks > _DEEPEST_STATEMENT:
            return "nested too deeply"
        if not isinstance(node, _ALLOWED):
            return f"'{type(node).__name__.lower()}' is not allowed in the templates of prompts"
        if isinstance(node, nodes.Include):
            if not isinstance(node.template, nodes.Const) or not isinstance(node.template.value, str):
                return "an include must name one file, as a text"
            if node.ignore_missing:
                return "an include must name a file that exists; 'ignore missing' is not allowed"
        if isinstance(node, nodes.List | nodes.Tuple) and not all(_is_constant_or_target(item) for item in node.items):
            return "a list in a template may hold only texts and numbers"
        if isinstance(node, nodes.Filter) and (node.name not in self.filters or node.name.startswith("_")):
            return f"there is no filter {node.name!r}"
        if isinstance(node, nodes.Test) and node.name not in self.tests:
            return f"there is no test {node.name!r}"
        return None

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute: no attribute with a leading underscore may be read, and only a few
        methods.
        """
        return super().is_safe_attribute(obj, attr, value) and (not callable(value) or self.is_safe_callable(value))

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether a template may call an object: its macros, and two methods of mappings."""
        if isinstance(obj, Macro | jinja2.Undefined):  # calling what is undefined raises an error that says so
            return True
        if not isinstance(obj, BuiltinMethodType) or not isinstance(obj.__self__, dict):
            return False
        return obj.__name__ in ("get", "items")

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        _METER.get().step()
        return super().call(__context, __obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The value of `left operator right`. Raises SecurityError for operands that are not numbers, and for integer
        results of more than 64 bits.
        """
        for value in (left, right):
            if not isinstance(value, int | float | jinja2.Undefined):
                raise SecurityError(f"'{operator}' is for numbers only, not for a {type(value).__name__}")
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and abs(result) > _LARGEST_NUMBER:
            raise SecurityError("computes a number of more than 64 bits")
        return result

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:  # noqa: A002
        _METER.get().step()
        return super().get_template(name, parent, globals)


def _is_constant_or_target(node: nodes.Expr) -> bool:
    """Whether a node is a constant, or a name that a loop, `set` or `with` assigns."""
    return isinstance(node, nodes.Const) or getattr(node, "ctx", "load") != "load"


def _below(node: nodes.Node) -> Iterator[tuple[nodes.Node, int, int]]:
    """Every node of a tree, with its depth and the number of enclosing statements, without recursion."""
    waiting = [(node, 0, 0)]
    while waiting:
        current, depth, blocks = waiting.pop()
        yield current, depth, blocks
        inner = blocks + isinstance(current, nodes.Stmt)
        waiting.extend((child, depth + 1, inner) for child in current.iter_child_nodes())


class _Loop:
    """The values of a loop; each iteration is a step."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[Any]:
        for value in self._values:
            _METER.get().step()
            yield value


def _counted(values: Any) -> _Loop:
    iter(values)  # raises TypeError for a value that is not iterable, and UndefinedError for a missing one
    return _Loop(values)


def _printable(value: Any) -> Any:
    """The value. Raises SecurityError unless the value is a text, a number or a list of numbers."""
    if value is None or isinstance(value, (*_PLAIN, jinja2.Undefined)):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value):
        return value
    raise SecurityError(f"prints a {type(value).__name__}; print its parts, or write it with '| quoted'")


@pass_context
def _finalize(context: Context, value: Any) -> Any:
    """A printed value, with special tokens broken up."""
    _METER.get().step()
    return broken_up(value) if isinstance(value, str) else _printable(value)


def _join(values: Iterable[Any], separator: str = "") -> str:
    return concat(_between(values, str(separator)))


def _between(values: Iterable[Any], separator: str) -> Iterator[str]:
    for number, value in enumerate(values):
        if number:
            yield separator
        yield str(_printable(value))


def _format(value: Any, *args: Any) -> str:
    """`"%.2f" | format(x)`: widths of up to three digits, texts and numbers only."""
    pattern = str(value)
    if "%" in _FORMAT.sub("", pattern):
        raise SecurityError(f"{pattern[:60]!r} is not a format for texts and numbers with a width below 1000")
    for arg in args:
        if not isinstance(arg, (*_PLAIN, jinja2.Undefined)):
            raise TypeError(f"must be real number or text, not {type(arg).__name__}")
    longest = len(pattern) + 1000 * pattern.count("%") + sum(len(arg) for arg in args if isinstance(arg, str))
    if longest > CHARACTERS:
        raise SecurityError(f"a format makes more than {CHARACTERS:,} characters")
    return pattern % args
