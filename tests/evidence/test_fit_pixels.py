"""What scripts/research/fit_pixels.py makes of clips of which the truth is known."""

import numpy as np
import pytest
from fit_pixels import fitted, steps, written
from measured_clips import Known

from robogaze.stages.event_rule import ConfidenceStep, EventRule

from .fitting import make_known

RULE = EventRule(
    signal="heat", above=0.5, dimension="visual_quality", type="blur", describe="measured/blur", join_s=0.2
)
FRAMES = 16


def known(name: str, peak: float, *, faulty: bool, kind: str = "blur") -> Known:
    """A clip of a second whose heat rises in its middle, where it has a fault, or none."""
    series = np.zeros(FRAMES)
    series[6:10] = peak
    return make_known(name, {"heat": series}, RULE, (6, 10) if faulty else None, kind=kind)


def test_the_threshold_lies_between_clean_clips_and_faults_where_all_faults_are_found() -> None:
    clean = [known(f"c{number}", 0.1 * number, faulty=False) for number in range(4)]
    faults = [known(f"f{number}", 0.7 + 0.1 * number, faulty=True) for number in range(5)]
    rule, told = fitted(RULE, [*clean, *faults])
    assert rule.above == pytest.approx(0.5)
    assert (told.events, told.accused, told.precision) == (5, 0, 1.0)
    assert rule.confidence == (ConfidenceStep(reaching=rule.above, right=5, of=5),)


def test_a_fault_missed_is_better_than_a_clean_clip_accused() -> None:
    faults = [known(f"f{number}", 0.3 + 0.1 * number, faulty=True) for number in range(8)]
    rule, told = fitted(RULE, [known("c", 0.55, faulty=False), *faults])
    assert (told.events, told.accused) == (5, 0)
    assert rule.above is not None
    assert rule.above > 0.55


def test_a_threshold_at_which_too_many_findings_are_wrong_is_not_taken() -> None:
    faults = [known(f"f{number}", 0.6 + 0.3 * (number < 6), faulty=True) for number in range(12)]
    others = [known(f"o{number}", 0.6, faulty=True, kind="occlusion") for number in range(5)]
    rule, told = fitted(RULE, [known("c", 0.1, faulty=False), *others, *faults])
    assert rule.above == pytest.approx(0.75), "beyond the others, though with them six more events would be found"
    assert (told.events, told.precision) == (6, 1.0)


def test_one_clean_clip_may_be_accused_where_that_finds_many_faults() -> None:
    faults = [known(f"f{number}", 0.6, faulty=True) for number in range(9)]
    _, told = fitted(RULE, [known("c", 0.1, faulty=False), known("d", 0.9, faulty=False), *faults])
    assert (told.events, told.accused) == (9, 1)


def test_a_threshold_is_found_although_most_clips_reach_little_and_many_go_beyond() -> None:
    clean = [known(f"c{number}", 0.0003 * number, faulty=False) for number in range(300)]
    others = [known(f"o{number}", 0.3 + 0.003 * number, faulty=True, kind="occlusion") for number in range(40)]
    faults = [known(f"f{number}", 0.6 + 0.001 * number, faulty=True) for number in range(100)]
    rule, told = fitted(RULE.with_(above=0.65), [*clean, *others, *faults])
    assert (told.events, told.precision) == (100, 1.0)
    assert rule.above == pytest.approx((0.417 + 0.6) / 2, abs=0.001)


def test_too_few_findings_leave_a_rule_as_it_is_and_without_confidence() -> None:
    rule, told = fitted(
        RULE.with_(confidence=(ConfidenceStep(reaching=0.5, right=9, of=9),)), [known("f", 0.9, faulty=True)]
    )
    assert (rule.above, rule.confidence, told.events) == (0.5, (), 1)


def test_findings_of_another_type_count_as_wrong() -> None:
    faults = [known(f"f{number}", 0.9, faulty=True) for number in range(5)]
    others = [known(f"o{number}", 0.6, faulty=True, kind="occlusion") for number in range(5)]
    rule, told = fitted(RULE, [*faults, *others])
    assert rule.above is not None
    assert rule.above > 0.6
    assert told.precision == 1.0


def test_confidence_rises_in_steps_of_enough_findings_and_never_falls() -> None:
    peaks = [(0.6 + 0.01 * number, number % 2 == 0) for number in range(10)]
    peaks += [(0.8 + 0.01 * number, True) for number in range(10)]
    found = steps(RULE, peaks)
    assert [step.share for step in found] == sorted(step.share for step in found)
    assert sum(step.of for step in found) == 20
    assert all(step.of >= 8 for step in found)
    assert found[0].reaching == RULE.above


def test_what_is_fitted_is_written_into_the_pipeline_and_nothing_else() -> None:
    lines = [
        "      rules:\n",
        "        - signal: heat\n",
        "          above: 0.5 # as it was\n",
        "          confidence: [{reaching: 0.5, right: 1, of: 2}]\n",
        "          spread: [{signal: heat, above: 0.1}]\n",
        "        - signal: haze\n",
        "          above: 2 # by hand\n",
    ]
    faults = [known(f"f{number}", 0.9, faulty=True) for number in range(5)]
    fit = fitted(RULE, [*faults, known("c", 0.1, faulty=False)])
    kept = (RULE, fit[1])
    assert list(written(lines, [], [fit, kept])) == [
        "      rules:\n",
        "        - signal: heat\n",
        "          above: 0.5 # fit: 5 of 5 findings right\n",
        "          confidence: [{reaching: 0.5, right: 5, of: 5}]\n",
        "          spread: [{signal: heat, above: 0.1}]\n",
        "        - signal: haze\n",
        "          above: 2 # by hand\n",
    ]


def test_a_rule_that_was_not_fitted_keeps_its_threshold_and_confidence() -> None:
    lines = [
        "        - signal: heat\n",
        "          above: 0.5 # fit: 1 of 2 findings right\n",
        "          confidence: [{reaching: 0.5, right: 1, of: 2}]\n",
    ]
    assert list(written(lines, [], [(RULE, None)])) == lines


def test_a_rule_that_tells_of_weak_findings_is_fitted_by_its_threshold_alone_and_goes_on_telling() -> None:
    weak = RULE.with_(weak={"beyond": 0.1, "told": "half of such findings were right"})
    clips = [known(f"{number}", 0.1 * number, faulty=number > 6) for number in range(14)]
    found, told = fitted(weak, clips)
    plain, plain_told = fitted(RULE, clips)
    assert (found.above, told) == (plain.above, plain_told)
    assert found.weak == weak.weak
