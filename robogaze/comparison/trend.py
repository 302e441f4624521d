"""A trend over training steps, which are read from the names of the runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.comparison.clip_measures import MEASURES, rows
from robogaze.comparison.leaderboard import ComparisonConfig
from robogaze.comparison.prompt_pairing import PromptPairing
from robogaze.core.estimate import Estimate
from robogaze.stats.interval import percentile
from robogaze.stats.resample import Floats, draw_resamples

MIN_STEPS = 3
"""Two runs are a difference, not a trend."""

_STEP = re.compile(r"(\d+)(k|m)?(?![a-z0-9])", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True)
class Trend:
    """The slope of every measure per 1,000 steps, by least squares, over the `prompts` that all runs share."""

    steps: tuple[int, ...]
    prompts: int
    slopes: Mapping[str, Estimate]


def step_of(name: str) -> int | None:
    """The last number in a name, 14000 in `step_14000` or `step_14k`; None if the name has no number."""
    found = _STEP.findall(name)
    return int(found[-1][0]) * _TIMES[found[-1][1].lower()] if found else None


def trend(names: Sequence[str], prompts: PromptPairing, config: ComparisonConfig) -> Trend | None:
    """The trend, with intervals from resampled prompts.

    None if a name contains no step, if two names contain the same step, or if the names differ in more than the step.
    Also None if there are fewer than MIN_STEPS steps, or if the runs share no prompt.
    """
    steps = [step for name in names if (step := step_of(name)) is not None]
    alike = len({_STEP.sub("", name) for name in names}) == 1
    if not alike or len(steps) < len(names) or len(set(steps)) < len(steps) or len(steps) < MIN_STEPS:
        return None
    shared = prompts.shared(*range(len(names)))
    if not shared:
        return None
    table = np.stack([rows([clips[prompt] for prompt in shared], config.scope) for clips in prompts.runs])
    sums = draw_resamples(
        [0] * len(shared), config.resamples, config.rng, [prompts.unit[prompt] for prompt in shared]
    ).sums(table)
    slopes = {}
    for name, measure in MEASURES.items():
        value, drawn = _slope(steps, measure(sums.total)), _slope(steps, measure(sums.drawn))
        found = percentile(value, drawn, level=config.level)
        slopes[name] = found.estimate(n=len(shared))
    return Trend(tuple(steps), len(shared), slopes)


def _slope(steps: Sequence[int], values: Floats) -> Floats:
    """The slope of some values, shape (runs, ...), per 1,000 steps."""
    centred = (np.array(steps) - np.mean(steps)) / 1000
    weights = centred / (centred**2).sum()
    slope: Floats = np.tensordot(weights, values, axes=1)
    return slope
