"""The budget of a run, over all its models.

Before a request is sent, its maximum cost is reserved: the estimated cost of the prompt plus the cost of an answer with
`max_tokens` tokens. A request that does not fit into the budget waits until other requests have finished, because most
of them cost less than was reserved for them. If it still does not fit when no other request is in progress, the run
stops. The budget can be exceeded only if the prompt estimates are wrong.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from robogaze.errors import BudgetExhausted


@dataclass
class UsageCounter:
    """The calls to one model and their cost, including earlier starts of the run.

    `uncounted` becomes True when the cost of an answer is not known. `record` is called with each addition (calls, USD)
    to store it.
    """

    calls: int = 0
    cost_usd: float = 0.0
    uncounted: bool = False
    record: Callable[[int, float], None] = lambda calls, cost_usd: None

    def add_call(self) -> None:
        """Count a request that is about to be sent."""
        self.calls += 1
        self.record(1, 0.0)

    def add_cost(self, cost_usd: float | None) -> None:
        """Add the cost of an answer, or None if it is not known."""
        self.uncounted = self.uncounted or cost_usd is None
        self.cost_usd += cost_usd or 0.0
        self.record(0, cost_usd or 0.0)


@dataclass
class Budget:
    """The maximum number of calls and the maximum cost of all models together; None means no limit."""

    calls: int | None = None
    cost_usd: float | None = None
    _counters: list[UsageCounter] = field(default_factory=list)
    _reserved_usd: float = 0.0
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    def include(self, counter: UsageCounter) -> None:
        """Add the counter of a model, whose usage then counts towards the budget."""
        self._counters.append(counter)

    async def reserve(self, maximum_usd: float | None) -> float:
        """Reserve the maximum cost of a request and return it. When the request has ended, pass this cost to `release`.

        `maximum_usd` is None for a model without a price. Raises BudgetExhausted when the budget does not allow another
        request. Also raises BudgetExhausted when the budget cannot be enforced because a model has no price or a server
        does not count tokens.
        """
        if self.calls is not None and sum(counter.calls for counter in self._counters) >= self.calls:
            raise BudgetExhausted(
                f"the limit of {calls_in_words(self.calls)} is reached (calls for retries and unfinished clips "
                "also count); raise `max_calls` to resume"
            )
        if self.cost_usd is None:
            return 0.0
        if maximum_usd is None or any(counter.uncounted for counter in self._counters):
            reason = "a model has no price" if maximum_usd is None else "the server does not count tokens"
            raise BudgetExhausted(f"{reason}, so `max_cost_usd` cannot be enforced; use `max_calls` instead")
        while self._cost_usd + self._reserved_usd + maximum_usd > self.cost_usd:
            if not self._reserved_usd:
                raise BudgetExhausted(
                    f"{self._cost_usd:.4g} of {self.cost_usd:g} USD have been spent, and the next request may cost "
                    f"{maximum_usd:.2g} USD; raise `max_cost_usd` to resume"
                )
            self._released.clear()
            await self._released.wait()
        self._reserved_usd += maximum_usd
        return maximum_usd

    def release(self, reserved_usd: float) -> None:
        """Release the cost that was reserved for a request."""
        self._reserved_usd = max(0.0, self._reserved_usd - reserved_usd)
        if self._reserved_usd < 1e-9:
            self._reserved_usd = 0.0  # the rest is rounding error
        self._released.set()

    @property
    def _cost_usd(self) -> float:
        return sum(counter.cost_usd for counter in self._counters)


def calls_in_words(number: int) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} call{'' if number == 1 else 's'}"
