"""What scripts/research/fit_pixels.py makes of clips with known events."""

import numpy as np
import pytest
from fit_pixels import classifier_lines, fitted_rule, pipeline_lines, steps
from measured_clips import KnownClip

from robogaze.evidence import Classifier
from robogaze.evidence.classifier import Feature, FeatureClass
from robogaze.stages.event_rule import ConfidenceStep, EventRule

from .fitting import make_known

RULE = EventRule(
    signal="heat", above=0.5, dimension="visual_quality", type="blur", describe="measured/blur", merge_gap_s=0.2
)
FRAMES = 16


def known(name: str, peak: float, *, faulty: bool, kind: str = "blur") -> KnownClip:
    """A clip of one second whose heat rises in its middle, where it may have a fault."""
    series = np.zeros(FRAMES)
    series[6:10] = peak
    return make_known(name, {"heat": series}, RULE, (6, 10) if faulty else None, kind=kind)


def test_the_threshold_is_between_clean_clips_and_faults() -> None:
    clean = [known(f"c{number}", 0.1 * number, faulty=False) for number in range(4)]
    faults = [known(f"f{number}", 0.7 + 0.1 * number, faulty=True) for number in range(5)]
    rule, found = fitted_rule(RULE, [*clean, *faults])
    assert rule.above == pytest.approx(0.5)
    assert (found.events, found.clean, found.precision) == (5, 0, 1.0)
    assert rule.confidence == (ConfidenceStep(peak=rule.above, correct=5, of=5),)


def test_a_missed_fault_is_better_than_a_finding_in_a_clean_clip() -> None:
    faults = [known(f"f{number}", 0.3 + 0.1 * number, faulty=True) for number in range(8)]
    rule, found = fitted_rule(RULE, [known("c", 0.55, faulty=False), *faults])
    assert (found.events, found.clean) == (5, 0)
    assert rule.above is not None
    assert rule.above > 0.55


def test_a_threshold_with_too_many_wrong_findings_is_not_chosen() -> None:
    faults = [known(f"f{number}", 0.6 + 0.3 * (number < 6), faulty=True) for number in range(12)]
    others = [known(f"o{number}", 0.6, faulty=True, kind="occlusion") for number in range(5)]
    rule, found = fitted_rule(RULE, [known("c", 0.1, faulty=False), *others, *faults])
    assert rule.above == pytest.approx(0.75), "beyond the others, though with them six more events would be found"
    assert (found.events, found.precision) == (6, 1.0)


def test_one_finding_in_a_clean_clip_is_accepted_for_many_faults() -> None:
    faults = [known(f"f{number}", 0.6, faulty=True) for number in range(9)]
    _, found = fitted_rule(RULE, [known("c", 0.1, faulty=False), known("d", 0.9, faulty=False), *faults])
    assert (found.events, found.clean) == (9, 1)


def test_a_threshold_is_found_although_most_clips_have_small_peaks() -> None:
    clean = [known(f"c{number}", 0.0003 * number, faulty=False) for number in range(300)]
    others = [known(f"o{number}", 0.3 + 0.003 * number, faulty=True, kind="occlusion") for number in range(40)]
    faults = [known(f"f{number}", 0.6 + 0.001 * number, faulty=True) for number in range(100)]
    rule, found = fitted_rule(RULE.with_(above=0.65), [*clean, *others, *faults])
    assert (found.events, found.precision) == (100, 1.0)
    assert rule.above == pytest.approx((0.417 + 0.6) / 2, abs=0.001)


def test_with_too_few_findings_a_rule_keeps_its_threshold_and_has_no_confidence() -> None:
    rule, found = fitted_rule(
        RULE.with_(confidence=(ConfidenceStep(peak=0.5, correct=9, of=9),)), [known("f", 0.9, faulty=True)]
    )
    assert (rule.above, rule.confidence, found.events) == (0.5, (), 1)


