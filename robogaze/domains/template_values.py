"""The operators, comparisons, filters and tests that prompts can use, and the counting of their steps and texts.

Operations whose result could have any size, or that could compare nested lists without end, have bounded versions
here; the rest are Jinja's.
"""

import re
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sized
from itertools import chain
from typing import Any

import jinja2
from jinja2 import pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.tests import TESTS

from robogaze.domains.render_limits import concat, meter
from robogaze.domains.special_tokens import broken_up

LARGEST_NUMBER = 2**63
NODES_PER_STEP = 16
_MOST_DIGITS = 15

_PLAIN = (str, int, float)
"""The types that can be printed, compared and used as keys; a bool is an int."""

_FORMAT = re.compile(r"%(?:%|[-+ #0]{0,5}\d{0,3}(?:\.\d{0,2})?[sdifeEgGxX])")


class _Counted:
    """The values of a loop; each iteration is counted."""

    def __init__(self, values: Iterable[Any], weight: int) -> None:
        self._values = values
        self._weight = weight

    def __iter__(self) -> Iterator[Any]:
        count = meter()
        for value in self._values:
            count.step(self._weight)
            yield value


class _CountedSized(_Counted):
    def __len__(self) -> int:
        assert isinstance(self._values, Sized)
        return len(self._values)


@pass_context
def counted(context: Context, values: Any, weight: int) -> Any:
    """The values of a loop. Each iteration counts as `weight` steps."""
    iter(values)  # raises TypeError for a value that is not iterable, and UndefinedError for a missing one
    kind = _CountedSized if isinstance(values, Sized) else _Counted
    return kind(values, weight)


@pass_context
def joined(context: Context, parts: list[Any]) -> str:
    """The value of `a ~ b`."""
    return concat(str(_printable(part)) for part in parts)


@pass_context
def compared(context: Context, value: Any) -> Any:
    """An operand of a comparison. Raises SecurityError for nested lists, whose comparison could run without end."""
    if isinstance(value, jinja2.Undefined) or _is_flat(value):
        return value
    raise SecurityError(f"compares a {type(value).__name__} with nested values; compare texts and numbers only")


@pass_context
def searched(context: Context, value: Any) -> Any:
    """The right operand of `in`. If it is a mapping, only its keys are searched, so its values may be nested."""
    return value if isinstance(value, Mapping | KeysView) else compared(context, value)


@pass_context
def key(context: Context | None, value: Any) -> Any:
    """A key of a mapping. Raises SecurityError unless it is a text or a number."""
    if value is None or isinstance(value, _PLAIN):
        return value
    raise SecurityError(f"a key must be a text or a number, not a {type(value).__name__}")


def _is_flat(value: Any) -> bool:
    if value is None or isinstance(value, _PLAIN):
        return True
    if isinstance(value, list | tuple | set | frozenset | dict):
        meter().step(1 + len(value) // NODES_PER_STEP)
        return all(item is None or isinstance(item, _PLAIN) for item in value)
    return not isinstance(value, Iterable)


def _printable(value: Any) -> Any:
    if value is None or isinstance(value, (*_PLAIN, jinja2.Undefined)):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, int | float) for item in value):
        meter().text(30 * len(value))
        return value
    raise SecurityError(f"prints a {type(value).__name__}; print its parts, or write it with '| quoted'")


@pass_context
def finalize(context: Context, value: Any) -> Any:
    """A printed value, with special tokens broken up.

    Raises SecurityError unless it is a text, a number or a list of numbers.
    """
    meter().step()
    return broken_up(value) if isinstance(value, str) else _printable(value)


# Operators. Jinja calls them for every operation, also between constants.


def numbers(operator: str, left: Any, right: Any) -> None:
    """Raise SecurityError for a text or a list, which an operator could multiply."""
    for value in (left, right):
        if isinstance(value, str | bytes | list | tuple):
            raise SecurityError(f"'{operator}' is for numbers only, not for a {type(value).__name__}")


def bounded(value: Any) -> Any:
    """The value. Raises SecurityError for an integer of more than 64 bits."""
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise SecurityError("computes a number of more than 64 bits")
    return value


def added(left: Any, right: Any) -> Any:
    """The value of `left + right`. The length of a text or a list counts towards the limits of the rendering."""
    if isinstance(left, str) and isinstance(right, str):
        meter().text(len(left) + len(right))
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        meter().step(len(left) + len(right))
    return left + right


