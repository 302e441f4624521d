"""Replaces the library's parameter names in messages by the options of the command line."""

import re

_FLAGS = {"max_cost_usd": "--max-cost"}
"""The options that are not named after their parameter."""


def with_flags(message: str) -> str:
    """A message of the library with its parameters replaced by command line options: `out` becomes --out."""
    return re.sub(r"`([a-z_]+)`", lambda found: _FLAGS.get(found[1], f"--{found[1].replace('_', '-')}"), message)
