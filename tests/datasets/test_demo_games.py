"""The demo data set of games as it is shipped: films, manifest and annotations fit together, and it redraws itself."""

import json
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from robogaze.core.coverage import states
from robogaze.core.report import Report
from robogaze.core.time import frames_in
from robogaze.domains import load_domain
from robogaze.media import decode_clip

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "datasets" / "demo-games"
FILE_BYTES, FOLDER_BYTES = 300_000, 1_000_000


def lines(name: str) -> list[str]:
    return (DEMO / name).read_text().splitlines()


ROWS: list[dict[str, Any]] = [json.loads(line) for line in lines("clips.jsonl")]
REPORTS = {report.clip.id: report for report in map(Report.model_validate_json, lines("annotations.jsonl"))}
EVENTS = [(report, event) for report in REPORTS.values() for event in report.events]

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["clip_id"])
each_event = pytest.mark.parametrize(("report", "event"), EVENTS, ids=[event.id for _, event in EVENTS])


def test_the_data_set_says_what_it_is_and_under_which_licence() -> None:
    about = yaml.safe_load((DEMO / "dataset.yaml").read_text())
    assert (about["name"], about["licence"], about["domain"]) == ("demo-games", "CC0-1.0", "game")


def test_manifest_annotations_and_films_are_about_the_same_clips() -> None:
    names = [row["clip_id"] for row in ROWS]
    assert list(REPORTS) == names
    assert sorted(path.stem for path in (DEMO / "clips").iterdir()) == sorted(names)


@each_row
def test_a_clip_decodes_to_its_end_and_is_the_one_that_was_annotated(row: dict[str, Any]) -> None:
    path, clip = DEMO / row["path"], REPORTS[row["clip_id"]].clip
    assert sha256(path.read_bytes()).hexdigest() == clip.sha256
    with closing(decode_clip(path)) as footage:
        assert tuple(footage.times_s) == clip.frame_times_s
        assert (footage.duration_s, footage.width, footage.height) == (clip.duration_s, clip.width, clip.height)
        assert footage.layout.active == ("main",)


@each_row
def test_a_clip_is_short_and_its_context_is_the_title_of_the_game(row: dict[str, Any]) -> None:
    clip = REPORTS[row["clip_id"]].clip
    assert 3.5 <= clip.duration_s <= 5
    assert clip.instruction == row["instruction"]
    assert clip.instruction


def test_every_dimension_was_examined_in_every_clip_under_the_domain_as_it_is() -> None:
    domain = load_domain("game")
    every = dict.fromkeys(domain.dimensions, "examined")
    for report in REPORTS.values():
        assert (report.status, states(report.coverage)) == ("complete", every)
        assert report.domain.taxonomy == domain.ref.taxonomy


def test_three_clips_are_clean_and_one_event_recurs_after_a_gap() -> None:
    assert sum(report.clean for report in REPORTS.values()) == 3
    assert [len(event.spans) for _, event in EVENTS if len(event.spans) > 1] == [2]


@each_event
def test_an_event_is_of_a_type_of_its_dimension(report: Report, event: Any) -> None:
    assert load_domain("game").dimension_of[event.type] == event.dimension


@each_event
def test_a_span_is_whole_frames_and_leaves_a_clean_beginning(report: Report, event: Any) -> None:
    edges = {*report.clip.frame_times_s[1:], report.clip.duration_s}
    assert all({span.start, span.end} <= edges for span in event.spans)


@each_event
def test_each_span_has_evidence_in_it(report: Report, event: Any) -> None:
    for span, evidence in zip(event.spans, event.evidence, strict=True):
        assert set(evidence.frames) <= frames_in([span], report.clip.frame_times_s)


def test_the_files_stay_small() -> None:
    sizes = {path: path.stat().st_size for path in DEMO.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < FOLDER_BYTES
    assert max(sizes.values()) < FILE_BYTES