def test_findings_of_another_type_count_as_wrong() -> None:
    faults = [known(f"f{number}", 0.9, faulty=True) for number in range(5)]
    others = [known(f"o{number}", 0.6, faulty=True, kind="occlusion") for number in range(5)]
    rule, found = fitted_rule(RULE, [*faults, *others])
    assert rule.above is not None
    assert rule.above > 0.6
    assert found.precision == 1.0


def test_confidence_rises_in_steps_of_enough_findings() -> None:
    peaks = [(0.6 + 0.01 * number, number % 2 == 0) for number in range(10)]
    peaks += [(0.8 + 0.01 * number, True) for number in range(10)]
    found = steps(RULE, peaks)
    assert [step.share for step in found] == sorted(step.share for step in found)
    assert sum(step.of for step in found) == 20
    assert all(step.of >= 8 for step in found)
    assert found[0].peak == RULE.above


def test_only_fitted_thresholds_and_confidence_are_written_into_the_pipeline() -> None:
    lines = [
        "      rules:\n",
        "        - signal: heat\n",
        "          above: 0.5 # as it was\n",
        "          confidence: [{peak: 0.5, correct: 1, of: 2}]\n",
        "          extend_while: [{signal: heat, above: 0.1}]\n",
        "        - signal: haze\n",
        "          above: 2 # by hand\n",
    ]
    faults = [known(f"f{number}", 0.9, faulty=True) for number in range(5)]
    fit = fitted_rule(RULE, [*faults, known("c", 0.1, faulty=False)])
    kept = (RULE, fit[1])
    assert list(pipeline_lines(lines, [fit, kept])) == [
        "      rules:\n",
        "        - signal: heat\n",
        "          above: 0.5 # fit: 5 of 5 findings correct\n",
        "          confidence: [{peak: 0.5, correct: 5, of: 5}]\n",
        "          extend_while: [{signal: heat, above: 0.1}]\n",
        "        - signal: haze\n",
        "          above: 2 # by hand\n",
    ]


def test_a_rule_that_was_not_fitted_keeps_its_threshold_and_confidence() -> None:
    lines = [
        "        - signal: heat\n",
        "          above: 0.5 # fit: 1 of 2 findings correct\n",
        "          confidence: [{peak: 0.5, correct: 1, of: 2}]\n",
    ]
    assert list(pipeline_lines(lines, [(RULE, None)])) == lines


def test_a_weak_threshold_is_kept_and_does_not_change_the_fit() -> None:
    weak = RULE.with_(weak_threshold={"value": 0.1, "reason": "half of such findings were correct"})
    clips = [known(f"{number}", 0.1 * number, faulty=number > 6) for number in range(14)]
    rule, found = fitted_rule(weak, clips)
    plain, plain_found = fitted_rule(RULE, clips)
    assert (rule.above, found) == (plain.above, plain_found)
    assert rule.weak_threshold == weak.weak_threshold


def test_only_means_scales_and_weights_are_written_into_the_classifier() -> None:
    lines = [
        "# Fitted.\n",
        "features:\n",
        "  - {signal: size, log: 2, mean: 0, scale: 1}\n",
        "classes:\n",
        "  - name: nothing\n",
        "    constant: 0\n",
        "    weights: [0]\n",
        "  - name: gone\n",
        "    fitted_to: blur\n",
        "    constant: 0\n",
        "    weights: [0]\n",
    ]
    classifier = Classifier(
        classifies="place",
        features=(Feature(signal="size", log=2, mean=0.25, scale=3),),
        classes=(
            FeatureClass(name="nothing", description="Nothing.", constant=1.5, weights=(2,)),
            FeatureClass(name="gone", description="Gone.", fitted_to="blur", constant=-1.5, weights=(-2,)),
        ),
    )
    assert list(classifier_lines(lines, classifier)) == [
        "# Fitted.\n",
        "features:\n",
        "  - {signal: size, log: 2, mean: 0.25, scale: 3}\n",
        "classes:\n",
        "  - name: nothing\n",
        "    constant: 1.5\n",
        "    weights: [2]\n",
        "  - name: gone\n",
        "    fitted_to: blur\n",
        "    constant: -1.5\n",
        "    weights: [-2]\n",
    ]
