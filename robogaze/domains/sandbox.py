"""The template language of prompts: a subset of Jinja that reads its variables and does nothing else.

A domain folder may come from anybody, so a template is data. A template can print, branch, loop and include. It can
call only its own macros, `range`, `loop.cycle`, and a few methods of texts and mappings. It can neither read an
attribute that begins with an underscore nor change anything. A rendering has limits on steps, characters and time
(`robogaze.domains.render_limits`), which also apply to the constants that Jinja computes when it compiles a template.

Everything that is not allowed raises `jinja2.exceptions.SecurityError` at its line of the template.
"""

from collections.abc import Callable, Iterator, Mapping
from types import BuiltinMethodType, CodeType
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.bccache import Bucket
from jinja2.exceptions import SecurityError
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from robogaze.domains.render_limits import concat, meter
from robogaze.domains.template_values import (
    FILTERS_COUNTED,
    LARGEST_NUMBER,
    NODES_PER_STEP,
    TESTS_ALLOWED,
    added,
    bounded,
    counted_filters,
    finalize,
    key,
    numbers,
)

TEMPLATE_CHARACTERS = 131_072
_LONGEST_RANGE = 10_000
_DEEPEST_NODE = 60
_DEEPEST_STATEMENT = 15
_MOST_COMPILED = 1_000

_STATEMENTS = (
    nodes.Template,
    nodes.Output,
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.With,
    nodes.Include,
    nodes.Assign,
    nodes.AssignBlock,
    nodes.ExprStmt,
    nodes.Scope,
)
_NAMES = {nodes.CallBlock: "call", nodes.FilterBlock: "filter", nodes.Extends: "extends", nodes.Block: "block"}
_METHODS: Mapping[type, frozenset[str]] = {
    dict: frozenset({"get", "items", "keys", "values"}),
    str: frozenset({"endswith", "lower", "startswith", "strip", "upper"}),
}


