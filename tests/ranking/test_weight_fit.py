"""Weights fitted to labels and tested on held-out prompts."""

import numpy as np
import pytest
from checkpoints import report

from robogaze.errors import OptionError
from robogaze.ranking.candidates import Candidate
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.labels import Label
from robogaze.ranking.order import PromptRanking, rank_prompt
from robogaze.ranking.screening import screen
from robogaze.ranking.weight_fit import fitted_weights, held_out_weights

from .making import WEIGHTS, candidate


def labelled(prompts: int, risk: dict[int, float]) -> tuple[list[PromptRanking], dict[str, Label]]:
    """Prompts with a candidate of each severity; people reject an event of a severity at this rate."""
    rng = np.random.default_rng(0)
    rankings, labels = [], {}
    for number in range(prompts):
        candidates: list[Candidate] = []
        for severity, rate in risk.items():
            clip = report(f"p{number}-{severity}", {"shape_hole": severity})
            candidates.append(candidate(clip))
            labels[clip.clip.id] = Label(bool(rng.random() >= rate), None)
        rankings.append(rank_prompt(f"p{number}", candidates, (), len(candidates) // 2, WEIGHTS))
    return rankings, labels


def clips(prompts: list[PromptRanking]) -> list[Candidate]:
    return [ranked.candidate for prompt in prompts for ranked in prompt.ranked]


def test_weights_follow_the_labels_and_what_they_say_nothing_about_stays() -> None:
    prompts, labels = labelled(150, {1: 0.5, 4: 0.9})
    fitted = fitted_weights(clips(prompts), labels, WEIGHTS)
    assert fitted.severity[1] == pytest.approx(0.5, abs=0.1)
    assert fitted.severity[4] == pytest.approx(0.9, abs=0.1)
    assert fitted.verdict == WEIGHTS.verdict
    assert fitted.dimension == WEIGHTS.dimension


def test_severities_stay_in_order_whatever_the_labels_say() -> None:
    prompts, labels = labelled(60, {2: 0.95, 4: 0.05})
    levels = list(fitted_weights(clips(prompts), labels, WEIGHTS).severity.values())
    assert levels == sorted(levels)


def test_weights_of_a_prompt_do_not_depend_on_its_own_labels() -> None:
    prompts, labels = labelled(6, {1: 0.5, 4: 0.9})
    config = RankingConfig(folds=3)
    before = held_out_weights(prompts, labels, WEIGHTS, config)
    changed = {
        clip_id: Label(not label.usable, None) if clip_id.startswith("p2-") else label
        for clip_id, label in labels.items()
    }
    after = held_out_weights(prompts, changed, WEIGHTS, config)
    assert before[2] == after[2]
    assert before != after


def test_the_gain_is_the_difference_on_held_out_prompts() -> None:
    prompts, labels = labelled(20, {1: 0.5, 4: 0.9})
    config = RankingConfig(calibrate=True)
    result = screen(prompts, labels, {}, WEIGHTS, config, held_out_weights(prompts, labels, WEIGHTS, config))
    named = {measure.name: measure.precision.value for measure in result.measures}
    assert result.gain is not None
    assert result.gain.difference.value == pytest.approx(named["usability, calibrated (held out)"] - named["usability"])


def test_a_calibration_needs_two_labelled_prompts() -> None:
    prompts, labels = labelled(1, {1: 0.5, 4: 0.9})
    with pytest.raises(OptionError, match="2 prompts"):
        held_out_weights(prompts, labels, WEIGHTS, RankingConfig())
