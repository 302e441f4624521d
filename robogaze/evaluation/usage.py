"""What a system uses per clip, from its reports."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.core.report import Usage
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import estimates
from robogaze.stats.resample import Resamples, mean, mean_rows

USAGE: Mapping[str, Callable[[Usage], float | None]] = {
    "calls": lambda usage: usage.calls,
    "prompt_tokens": lambda usage: usage.prompt_tokens,
    "completion_tokens": lambda usage: usage.completion_tokens,
    "wall_s": lambda usage: usage.wall_s,
    "cost_usd": lambda usage: usage.cost_usd,
}
"""What is averaged over clips; None where a server or a price is missing. `wall_s` is in seconds."""


def usage_per_clip(
    predictions: Sequence[ClipAnnotation | None], resamples: Resamples, config: EvaluationConfig
) -> Mapping[str, Estimate]:
    """The mean of each of USAGE over the clips of which it is known, unscored ones included; n counts these clips."""
    usages = [None if prediction is None else prediction.usage for prediction in predictions]
    values = np.array(
        [[np.nan if usage is None else _number(of(usage)) for usage in usages] for of in USAGE.values()],
        dtype=np.float64,
    )
    sums = resamples.sums(mean_rows(values))
    found = estimates(sums, lambda total: mean(total)[..., None], 1, config, share=False)
    known = (~np.isnan(values)).sum(axis=-1)
    return {name: found(place, 0, int(known[place])) for place, name in enumerate(USAGE)}


def _number(value: float | None) -> float:
    return np.nan if value is None else value
