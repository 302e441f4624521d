"""`load_reports`: reports from files, and as data frames."""

import sys
from pathlib import Path

import pytest

import robogaze
from robogaze.errors import InputError, MissingExtra
from robogaze.reports import load_reports

DEMO = Path(__file__).parents[1] / "datasets" / "demo" / "annotations.jsonl"


def test_reports_of_a_jsonl_file_are_a_sequence() -> None:
    reports = load_reports(DEMO)
    assert len(reports) == 10
    assert reports[0].clip.id == "pick_place_clean"
    assert [report.clip.id for report in reports[1:3]] == [report.clip.id for report in list(reports)[1:3]]


def test_a_run_folder_gives_its_reports(tmp_path: Path) -> None:
    folder = tmp_path / "run" / "reports"
    folder.mkdir(parents=True)
    for report in load_reports(DEMO):
        (folder / f"{report.clip.id}.json").write_text(report.model_dump_json())
    assert {report.clip.id for report in load_reports(tmp_path / "run")} == {
        report.clip.id for report in load_reports(DEMO)
    }


def test_what_is_not_a_report_is_refused_with_line_and_key(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    path.write_text(DEMO.read_text().splitlines()[0] + '\n{"clip": {}, "events": []}\n')
    with pytest.raises(InputError, match=r"reports\.jsonl:2: clip\.id: .*not a report of RoboGaze"):
        load_reports(path)
    with pytest.raises(InputError, match="does not exist"):
        load_reports(tmp_path / "nowhere")


def test_data_frame_has_a_row_per_clip() -> None:
    pytest.importorskip("pandas")
    reports = load_reports(DEMO)
    frame = reports.to_dataframe()
    assert list(frame["clip_id"]) == [report.clip.id for report in reports]
    assert list(frame["events"]) == [len(report.events) for report in reports]
    assert set(frame["verdict"]) == {"clean", "faulty"}
    assert frame.loc[frame["verdict"] == "clean", "max_severity"].isna().all()
    assert {f"coverage.{name}" for name in reports[0].coverage} <= set(frame.columns)


def test_data_frame_of_events_has_a_row_per_event() -> None:
    pytest.importorskip("pandas")
    reports = load_reports(DEMO)
    frame = reports.events_to_dataframe()
    events = [event for report in reports for event in report.events]
    assert list(frame["type"]) == [event.type for event in events]
    assert list(frame["start_s"]) == [event.spans[0].start for event in events]
    assert list(frame["end_s"]) == [event.spans[-1].end for event in events]


def test_data_frame_without_pandas_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pandas is not installed; .*robogaze\[pandas\]"):
        load_reports(DEMO).to_dataframe()


def test_data_frame_of_no_reports_has_the_columns() -> None:
    pytest.importorskip("pandas")
    frame = load_reports(DEMO)[:0].to_dataframe()
    assert len(frame) == 0
    assert "verdict" in frame.columns


def test_unreadable_clips_of_a_run_folder_stay_in_a_comparison(tmp_path: Path) -> None:
    for name, reports in (("a", load_reports(DEMO)[:4]), ("b", load_reports(DEMO)[4:8])):
        (tmp_path / name / "reports").mkdir(parents=True)
        for report in reports:
            (tmp_path / name / "reports" / f"{report.clip.id}.json").write_text(report.model_dump_json())
    (tmp_path / "a" / "unreadable.json").write_text('[{"uri": "bad.mp4", "reason": "bad.mp4 is empty"}]')
    loaded = {name: load_reports(tmp_path / name) for name in ("a", "b")}
    assert [clip.uri for clip in loaded["a"].unreadable] == ["bad.mp4"]
    from_values, from_paths = robogaze.compare(loaded), robogaze.compare([tmp_path / "a", tmp_path / "b"])
    counts = [[dict(row.clips) for row in result.leaderboard] for result in (from_values, from_paths)]
    assert counts[0] == counts[1]
    assert sum(row["unreadable"] for row in counts[0]) == 1
