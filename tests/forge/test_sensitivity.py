"""The sensitivity of an evaluator, counted by hand."""

import math
from pathlib import Path
from typing import Any

import pytest
from making import coverage, make_clip

from robogaze.core.events import Event
from robogaze.core.report import Failure, Report
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.errors import InputError, OptionError
from robogaze.forge.sensitivity import Sensitivity, measure, read_planted
from robogaze.stats.proportions import wilson

SOFT, SHAKY, GONE = "blur", "camera_instability", "object_disappearance"
OPTICS, OBJECTS = "visual_quality", "object_scene_consistency"


def failed(dimension: str) -> Failure:
    return Failure(stage="measure", dimension=dimension, kind="evidence_only", message="perhaps")


@pytest.fixture
def report_on(robot: Domain) -> Any:
    """Makes a report: of a clip, with events as (type, start, end)."""

    def make(clip_id: str, *events: tuple[str, float, float], **fields: Any) -> Report:
        dimensions = tuple(robot.dimensions)
        known: dict[str, Any] = {
            "clip": make_clip(id=clip_id),
            "domain": robot.ref,
            "pipeline": "p",
            "author": "someone",
            "coverage": coverage(*dimensions),
            "events": tuple(
                Event(id=f"{n}", dimension=robot.dimension_of[kind], type=kind, spans=(Span(start, end),), severity=3,
                      confidence=None, description="d", evidence=())
                for n, (kind, start, end) in enumerate(events)
            ),
        }  # fmt: skip
        return Report(**{**known, **fields})

    return make


@pytest.fixture
def planted(report_on: Any) -> Any:
    """Makes what was planted: a clip's untouched copy (`ID-0`) or, with an event, a planted one."""

    def make(clip_id: str, *events: tuple[str, float, float], source: str = "cup") -> Report:
        fields = {
            "source": source,
            "untouched": f"{source}-0",
            "plant": events[0][0] if events else "",
            "strength": 0.5,
        }
        report: Report = report_on(clip_id, *events)
        return report.with_(provenance=report.provenance.with_(media={"planted": fields}))

    return make


def measured(references: list[Report], reports: list[Report]) -> Sensitivity:
    return measure(references, reports, "run", level=0.95, resamples=200, seed=0)


@pytest.mark.parametrize("level", [float("nan"), -0.5, 0.0, 1.0, 95.0])
def test_a_level_that_is_out_of_its_range_is_refused(level: float, planted: Any) -> None:
    references = [planted("cup-0")]
    with pytest.raises(OptionError, match=f"level must be above 0 and below 1, not {level}"):
        measure(references, references, "run", level=level, resamples=200, seed=0)


def test_at_least_one_resample_is_drawn(planted: Any) -> None:
    references = [planted("cup-0")]
    with pytest.raises(OptionError, match="resamples must be at least 1, not 0"):
        measure(references, references, "run", level=0.95, resamples=0, seed=0)


def test_found_is_the_type_at_the_time_and_noticed_is_anything_at_the_time(report_on: Any, planted: Any) -> None:
    references = [planted("cup-0"), *(planted(f"cup-{n}", (SOFT, 1.0, 2.0)) for n in (1, 2, 3, 4))]
    found = measured(
        references,
        [
            report_on("cup-0"),
            report_on("cup-1", (SOFT, 1.5, 3.0)),
            report_on("cup-2", (SHAKY, 1.0, 2.0)),
            report_on("cup-3", (SOFT, 2.5, 3.0)),
            report_on("cup-4"),
        ],
    )
    assert found.total.found.value == wilson(1, 4)
    assert found.total.noticed.value == wilson(2, 4)
    assert found.total.found_untouched.value == wilson(0, 4)
    assert (found.total.planted, found.total.found.open) == (4, 0)


def test_onset_error_and_tiou_are_of_the_event_that_overlaps_most(report_on: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (SOFT, 1.0, 2.0))]
    reports = [
        report_on("cup-0"),
        report_on("cup-1", (SOFT, 0.5, 1.125), (SOFT, 1.25, 2.0)),
        report_on("cup-2", (SOFT, 0.5, 2.5)),
    ]
    found = measured(references, reports)
    assert [trial.onset_error_s for trial in found.trials] == [0.25, 0.5]
    assert [trial.tiou for trial in found.trials] == [0.75, 0.5]
    assert (found.total.onset_error_s.value, found.total.onset_error_s.n) == (0.375, 2)
    assert found.total.tiou.value == 0.625


def test_a_glitch_of_the_whole_clip_has_no_localisation(report_on: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 0.0, 4.0))]
    found = measured(references, [report_on("cup-0"), report_on("cup-1", (SOFT, 1.0, 2.0))])
    assert found.total.found.value.value == 1
    assert math.isnan(found.total.tiou.value)
    assert found.total.onset_error_s.n == 0


def test_undecided_glitches_are_open_and_in_the_bounds(report_on: Any, planted: Any, robot: Domain) -> None:
    references = [planted("cup-0"), *(planted(f"cup-{n}", (SOFT, 1.0, 2.0)) for n in (1, 2, 3, 4, 5))]
    reports = [
        report_on("cup-1", (SOFT, 1.0, 2.0)),
        report_on("cup-2", coverage=coverage(not_examined=tuple(robot.dimensions))),
        report_on("cup-3", failures=(failed(OPTICS),)),  # the dimension of what was planted is undecided
        report_on("cup-4", failures=(failed(OBJECTS),)),  # another one is
    ]
    total = measured(references, reports).total
    assert total.found.value == wilson(1, 2)
    assert (total.found.open, total.found.worst, total.found.best) == (3, 1 / 5, 4 / 5)


