"""How usable the kept candidates are according to people's labels, for the rule and for other measures.

The precision of a prompt is the share of usable clips among the candidates to keep (for P@50, the better half). If a
measure gives several candidates the same value, and only some of them can be kept, the precision is the mean over all
possible choices. The result of `random` is therefore exact. If too few candidates have a rank, the empty places count
as not usable. Means over prompts have Student intervals, and differences are paired by prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robogaze.core.estimate import Estimate
from robogaze.errors import OptionError
from robogaze.ranking.candidates import Candidate
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.labels import Label
from robogaze.ranking.order import PromptRanking, tie_key
from robogaze.ranking.weights import RankingWeights
from robogaze.stats.jackknife import student_intervals
from robogaze.stats.paired import Difference, pairwise_mean_differences
from robogaze.stats.resample import draw_resamples, mean, mean_rows

RULE, EVENTS, SEVERITY, RANDOM, ORACLE = "usability", "number of events", "worst severity", "random", "oracle"
"""The names of measures."""

_UNGRADED = 3
"""The severity that an event without one counts as in SEVERITY."""

Key = tuple[Any, ...] | None
"""What a measure orders by, smaller for better; None for a clip without a value, which is never kept."""


@dataclass(frozen=True)
class MeasureResult:
    """The precision of a measure, and the share of severe failures among the candidates that it keeps. Both are means
    over prompts.

    `difference` is its precision minus the baseline's; None for the baseline.
    """

    name: str
    precision: Estimate
    severe: Estimate
    difference: Difference | None


@dataclass(frozen=True)
class Screening:
    """The results of all measures, on the prompts whose candidates all have labels.

    `usable` is the share of usable candidates. `left_out` maps each prompt with missing labels to the number of its
    candidates without a label.
    """

    precision: str
    baseline: str
    prompts: int
    candidates: int
    usable: float
    measures: tuple[MeasureResult, ...]
    left_out: Mapping[str, int]


def labelled_prompts(
    prompts: Sequence[PromptRanking], labels: Mapping[str, Label]
) -> tuple[list[PromptRanking], dict[str, int]]:
    """The prompts whose candidates all have a label. For every other prompt, also the number of its candidates without
    a label.
    """
    missing = {prompt.prompt: sum(clip_id not in labels for clip_id in prompt.ids) for prompt in prompts}
    whole = [prompt for prompt in prompts if not missing[prompt.prompt]]
    return whole, {name: number for name, number in missing.items() if number}


def screen(
    prompts: Sequence[PromptRanking],
    labels: Mapping[str, Label],
    scores: Mapping[str, Mapping[str, float]],
    weights: RankingWeights,
    config: RankingConfig,
) -> Screening:
    """Compute the results of all measures on the prompts whose candidates all have labels. Raises OptionError for an
    unknown baseline.
    """
    whole, left_out = labelled_prompts(prompts, labels)
    keys = {name: [_keys_of(prompt, name, weights, labels, scores) for prompt in whole] for name in _names(scores)}
    names = list(keys)
    if config.baseline not in names:
        raise OptionError(f"the `baseline` {config.baseline} is not a measure; use one of: {', '.join(names)}")
    found = np.array(
        [[_kept_part(k, prompt, labels) for k, prompt in zip(keys[name], whole, strict=True)] for name in names]
    )
    found = found.reshape(len(names), len(whole), 2)
    baseline = names.index(config.baseline)
    differences = {names[pair.first]: pair for pair in _differences(found[..., 0], config, baseline)}
    precision, severe = (_means(found[..., side], config) for side in (0, 1))
    usable = [labels[clip_id].usable for prompt in whole for clip_id in prompt.ids]
    return Screening(
        config.precision, config.baseline, len(whole), len(usable), float(np.mean(usable)) if usable else nan,
        tuple(
            MeasureResult(name, precision[at], severe[at], differences.get(name)) for at, name in enumerate(names)
        ),
        left_out,
    )  # fmt: skip


def _names(scores: Mapping[str, Mapping[str, float]]) -> list[str]:
    own = [RULE, EVENTS, SEVERITY, RANDOM, ORACLE]
    if clash := next((name for name in scores if name in own), None):
        raise OptionError(f"the column {clash} of `scores` has the name of a built-in measure; rename the column")
    return [*own[:3], *scores, *own[3:]]


def _keys_of(
    prompt: PromptRanking,
    measure: str,
    weights: RankingWeights,
    labels: Mapping[str, Label],
    scores: Mapping[str, Mapping[str, float]],
) -> list[Key]:
    """The sort keys of a prompt's candidates under a measure, in the order of their ids."""
    if measure == RANDOM:
        return [()] * len(prompt.ids)
    if measure == ORACLE:
        return [(not labels[clip_id].usable, labels[clip_id].severe or False) for clip_id in prompt.ids]
    if measure in scores:
        found = scores[measure]
        return [(-found[clip_id],) if clip_id in found else None for clip_id in prompt.ids]
    ranked: list[Key] = [_key(ranked.candidate, measure, weights) for ranked in prompt.ranked]
    return [*ranked, *[None] * len(prompt.unranked)]


def _key(candidate: Candidate, measure: str, weights: RankingWeights) -> Key:
    if measure == RULE:
        return tie_key(candidate, weights)
    if measure == EVENTS:
        return (len(candidate.events),)
    return (max((event.severity or _UNGRADED for event in candidate.events), default=0),)


def kept_shares(keys: Sequence[Key], wanted: int) -> list[float]:
    """The probability that each clip is among the `wanted` best if clips with equal keys come in random order."""
    shares = [0.0] * len(keys)
    left = wanted
    for key in sorted({key for key in keys if key is not None}):
        tied = [place for place, other in enumerate(keys) if other == key]
        for place in tied:
            shares[place] = min(1.0, left / len(tied))
        left = max(0, left - len(tied))
    return shares


def _kept_part(keys: Sequence[Key], prompt: PromptRanking, labels: Mapping[str, Label]) -> tuple[float, float]:
    """The precision of a prompt, and the share of severe failures in the kept part; NaN if not known."""
    shares, found = kept_shares(keys, prompt.wanted), [labels[clip_id] for clip_id in prompt.ids]
    usable = sum(share for share, label in zip(shares, found, strict=True) if label.usable)
    severe, kept = sum(share for share, label in zip(shares, found, strict=True) if label.severe), sum(shares)
    known = kept > 0 and all(label.severe is not None for label in found)
    return usable / prompt.wanted, severe / kept if known else nan


def _means(values: NDArray[np.float64], config: RankingConfig) -> list[Estimate]:
    """The mean over prompts of every measure, (measures, prompts)."""
    if not values.shape[1]:
        return [Estimate(nan, why="no prompt has labels for all its candidates")] * len(values)
    rows = mean_rows(values)
    resamples = draw_resamples([0] * values.shape[1], 1, np.random.default_rng(0))
    found = student_intervals(resamples.sums(rows), mean, level=config.level, share=True)
    return [found.estimate(at, n=int(rows[at, :, 1].sum())) for at in range(len(values))]


def _differences(values: NDArray[np.float64], config: RankingConfig, baseline: int) -> tuple[Difference, ...]:
    if not values.shape[1]:
        return ()
    resamples = draw_resamples([0] * values.shape[1], 1, np.random.default_rng(0))
    return pairwise_mean_differences(values, resamples, level=config.level, baseline=baseline)
