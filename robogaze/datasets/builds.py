"""Builds of an interactive environment. A build's name, such as `castle:-drawer`, says which documented bugs it
contains.
"""

import re

from robogaze.errors import InputError

_SWITCHES = re.compile(r"clean|([+-]\w+)+")


def is_address(spec: str) -> bool:
    """Whether the spec of an environment is the address of a server."""
    return spec.startswith(("http://", "https://"))


def parse_switches(switches: str, bugs: tuple[str, ...]) -> frozenset[str]:
    """The bugs of a build: "" means all bugs, `clean` none, `+a+b` only a and b, `-a` all except a.

    Raises InputError for any other text and for an unknown bug.
    """
    if not switches:
        return frozenset(bugs)
    if not _SWITCHES.fullmatch(switches):
        raise InputError(
            f"{switches!r} is not a build; use clean, +BUG or -BUG, where BUG is one of: {', '.join(bugs)}"
        )
    chosen = set(bugs) if switches.startswith("-") else set()
    for sign, bug in re.findall(r"([+-])(\w+)", switches):
        if bug not in bugs:
            raise InputError(f"{bug!r} is not one of the bugs: {', '.join(bugs)}")
        chosen = chosen | {bug} if sign == "+" else chosen - {bug}
    return frozenset(chosen)
