"""The demo data set as it is shipped: films, manifest and annotations fit together."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from robogaze.core.clip import Layout
from robogaze.core.coverage import states
from robogaze.core.report import Report
from robogaze.core.time import frames_in
from robogaze.datasets import ManifestEntry
from robogaze.diagnose import diagnose, open_clip
from robogaze.domains import Domain, load_domain
from robogaze.evidence import ClipSignals
from robogaze.media import decode_clip
from robogaze.reporting.tables.clips import summary_lines
from robogaze.reports import load_reports
from robogaze.stages.pipeline import Pipeline

DEMO = Path(__file__).parents[2] / "datasets" / "demo"
FILE_BYTES, FOLDER_BYTES = 250_000, 2_000_000


def lines(name: str) -> list[str]:
    return (DEMO / name).read_text().splitlines()


ROWS: list[dict[str, Any]] = [json.loads(line) for line in lines("clips.jsonl")]
REPORTS = {report.clip.id: report for report in map(Report.model_validate_json, lines("annotations.jsonl"))}
EVENTS = [(report, event) for report in REPORTS.values() for event in report.events]

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["clip_id"])
each_event = pytest.mark.parametrize(("report", "event"), EVENTS, ids=[event.id for _, event in EVENTS])


def test_the_data_set_says_what_it_is_and_under_which_licence() -> None:
    about = yaml.safe_load((DEMO / "dataset.yaml").read_text())
    assert (about["name"], about["licence"]) == ("demo", "CC0-1.0")
    assert {"version", "made_by", "annotations"} <= set(about)


def test_manifest_annotations_and_films_are_about_the_same_clips() -> None:
    names = [row["clip_id"] for row in ROWS]
    assert list(REPORTS) == names
    assert sorted(path.stem for path in (DEMO / "clips").iterdir()) == sorted(names)


@each_row
def test_a_clip_decodes_to_its_end_and_is_the_one_that_was_annotated(row: dict[str, Any]) -> None:
    path, clip = DEMO / row["path"], REPORTS[row["clip_id"]].clip
    assert sha256(path.read_bytes()).hexdigest() == clip.sha256
    with closing(decode_clip(path, layout=Layout.parse(row["layout"]))) as footage:
        assert tuple(footage.times_s) == clip.frame_times_s
        assert (footage.duration_s, footage.width, footage.height) == (clip.duration_s, clip.width, clip.height)


@each_row
def test_the_report_repeats_what_the_manifest_says(row: dict[str, Any]) -> None:
    clip = REPORTS[row["clip_id"]].clip
    assert Layout.parse(row["layout"]) == clip.layout
    told = {"path": clip.uri, **clip.model_dump(include={"instruction", "split", "task_family", "embodiment"})}
    assert told == {key: row[key] for key in told}


@each_row
def test_a_clip_runs_at_16_frames_a_second_for_about_four_seconds(row: dict[str, Any]) -> None:
    clip = REPORTS[row["clip_id"]].clip
    assert clip.fps == pytest.approx(16)
    assert 3.5 <= clip.duration_s <= 5.5


@each_row
def test_the_grid_is_recognised_by_its_black_panel_and_a_single_view_is_not_cut(row: dict[str, Any]) -> None:
    with closing(decode_clip(DEMO / row["path"])) as footage:
        recognised = [name is not None for name in footage.layout.views]
    assert recognised == [name is not None for name in Layout.parse(row["layout"]).views]


def test_every_dimension_was_examined_in_every_clip() -> None:
    every = dict.fromkeys(load_domain("robot").dimensions, "examined")
    for report in REPORTS.values():
        assert (report.status, states(report.coverage)) == ("complete", every)


def test_every_dimension_has_an_event_and_two_clips_are_clean() -> None:
    assert {event.dimension for _, event in EVENTS} == set(load_domain("robot").dimensions)
    assert sum(report.clean for report in REPORTS.values()) == 2


@each_event
def test_an_event_is_of_a_type_of_its_dimension_and_has_a_severity(report: Report, event: Any) -> None:
    domain = load_domain("robot")
    assert domain.dimension_of[event.type] == event.dimension
    assert set(event.secondary) <= set(domain.dimensions) - {event.dimension}
    assert event.severity is not None


@each_event
def test_a_span_is_whole_frames_and_leaves_a_clean_beginning(report: Report, event: Any) -> None:
    clip = report.clip
    edges = {*clip.frame_times_s[1:], clip.duration_s}
    assert all({span.start, span.end} <= edges for span in event.spans)


@each_event
def test_the_evidence_of_an_event_lies_in_its_span(report: Report, event: Any) -> None:
    inside = frames_in(event.spans, report.clip.frame_times_s)
    assert event.evidence
    for evidence in event.evidence:
        assert set(evidence.frames) <= inside
        assert evidence.view in report.clip.layout.active


def test_the_event_of_the_grid_is_seen_in_more_than_one_view() -> None:
    ((_, event),) = [(report, event) for report, event in EVENTS if len(report.clip.layout.active) > 1]
    assert len({evidence.view for evidence in event.evidence}) > 1


def test_the_files_stay_small() -> None:
    sizes = {path: path.stat().st_size for path in DEMO.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < FOLDER_BYTES
    assert max(sizes.values()) < FILE_BYTES


@pytest.fixture(scope="module")
def measured(robot: Domain) -> Callable[[str], tuple[Report, ClipSignals]]:
    """What the pipeline that asks no model makes of a clip, and the evidence it had."""

    @cache
    def score(clip: str) -> tuple[Report, ClipSignals]:
        pipeline = Pipeline.build(robot, "pixels")
        with open_clip(ManifestEntry(path=DEMO / "clips" / f"{clip}.mp4"), pipeline, models=None) as opened:
            assert opened.evidence is not None
            return asyncio.run(diagnose(opened, pipeline)), opened.evidence

    return score


@pytest.mark.parametrize(
    "clip",
    ["camera_shakes", "cube_teleports", "blur_then_wrong_bin", "multi_view"],
)
def test_without_a_model_an_annotated_fault_that_pixels_show_is_found(clip: str, measured: Any) -> None:
    (found,) = measured(clip)[0].events
    true = next(event for event in REPORTS[clip].events if event.type == found.type)
    assert frames_in(found.spans, REPORTS[clip].clip.frame_times_s) & frames_in(
        true.spans, REPORTS[clip].clip.frame_times_s
    )


def test_without_a_model_no_visual_quality_fault_is_found_in_a_clean_clip_and_it_stays_undecided(
    measured: Any, robot: Domain
) -> None:
    report, _ = measured("pick_place_clean")
    assert (report.status, report.nothing_found, report.verdict) == ("complete", True, "undecided")
    assert report.clean_in(["visual_quality"])
    assert not report.clean_in(robot.dimensions)
    assert {name: each.state for name, each in report.coverage.items() if each.state != "not_examined"} == {
        "visual_quality": "examined",
        "object_scene_consistency": "partial",
        "physical_plausibility": "partial",
    }
    assert "1 clip undecided: no visual-quality fault found (1 of 6 dimensions examined)." in summary_lines(
        [report], [], robot
    )


def test_a_view_whose_camera_cannot_be_followed_leaves_the_clip_partial(measured: Any) -> None:
    """The hand that carries the camera stays in the picture, and all else moves too fast to follow."""
    report, _ = measured("multi_view")
    assert (report.status, report.undecided_dimensions) == ("partial", ("visual_quality",))
    assert report.coverage["visual_quality"].state == "partial"
    (failure,) = report.failures
    assert re.match(
        r"Not measured: Camera instability in \d+ of 68 frames of the view bottom left \(.*\): the picture moves",
        failure.message,
    )


def test_the_page_counts_the_gaps_of_a_report(measured: Any, robot: Domain) -> None:
    report, _ = measured("multi_view")
    (line,) = [line for line in summary_lines([report], [], robot) if "could not be measured" in line]
    assert line.startswith("In 1 of 1 clip with a report some frames could not be measured, for up to 1 event type;")


@pytest.mark.parametrize("folder", ["demo", "demo-games"])
def test_the_annotations_use_the_labels_of_the_domain_as_it_is(folder: str) -> None:
    """Otherwise `evaluate` refuses to compare new reports with them."""
    for report in load_reports(DEMO.parent / folder / "annotations.jsonl"):
        assert report.domain.taxonomy == load_domain(report.domain.id).ref.taxonomy
