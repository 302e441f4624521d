"""Predictions against references, end to end from accounts, on corpora a reader can count."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from evaluation.made_up import SameWords, clip, event, run

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.core.time import Span
from robogaze.errors import InputError
from robogaze.evaluation.config import EvaluationConfig
from robogaze.metrics.scores import METRICS
from robogaze.reporting.serialize import evaluation_json
from robogaze.reporting.tables import table_files
from robogaze.reporting.tables.evaluation import evaluation_tables
from robogaze.reporting.tables.evaluation_notes import evaluation_notes
from robogaze.stats.proportions import wilson


def values(scores: Any) -> dict[str, float]:
    return {name: score.value for name, score in scores.items()}


def same(a: Any, b: Any) -> bool:
    """Whether two results are the same, NaN for NaN."""
    return repr(a) == repr(b)


def test_a_perfect_system_scores_1_in_everything() -> None:
    references = [clip("a", event(1, 3, severity=4)), clip("b"), clip("c", event(5, 5.1, "tick", severity=2))]
    found = run(references, references).systems[0]
    assert values(found.macro) == dict.fromkeys(METRICS, 1.0)
    assert values(found.micro) == dict.fromkeys(METRICS, 1.0)


def test_a_clip_with_references_and_no_prediction_counts_as_missed() -> None:
    found = run([clip("a", event(1, 2)), clip("b", event(1, 2))], [clip("a", event(1, 2))]).systems[0]
    assert found.macro["desc_f1"].value == 0.5
    assert found.micro["desc_recall"].value == 0.5
    assert (found.counts["clips"], found.counts["missing"]) == (2, 1)


def test_an_unscored_clip_counts_like_a_missing_one_and_is_listed_separately() -> None:
    found = run([clip("a", event(1, 2)), clip("b")], [clip("a", status="unscored"), clip("b", status="unscored")])
    counts = found.systems[0].counts
    assert (counts["missing"], counts["unscored"]) == (0, 2)
    assert found.systems[0].macro["clean_accuracy"].value == 0
    assert found.systems[0].macro["desc_f1"].value == 0


def test_overlap_and_similarity_decide_together() -> None:
    # 1..3 against 2..4 shares 10 of 30 frames; the judge gives 0.6.
    found = run([clip("a", event(1, 3))], [clip("a", event(2, 4, "b"))], judge=SameWords(b=0.6)).systems[0]
    assert found.macro["desc_f1"].value == pytest.approx(0.6)
    assert found.macro["miou"].value == pytest.approx(1 / 3)
    assert found.macro["f1_iou"].value == pytest.approx(0.2)


def test_a_failed_judgement_is_no_0_its_clip_leaves_and_the_bounds_say_what_it_could_have_been() -> None:
    references = [clip("a", event(1, 2)), clip("b", event(1, 2))]
    found = run(references, [clip("a", event(1, 2)), clip("b", event(1, 2, "?"))]).systems[0]
    assert (found.macro["desc_f1"].value, found.macro["desc_f1"].n) == (1.0, 1)
    assert found.bounds is not None
    assert (found.bounds.clips, found.counts["unjudged"]) == (1, 1)
    assert (found.bounds.worst["desc_f1"].value, found.bounds.best["desc_f1"].value) == (0.5, 1.0)


def test_a_failed_judgement_of_events_that_share_no_time_changes_nothing() -> None:
    references = [clip("a", event(1, 2), event(8, 9, "b"))]
    found = run(references, [clip("a", event(1, 2), event(5, 6, "?"))]).systems[0]
    assert (found.bounds, found.counts["unjudged"], found.macro["desc_f1"].value) == (None, 0, 0.5)


def test_a_failed_judgement_leaves_what_needs_no_judge() -> None:
    references = [clip("a", event(1, 2)), clip("b")]
    found = run(references, [clip("a", event(1, 2, "?")), clip("b", event(3, 4))]).systems[0]
    assert (found.macro["detection_f1"].value, found.macro["detection_f1"].n) == (pytest.approx(2 / 3), 2)
    assert (found.macro["clean_accuracy"].value, found.macro["desc_f1"].defined) == (0.0, False)


def test_bounds_hold_whatever_the_judge_would_have_said() -> None:
    # Neither 0 nor 1 for the failed pair is extreme: at 0.11 it takes the match from a better description.
    references = [clip("a", event(0, 2))]
    predictions = [clip("a", event(1.8, 2, "p1"), event(0, 2, "p2?"))]
    found = run(references, predictions, judge=SameWords(p1=1.0)).systems[0].bounds
    assert found is not None
    for said in (0.0, 0.05, 0.11, 0.5, 1.0):
        named = [clip("a", event(1.8, 2, "p1"), event(0, 2, "p2"))]
        value = run(references, named, judge=SameWords(p1=1.0, p2=said)).systems[0].macro["desc_f1"].value
        assert found.worst["desc_f1"].value <= value <= found.best["desc_f1"].value


def test_systems_are_compared_on_the_clips_that_both_have_a_value_for() -> None:
    references = [clip(f"{number:02}", event(1, 2)) for number in range(20)]
    half = [clip(reference.clip_id, event(1, 2 if number < 10 else 1.5, "a" if number < 10 else "?"))
            for number, reference in enumerate(references)]  # fmt: skip
    whole = [
        clip(reference.clip_id, event(1, 2 if number < 10 else 1.5)) for number, reference in enumerate(references)
    ]
    (pair_,) = run(references, half, whole).comparisons["miou"].pairs
    assert (pair_.difference.value, pair_.difference.n) == (0.0, 10)


def test_results_are_broken_down_by_clip_fields() -> None:
    references = [
        clip("a", event(1, 2), fields={"split": "sim", "arm": "left"}),
        clip("b", event(1, 2), fields={"split": "real"}),
    ]
    found = run(references, [clip("a", event(1, 2))], by=("split", "arm")).systems[0]
    assert {name: scores["desc_f1"].value for name, scores in found.by["split"].items()} == {"sim": 1.0, "real": 0.0}
    assert {name: scores["desc_f1"].value for name, scores in found.by["arm"].items()} == {"left": 1.0, "": 0.0}


def test_the_mean_over_strata_weighs_data_sets_alike() -> None:
    references = [clip(name, event(1, 2), fields={"split": "big"}) for name in "abc"]
    references.append(clip("d", event(1, 2), fields={"split": "small"}))
    found = run(references, [clip("d", event(1, 2))]).systems[0]
    assert (found.macro["desc_f1"].value, found.strata_mean["desc_f1"].value) == (0.25, 0.5)
    assert found.strata_mean["desc_f1"].n == 2


def test_every_kind_of_error_is_listed_with_its_cost() -> None:
    references = [clip("a", event(1, 2), event(5, 6, "b"))]
    found = run(references, [clip("a", event(1, 2), event(8, 9, "c"))]).systems[0]
    errors = {kind: (number, gain.value) for kind, (number, gain) in found.error_costs.items() if number}
    assert found.micro["desc_f1"].value == 0.5
    assert errors == {"missed": (1, pytest.approx(4 / 5 - 0.5)), "spurious": (1, pytest.approx(2 / 3 - 0.5))}


def test_operating_points_come_from_the_stored_hypotheses() -> None:
    sure, unsure = event(1, 2, confidence=0.65), event(5, 6, "b", confidence=0.35)
    system = [clip("a", sure, candidates=(sure, unsure))]
    points = run([clip("a", event(1, 2), event(5, 6, "b"))], system).systems[0].operating_points
    assert {least: means["desc_recall"].value for least, (means, _) in points.items()} == {
        0.3: 1.0, 0.4: 0.5, 0.5: 0.5, 0.6: 0.5, 0.7: 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("rejected", [{"dimension": "e"}, {"dimension": None}, {"type": "odd"}, {"type": None}])
def test_a_rejected_hypothesis_may_have_a_label_that_no_event_has(rejected: dict[str, Any]) -> None:
    sure = event(1, 2, confidence=0.9)
    doubted = replace(event(5, 6, "b", confidence=0.5), **rejected)
    found = run([clip("a", event(1, 2))], [clip("a", sure, candidates=(sure, doubted))]).systems[0]
    assert found.operating_points[0.5][1]["desc_precision"].value == 0.5
    assert found.operating_points[0.6][1]["desc_precision"].value == 1.0
    assert set(found.dimensions) == {"d"}


def test_without_stored_hypotheses_there_are_no_operating_points() -> None:
    assert run([clip("a", event(1, 2))], [clip("a")]).systems[0].operating_points == {}


def test_the_bonus_decides_who_is_matched() -> None:
    references = [clip("a", event(1, 2, "a", "here"))]
    predictions = [clip("a", event(1, 2, "near", "here"), event(1, 2, "text", "there"))]
    judge = SameWords(near=0.5, text=0.6)
    found = run(references, predictions, judge=judge).systems[0].by_bonus
    assert {bonus: scores["desc_recall"].value for bonus, scores in found.items()} == {
        0: 0.6,
        0.1: 0.6,
        0.25: 0.5,
        0.5: 0.5,
    }


def test_controls_stand_beside_every_system() -> None:
    references = [clip("a", event(7, 10, severity=4)), clip("b")]
    controls = run(references, [clip("a")]).controls
    assert controls["always_clean"][0]["clean_accuracy"].value == 1.0
    assert controls["last_30_percent"][0]["miou"].value == 1.0
    assert controls["whole_clip"][0]["miou"].value == pytest.approx(0.3)
    assert controls["constant_severity"][0]["severity_within1"].value == 1.0


def test_a_system_that_has_seen_nothing_is_not_above_its_floor_and_gets_a_warning() -> None:
    rng = random.Random(3)
    texts = [rng.choice("ab") for _ in range(60)]
    references = [clip(f"{number:02}", event(1, 2, text)) for number, text in enumerate(texts)]
    blind = [clip(reference.clip_id, event(1, 2, "a")) for reference in references]
    result = run(references, references, blind)
    seeing, guessing = (system.floor for system in result.systems)
    assert seeing is not None
    assert guessing is not None
    assert result.systems[0].macro["desc_f1"].value == 1.0
    assert 0.3 < seeing.macro["desc_f1"].value < 0.7
    assert (seeing.above.significant, seeing.above.difference.n) == (True, 60)
    assert guessing.macro["desc_f1"].value == result.systems[1].macro["desc_f1"].value
    assert guessing.above.difference.value == 0.0
    said = [note for note in evaluation_notes(result) if note.startswith("Warning: s")]
    assert [note[:65] for note in said] == ["Warning: s1 is not significantly above its floor in Description F1"[:65]]
    shown = {row[0]: row[1] for row in next(iter(evaluation_tables(result))).rows}
    assert shown["floor of s1"] == guessing.macro["desc_f1"]


def test_floors_ask_the_judge_and_can_be_left_out() -> None:
    references = [clip("a", event(1, 2)), clip("b", event(1, 2))]
    judge, without = SameWords(), SameWords()
    result = run(references, references, judge=judge)
    prior, moved = ({pair.prediction_id for pair in judge.asked if sign in pair.prediction_id} for sign in ("_", "/"))
    assert (prior, moved) == ({"type_prior"}, {"a/a1", "b/a1"})
    assert result.controls["type_prior"][0]["detection_recall"].value == 1.0
    plain = run(references, references, judge=without, floors=False)
    assert {pair.prediction_id for pair in without.asked} == {"a1"}
    assert plain.systems[0].floor is None
    assert "type_prior" not in plain.controls
    assert not any("floor is what it scores" in note for note in evaluation_notes(plain))


def test_the_papers_headline_is_named_beside_the_mean_over_clips() -> None:
    references = [clip(name, event(1, 2), fields={"split": "big" if name < "d" else "small"}) for name in "abcd"]
    found = {table.name: table for table in evaluation_tables(run(references, [references[3]]))}
    assert found["scores-data-sets"].title.startswith("Scores, mean over 2 data sets (split): the headline of the Rob")
    assert [row[1].value for row in found["scores-data-sets"].rows] == [0.5]  # type: ignore[union-attr]
    assert found["scores"].title == "Scores, mean over clips"
    assert found["scores"].rows[0][1].value == 0.25  # type: ignore[union-attr]
    one_set = run([replace(reference, fields={}) for reference in references], [references[3]])
    assert "scores-data-sets" not in {table.name for table in evaluation_tables(one_set)}


def test_two_systems_are_compared_on_the_same_clips() -> None:
    references = [clip(f"{number:02}", event(1, 2)) for number in range(30)]
    good = [clip(reference.clip_id, *reference.findings) for reference in references[:27]]
    bad = [clip(reference.clip_id, *reference.findings) for reference in references[:6]]
    found = run(references, good, bad, resamples=500).comparisons["desc_f1"]
    (difference,) = found.pairs
    assert difference.difference.value == pytest.approx(0.7)
    assert difference.significant
    assert difference.verdict() == "different"
    assert [rank.rank.value for rank in found.ranks] == [1.0, 2.0]
    assert run(references, good).comparisons == {}


def test_clips_of_one_prompt_are_one_piece_of_evidence() -> None:
    """Four seeds of a prompt that all go alike are worth one clip of each."""
    rng = random.Random(5)
    luck = {f"p{number}": rng.random() < 0.5 for number in range(40)}

    def seeds(count: int, **known: Any) -> tuple[list[ClipAnnotation], list[ClipAnnotation]]:
        names = [(prompt, f"{prompt}-{seed}") for prompt in luck for seed in range(count)]
        references = [clip(name, event(1, 2), fields={"prompt_id": prompt}, **known) for prompt, name in names]
        return references, [clip(name, *([event(1, 2)] if luck[prompt] else [])) for prompt, name in names]

    alone, together = run(*seeds(1)), run(*seeds(4))
    assert (alone.counts["units"], together.counts["units"]) == (40, 40)
    for name in ("desc_f1", "detection_f1"):
        assert together.systems[0].macro[name].low == pytest.approx(alone.systems[0].macro[name].low, abs=1e-9)
    assert together.systems[0].macro["detection_recall"].low == pytest.approx(
        alone.systems[0].macro["detection_recall"].low, abs=0.02
    )
    apart = run(*seeds(4), units="split")
    assert apart.systems[0].macro["desc_f1"].low > alone.systems[0].macro["desc_f1"].low + 0.05


def test_rankings_by_the_offline_judge_carry_a_warning() -> None:
    class Offline(SameWords):
        name = "offline"

    references = [clip("a", event(1, 2)), clip("b", event(1, 2))]
    result = run(references, references, references, judge=Offline())
    tables = {table.name: table for table in evaluation_tables(result)}
    for name in ("scores", "pairs-desc_f1", "ranks-desc_f1"):
        assert any("It can therefore reverse the order of two systems." in note for note in tables[name].notes), name
    alone = {table.name: table for table in evaluation_tables(run(references, references, judge=Offline()))}
    assert not any("reverse" in note for note in alone["scores"].notes)


def test_a_margin_asks_whether_systems_are_equal_up_to_it() -> None:
    references = [clip(f"{number:02}", event(1, 2)) for number in range(80)]
    found = run(references, references, references, margin=0.1).comparisons["desc_f1"].pairs[0]
    assert found.verdict(0.1) == "no significant difference; equal within 0.1"
    assert found.equivalence_bound == pytest.approx(0.03, abs=0.01)


def test_shares_of_clips_have_an_interval_at_0_of_n_too() -> None:
    one = (
        run([clip("a"), clip("b")], [clip("a", event(1, 2)), clip("b", event(1, 2))]).systems[0].macro["clean_accuracy"]
    )
    assert (one.value, one.low, one.n) == (0.0, 0.0, 2)
    assert 0.6 < one.high < 0.7


@pytest.mark.parametrize("interval", ["student", "percentile", "bca"])
def test_values_of_0_and_1_have_an_interval_of_the_clips_that_have_them(interval: str) -> None:
    references = [clip(f"{number:02}", event(1, 2)) for number in range(3)] + [
        clip(f"x{number}") for number in range(9)
    ]
    right = run(references, references, interval=interval).systems[0]
    wrong = run(references, [clip("00")], interval=interval).systems[0]
    lowest = wilson(3, 3).low
    for found in (right.macro["desc_f1"], right.micro["desc_f1"], right.strata_mean["desc_f1"],
                  right.dimensions["d"]["desc_recall"], right.macro["detection_f1"]):  # fmt: skip
        assert (found.value, found.low, found.high) == (1.0, pytest.approx(lowest), 1.0)
    assert (wrong.macro["desc_f1"].low, wrong.macro["desc_f1"].high) == (0.0, pytest.approx(1 - lowest))


def test_the_same_seed_gives_the_same_result_and_another_one_another() -> None:
    references, predictions = corpus(random.Random(1))
    first, again, other = (run(references, predictions, seed=seed) for seed in (3, 3, 4))
    assert same(evaluation_json(first), evaluation_json(again))
    assert values(first.systems[0].macro) == pytest.approx(values(other.systems[0].macro), nan_ok=True)
    drawn = [run(*corpus(random.Random(1)), interval="percentile", seed=seed) for seed in (0, 1)]
    assert drawn[0].systems[0].macro["desc_f1"].low != drawn[1].systems[0].macro["desc_f1"].low


@pytest.mark.parametrize("change", ["events", "ids", "clips"])
def test_what_things_are_called_and_their_order_changes_no_number(change: str) -> None:
    rng = random.Random(5)
    references, predictions = corpus(rng)
    before = run(references, predictions).systems[0]

    def shuffled(annotation: ClipAnnotation) -> ClipAnnotation:
        findings = list(annotation.findings)
        if change == "events":
            rng.shuffle(findings)
        if change == "ids":
            findings = [replace(event, id=f"x{number}") for number, event in enumerate(findings)]
        return replace(annotation, findings=tuple(findings))

    references, predictions = (
        [shuffled(reference) for reference in references],
        [shuffled(prediction) for prediction in predictions],
    )
    if change == "clips":
        rng.shuffle(references)
        rng.shuffle(predictions)
    after = run(references, predictions).systems[0]
    for part in ("counts", "macro", "micro", "strata_mean", "dimensions", "types", "error_costs", "by_bonus"):
        assert same(getattr(before, part), getattr(after, part)), part
    assert (before.confusion == after.confusion).all()


def corpus(rng: random.Random, clips: int = 40) -> tuple[list[ClipAnnotation], list[ClipAnnotation]]:
    def some(equivalence_bound: int) -> tuple[AnnotatedEvent, ...]:
        starts = [rng.uniform(0, 8) for _ in range(rng.randrange(equivalence_bound))]
        return tuple(
            AnnotatedEvent(
                f"{number}",
                (Span(start, start + rng.uniform(0.1, 2)),),
                rng.choice("abc"),
                rng.choice("de"),
                None,
                (),
                rng.choice([None, 1, 3, 5]),
            )
            for number, start in enumerate(starts)
        )

    names = [f"{number:02}" for number in range(clips)]
    splits = [{"split": rng.choice(["x", "y"])} for _ in names]
    references = [clip(name, *some(4), fields=split) for name, split in zip(names, splits, strict=True)]
    return references, [clip(name, *some(4)) for name in names if rng.random() < 0.9]


def test_every_table_and_file_is_written_and_nothing_is_a_bare_mean() -> None:
    references, predictions = corpus(random.Random(2))
    faulty = {reference.clip_id for reference in references if reference.findings}
    first = next(place for place, prediction in enumerate(predictions[:20]) if prediction.clip_id in faulty)
    predictions[first] = replace(predictions[first], findings=(event(0, 10, "?"),))
    predictions[first + 1] = replace(predictions[first + 1], candidates=(event(1, 2, confidence=0.9),))
    result = run(references, predictions, predictions[:20], by=("split",))
    tables = list(evaluation_tables(result))
    names = [table.name for table in tables]
    assert len(set(names)) == len(names)
    assert {
        "scores",
        "by-dimension",
        "by-split",
        "errors",
        "s0-metrics",
        "s0-losses",
        "s0-bounds",
        "pairs-desc_f1",
    } <= {*names}
    written = dict(table_files(tables))
    parts = {table.part.file if table.part else table.name for table in tables}
    assert set(written) == {"tables.md", "tables.tex", *(f"{name}.csv" for name in parts)}
    assert all("Judge same-words: A judge for tests." in table.notes for table in tables)
    for column in zip(*(row[1:] for row in tables[0].rows), strict=True):
        assert all(isinstance(cell, Estimate) for cell in column)


def test_every_table_names_its_config_its_judge_and_what_is_missing() -> None:
    references = [clip("a", event(1, 2)), clip("b"), clip("u", status="partial")]
    said = "\n".join(evaluation_notes(run(references, [clip("a"), clip("z")])))
    for words in (
        "Convention robogaze, loose normalisation, IoU on frames; 95% intervals (Student's t) over the clips",
        "Warning: 2 units (a unit is a clip, or a prompt if several clips share it). "
        "Below 60 units, intervals are approximate",
        "Judge same-words: A judge for tests.",
        "2 clips with a reference: 1 with events, 1 clean.",
        "s0: 1 clip without a prediction (their events count as missed): b.",
        "1 clip left out because the reference is not finished: u.",
        "1 clip left out because there is no reference: z.",
        "Floor always_clean reports no event in any clip.",
        "Upper bound whole_clip reports one event over the whole of every clip",
        "Floor type_prior reports one event in every clip: the most frequent type of the other clips",
        "A system's floor is its score when its events are moved to other clips.",
    ):
        assert words in said


def test_json_has_the_contract_s_keys_at_the_top_for_one_system() -> None:
    found = evaluation_json(run([clip("a", event(1, 2)), clip("b")], [clip("a", event(1, 2))]))
    keys = {"schema_version", "convention", "judge", "counts", "macro", "micro", "per_dimension", "controls"}
    assert keys <= set(found)
    assert found["macro"]["desc_f1"].keys() >= {"value", "low", "high", "n"}
    assert found["matches"] == {"a": [{"reference": "a1", "prediction": "a1", "similarity": 1.0, "iou": 1.0}]}
    assert not any(math.isnan(number) for number in _numbers(found))


def _numbers(value: Any) -> list[float]:
    if isinstance(value, float):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [number for part in parts for number in _numbers(part)]


def test_a_config_keeps_the_weight_of_its_convention() -> None:
    with pytest.raises(InputError, match="'mine' is not one of the conventions: robogaze, glide-paper"):
        EvaluationConfig.of("mine")
    with pytest.raises(ValueError, match="glide-paper weighs pairs by similarity\\*iou, not by similarity"):
        EvaluationConfig(convention="glide-paper", use="similarity")
