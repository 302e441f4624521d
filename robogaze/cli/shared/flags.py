"""Parameters of the library as options of the command line."""

import re

_FLAGS = {"max_cost_usd": "--max-cost"}
"""The options that are not named after their parameter."""


def with_flags(message: str) -> str:
    """The message of the library, in which each parameter, written as `out`, is replaced by its option, --out."""
    return re.sub(r"`([a-z_]+)`", lambda found: _FLAGS.get(found[1], f"--{found[1].replace('_', '-')}"), message)
