"""Rules that a checkpoint must pass."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from checkpoints import annotation, clean_and_faulty, event, run, without_a_model

from robogaze.comparison import Comparison, ComparisonConfig, Gate, GateCheck, Run, check_gate, compare_runs, read_gate
from robogaze.comparison.runs import ManifestClip
from robogaze.errors import InputError


def gate(*rules: dict[str, Any]) -> Gate:
    return Gate(rules=rules)


def result(*runs: Run, baseline: str | None = "base") -> Comparison:
    return compare_runs(runs, ComparisonConfig(resamples=300), baseline=baseline)


def only(rule: dict[str, Any], *runs: Run) -> GateCheck:
    (found,) = check_gate(gate(rule), result(*runs))
    return found


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def text(content: str) -> Path:
        path = tmp_path / "gate.yaml"
        path.write_text(content)
        return path

    return text


def test_rules_are_read_from_yaml(write: Any) -> None:
    found = read_gate(
        write(
            "rules:\n"
            "  - no_new_types: {severity: 5}\n"
            "  - clean_rate: {not_below_baseline_by: 0.05, confidence: 0.9}\n"
            "  - events_per_clip: {at_most: 1.5}\n"
            "  - unscored: {at_most: 0.02}\n"
        )
    )
    assert [rule.name for rule in found.rules] == ["no_new_types", "clean_rate", "events_per_clip", "unscored"]
    assert [rule.needs_baseline for rule in found.rules] == [True, True, False, False]
    assert found.rules[1].clean_rate is not None
    assert found.rules[1].clean_rate.confidence == 0.9


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("rules:\n  - clean_rat: {not_below_baseline_by: 0.05}\n", r"gate\.yaml:2: rules\.0\.clean_rat: unknown key"),
        ("rules:\n  - unscored:\n      at_most: 2\n", r"gate\.yaml:3: rules\.0\.unscored\.at_most: .* equal to 1"),
        ("rules:\n  - no_new_types: {severity: 6}\n", r"gate\.yaml:2: rules\.0\.no_new_types\.severity: .* equal to 5"),
        ("rules:\n  - {}\n", r"gate\.yaml:2: rules\.0: a rule is one of: no_new_types, clean_rate"),
        ("rules:\n  - unscored:\n", r"gate\.yaml:2: rules\.0: a rule is one of"),
        ("rules:\n  - events_per_clip: {}\n", r"gate\.yaml:2: .* either not_above_baseline_by or at_most"),
        ("rules: []\n", r"gate\.yaml:1: rules: "),
        (
            "rules:\n  - clean_rate: {not_below_baseline_by: 0.05, confidence: 0.4}\n",
            r"confidence: .* greater than 0\.5",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_file_line_and_key(write: Any, content: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        read_gate(write(content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gate\.yaml: this file is missing"):
        read_gate(tmp_path / "gate.yaml")


SEVERE: dict[str, Any] = {"no_new_types": {"severity": 5}}


def test_a_severe_type_that_the_baseline_has_not_fails() -> None:
    base = run("base", annotation("base-p0", event("colour_shift", 5), event("shape_hole", 4)))
    new = run("new", annotation("new-p0", event("colour_shift", 5), event("shape_hole", 5), event("shape_bend", 4)))
    found = only(SEVERE, base, new)
    assert not found.passed
    assert found.message == "new types of severity 5 or above: shape_hole (new-p0)"
    assert only(SEVERE, new, run("base", *base.annotations.values())).run == "new"


def test_without_one_it_passes() -> None:
    base = run("base", annotation("base-p0", event("colour_shift", 5)))
    assert only(SEVERE, base, run("new", annotation("new-p0", event("colour_shift", 5)))).passed
    assert only(SEVERE, base, run("new", annotation("new-p0", event("shape_hole", 4)))).passed


def test_an_event_without_a_severity_counts_as_severe() -> None:
    base = run("base", annotation("base-p0"))
    assert not only(SEVERE, base, run("new", annotation("new-p0", event("shape_hole", None)))).passed


CLEAN: dict[str, Any] = {"clean_rate": {"not_below_baseline_by": 0.05, "confidence": 0.95}}


def test_a_clean_rate_must_be_shown_to_be_no_lower() -> None:
    base = clean_and_faulty("base", "+" * 300)
    assert only(CLEAN, base, clean_and_faulty("new", "+" * 298 + "--")).passed
    assert not only(CLEAN, base, clean_and_faulty("new", "+" * 285 + "-" * 15)).passed


def test_too_few_prompts_show_nothing_and_do_not_pass() -> None:
    found = only(CLEAN, clean_and_faulty("base", "+" * 20), clean_and_faulty("new", "+" * 20))
    assert not found.passed
    assert found.message == (
        "clean rate minus the baseline's: +0.000, above -0.119 with 95% confidence; this bound may not be below -0.05"
    )


def test_without_a_clean_rate_the_rule_fails_with_a_reason() -> None:
    found = only(CLEAN, clean_and_faulty("base", "+" * 300), without_a_model("new", "+" * 300))
    assert not found.passed
    assert found.message == (
        "there is no clean rate, because a run has no clip that was examined in every dimension "
        "(dimensions examined in all complete clips: colour)"
    )


@pytest.mark.parametrize("sign", ["~", "?"])
def test_clips_of_which_nothing_is_known_show_no_clean_rate_and_do_not_pass(sign: str) -> None:
    unknown = clean_and_faulty("new", sign * 300)
    found = only(CLEAN, clean_and_faulty("base", sign * 300), unknown)
    assert (found.passed, found.message) == (False, "no clip of new is known to be clean or faulty")
    assert not only(CLEAN, clean_and_faulty("base", "+" * 300), unknown).passed


def test_the_other_rules_hold_without_a_clean_rate() -> None:
    runs = without_a_model("base", "+-" * 50), without_a_model("new", "-+" * 25 + "+" * 50)
    assert only({"events_per_clip": {"not_above_baseline_by": 0.2}}, *runs).passed
    assert only({"unscored": {"at_most": 0}}, *runs).passed
    assert only({"no_new_types": {"severity": 1}}, *runs).passed


def test_runs_without_a_common_prompt_do_not_pass() -> None:
    found = only(CLEAN, clean_and_faulty("base", "++"), run("new", annotation("new-x")))
    assert not found.passed
    assert "undefined" in found.message


def test_the_confidence_is_one_sided() -> None:
    base, new = clean_and_faulty("base", "+" * 200 + "-" * 100), clean_and_faulty("new", "+" * 195 + "-" * 105)
    (sure,) = check_gate(gate(CLEAN), result(base, new))
    low = (
        compare_runs([base, new], ComparisonConfig(level=0.9, resamples=300), baseline="base")
        .pairs[0]
        .clean.difference.low
    )
    assert f"above {low:+.3f} with 95%" in sure.message


def test_events_beside_the_baseline() -> None:
    rule = {"events_per_clip": {"not_above_baseline_by": 0.2}}
    base = clean_and_faulty("base", "+-" * 50)
    assert only(rule, base, clean_and_faulty("new", "-+" * 25 + "+" * 50)).passed
    assert not only(rule, base, clean_and_faulty("new", "--" * 50)).passed


def test_events_by_themselves_need_no_baseline() -> None:
    rule = gate({"events_per_clip": {"at_most": 0.5}})
    runs = clean_and_faulty("a", "+-"), clean_and_faulty("b", "--")
    assert [run.passed for run in check_gate(rule, result(*runs, baseline=None))] == [True, False]


def test_what_was_not_scored_or_not_made_is_counted() -> None:
    base = clean_and_faulty("base", "+" * 10)
    rule: dict[str, Any] = {"unscored": {"at_most": 0.1}}
    assert only(rule, base, clean_and_faulty("new", "+" * 9 + "?")).passed
    assert not only(rule, base, clean_and_faulty("new", "+" * 8 + "?")).passed  # one unscored, one missing


def test_every_run_but_the_baseline_is_checked_by_every_rule() -> None:
    runs = [clean_and_faulty(name, "++") for name in ("new", "base", "other")]
    found = check_gate(gate(SEVERE, {"unscored": {"at_most": 0}}), result(*runs))
    assert [(result.run, result.rule) for result in found] == [
        ("new", "no_new_types"), ("new", "unscored"), ("other", "no_new_types"), ("other", "unscored")
    ]  # fmt: skip


def test_a_rule_that_needs_a_baseline_asks_for_one() -> None:
    runs = [clean_and_faulty(name, "++") for name in ("a", "b")]
    with pytest.raises(InputError, match="rule clean_rate compares with a baseline; give a baseline with --base"):
        check_gate(gate(CLEAN), result(*runs, baseline=None))


def test_the_baseline_alone_is_no_case_for_a_gate() -> None:
    with pytest.raises(InputError, match="no run to check"):
        check_gate(gate(SEVERE), result(clean_and_faulty("base", "+")))


def test_the_example_in_the_docs_is_a_gate(write: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text()
    (text,) = (part.partition("```")[0] for part in page.split("```yml\n")[1:] if part.startswith("rules:"))
    assert len(read_gate(write(text)).rules) == 4
    workflows = [yaml.safe_load(part.partition("```")[0]) for part in page.split("```yml\n")[1:]]
    assert any("jobs" in workflow for workflow in workflows)


def test_a_listed_clip_without_a_report_counts_as_unscored() -> None:
    listed = {f"c{at}": ManifestClip("lift", {"prompt_id": f"{at % 2}"}) for at in range(4)}

    def half(name: str, *judged: int) -> Run:
        clips = [annotation(f"c{at}", instruction="lift", fields={"prompt_id": f"{at % 2}"}) for at in judged]
        return run(name, *clips, listed=listed)

    found = only({"unscored": {"at_most": 0.02}}, half("base", 1, 2), half("new", 0, 3))
    assert (found.passed, found.message.split()[0]) == (False, "50.0%")
