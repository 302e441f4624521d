"""The rules of the pixels pipeline on clips they were not read off: other seeds than the survey's.

A clean clip that fires is the worst that can happen, so every kind of clean clip is tried; the survey does so over
many seeds.
"""

from dataclasses import replace

import numpy as np
import pytest

from robogaze.domains.prompts import Prompts
from robogaze.domains.resources import resource_folder
from robogaze.evidence import SIGNALS, check, class_signals, find

from .cases import CLEAN, FAULTS
from .procedural import film
from .survey import evident, right, rules, stage
from .test_extractors import CLIPS

_SEED = 209
_PROMPTS = Prompts((resource_folder("prompts") / "robot",))
_OF_SOMETHING = ("turnover_", "growth_fill", "resume_jump", "motion_at_end")
"""Signals of a region, of a pause, of the end: where there is none there was nothing to measure."""
_VARIABLES = ("view", "start_s", "end_s", "peak", "unit", "place")


@pytest.mark.parametrize("kind", CLEAN)
def test_a_clean_clip_gives_no_finding(kind: str) -> None:
    evidence = evident(film(_SEED, replace(CLEAN[kind], size=(320, 200), frames=30)))
    assert {rule.describe: find(rule, evidence) for rule in rules() if find(rule, evidence)} == {}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_found_in_its_frames_under_a_type_it_may_have(kind: str) -> None:
    planted = FAULTS[kind](_SEED)
    evidence = evident(planted.images)
    found = [(rule, finding) for rule in rules() for finding in find(rule, evidence)]
    assert any(right(rule, finding, planted) for rule, finding in found)


@pytest.mark.parametrize("kind", ["camera jumps", "cut to another scene"])
def test_what_changes_the_whole_picture_is_taken_for_nothing_else(kind: str) -> None:
    planted = FAULTS[kind](_SEED)
    evidence = evident(planted.images)
    found = [(rule, finding) for rule in rules() for finding in find(rule, evidence)]
    assert found
    assert all(right(rule, finding, planted) for rule, finding in found)


@pytest.mark.parametrize("clip", CLIPS)
def test_a_signal_a_rule_finds_missing_says_what_stood_in_the_way(clip: str) -> None:
    """Else the rule would find nothing, and nobody would know that it could not have."""
    evidence = evident(CLIPS[clip])
    series = evidence.views["main"].series
    needed = {condition.signal for rule in rules() for condition in (rule, *rule.also)}
    missing = {name for name in needed if np.isnan(series[name][-1]) and not name.startswith(_OF_SOMETHING)}
    assert {name for name in missing if not evidence.signals[name].gap} == set()


def test_every_rule_reads_signals_that_are_measured() -> None:
    for rule in rules():
        check(rule, class_signals(stage().classifiers, SIGNALS))


@pytest.mark.parametrize("name", dict.fromkeys(rule.describe for rule in rules()))
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