def _range(*args: int) -> range:
    found = range(*args)
    if len(found) > _LONGEST_RANGE:
        raise SecurityError(f"range is longer than {_LONGEST_RANGE:,}")
    return found


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates of this process: whoever loads a domain again need not compile its prompts again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if len(self._kept) >= _MOST_COMPILED:
            self._kept.clear()
        if bucket.code is not None:
            self._kept[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class SandboxedTemplates(ImmutableSandboxedEnvironment):
    """The Jinja environment of prompts; see the docstring of the module.

    `more_filters` are counted like Jinja's own. Templates are parsed, compiled and rendered inside `metered`.
    """

    intercepted_binops: frozenset[str] = frozenset(("+", "-", "*", "/", "//", "%", "**"))
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
            finalize=finalize,
            bytecode_cache=_COMPILED,
        )
        self.filters = {**counted_filters(more_filters), **FILTERS_COUNTED}
        self.tests = dict(TESTS_ALLOWED)
        self.globals = {"range": _range}

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
            if (fault := _fault(node, depth, blocks)) is not None:
                raise jinja2.TemplateSyntaxError(fault, node.lineno, name, filename)
        return _guarded(tree)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute. It may not read attributes with a leading underscore, nor methods
        that it may not call.
        """
        if not super().is_safe_attribute(obj, attr, value):
            return False
        return not callable(value) or isinstance(value, Macro) or self.is_safe_callable(value) or _is_cycle(value)

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether a template may call an object: its macros, `range`, `loop.cycle` and a few methods."""
        if isinstance(obj, Macro) or obj is _range or _is_cycle(obj):
            return True
        owner = getattr(obj, "__self__", None)
        if not isinstance(obj, BuiltinMethodType):
            return False
        return any(isinstance(owner, kind) and obj.__name__ in names for kind, names in _METHODS.items())

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        meter().step()
        if isinstance(__obj, jinja2.Undefined):
            return __obj()  # raises, and says what is undefined
        if not __self.is_safe_callable(__obj):
            raise SecurityError(f"calls {getattr(__obj, '__name__', type(__obj).__name__)}, which no template may call")
        result = __context.call(__obj, *args, **kwargs)
        if isinstance(result, str):
            meter().text(len(result))
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The value of `left operator right`. Raises SecurityError for results without a bounded size."""
        meter().step()
        if operator == "**":
            raise SecurityError("'**' is not allowed in templates")
        if operator == "+":
            return bounded(added(left, right))
        numbers(operator, left, right)
        return bounded(super().call_binop(context, operator, left, right))

    def getitem(self, obj: Any, argument: Any) -> Any:
        if not isinstance(argument, slice):
            key(None, argument)
        found = super().getitem(obj, argument)
        if isinstance(found, str):
            meter().text(len(found))
        elif isinstance(found, list | tuple) and isinstance(argument, slice):
            meter().step(len(found))
        return found

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:  # noqa: A002
        meter().step()
        return super().get_template(name, parent, globals)


def _is_cycle(value: Any) -> bool:
    return isinstance(getattr(value, "__self__", None), LoopContext) and getattr(value, "__name__", "") == "cycle"


def _below(node: nodes.Node) -> Iterator[tuple[nodes.Node, int, int]]:
    """Every node of a tree, with its depth and the number of enclosing statements, without recursion."""
    waiting = [(node, 0, 0)]
    while waiting:
        current, depth, blocks = waiting.pop()
        yield current, depth, blocks
        inner = blocks + isinstance(current, nodes.Stmt)
        waiting.extend((child, depth + 1, inner) for child in current.iter_child_nodes())


def _fault(node: nodes.Node, depth: int, blocks: int) -> str | None:
    """An error if a template may not contain this node, else None."""
    if depth > _DEEPEST_NODE or blocks > _DEEPEST_STATEMENT:
        return "nested too deeply"
    if isinstance(node, nodes.Stmt | nodes.Template) and not isinstance(node, _STATEMENTS):
        return f"'{_NAMES.get(type(node), type(node).__name__.lower())}' is not allowed in the templates of prompts"
    if isinstance(node, nodes.For) and node.recursive:
        return "'recursive' is not used in the templates of prompts"
    if isinstance(node, nodes.Include):
        if not isinstance(node.template, nodes.Const) or not isinstance(node.template.value, str):
            return "an include must name one file, as a text"
        if node.ignore_missing:
            return "an include must name a file that exists; 'ignore missing' is not allowed"
    if isinstance(node, nodes.Filter) and node.name.startswith("_"):
        return f"there is no filter {node.name!r}"
    if isinstance(node, nodes.Const) and isinstance(node.value, int) and abs(node.value) > LARGEST_NUMBER:
        return "a number of more than 64 bits"
    return None


def _guarded(tree: nodes.Template) -> nodes.Template:
    """The tree, with counting filters around everything that could run without end."""
    for node, _, _ in list(_below(tree)):
        if isinstance(node, nodes.For):
            weight = 1 + sum(1 for part in node.body for _ in _below(part)) // NODES_PER_STEP
            node.iter = _filtered(node.iter, "_counted", nodes.Const(weight, lineno=node.lineno))
        elif isinstance(node, nodes.Compare):
            node.expr = _filtered(node.expr, "_compared")
            for operand in node.ops:
                operand.expr = _filtered(operand.expr, "_searched" if operand.op in ("in", "notin") else "_compared")
        elif isinstance(node, nodes.Pair):
            node.key = _filtered(node.key, "_key")
    _join_concats(tree)
    tree.set_environment(tree.environment)  # type: ignore[arg-type]
    return tree


def _join_concats(tree: nodes.Node) -> None:
    """Put a counting filter around every `a ~ b`."""
    for node, _, _ in list(_below(tree)):
        for name, value in list(node.iter_fields()):
            if isinstance(value, nodes.Concat):
                setattr(node, name, _concatenated(value))
            elif isinstance(value, list):
                value[:] = [_concatenated(part) if isinstance(part, nodes.Concat) else part for part in value]


def _concatenated(node: nodes.Concat) -> nodes.Filter:
    parts = nodes.List(node.nodes, lineno=node.lineno)
    return _filtered(parts, "_joined")


def _filtered(node: Any, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)