def _format(value: Any, *args: Any) -> str:
    """`"%.2f" | format(x)`: widths of up to three digits, texts and numbers only."""
    pattern = str(value)
    rest = _FORMAT.sub("", pattern)
    if "%" in rest:
        raise SecurityError(f"{pattern[:60]!r} is not a format for texts and numbers with a width below 1000")
    for arg in args:
        if not isinstance(arg, (*_PLAIN, jinja2.Undefined)):
            raise TypeError(f"must be real number or text, not {type(arg).__name__}")
    meter().text(len(pattern) + 1000 * pattern.count("%") + sum(len(arg) for arg in args if isinstance(arg, str)))
    return pattern % args


@pass_context
def _join(context: Context, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    return concat(chain.from_iterable(_between(_parts(context, value, attribute), str(d))))


def _parts(context: Context, values: Iterable[Any], attribute: str | int | None) -> Iterable[Any]:
    """The values, or an attribute of each of them."""
    found: Iterable[Any] = FILTERS["map"](context, values, attribute=attribute) if attribute is not None else values
    return found


def _between(parts: Iterable[Any], separator: str) -> Iterator[tuple[str, ...]]:
    for number, part in enumerate(parts):
        yield (separator, str(_printable(part))) if number else (str(_printable(part)),)


def _replace(value: Any, old: Any, new: Any) -> str:
    text, before, after = str(_printable(value)), str(old), str(new)
    meter().text(len(text) + text.count(before) * len(after))
    return text.replace(before, after)


def _round(value: Any, precision: int = 0, method: str = "common") -> Any:
    numbers("round", value, precision)
    if not 0 <= precision <= _MOST_DIGITS:
        raise SecurityError(f"the precision of 'round' must be between 0 and {_MOST_DIGITS}, not {precision}")
    return FILTERS["round"](value, precision, method)


def _int(value: Any, default: int = 0) -> int:
    if isinstance(value, str) and len(value) > 20:
        return default
    return int(bounded(FILTERS["int"](value, default)))


def _sum(value: Iterable[Any]) -> Any:
    total: Any = 0
    for item in value:
        numbers("sum", item, 0)
        total = bounded(total + item)
    return total


def _abs(value: Any) -> Any:
    numbers("abs", value, 0)
    return abs(value)


def _string(value: Any) -> str:
    return str(_printable(value))


def _flat_items(value: Iterable[Any]) -> list[Any]:
    items = list(value)
    for item in items:
        if not (item is None or isinstance(item, _PLAIN)):
            raise SecurityError(f"sorts texts and numbers only, not a {type(item).__name__}")
    return items


@pass_context
def _sort(
    context: Context, value: Iterable[Any], reverse: bool = False, attribute: str | int | None = None
) -> list[Any]:
    items = list(value)
    keys = _flat_items(_parts(context, items, attribute))
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[number] for number in order]


def _unique(value: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(_flat_items(value)))


def _min(value: Iterable[Any]) -> Any:
    return min(_flat_items(value))


def _max(value: Iterable[Any]) -> Any:
    return max(_flat_items(value))


_OWN_FILTERS: Mapping[str, Any] = {
    "abs": _abs,
    "format": _format,
    "int": _int,
    "join": _join,
    "max": _max,
    "min": _min,
    "replace": _replace,
    "round": _round,
    "sort": _sort,
    "string": _string,
    "sum": _sum,
    "unique": _unique,
}
_JINJA_FILTERS = (
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "float",
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
    "title",
    "trim",
    "upper",
)
_TESTS = (
    "boolean",
    "defined",
    "divisibleby",
    "even",
    "false",
    "float",
    "integer",
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


def _counted_filter(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """The filter with its input and output counted; it needs the context, so the compiler never runs it."""
    passed = getattr(filter_, "jinja_pass_arg", None)

    @pass_context
    def run(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        count = meter()
        holds = isinstance(value, Sized) and not isinstance(value, str | jinja2.Undefined)
        count.step(1 + (len(value) if holds else 0))
        first = {"context": (context,), "eval_context": (context.eval_ctx,), "environment": (context.environment,)}
        result = filter_(*first.get(passed.name if passed else "", ()), value, *args, **kwargs)
        if isinstance(result, str):
            count.text(len(result))
        elif isinstance(result, list):
            count.step(len(result))
        return result

    return run


FILTERS_COUNTED: Mapping[str, Callable[..., Any]] = {
    "_counted": counted,
    "_joined": joined,
    "_compared": compared,
    "_searched": searched,
    "_key": key,
}
"""The filters that only the sandbox puts into a template; see `robogaze.domains.sandbox`."""
TESTS_ALLOWED: Mapping[str, Any] = {name: TESTS[name] for name in _TESTS}


def counted_filters(more: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The filters that a template may use, including those in `more`."""
    filters: dict[str, Any] = {name: FILTERS[name] for name in _JINJA_FILTERS} | dict(_OWN_FILTERS) | dict(more)
    return {name: _counted_filter(filter_) for name, filter_ in filters.items()}
