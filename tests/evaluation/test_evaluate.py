"""`evaluate` as a library function: paths or loaded values in, a typed result out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from robogaze.annotations import ReadOptions, SourceError
from robogaze.core.annotation import annotation_of
from robogaze.errors import InputError, RunStopped
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.evaluate import evaluate, evaluate_async, evaluate_released
from robogaze.reports import load_reports

DEMO = Path(__file__).parents[2] / "datasets" / "demo" / "annotations.jsonl"
AXES = ("event_faithfulness", "specificity", "causal_correctness")
FEW = EvaluationConfig(resamples=20, floors=False)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A system that reports the first event of every clip."""
    reports = [report.with_(events=report.events[:1], author="half") for report in load_reports(DEMO)]
    path = tmp_path / "half.jsonl"
    path.write_text("".join(f"{report.model_dump_json()}\n" for report in reports))
    return path


def test_paths_and_loaded_values_give_the_same_scores(half: Path) -> None:
    by_path = evaluate(half, DEMO, FEW).systems[0]
    by_reports = evaluate({"half": load_reports(half)}, load_reports(DEMO), FEW).systems[0]
    by_annotations = evaluate({"half": [annotation_of(report) for report in load_reports(half)]}, DEMO, FEW).systems[0]
    assert by_path.name == by_reports.name == "half"
    assert by_path.macro == by_reports.macro == by_annotations.macro
    assert by_path.macro["desc_precision"].value == pytest.approx(1.0)


def test_iterators_are_read_as_lists_are(tmp_path: Path) -> None:
    reports = list(load_reports(DEMO))
    rows = [
        ["clip_id", "dimension", "type", "start_frame", "end_frame"],
        *([report.clip.id, "", "", "", ""] for report in reports if not report.events),
        *(
            [report.clip.id, event.dimension, event.type, f"{report.clip.frame_at(event.onset_s)}", "69"]
            for report in reports
            for event in report.events
        ),
    ]
    frames = tmp_path / "frames.csv"  # frames without a rate: the predictions are read twice, first for their clips
    frames.write_text("".join(f"{','.join(row)}\n" for row in rows))
    iterators = {"a": iter(reports), "b": (report for report in reports)}
    lists = {"a": reports, "b": reports}
    from_iterators, from_lists = (evaluate(given, frames, FEW).systems for given in (iterators, lists))
    assert [repr(system.macro) for system in from_iterators] == [repr(system.macro) for system in from_lists]
    assert [system.macro["detection_recall"].value for system in from_iterators] == [1.0, 1.0]


def test_several_systems_are_compared_under_their_names(half: Path) -> None:
    result = evaluate([half, f"all={DEMO}"], DEMO, FEW)
    assert [system.name for system in result.systems] == ["half", "all"]
    assert result.systems[1].macro["desc_f1"].value == 1.0
    assert result.comparisons["desc_f1"].pairs[0].difference.value <= 0


def test_sources_that_do_not_go_together_are_refused(half: Path) -> None:
    with pytest.raises(SourceError, match="two predictions have the same name"):
        evaluate([half, half], DEMO, FEW)
    with pytest.raises(SourceError, match="need a name"):
        evaluate([load_reports(half)], DEMO, FEW)
    with pytest.raises(SourceError, match="no reference was made by the author zoe; the authors are: "):
        evaluate(half, DEMO, FEW, reading=ReadOptions(author="zoe"))
    with pytest.raises(SourceError, match="no predictions are given"):
        evaluate([], DEMO, FEW)
    with pytest.raises(InputError, match="the references hold no annotation"):
        evaluate(half, [], FEW)
    with pytest.raises(InputError, match="nowhere does not exist"):
        evaluate("nowhere", DEMO, FEW)


async def test_inside_an_event_loop_both_twins_give_the_same(half: Path) -> None:
    awaited = await evaluate_async(half, DEMO, FEW)
    assert awaited.systems[0].counts["matched"] > 0
    assert evaluate(half, DEMO, FEW).systems[0].macro == awaited.systems[0].macro


