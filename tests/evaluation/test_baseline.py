"""Systems against a baseline, what they use, results by duration, and errors, in tables that systems share."""

from dataclasses import replace
from typing import Any

import pytest
from evaluation.made_up import clip, event, run

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.core.report import Usage
from robogaze.errors import InputError
from robogaze.evaluation.clip_fields import duration_band, field_values
from robogaze.reporting.serialize import evaluation_json
from robogaze.reporting.tables import ResultTable
from robogaze.reporting.tables.evaluation import HEADLINE, brief, evaluation_tables
from robogaze.stats.paired import Difference

REFERENCES = [clip(f"{number:02}", event(1, 2, severity=4)) for number in range(30)]
REFERENCES += [clip(f"clean {number}") for number in range(6)]


def first(annotations: list[ClipAnnotation], number: int, **known: Any) -> list[ClipAnnotation]:
    """A system that is right about the first clips and reports nothing of the others."""
    return [replace(clip(annotation.clip_id, *annotation.findings), **known) for annotation in annotations[:number]]


def table(result: Any, name: str) -> ResultTable:
    return next(table for table in evaluation_tables(result) if table.name == name)


def shown(result: Any, name: str) -> dict[Any, dict[str, Any]]:
    """The cells of a table by its first column, then by column."""
    found = table(result, name)
    return {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}


def test_every_system_is_compared_with_the_baseline_only_and_p_is_adjusted_for_their_number() -> None:
    systems = (first(REFERENCES, 6), first(REFERENCES, 9), first(REFERENCES, 27))
    pairs = run(REFERENCES, *systems, baseline="s1").comparisons["desc_f1"].pairs
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1), (2, 1)]
    assert [pair.difference.value for pair in pairs] == pytest.approx([-0.1, 0.6])
    assert [pair.significant for pair in pairs] == [False, True]
    every = run(REFERENCES, *systems).comparisons["desc_f1"].pairs
    (same,) = (pair for pair in every if (pair.first, pair.second) == (1, 2))
    assert pairs[1].p == pytest.approx(same.p)
    assert pairs[1].holm == pytest.approx(2 * pairs[1].p)
    assert same.holm >= pairs[1].holm


def test_a_gain_is_paired_and_has_its_interval_in_every_metric_of_the_headline() -> None:
    result = run(REFERENCES, first(REFERENCES, 6), first(REFERENCES, 36), baseline="s0")
    rows = shown(result, "scores")
    gain = rows["s1 - s0"]
    assert gain["Description F1"].value == pytest.approx(0.8)
    assert gain["Sev-R"].value == pytest.approx(0.8)
    assert gain["Clean accuracy"].value == pytest.approx(1.0)
    assert gain["Detection F1"].value == pytest.approx(1 - 2 * 6 / 36)
    for name in ("Description F1", "F1 x IoU", "Sev-R", "Clean accuracy", "Detection F1"):
        assert gain[name].low < gain[name].value <= gain[name].high
        assert gain[name].low > 0
    # Only the six clips in which both have a match have an IoU under both.
    assert (gain["mIoU"].value, gain["mIoU"].n) == (0.0, 6)
    assert "Significant differences, by p adjusted for the number of systems (Holm): s1 - s0 in Description F1" in (
        " ".join(table(result, "scores").notes)
    )


def test_missing_and_unscored_clips_stay_in_every_gain() -> None:
    unscored = [replace(annotation, findings=(), status="unscored") for annotation in first(REFERENCES, 36)]
    absent = run(REFERENCES, first(REFERENCES, 36), unscored[:1], baseline="s0")
    asked = run(REFERENCES, first(REFERENCES, 36), unscored, baseline="s0")
    for metric in ("desc_f1", "f1_iou", "severe_recall", "clean_accuracy", "detection_f1"):
        gains = [result.comparisons[metric].pairs[0].difference for result in (absent, asked)]
        assert [gain.value for gain in gains] == [-1.0, -1.0], metric
    n = {metric: asked.comparisons[metric].pairs[0].difference.n for metric in ("desc_f1", "clean_accuracy")}
    assert n == {"desc_f1": 30, "clean_accuracy": 6}


def test_clips_of_one_prompt_count_once_in_a_gain() -> None:
    four = [
        replace(clip(f"{annotation.clip_id}/{seed}", *annotation.findings), fields={"prompt_id": annotation.clip_id})
        for annotation in REFERENCES
        for seed in range(4)
    ]
    better = [
        clip(annotation.clip_id, *annotation.findings) for annotation in four if annotation.fields["prompt_id"] < "20"
    ]
    alone = run(REFERENCES, [clip("00")], first(REFERENCES, 20), baseline="s0")
    together = run(four, [clip("00/0")], better, baseline="s0")
    for metric in ("desc_f1", "severe_recall"):
        one, other = (result.comparisons[metric].pairs[0].difference for result in (alone, together))
        assert other.value == pytest.approx(one.value)
        assert other.low == pytest.approx(one.low, abs=1e-9)


def test_a_baseline_that_is_no_system_is_refused() -> None:
    with pytest.raises(InputError, match="the baseline vanilla is not among the predictions: s0, s1"):
        run(REFERENCES, first(REFERENCES, 3), first(REFERENCES, 3), baseline="vanilla")


