"""Whether another judge gives the same result (RoboGaze, A.4.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robogaze.core.estimate import Estimate
from robogaze.evaluation.estimates import Scores
from robogaze.stats.correlation import mean_difference, spearman


@dataclass(frozen=True)
class Robustness:
    """One metric under two judges. Only the systems for which the metric is defined under both judges are used.

    `spearman` and `difference` (second minus first) are over systems; `largest` is the largest absolute difference, NaN
    without systems. `swapped` are the pairs of systems that the judges rank in opposite order.
    """

    metric: str
    spearman: Estimate
    difference: Estimate
    largest: float
    swapped: tuple[tuple[str, str], ...]


def robustness(
    first: Mapping[str, Scores], second: Mapping[str, Scores], metrics: Sequence[str]
) -> tuple[Robustness, ...]:
    """Compare the scores of the same systems (by name) under two judges."""
    return tuple(_compared(name, first, second) for name in metrics)


def _compared(metric: str, first: Mapping[str, Scores], second: Mapping[str, Scores]) -> Robustness:
    names = [name for name in first if first[name][metric].defined and second[name][metric].defined]
    before, after = ([side[name][metric].value for name in names] for side in (first, second))
    swapped = tuple(
        (names[name], names[other])
        for name in range(len(names))
        for other in range(name + 1, len(names))
        if (before[name] - before[other]) * (after[name] - after[other]) < 0
    )
    largest = max((abs(b - a) for a, b in zip(before, after, strict=True)), default=float("nan"))
    return Robustness(metric, spearman(before, after), mean_difference(after, before), largest, swapped)
