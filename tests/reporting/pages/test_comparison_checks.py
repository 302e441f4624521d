"""The checks of a comparison."""

from pathlib import Path
from typing import Any

from checkpoints import annotation as account
from checkpoints import clean_and_faulty, covered, event, metadata, run, without_a_model

from robogaze.comparison import ComparisonConfig, GateCheck, Run
from robogaze.comparison import compare_runs as compare
from robogaze.comparison import pair_calibration as calibration
from robogaze.reporting.pages.comparison_checks import comparison_checks
from robogaze.reporting.pages.comparison_runs import page_runs


def sentences(*runs: Run, checks: tuple[GateCheck, ...] | None = None, **said: Any) -> tuple[list[str], list[str]]:
    """The good sentences and the others."""
    result = compare(list(runs), ComparisonConfig(resamples=20), **said)
    found = comparison_checks(result, page_runs(result, Path()), checks)
    return [check.sentence for check in found if check.good], [check.sentence for check in found if not check.good]


def with_metadata(judged: Run, **values: Any) -> Run:
    clips = judged.annotations
    return run(judged.name, *clips.values(), metadata={clip_id: metadata(**values) for clip_id in clips})


def test_undecided_clips_are_counted_with_the_rate_they_allow() -> None:
    good, bad = sentences(clean_and_faulty("a", "++-?~"), clean_and_faulty("b", "+++"))
    assert bad[0] == (
        "a: 1 partial and 1 unscored of 5 clips; depending on these clips, the clean rate is between 0.400 and 0.800."
    )
    assert sentences(clean_and_faulty("a", "++-oo"))[1][0] == (
        "a: 2 undecided of 5 clips; depending on these clips, the clean rate is between 0.400 and 0.800."
    )
    assert bad[1].startswith("b: 2 missing of 5 clips;")
    assert not any("none is missing" in sentence for sentence in good)
    whole = "Every clip of every run is complete and decided, and none is missing."
    assert whole in sentences(clean_and_faulty("a", "+-"))[0]
    assert whole not in sentences(clean_and_faulty("a", "+o"))[0]


def test_the_first_check_defines_clean() -> None:
    good, _ = sentences(clean_and_faulty("a", "+-"))
    assert good[0] == (
        "A clip is clean if it is complete, nothing was found, and every dimension was examined or ruled out. Other "
        "clips are never clean, but are counted in n."
    )


def test_a_nothing_found_rate_is_no_clean_rate_and_names_its_dimensions() -> None:
    _, bad = sentences(without_a_model("a", "++-"), clean_and_faulty("b", "+-"))
    assert bad[0] == (
        "Nothing was found in a clip if it is complete and has no event. Examined in every complete clip: colour. "
        "Other dimensions are not covered, and no clip counts as clean. Incomplete clips are also counted in n."
    )
    assert bad[1] == (
        "a: 2 undecided of 3 clips. The nothing-found rate counts undecided clips, because nothing was found in them."
    )
    assert bad[2] == (
        "b: 1 missing of 3 clips; depending on these clips, the nothing-found rate is between 0.333 and 0.667."
    )
    _, bad = sentences(without_a_model("a", "+", covers=covered(partial=["colour"])))
    assert "No dimension was examined in every complete clip. Other dimensions are not covered" in bad[0]


def test_clips_that_cannot_be_assigned_to_a_run_are_counted() -> None:
    good, bad = sentences(run("a", account("a-p"), unplaced=2), run("b", account("b-p"), unplaced=2))
    assert "Left out of all numbers, because the run is not known: 2 unreadable clips." in bad
    assert not any("none is missing" in sentence for sentence in good)


def test_the_judges_own_errors_are_known_only_with_labels() -> None:
    runs = [clean_and_faulty("a", "+-")]
    assert any("The agreement of this judge with people is not known." in sentence for sentence in sentences(*runs)[1])
    people, judge = clean_and_faulty("l", "+-" * 10), clean_and_faulty("l", "+-" * 10)
    sample = calibration(judge, people, runs, mixed=True)
    good, bad = sentences(*runs, sample=sample)
    assert any("known from 20 clips labelled by people" in sentence for sentence in good)
    assert not any("agreement of this judge" in sentence for sentence in bad)


def test_false_alarms_on_real_clips_are_counted() -> None:
    real = account("a-p1", event("shape_hole"), fields={"split": "control"})
    assert any(
        "a has 1 real clip, 1 of them with events (false alarms)" in sentence
        for sentence in sentences(run("a", real))[1]
    )
    assert any("No run has real clips" in sentence for sentence in sentences(clean_and_faulty("a", "+"))[0])


def test_one_judge_is_named_once_and_different_ones_each() -> None:
    model = '{"vlm": {"model": "eyes", "identity": {"name": "Vendor/Big-8B"}}}'
    one, other = (with_metadata(clean_and_faulty(name, "+-"), models=model) for name in "ab")
    assert "Every run was judged by judge, pipeline full, with vlm Vendor/Big-8B." in sentences(one, other)[0]
    bad = sentences(one, with_metadata(clean_and_faulty("b", "+-"), pipeline="vanilla"), mixed=True)[1]
    assert "a was judged by judge, pipeline full, with vlm Vendor/Big-8B." in bad
    assert "b was judged by judge, pipeline vanilla, without a model." in bad


def test_a_format_without_pipeline_and_taxonomy_is_named() -> None:
    bad = sentences(clean_and_faulty("a", "+-"))[1]
    assert "Every run was judged by judge; the format does not name a pipeline." in bad
    assert "No run names its taxonomy." in bad


def test_fingerprints_are_the_same_or_listed() -> None:
    runs = [run(name, account(f"{name}-p", fingerprint=name * 20, taxonomy="t" * 20)) for name in "ab"]
    good, bad = sentences(*runs, mixed=True)
    assert "All runs have the same taxonomy (tttttttttttt)." in good
    assert "The runs differ in their version of the domain's files: aaaaaaaaaaaa and bbbbbbbbbbbb." in bad


def test_clips_without_a_partner_and_severities_are_counted() -> None:
    one, other = clean_and_faulty("a", "+-+"), clean_and_faulty("b", "-", severity=None)
    bad = sentences(one, other)[1]
    assert "Clips without a partner, left out of all differences: b 0 and a 2." in bad
    assert "1 event without a severity: left out of the load." in bad


def test_rules_of_a_gate_pass_or_fail() -> None:
    checks = (GateCheck("unscored", "b", False, "3 % too many"), GateCheck("clean_rate", "b", True, "fine"))
    good, bad = sentences(clean_and_faulty("a", "+"), clean_and_faulty("b", "+"), checks=checks)
    assert "Gate, b, unscored: FAILED: 3 % too many." in bad
    assert "Gate, b, clean_rate: passed: fine." in good