def test_partial_and_missing_coverage_of_a_glitch_s_dimension(report_on: Any, planted: Any) -> None:
    some, none = coverage(OBJECTS, partial=[OPTICS]), coverage(OBJECTS, not_examined=[OPTICS])
    undecided = (failed(OPTICS),)
    for report, (not_examined, found, undecided_count) in (
        (report_on("cup-1", (SOFT, 1.0, 2.0), failures=undecided), (0, 1, 0)),  # found, though the report is partial
        (report_on("cup-1", coverage=none), (1, 0, 0)),  # missed
        (report_on("cup-1", coverage=some), (0, 0, 0)),
        (report_on("cup-1", coverage=some, failures=undecided), (0, None, 1)),
    ):
        total = measured([planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0))], [report_on("cup-0"), report]).total
        assert (total.not_examined, total.found.open) == (not_examined, undecided_count)
        assert total.found.value.as_json()["value"] == found


def test_the_same_event_in_the_untouched_clip_is_counted(report_on: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (GONE, 1.0, 2.0))]
    always = (SOFT, 0.0, 4.0)
    total = measured(references, [report_on(f"cup-{n}", always) for n in (0, 1, 2)]).total
    assert total.found.value == wilson(1, 2)
    assert total.found_untouched.value == wilson(1, 2)


def test_groups_are_by_type_severity_and_glitch(report_on: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (GONE, 1.0, 2.0))]
    by = measured(references, [report_on("cup-0"), report_on("cup-1", (SOFT, 1.0, 2.0)), report_on("cup-2")]).by
    assert {name: group.found.value.value for name, group in by["type"].items()} == {SOFT: 1, GONE: 0}
    assert {name: group.planted for name, group in by["severity"].items()} == {"3": 2}
    assert by["glitch"].keys() == {SOFT, GONE}


def test_alarms_are_events_in_untouched_clips(report_on: Any, planted: Any) -> None:
    references = [planted(f"{name}-0", source=name) for name in ("a", "b", "c", "d")]
    reports = [
        report_on("a-0", (SOFT, 0.0, 1.0), (SOFT, 2.0, 3.0)),
        report_on("b-0"),
        report_on("c-0", (GONE, 0.0, 1.0), failures=(failed(OPTICS),)),
    ]
    alarms = measured([*references, planted("a-1", (SOFT, 1.0, 2.0), source="a")], reports).alarms
    assert alarms.clips.value == wilson(2, 3)
    assert (alarms.clips.open, alarms.clips.worst, alarms.clips.best) == (1, 2 / 4, 3 / 4)
    assert (alarms.per_clip.value, alarms.per_clip.n) == (1.0, 3)
    assert alarms.per_minute.value == pytest.approx(3 / (3 * 4 / 60))
    assert (alarms.untouched, alarms.partial, dict(alarms.types)) == (4, 1, {SOFT: 2, GONE: 1})


def test_a_partially_covered_clip_has_no_alarm_unless_something_is_undecided(report_on: Any, planted: Any) -> None:
    references = [planted(f"{name}-0", source=name) for name in ("a", "b", "c")]
    part = {"coverage": coverage(partial=[OPTICS], not_examined=[OBJECTS])}
    reports = [
        report_on("a-0", **part),
        report_on("b-0", (SOFT, 0.0, 1.0), **part),
        report_on("c-0", **part, failures=(failed(OPTICS),)),
    ]
    alarms = measured(references, reports).alarms
    assert (alarms.clips.value, alarms.clips.open) == (wilson(1, 2), 1)


def test_without_alarms_the_proportion_has_an_interval(report_on: Any, planted: Any) -> None:
    alarms = measured([planted("cup-0")], [report_on("cup-0")]).alarms
    assert (alarms.clips.value.value, alarms.per_clip.value) == (0, 0)
    assert alarms.clips.value.high > 0.5
    assert alarms.per_clip.why


def test_reports_of_other_clips_and_other_files_are_refused(report_on: Any, planted: Any) -> None:
    with pytest.raises(InputError, match="no prediction has the clip id of a reference"):
        measured([planted("cup-0")], [report_on("pot-0")])
    other = report_on("cup-0", clip=make_clip(id="cup-0", sha256="0" * 64))
    with pytest.raises(InputError, match="are about different files"):
        measured([planted("cup-0")], [other])


def test_only_a_planted_data_set_is_a_reference(tmp_path: Path, report_on: Any, planted: Any) -> None:
    with pytest.raises(InputError, match="name a folder that forge plant wrote"):
        read_planted(tmp_path)
    path = tmp_path / "annotations.jsonl"
    path.write_text(report_on("cup-0").model_dump_json() + "\n")
    with pytest.raises(InputError, match="does not list the planted glitches"):
        read_planted(tmp_path)
    path.write_text("{}\n")
    with pytest.raises(InputError, match="is damaged"):
        read_planted(tmp_path)
    path.write_text(planted("cup-0").model_dump_json() + "\n")
    assert [report.clip.id for report in read_planted(tmp_path)] == ["cup-0"]
