"""The rules of the pixels pipeline on synthetic clips with other seeds than those of the survey.

A finding in a clean clip is the worst error, so every kind of clean clip is tried; the survey tries many seeds.
"""

from dataclasses import replace

import numpy as np
import pytest

from robogaze.domains.prompts import Prompts
from robogaze.domains.resources import resource_folder
from robogaze.evidence import EXTRACTORS, find

from .cases import CLEAN, FAULTS
from .procedural import film
from .survey import classifiers, evidence_of, is_correct, stage
from .test_extractors import CLIPS

_SEED = 209
_PROMPTS = Prompts((resource_folder("prompts") / "robot",))
_RULES = stage().rules
_OPTIONAL = ("region_replacement_", "resume_jump")
"""Signals of a region or of a pause, undefined where there is none."""
_VARIABLES = ("view", "start_s", "end_s", "peak", "unit", "place")


@pytest.mark.parametrize("kind", CLEAN)
def test_a_clean_clip_gives_no_finding(kind: str) -> None:
    evidence = evidence_of(film(_SEED, replace(CLEAN[kind], size=(320, 200), frames=30)))
    assert {rule.describe: find(rule, evidence) for rule in _RULES if find(rule, evidence)} == {}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_found_in_its_frames_under_an_accepted_type(kind: str) -> None:
    planted = FAULTS[kind](_SEED)
    evidence = evidence_of(planted.images)
    found = [(rule, finding) for rule in _RULES for finding in find(rule, evidence)]
    assert any(is_correct(rule, finding, planted) for rule, finding in found)


@pytest.mark.parametrize("clip", CLIPS)
def test_a_signal_that_a_rule_needs_has_a_reason_where_it_is_undefined(clip: str) -> None:
    evidence = evidence_of(CLIPS[clip])
    series = evidence.views["main"].series
    needed = {condition.signal for rule in _RULES for condition in (rule, *rule.also)}
    missing = {name for name in needed if np.isnan(series[name][-1]) and not name.startswith(_OPTIONAL)}
    without = {name for name in missing if not evidence.signals[name].gap}
    assert without == set(), f"say in the `gap` of the signal why it can be undefined: {without}"


def test_every_extractor_measures_a_signal_that_a_rule_or_a_classifier_reads() -> None:
    read = {name for rule in _RULES for name in rule.signals}
    read |= {name for classifier in classifiers() for name in classifier.signals}
    read |= {"luma_change"}  # of the domain game
    for name in EXTRACTORS.own:
        unread = {signal.name for signal in EXTRACTORS.load(name).signals} - read
        assert not unread, (
            f"no rule or classifier of {name} reads {unread}: write the rule first, or leave the signal out"
        )


@pytest.mark.parametrize("name", dict.fromkeys(rule.describe for rule in _RULES))
def test_a_description_is_one_sentence_with_time_place_view_and_amount(name: str) -> None:
    _PROMPTS.check(name, _VARIABLES)
    values = {"start_s": 1.25, "end_s": 2.5, "peak": 0.1234, "unit": "of something"}
    text = _PROMPTS.render(name, {**values, "view": "left wrist", "place": "upper right"})
    assert "1.25 s" in text
    assert "left wrist" in text
    assert "upper right" in text
    assert text.count("\n") == 0
    assert text.endswith(".")
    assert text != _PROMPTS.render(name, {**values, "peak": 0.4321, "view": "left wrist", "place": "upper right"})
    alone = _PROMPTS.render(name, {**values, "view": None, "place": None})
    assert "None" not in alone
    assert "  " not in alone