def test_what_a_system_uses_per_clip_is_beside_its_scores_and_missing_where_it_is_not_known() -> None:
    used = [
        replace(annotation, usage=Usage(calls=2 + number, prompt_tokens=1000, completion_tokens=None, wall_s=1.5))
        for number, annotation in enumerate(first(REFERENCES, 2))
    ]
    result = run(REFERENCES, used, first(REFERENCES, 4))
    calls = result.systems[0].usage["calls"]
    assert (calls.value, calls.n, calls.low < 2.5 < calls.high) == (2.5, 2, True)
    rows = shown(result, "scores")
    assert rows["s0"]["prompt tokens a clip"].value == 1000
    assert rows["s0"]["seconds a clip"].value == 1.5
    assert "completion tokens a clip" not in rows["s0"]
    assert rows["s1"]["calls a clip"] is None
    assert evaluation_json(result)["systems"][1]["usage"]["calls"]["value"] is None


@pytest.mark.parametrize(
    ("seconds", "band"),
    [
        (4.9, "<=15 s"),
        (15.0, "<=15 s"),
        (15.1, "15-40 s"),
        (40.0, "15-40 s"),
        (80.0, "40-80 s"),
        (80.1, ">80 s"),
        (None, ""),
    ],
)
def test_a_duration_is_in_a_band_whose_end_belongs_to_it(seconds: float | None, band: str) -> None:
    assert duration_band(seconds) == band


def long(name: str, seconds: float, *findings: Any) -> ClipAnnotation:
    return replace(clip(name, *findings), duration_s=seconds)


def test_results_and_gains_are_broken_down_by_duration_from_short_to_long() -> None:
    seconds = (100.0, 20.0, 5.0, 5.0, 100.0)
    references = [long(f"{number}", length, event(1, 2)) for number, length in enumerate(seconds)]
    references.append(replace(clip("unknown", event(1, 2)), duration_s=None, frame_times_s=None))
    found = [clip(annotation.clip_id, *annotation.findings) for annotation in references[:4]]
    result = run(references, found, found[2:], by=("duration",), baseline="s1")
    assert field_values(references, "duration") == ["", "<=15 s", "15-40 s", ">80 s"]
    by = {band: scores["desc_f1"] for band, scores in result.systems[0].by["duration"].items()}
    assert {band: (estimate.value, estimate.n) for band, estimate in by.items()} == {
        "": (0.0, 1), "<=15 s": (1.0, 2), "15-40 s": (1.0, 1), ">80 s": (0.5, 2),
    }  # fmt: skip
    (gain,) = result.gains_by["duration"][">80 s"]["desc_f1"]
    assert (gain.difference.value, gain.difference.n) == (0.5, 2)
    rows = table(result, "by-duration").rows
    assert [row[:2] for row in rows[:4]] == [
        ("(none given)", "s0"), ("(none given)", "s1"), ("(none given)", "s0 - s1"), ("<=15 s", "s0")
    ]  # fmt: skip
    assert all(isinstance(cell, Estimate) for row in rows for cell in row[2:])


def test_errors_are_counted_by_kind_for_every_system() -> None:
    references = [clip("a", event(1, 2), event(5, 6, "b"))]
    result = run(references, [clip("a", event(1, 2), event(8, 9, "c"))], [clip("a", event(1, 1.3))])
    rows = shown(result, "errors")
    assert rows["s0"] == {
        "system": "s0", "reference events": 2, "predicted events": 2, "matched": 1, "missed": 1, "spurious": 1,
        "span": 0, "dimension": 0, "description": 0, "duplicate": 0, "split": 0, "merged": 0,
    }  # fmt: skip
    assert (rows["s1"]["missed"], rows["s1"]["span"]) == (1, 1)


def test_a_terminal_shows_the_errors_of_several_systems_in_one_table() -> None:
    one, two = run(REFERENCES, first(REFERENCES, 3)), run(REFERENCES, first(REFERENCES, 3), first(REFERENCES, 4))
    names = [{table.name for table in brief(result, evaluation_tables(result))} for result in (one, two)]
    assert [("errors" in found, "s0-losses" in found) for found in names] == [(False, True), (True, False)]


def test_rejected_hypotheses_need_not_be_judged() -> None:
    doubted = event(5, 6, "b", confidence=0.4)
    system = [clip("00", event(1, 2, confidence=0.9), candidates=(event(1, 2, confidence=0.9), doubted))]
    assert run(REFERENCES, system).systems[0].operating_points
    assert run(REFERENCES, system, sweep=False).systems[0].operating_points == {}


def test_the_gains_are_in_the_json_under_the_names_of_both_systems() -> None:
    result = run(REFERENCES, first(REFERENCES, 6), first(REFERENCES, 9), by=("duration",), baseline="s0")
    found = evaluation_json(result)
    assert found["baseline"] == "s0"
    (gain,) = found["gains_by"]["duration"]["<=15 s"]["desc_f1"]
    assert (gain["first"], gain["second"]) == ("s1", "s0")
    assert isinstance(result.gains_by["duration"]["<=15 s"]["desc_f1"][0], Difference)
    assert set(HEADLINE) <= set(found["gains_by"]["duration"]["<=15 s"])
