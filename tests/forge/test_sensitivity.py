"""What an evaluator found of what was planted, counted by hand."""

import math
from pathlib import Path
from typing import Any

import pytest
from making import coverage, make_clip

from robogaze.core.events import Event
from robogaze.core.report import Failure, Report
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.forge.sensitivity import Sensitivity, measure, read_planted
from robogaze.stats import wilson

SOFT, SHAKY, GONE = "blur", "camera_instability", "object_disappearance"
OPTICS, THINGS = "visual_quality", "object_scene_consistency"


def failed(dimension: str) -> Failure:
    return Failure(stage="measure", dimension=dimension, kind="evidence_only", message="perhaps")


@pytest.fixture
def say(robot: Domain) -> Any:
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
def planted(say: Any) -> Any:
    """Makes what was planted: a clip's untouched copy (`ID-0`) or, with an event, a planted one."""

    def make(clip_id: str, *events: tuple[str, float, float], source: str = "cup") -> Report:
        told = {"source": source, "untouched": f"{source}-0", "plant": events[0][0] if events else "", "strength": 0.5}
        report: Report = say(clip_id, *events)
        return report.with_(provenance=report.provenance.with_(media={"planted": told}))

    return make


def measured(references: list[Report], reports: list[Report]) -> Sensitivity:
    return measure(references, reports, "run", level=0.95, resamples=200, seed=0)


def test_found_is_the_type_at_the_time_and_noticed_is_anything_at_the_time(say: Any, planted: Any) -> None:
    references = [planted("cup-0"), *(planted(f"cup-{n}", (SOFT, 1.0, 2.0)) for n in (1, 2, 3, 4))]
    found = measured(
        references,
        [
            say("cup-0"),
            say("cup-1", (SOFT, 1.5, 3.0)),
            say("cup-2", (SHAKY, 1.0, 2.0)),
            say("cup-3", (SOFT, 2.5, 3.0)),
            say("cup-4"),
        ],
    )
    assert found.total.found.value == wilson(1, 4)
    assert found.total.noticed.value == wilson(2, 4)
    assert found.total.found_untouched.value == wilson(0, 4)
    assert (found.total.planted, found.total.found.open) == (4, 0)


def test_where_is_told_of_what_was_found_by_the_event_that_overlaps_most(say: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (SOFT, 1.0, 2.0))]
    reports = [say("cup-0"), say("cup-1", (SOFT, 0.5, 1.125), (SOFT, 1.25, 2.0)), say("cup-2", (SOFT, 0.5, 2.5))]
    found = measured(references, reports)
    assert [one.onset_error_s for one in found.trials] == [0.25, 0.5]
    assert [one.tiou for one in found.trials] == [0.75, 0.5]
    assert (found.total.onset_error_s.value, found.total.onset_error_s.n) == (0.375, 2)
    assert found.total.tiou.value == 0.625


def test_what_lasts_the_whole_clip_has_no_place(say: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 0.0, 4.0))]
    found = measured(references, [say("cup-0"), say("cup-1", (SOFT, 1.0, 2.0))])
    assert found.total.found.value.value == 1
    assert math.isnan(found.total.tiou.value)
    assert found.total.onset_error_s.n == 0


def test_what_is_undecided_is_open_and_bounds_say_what_it_could_be(say: Any, planted: Any, robot: Domain) -> None:
    references = [planted("cup-0"), *(planted(f"cup-{n}", (SOFT, 1.0, 2.0)) for n in (1, 2, 3, 4, 5))]
    reports = [
        say("cup-1", (SOFT, 1.0, 2.0)),
        say("cup-2", coverage=coverage(not_examined=tuple(robot.dimensions))),
        say("cup-3", failures=(failed(OPTICS),)),  # the dimension of what was planted is undecided
        say("cup-4", failures=(failed(THINGS),)),  # another one is
    ]
    total = measured(references, reports).total
    assert total.found.value == wilson(1, 2)
    assert (total.found.open, total.found.worst, total.found.best) == (3, 1 / 5, 4 / 5)


def test_what_a_partial_report_found_is_found(say: Any, planted: Any, robot: Domain) -> None:
    report = say("cup-1", (SOFT, 1.0, 2.0), failures=(failed(OPTICS),))
    total = measured([planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0))], [say("cup-0"), report]).total
    assert (total.found.value.value, total.found.open) == (1, 0)


def test_a_dimension_that_is_not_looked_for_is_missed_and_counted(say: Any, planted: Any) -> None:
    report = say("cup-1", coverage=coverage(THINGS, not_examined=[OPTICS]))
    total = measured([planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0))], [say("cup-0"), report]).total
    assert (total.not_looked_for, total.found.value.value, total.found.open) == (1, 0, 0)


