"""What must be known before a comparison is trusted."""

from pathlib import Path
from typing import Any

from checkpoints import annotation as account
from checkpoints import clean_and_faulty, covered, event, run, without_a_model
from checkpoints import metadata as facts

from robogaze.comparison import Comparison, ComparisonConfig, Run
from robogaze.comparison import compare_runs as compare
from robogaze.comparison import pair_calibration as calibration
from robogaze.comparison.gate import GateCheck as Passed
from robogaze.reporting.compared import shown
from robogaze.reporting.comparison_json import comparison_json
from robogaze.reporting.comparison_validity_checks import bounds_of, comparison_checks


def told(*runs: Run, checks: tuple[Passed, ...] | None = None, **said: Any) -> tuple[list[str], list[str]]:
    """What is good, and what is not."""
    return of(compare(list(runs), ComparisonConfig(resamples=20), **said), checks)


def of(result: Comparison, checks: tuple[Passed, ...] | None = None) -> tuple[list[str], list[str]]:
    found = comparison_checks(comparison_json(result, checks), shown(result, Path()))
    return [one.sentence for one in found if one.good], [one.sentence for one in found if not one.good]


def with_facts(one: Run, **said: Any) -> Run:
    return run(one.name, *one.annotations.values(), metadata={clip_id: facts(**said) for clip_id in one.annotations})


def test_undecided_clips_are_named_with_what_they_could_make_of_the_rate() -> None:
    good, bad = told(clean_and_faulty("a", "++-?~"), clean_and_faulty("b", "+++"))
    assert bad[0] == (
        "a: of 5 clips 1 partial and 1 unscored; whatever these are, the clean rate is between 0.400 and 0.800."
    )
    assert told(clean_and_faulty("a", "++-oo"))[1][0] == (
        "a: of 5 clips 2 undecided; whatever these are, the clean rate is between 0.400 and 0.800."
    )
    assert bad[1].startswith("b: of 5 clips 2 missing;")
    assert not any("none is missing" in one for one in good)
    whole = "Every clip of every run is complete and decided, and none is missing."
    assert whole in told(clean_and_faulty("a", "+-"))[0]
    assert whole not in told(clean_and_faulty("a", "+o"))[0]


def test_what_counts_as_clean_is_said_first() -> None:
    good, _ = told(clean_and_faulty("a", "+-"))
    assert good[0] == (
        "Clean: complete, nothing found, every dimension examined or ruled out; other clips are never clean and stay "
        "in n."
    )


def test_a_nothing_found_rate_is_no_clean_rate_and_names_its_dimensions() -> None:
    _, bad = told(without_a_model("a", "++-"), clean_and_faulty("b", "+-"))
    assert bad[0] == (
        "Nothing found: complete and without events. Examined in every complete clip: colour; this says nothing of "
        "other dimensions, and no clip counts as clean. Incomplete clips stay in n."
    )
    assert bad[1] == "b: of 3 clips 1 missing; whatever these are, the nothing-found rate is between 0.333 and 0.667."
    _, bad = told(without_a_model("a", "+", covers=covered(partial=["colour"])))
    assert "No dimension was examined in every complete clip; this says nothing of other dimensions" in bad[0]


def test_clips_of_no_known_run_are_told() -> None:
    good, bad = told(run("a", account("a-p"), unplaced=2), run("b", account("b-p"), unplaced=2))
    assert "2 unreadable clips of which it is not known in which run; in no numbers." in bad
    assert not any("none is missing" in one for one in good)


def test_the_judges_own_errors_are_known_only_with_labels() -> None:
    runs = [clean_and_faulty("a", "+-")]
    assert any("How far this judge agrees with people is not known" in one for one in told(*runs)[1])
    people, judge = clean_and_faulty("l", "+-" * 10), clean_and_faulty("l", "+-" * 10)
    sample = calibration(judge, people, runs, mixed=True)
    good, bad = told(*runs, sample=sample)
    assert any("known from 20 clips that people labelled" in one for one in good)
    assert not any("agrees with people" in one for one in bad)


def test_false_alarms_on_real_clips_are_told() -> None:
    real = account("a-p1", event("shape_hole"), fields={"split": "control"})
    assert any("Of 1 real clip among those of a, 1 had events" in one for one in told(run("a", real))[1])
    assert any("No run holds real clips" in one for one in told(clean_and_faulty("a", "+"))[0])


def test_one_judge_is_named_once_and_different_ones_each() -> None:
    model = '{"vlm": {"model": "eyes", "identity": {"name": "Vendor/Big-8B"}}}'
    one, other = (with_facts(clean_and_faulty(name, "+-"), models=model) for name in "ab")
    assert "Every run was judged by judge, pipeline full, with vlm Vendor/Big-8B." in told(one, other)[0]
    bad = told(one, with_facts(clean_and_faulty("b", "+-"), pipeline="vanilla"), mixed=True)[1]
    assert "a was judged by judge, pipeline full, with vlm Vendor/Big-8B." in bad
    assert "b was judged by judge, pipeline vanilla, without a model." in bad


def test_what_a_format_does_not_say_is_not_taken_for_granted() -> None:
    bad = told(clean_and_faulty("a", "+-"))[1]
    assert "Every run was judged by judge; its format does not say how." in bad
    assert "No run names its taxonomy." in bad


def test_fingerprints_are_one_or_told_apart() -> None:
    runs = [run(name, account(f"{name}-p", fingerprint=name * 20, taxonomy="t" * 20)) for name in "ab"]
    good, bad = told(*runs, mixed=True)
    assert "One taxonomy (tttttttttttt)." in good
    assert "The runs do not share one version of the domain's files: aaaaaaaaaaaa and bbbbbbbbbbbb." in bad


def test_clips_without_a_partner_and_severities_are_counted() -> None:
    one, other = clean_and_faulty("a", "+-+"), clean_and_faulty("b", "-", severity=None)
    bad = told(one, other)[1]
    assert "Clips without a partner, which are in no difference: b 0 and a 2." in bad
    assert "1 event without a severity: nothing in the load." in bad


def test_rules_of_a_gate_stand_on_either_side() -> None:
    checks = (Passed("unscored", "b", False, "3 % too many"), Passed("clean_rate", "b", True, "fine"))
    good, bad = told(clean_and_faulty("a", "+"), clean_and_faulty("b", "+"), checks=checks)
    assert "Gate, b, unscored: FAILED: 3 % too many." in bad
    assert "Gate, b, clean_rate: passed: fine." in good


def test_bounds_of_a_difference() -> None:
    result = compare([clean_and_faulty("a", "+-"), clean_and_faulty("b", "+?")], ComparisonConfig(resamples=20))
    (pair,) = comparison_json(result)["pairs"]
    assert bounds_of(pair) == ("Whatever the undecided clips are, the rates differ by +0.0 to +50.0 points.")
    alone = compare([clean_and_faulty("a", "+"), run("b", account("b-q"))], ComparisonConfig(resamples=20))
    assert bounds_of(comparison_json(alone)["pairs"][0]) == ""
