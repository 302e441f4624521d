"""The demo data sets as they are shipped: videos, manifests and annotations fit together."""

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
from robogaze.stages.pipeline import Pipeline

FOLDERS = {name: Path(__file__).parents[2] / "datasets" / name for name in ("demo", "demo-games")}
DOMAINS = {"demo": "robot", "demo-games": "game"}
FILE_BYTES, FOLDER_BYTES = 300_000, 2_000_000


def lines(folder: str, name: str) -> list[str]:
    return (FOLDERS[folder] / name).read_text().splitlines()


ROWS: dict[str, list[dict[str, Any]]] = {
    folder: [json.loads(line) for line in lines(folder, "clips.jsonl")] for folder in FOLDERS
}
REPORTS = {
    folder: {report.clip.id: report for report in map(Report.model_validate_json, lines(folder, "annotations.jsonl"))}
    for folder in FOLDERS
}
EVENTS = [(report, event) for reports in REPORTS.values() for report in reports.values() for event in report.events]

each_folder = pytest.mark.parametrize("folder", FOLDERS)
each_row = pytest.mark.parametrize(
    ("folder", "row"),
    [(folder, row) for folder, rows in ROWS.items() for row in rows],
    ids=[f"{folder}-{row['clip_id']}" for folder, rows in ROWS.items() for row in rows],
)
each_event = pytest.mark.parametrize(("report", "event"), EVENTS, ids=[event.id for _, event in EVENTS])


@each_folder
def test_the_data_set_states_its_name_and_licence(folder: str) -> None:
    about = yaml.safe_load((FOLDERS[folder] / "dataset.yaml").read_text())
    assert (about["name"], about["licence"]) == (folder, "CC0-1.0")


@each_folder
def test_manifest_annotations_and_videos_are_about_the_same_clips(folder: str) -> None:
    names = [row["clip_id"] for row in ROWS[folder]]
    assert list(REPORTS[folder]) == names
    assert sorted(path.stem for path in (FOLDERS[folder] / "clips").iterdir()) == sorted(names)


@each_row
def test_a_clip_decodes_to_its_end_and_is_the_annotated_one(folder: str, row: dict[str, Any]) -> None:
    path, clip = FOLDERS[folder] / row["path"], REPORTS[folder][row["clip_id"]].clip
    layout = Layout.parse(row["layout"])
    assert sha256(path.read_bytes()).hexdigest() == clip.sha256
    with closing(decode_clip(path, layout=layout)) as footage:
        assert tuple(footage.times_s) == clip.frame_times_s
        assert (footage.duration_s, footage.width, footage.height) == (clip.duration_s, clip.width, clip.height)
    with closing(decode_clip(path)) as footage:  # the grid is recognised by its black panel
        assert [name is None for name in footage.layout.views] == [name is None for name in layout.views]


@each_row
def test_the_report_repeats_the_manifest(folder: str, row: dict[str, Any]) -> None:
    clip = REPORTS[folder][row["clip_id"]].clip
    assert Layout.parse(row["layout"]) == clip.layout
    assert clip.instruction == row["instruction"]
    assert clip.instruction
    fields = clip.model_dump(include={"split", "task_family", "embodiment"}, exclude_none=True)
    assert fields == {key: row[key] for key in fields}
    assert 3.5 <= clip.duration_s <= 5.5


@each_folder
def test_every_dimension_is_examined_with_the_labels_of_the_domain(folder: str) -> None:
    """Otherwise `evaluate` refuses to compare new reports with them."""
    domain = load_domain(DOMAINS[folder])
    for report in REPORTS[folder].values():
        assert (report.status, states(report.coverage)) == ("complete", dict.fromkeys(domain.dimensions, "examined"))
        assert report.domain.taxonomy == domain.ref.taxonomy


def test_the_data_sets_have_clean_clips_all_dimensions_and_a_recurring_event() -> None:
    robot = [event for report in REPORTS["demo"].values() for event in report.events]
    assert {event.dimension for event in robot} == set(load_domain("robot").dimensions)
    assert all(event.severity is not None for event in robot)
    assert [sum(report.clean for report in reports.values()) for reports in REPORTS.values()] == [2, 3]
    games = [event for report in REPORTS["demo-games"].values() for event in report.events]
    assert [len(event.spans) for event in games if len(event.spans) > 1] == [2]


@each_event
def test_an_event_is_of_a_type_of_its_dimension(report: Report, event: Any) -> None:
    domain = load_domain(report.domain.id)
    assert domain.dimension_of[event.type] == event.dimension
    assert set(event.secondary) <= set(domain.dimensions) - {event.dimension}


@each_event
def test_a_span_is_whole_frames_after_a_clean_beginning(report: Report, event: Any) -> None:
    edges = {*report.clip.frame_times_s[1:], report.clip.duration_s}
    assert all({span.start, span.end} <= edges for span in event.spans)


@each_event
def test_the_evidence_of_an_event_is_inside_its_spans(report: Report, event: Any) -> None:
    inside = frames_in(event.spans, report.clip.frame_times_s)
    assert event.evidence
    for evidence in event.evidence:
        assert set(evidence.frames) <= inside
        assert evidence.view in (*report.clip.layout.active, None)


def test_the_event_of_the_grid_is_seen_in_more_than_one_view() -> None:
    ((_, event),) = [(report, event) for report, event in EVENTS if len(report.clip.layout.active) > 1]
    assert len({evidence.view for evidence in event.evidence}) > 1


@each_folder
def test_the_files_stay_small(folder: str) -> None:
    sizes = {path: path.stat().st_size for path in FOLDERS[folder].rglob("*") if path.is_file()}
    assert sum(sizes.values()) < FOLDER_BYTES
    assert max(sizes.values()) < FILE_BYTES


@pytest.fixture(scope="module")
def measured(robot: Domain) -> Callable[[str], tuple[Report, ClipSignals]]:
    """What the pipeline that asks no model makes of a clip, and the evidence it had."""

    @cache
    def score(clip: str) -> tuple[Report, ClipSignals]:
        pipeline = Pipeline.build(robot, "pixels")
        with open_clip(ManifestEntry(path=FOLDERS["demo"] / "clips" / f"{clip}.mp4"), pipeline, models=None) as opened:
            assert opened.evidence is not None
            return asyncio.run(diagnose(opened, pipeline)), opened.evidence

    return score


@pytest.mark.parametrize(
    "clip",
    ["camera_shakes", "cube_teleports", "blur_then_wrong_bin", "multi_view"],
)
def test_without_a_model_an_annotated_fault_that_pixels_show_is_found(clip: str, measured: Any) -> None:
    (found,) = measured(clip)[0].events
    true = next(event for event in REPORTS["demo"][clip].events if event.type == found.type)
    assert frames_in(found.spans, REPORTS["demo"][clip].clip.frame_times_s) & frames_in(
        true.spans, REPORTS["demo"][clip].clip.frame_times_s
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
    assert line.startswith("In 1 of 1 clip with a report, some frames could not be measured, for up to 1 event type;")
