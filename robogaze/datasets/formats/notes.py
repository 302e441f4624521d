"""What a reader should know of a reading: what was left out, and what was understood in a certain way."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was left out. `line` is None where it is not known, `key` empty for a file as a whole."""

    file: str
    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else self.file
        return f"{where}: {self.key}: {self.message}" if self.key else f"{where}: {self.message}"


@dataclass
class Notes:
    """Filled while accounts are read."""

    format: str = ""
    skipped: list[Skipped] = field(default_factory=list)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, noun: str, rest: str, times: int = 1) -> None:
        """Note that something happened once more, or several times more: `count("label", "'x' read as y")`."""
        self._counts[noun, rest] += times

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was counted, a sentence each, in the order in which it first happened."""
        return tuple(f"{n} {noun if n == 1 else noun + 's'} {rest}" for (noun, rest), n in self._counts.items())
