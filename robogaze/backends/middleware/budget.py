"""What a run may spend in all, whatever models it asks: a cap that is passed by no more than prompts are misjudged.

Before a request is sent, the most that its answer can cost is put aside: its prompt by estimate, and every token that
the answer may have. What would go beyond the cap waits for answers under way, which mostly cost less than was put
aside for them; when none is under way, the run ends.
"""

import asyncio
from dataclasses import dataclass, field

from robogaze.backends.middleware.usage_counter import UsageCounter, counted_calls
from robogaze.errors import BudgetExhausted


@dataclass
class Budget:
    """The calls and the dollars of all models of a run together; None means no cap."""

    calls: int | None = None
    cost_usd: float | None = None
    _spent: list[UsageCounter] = field(default_factory=list)
    _held_usd: float = 0.0
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    def watch(self, spent: UsageCounter) -> None:
        """Count what is spent on one more model."""
        self._spent.append(spent)

    async def hold(self, most_usd: float | None) -> float:
        """Put aside what an answer may cost at most and return it; `free` it once the answer is paid for.

        Raises BudgetExhausted when the cap does not allow one more request, or cannot be kept, because a model has no
        price (`most_usd` is None) or its server counts no tokens.
        """
        if self.calls is not None and sum(one.calls for one in self._spent) >= self.calls:
            raise BudgetExhausted(
                f"the limit of {counted_calls(self.calls)} is reached (retries and unfinished clips count); "
                "raise --max-calls to resume"
            )
        if self.cost_usd is None:
            return 0.0
        if most_usd is None or any(one.uncounted for one in self._spent):
            why = "a model has no price" if most_usd is None else "the server counts no tokens"
            raise BudgetExhausted(f"{why}, so --max-cost cannot be kept; set --max-calls in its place")
        while self._paid_usd + self._held_usd + most_usd > self.cost_usd:
            if not self._held_usd:
                raise BudgetExhausted(
                    f"{self._paid_usd:.4g} of {self.cost_usd:g} USD are spent and the next answer may cost "
                    f"{most_usd:.2g}; raise --max-cost and start again"
                )
            self._freed.clear()
            await self._freed.wait()
        self._held_usd += most_usd
        return most_usd

    def free(self, held_usd: float) -> None:
        """Give back what was put aside for an answer."""
        self._held_usd = max(0.0, self._held_usd - held_usd)
        if self._held_usd < 1e-9:
            self._held_usd = 0.0  # what rounding leaves is nothing
        self._freed.set()

    @property
    def _paid_usd(self) -> float:
        return sum(one.cost_usd for one in self._spent)
