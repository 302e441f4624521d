"""The placeholders of format strings in a domain's files."""

from collections.abc import Collection
from string import Formatter


def placeholder_problem(text: str, known: Collection[str]) -> str | None:
    """What is wrong with a format string whose placeholders must be among the known ones; None if nothing is."""
    try:
        used = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError as error:
        return f"is not a valid format string: {error}"
    unknown = sorted(used - {*known})
    return f"unknown field {{{unknown[0]}}}; known: {', '.join(sorted(known))}" if unknown else None