def test_a_second_judge_scores_the_same_systems(half: Path, tmp_path: Path) -> None:
    table = tmp_path / "judge.jsonl"
    table.write_text('{"clip_id": "x", "reference_id": "a", "prediction_id": "b", "similarity": 1.0}\n')
    result = evaluate(half, DEMO, FEW, second_judge=f"table:{table}")
    assert result.second_judge is not None
    assert result.second_judge.judge == "table judge.jsonl"
    assert not result.judged  # the table does not hold the pairs
    assert evaluate(half, DEMO, FEW).judged


def answered(request: dict[str, Any], rating: int) -> dict[str, Any]:
    """A line of a batch's answers that rates every axis of the rubric alike."""
    content = {"rationale": "made up", **dict.fromkeys(AXES, rating)}
    message = {"role": "assistant", "content": json.dumps(content)}
    body = {"model": "made up", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    return {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}


def test_a_batch_holds_the_pairs_of_all_systems_and_does_not_say_whose_they_are(half: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch"
    with pytest.raises(RunStopped, match="pending"):
        evaluate([half, f"all={DEMO}"], DEMO, FEW, judge=f"batch:{batch}")
    (file,) = batch.iterdir()
    requests = [json.loads(line) for line in file.read_text().splitlines()]
    overlapping = [
        (report.clip.id, event.description, other.description)
        for report in load_reports(DEMO)
        for event in report.events
        for other in report.events
        if any(span.overlap(other_span) > 0 for span in event.spans for other_span in other.spans)
    ]
    assert len(requests) == len(overlapping), "what both systems report is asked once"
    assert not re.search(r"\bhalf\b", file.read_text())
    (batch / "answers.jsonl").write_text("".join(f"{json.dumps(answered(request, 4))}\n" for request in requests))
    result = evaluate([half, f"all={DEMO}"], DEMO, FEW, judge=f"batch:{batch}")
    assert [system.macro["desc_precision"].value for system in result.systems] == pytest.approx([0.8, 0.8])
    assert result.unjudged == ()
    assert result.judged


def test_what_was_read_in_a_special_way_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "renamed.jsonl"
    lines = [json.loads(line) for line in DEMO.read_text().splitlines()]
    path.write_text("".join(json.dumps({**line, "clip": {**line["clip"], "id": f"x-{number}"}}) + "\n"
                            for number, line in enumerate(lines)))  # fmt: skip
    result = evaluate(path, DEMO, FEW)
    assert caplog.messages == ["renamed: clips were matched to those of the other annotations: 10 by sha256"]
    assert result.systems[0].macro["desc_f1"].value == 1.0


@pytest.mark.parametrize("duration_s", ["", "300"])
def test_a_reference_that_begins_after_the_end_of_its_clip_is_reported(
    duration_s: str, half: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the prediction shows that the times are not in seconds, or that the reference is about a longer video."""
    clip = next(report.clip for report in load_reports(half) if report.events)
    path = tmp_path / "reference.csv"
    row = f"{clip.id},{duration_s},e1,object_teleportation,100,200"
    path.write_text(f"clip_id,duration_s,event_id,type,start_s,end_s\n{row}\n")
    evaluate(half, path, FEW)
    (message,) = caplog.messages
    ends = f"the clip ends at {clip.duration_s:g} s; times must be in seconds"
    assert message.endswith(f"{clip.id}: an event starts at 100 s, but {ends}")


def test_a_released_evaluator_scores_the_same_files(half: Path) -> None:
    result = evaluate_released(half, DEMO, "robogaze-released")
    assert result.convention == "robogaze-released"
    assert 0 < result.systems["half"].metrics["desc_f1"].value <= 1
    with pytest.raises(InputError, match="glide-paper is not a released evaluator"):
        evaluate_released(half, DEMO, "glide-paper")


def test_data_frame_has_a_row_per_system_average_and_metric(half: Path) -> None:
    pytest.importorskip("pandas")
    result = evaluate(half, DEMO, FEW)
    frame = result.to_dataframe()
    assert set(frame["average"]) == {"macro", "micro", "strata_mean"}
    (row,) = frame[(frame["average"] == "macro") & (frame["metric"] == "desc_f1")].to_dict("records")
    score = result.systems[0].macro["desc_f1"]
    assert (row["system"], row["value"], row["low"], row["n"]) == ("half", score.value, score.low, score.n)
