"""The whole result, on annotators made from the demonstration clips."""

import json
from dataclasses import replace
from random import Random

import pytest
from pydantic import ValidationError

from agreement.annotators import WordJudge, annotation, demo_annotators, event
from robogaze.agreement import AgreementConfig, AgreementResult, AnnotationSet, measure_agreement
from robogaze.core.annotation import ClipAnnotation
from robogaze.reporting.serialize import agreement_json

TERMS = AgreementConfig(resamples=100)


async def result(*annotations: ClipAnnotation, config: AgreementConfig = TERMS) -> AgreementResult:
    return await measure_agreement(AnnotationSet.of(annotations, config.by), WordJudge(tilt=0.1), config)


async def test_everything_is_there_for_all_clips_each_dataset_dimension_and_pair() -> None:
    annotations = demo_annotators(["ann", "bob", "eve"])
    halves = [replace(annotation, fields={"split": "ab"[number % 2]}) for number, annotation in enumerate(annotations)]
    found = await result(*halves)
    assert found.overall.clips == 10
    assert {name: dataset.clips for name, dataset in found.datasets.items()} == {"a": 5, "b": 5}
    assert len(found.dimensions) == 6
    assert list(found.pairs) == [("ann", "bob"), ("ann", "eve"), ("bob", "eve")]
    assert found.ceiling.whole.n + found.ceiling.without == 30
    assert len(found.adjudication.annotations) == 10
    assert sum(value.events for value in found.dimensions.values()) == found.overall.events
    for pair in (found.overall, *found.datasets.values(), *found.dimensions.values(), *found.pairs.values()):
        assert {name for name, _ in pair.estimates()} == {name for name, _ in found.overall.estimates()}


async def test_the_order_of_files_and_of_events_and_the_ids_of_events_change_no_number() -> None:
    annotations = demo_annotators(["ann", "bob", "eve"])
    before = agreement_json(await result(*annotations))
    Random(3).shuffle(annotations)
    turned = [
        replace(
            annotation, findings=tuple(replace(event, id=f"{event.id}x") for event in reversed(annotation.findings))
        )
        for annotation in annotations
    ]
    after = agreement_json(await result(*turned))
    assert numbers(after) == numbers(before)


async def test_other_names_of_annotators_change_no_number() -> None:
    annotations = demo_annotators(["ann", "bob", "eve"])
    before = agreement_json(await result(*annotations))
    names = {"ann": "zoe", "bob": "max", "eve": "abe"}
    after = agreement_json(
        await result(*(replace(annotation, author=names[annotation.author]) for annotation in annotations))
    )
    for key in ("overall", "per_dataset", "per_dimension"):
        assert after[key] == before[key]
    for key in ("macro", "micro", "per_dataset", "annotations_without_consensus"):
        assert after["human_ceiling"][key] == before["human_ceiling"][key]
    of_pairs = [
        {frozenset(pair["annotators"]): pair["tiou"]["value"] for pair in written["per_pair"]}
        for written in (before, after)
    ]
    assert {frozenset(names[name] for name in pair): value for pair, value in of_pairs[0].items()} == of_pairs[1]


def numbers(written: object) -> object:
    """All of it but ids."""
    if isinstance(written, dict):
        return {key: numbers(value) for key, value in written.items() if key != "id"}
    return [numbers(entry) for entry in written] if isinstance(written, list | tuple) else written


async def test_clips_of_one_prompt_are_one_piece_of_evidence() -> None:
    """Four seeds of a prompt that all go alike are worth one clip of each."""

    def seeds(count: int) -> list[ClipAnnotation]:
        rng = Random(7)
        found = []
        for prompt in range(24):
            ends = {"ann": rng.randrange(2, 9), "bob": rng.randrange(2, 9)}
            faulty = {name: rng.random() < 0.7 for name in ends}
            found += [
                annotation(name, f"{prompt:02}-{seed}", *([event(0, ends[name])] if faulty[name] else []),
                        fields={"prompt_id": f"p{prompt}"})
                for seed in range(count) for name in ends
            ]  # fmt: skip
        return found

    alone, together = await result(*seeds(1)), await result(*seeds(4))
    no_shared_dimensions = await result(*seeds(4), config=AgreementConfig(units="no such field", resamples=100))
    for name in ("detection_kappa", "tiou", "events_matched", "timeline_alpha"):
        one, four, free = (getattr(found.overall, name) for found in (alone, together, no_shared_dimensions))
        assert four.value == pytest.approx(one.value, abs=0.05), name
        assert four.high - four.low == pytest.approx(one.high - one.low, rel=0.1), name
        assert free.high - free.low < 0.75 * (four.high - four.low), name
    ceilings = [found.ceiling.whole.macro["desc_f1"] for found in (alone, together, no_shared_dimensions)]
    widths = [ceiling.high - ceiling.low for ceiling in ceilings]
    assert widths[1] == pytest.approx(widths[0], rel=1e-6)
    assert widths[2] < 0.75 * widths[1]


async def test_how_events_are_matched_can_be_chosen() -> None:
    ann = annotation("ann", "a", event(0, 4, "cup falls"))
    bob = annotation("bob", "a", event(0, 4, "something else"), event(0, 3, "cup falls"))
    by_both = await result(ann, bob)
    by_time = await result(ann, bob, config=AgreementConfig(match="iou", resamples=100))
    assert (by_both.overall.tiou.value, by_time.overall.tiou.value) == (0.75, 1.0)


async def test_iou_can_be_exact() -> None:
    ann, bob = annotation("ann", "a", event(0, 4)), annotation("bob", "a", event(0, 3.5))
    assert (await result(ann, bob)).overall.tiou.value == 1.0
    assert (await result(ann, bob, config=AgreementConfig(iou="exact", resamples=100))).overall.tiou.value == 0.875


async def test_nothing_to_compare_is_undefined_and_no_error() -> None:
    found = await result(annotation("ann", "a", event(0, 4)), annotation("bob", "b", event(0, 4)))
    assert found.annotation_set.single_annotator == ("a", "b")
    assert {estimate.why for _, estimate in found.overall.estimates()} == {"no clip has two annotators"}
    assert json.loads(json.dumps(agreement_json(found), allow_nan=False))["overall"]["tiou"] == {
        "value": None, "low": None, "high": None, "n": 0, "why": "no clip has two annotators"
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [{"match": "words"}, {"resamples": 0}, {"level": 1}, {"seed": -1}, {"other": 1}])
def test_terms_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AgreementConfig(**wrong)  # type: ignore[arg-type]
