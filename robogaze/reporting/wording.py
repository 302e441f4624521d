"""Counts, sums and names as text, the same on pages and in the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Total:
    """A sum of values. `values` is the number of values, `unknown` is how many of them are not known, and `known` is
    the sum of the known values.
    """

    known: float
    unknown: int
    values: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Total":
        """None counts as unknown, never as 0."""
        known = [value for value in values if value is not None]
        return cls(sum(known), len(values) - len(known), len(values))


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun, such as `1 clip` or `2 clips`. `plural` is only needed for a plural that does not just
    add an s.
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`; empty for none."""
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"


def amount(total: Total, noun: str = "") -> str:
    """A sum of whole numbers. The text is `not known` if no part is known, and `at least ...` if only some parts are
    known.
    """
    return _bounded(total, f"{total.known:,.0f}", noun)


def money(total: Total) -> str:
    """A sum in US dollars; unknown parts as in `amount`."""
    return _bounded(total, f"${total.known:,.{2 if total.known >= 1 or total.known == 0 else 4}f}", "")


def _bounded(total: Total, known: str, noun: str) -> str:
    after = f" {noun}" if noun else ""
    if total.unknown == 0:
        return f"{known}{after}"
    if total.unknown == total.values:
        return f"{noun} not known".strip()
    return f"at least {known}{after} (not known for {total.unknown} of {total.values} values)"


def seconds(start: float, end: float) -> str:
    """`2.00-8.69 s`."""
    return f"{start:.2f}-{end:.2f} s"


def printable(text: str) -> str:
    """Text with control characters, and characters that UTF-8 cannot encode, written as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
