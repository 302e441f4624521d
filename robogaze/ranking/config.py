"""What is kept of a prompt's candidates, and the settings of the measurement."""

from math import floor
from typing import Annotated, Self

from pydantic import Field, model_validator

from robogaze.core.data import Data


class RankingConfig(Data):
    """The settings of `robogaze.rank`.

    `keep` is a number of candidates of each prompt, or a share of them (a float up to 1). With labels, results have
    intervals at `level`, and every measure is compared with the measure `baseline`. `mixed` allows reports of different
    domains or pipelines.
    """

    keep: int | float = 0.5
    baseline: str = "random"
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95
    mixed: bool = False

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        if isinstance(self.keep, int) and self.keep < 1:
            raise ValueError(f"`keep` must be at least 1 candidate, or a share above 0, not {self.keep}")
        if isinstance(self.keep, float) and not 0 < self.keep <= 1:
            raise ValueError(f"`keep` as a share must be above 0 and at most 1, not {self.keep}")
        return self

    def kept_of(self, candidates: int) -> int:
        """The number of candidates of a prompt that are kept: at least 1, a share rounded down."""
        if isinstance(self.keep, int):
            return min(self.keep, candidates)
        return max(1, floor(self.keep * candidates + 1e-9))

    @property
    def precision(self) -> str:
        """The name of the precision: `P@50` if half of the candidates are kept, `P@2` if two per prompt are kept."""
        return f"P@{self.keep}" if isinstance(self.keep, int) else f"P@{100 * self.keep:g}"
