"""The limits of rendering a template, and the meter that counts against them."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import GeneratorType

from jinja2.exceptions import SecurityError


@dataclass(frozen=True)
class RenderLimits:
    """The limits of one rendering.

    An iteration of a loop, a call, a filter and a printed value are one step each (a long iteration several).
    `characters` limits the length of the result, and `made` that of all texts made on the way.
    """

    steps: int = 200_000
    characters: int = 2_000_000
    made: int = 20_000_000
    seconds: float = 10.0


LIMITS = RenderLimits()


@dataclass
class RenderMeter:
    """Counts one rendering. Raises SecurityError beyond a limit."""

    limits: RenderLimits
    steps: int = 0
    made: int = 0
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.seconds

    def step(self, number: int = 1) -> None:
        self.steps += number
        if self.steps > self.limits.steps:
            raise SecurityError(f"rendering takes more than {self.limits.steps:,} steps")
        if time.monotonic() > self.deadline:
            raise SecurityError(f"rendering takes more than {self.limits.seconds:g} s")

    def text(self, length: int) -> None:
        """Count a text of this length before it is made."""
        self.made += length
        if length > self.limits.characters or self.made > self.limits.made:
            raise SecurityError(f"rendering makes more than {self.limits.characters:,} characters")


_METER: ContextVar[RenderMeter] = ContextVar("_METER")


def meter() -> RenderMeter:
    """The meter of the current rendering."""
    return _METER.get()


@contextmanager
def metered(limits: RenderLimits) -> Iterator[None]:
    """Count what templates do in this block, and stop it at the limits."""
    token = _METER.set(RenderMeter(limits))
    try:
        yield
    finally:
        _METER.reset(token)


def concat(parts: Iterable[str]) -> str:
    """The parts as one text, counted. Raises SecurityError if it is longer than the limit."""
    count = meter()
    found, length = [], 0
    try:
        for part in parts:
            count.step()
            length += len(part)
            if length > count.limits.characters:
                count.text(length)
            found.append(part)
        count.text(length)
    except SecurityError as error:
        if isinstance(parts, GeneratorType) and parts.gi_frame is not None:
            parts.throw(error)  # raises it at the line of the template that made the part
        raise
    return "".join(found)