def test_a_dimension_that_is_covered_partially_is_looked_for_and_open_where_something_was_noticed(
    say: Any, planted: Any
) -> None:
    some = {"coverage": coverage(THINGS, partial=[OPTICS])}
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (SOFT, 1.0, 2.0))]
    reports = [say("cup-0"), say("cup-1", **some), say("cup-2", **some, failures=(failed(OPTICS),))]
    total = measured(references, reports).total
    assert (total.not_looked_for, total.found.value.value, total.found.open) == (0, 0, 1)


def test_what_is_said_of_the_untouched_clip_too_is_told(say: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (GONE, 1.0, 2.0))]
    always = (SOFT, 0.0, 4.0)
    total = measured(references, [say(f"cup-{n}", always) for n in (0, 1, 2)]).total
    assert total.found.value == wilson(1, 2)
    assert total.found_untouched.value == wilson(1, 2)


def test_groups_are_by_type_severity_and_plant(say: Any, planted: Any) -> None:
    references = [planted("cup-0"), planted("cup-1", (SOFT, 1.0, 2.0)), planted("cup-2", (GONE, 1.0, 2.0))]
    by = measured(references, [say("cup-0"), say("cup-1", (SOFT, 1.0, 2.0)), say("cup-2")]).by
    assert {name: one.found.value.value for name, one in by["type"].items()} == {SOFT: 1, GONE: 0}
    assert {name: one.planted for name, one in by["severity"].items()} == {"3": 2}
    assert by["plant"].keys() == {SOFT, GONE}


def test_alarms_are_what_was_said_of_untouched_clips(say: Any, planted: Any) -> None:
    references = [planted(f"{name}-0", source=name) for name in ("a", "b", "c", "d")]
    reports = [
        say("a-0", (SOFT, 0.0, 1.0), (SOFT, 2.0, 3.0)),
        say("b-0"),
        say("c-0", (GONE, 0.0, 1.0), failures=(failed(OPTICS),)),
    ]
    alarms = measured([*references, planted("a-1", (SOFT, 1.0, 2.0), source="a")], reports).alarms
    assert alarms.clips.value == wilson(2, 3)
    assert (alarms.clips.open, alarms.clips.worst, alarms.clips.best) == (1, 2 / 4, 3 / 4)
    assert (alarms.per_clip.value, alarms.per_clip.n) == (1.0, 3)
    assert alarms.per_minute.value == pytest.approx(3 / (3 * 4 / 60))
    assert (alarms.untouched, alarms.partial, dict(alarms.types)) == (4, 1, {SOFT: 2, GONE: 1})


def test_a_clip_that_was_covered_partially_has_no_alarm_unless_something_is_undecided(say: Any, planted: Any) -> None:
    references = [planted(f"{name}-0", source=name) for name in ("a", "b", "c")]
    part = {"coverage": coverage(partial=[OPTICS], not_examined=[THINGS])}
    reports = [say("a-0", **part), say("b-0", (SOFT, 0.0, 1.0), **part), say("c-0", **part, failures=(failed(OPTICS),))]
    alarms = measured(references, reports).alarms
    assert (alarms.clips.value, alarms.clips.open) == (wilson(1, 2), 1)


def test_without_alarms_the_share_still_has_an_interval(say: Any, planted: Any) -> None:
    alarms = measured([planted("cup-0")], [say("cup-0")]).alarms
    assert (alarms.clips.value.value, alarms.per_clip.value) == (0, 0)
    assert alarms.clips.value.high > 0.5
    assert alarms.per_clip.why


def test_reports_of_other_clips_and_other_files_are_refused(say: Any, planted: Any) -> None:
    with pytest.raises(InputError, match="no prediction has the id"):
        measured([planted("cup-0")], [say("pot-0")])
    other = say("cup-0", clip=make_clip(id="cup-0", sha256="0" * 64))
    with pytest.raises(InputError, match="speaks of another file"):
        measured([planted("cup-0")], [other])


def test_only_a_folder_that_was_planted_is_a_reference(tmp_path: Path, say: Any, planted: Any) -> None:
    with pytest.raises(InputError, match="name a folder that forge plant wrote"):
        read_planted(tmp_path)
    path = tmp_path / "annotations.jsonl"
    path.write_text(say("cup-0").model_dump_json() + "\n")
    with pytest.raises(InputError, match="does not say what was planted"):
        read_planted(tmp_path)
    path.write_text("{}\n")
    with pytest.raises(InputError, match="is damaged"):
        read_planted(tmp_path)
    path.write_text(planted("cup-0").model_dump_json() + "\n")
    assert [one.clip.id for one in read_planted(tmp_path)] == ["cup-0"]
