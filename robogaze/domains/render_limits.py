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

    Each iteration of a loop, call, filter and printed value counts as one step; an iteration of a loop with a long body
    and a filter for a list count as several. `characters` limits the length of each text that is made, including the
    result. `made` limits the total length of all these texts.
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
        if length > self.limits.characters:
            raise SecurityError(f"rendering makes a text of more than {self.limits.characters:,} characters")
        if self.made > self.limits.made:
            raise SecurityError(f"rendering makes more than {self.limits.made:,} characters")


_METER: ContextVar[RenderMeter] = ContextVar("_METER")


def meter() -> RenderMeter:
    """The meter of the current rendering."""
    return _METER.get()


@contextmanager
def metered(limits: RenderLimits) -> Iterator[None]:
    """Count the steps and characters of all templates in this block. A template that exceeds the limits raises
    SecurityError.
    """
    token = _METER.set(RenderMeter(limits))
    try:
        yield
    finally:
        _METER.reset(token)


def concat(parts: Iterable[str]) -> str:
    """The parts joined into one text. The parts count as steps, and the text counts towards the limits of the
    rendering. Raises SecurityError if a limit is exceeded.
    """
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
