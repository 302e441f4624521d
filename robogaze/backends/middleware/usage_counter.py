"""What was spent on a model."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class UsageCounter:
    """What a model was asked and what that cost, from where its budget counts.

    `uncounted` says that an answer came of which nobody knows the cost; `note` writes down what is added.
    """

    calls: int = 0
    cost_usd: float = 0.0
    uncounted: bool = False
    note: Callable[[int, float], None] = lambda calls, cost_usd: None

    def add_call(self) -> None:
        """Count a request that is about to be sent."""
        self.calls += 1
        self.note(1, 0.0)

    def add_cost(self, cost_usd: float | None) -> None:
        """Count what an answer cost; None when that is not known."""
        self.uncounted = self.uncounted or cost_usd is None
        self.cost_usd += cost_usd or 0.0
        self.note(0, cost_usd or 0.0)


def counted_calls(number: int) -> str:
    """A number of calls in words: `1 call`, `2 calls`."""
    return f"{number:,} call{'' if number == 1 else 's'}"
