"""RoboGaze's own reports."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from making import coverage

from formats.samples import make_event, make_report, report, write
from robogaze.core.annotation import annotation_of
from robogaze.core.events import Hypothesis
from robogaze.core.report import Report, Unreadable
from robogaze.core.time import Span
from robogaze.datasets.formats.base import ReadLog
from robogaze.datasets.formats.read import iter_annotations, read_annotations
from robogaze.errors import InputError
from robogaze.store import ManifestLine, RunFolder


def full_report() -> Report:
    """A report with everything an annotation takes over."""
    event = make_event(spans=(Span(0.5, 1.0), Span(2.0, 2.25)), secondary=("colour",))
    fields = event.model_dump() | {"proposed_by": "specialist"}
    fields.pop("secondary")
    verdicts = [("H1", "accepted"), ("H2", "rejected"), ("H3", "unverified")]
    claims = tuple(Hypothesis(**{**fields, "id": name, "verdict": verdict}) for name, verdict in verdicts)
    return make_report("cup", event, hypotheses=claims)


def test_report_is_read_as_its_annotation(tmp_path: Path) -> None:
    known = full_report()
    path = write(tmp_path / "report.json", known.model_dump(mode="json"))
    (annotation,) = read_annotations(path).annotations
    assert annotation.frame_times_s is not None
    assert tuple(annotation.frame_times_s) == known.clip.frame_times_s
    assert replace(annotation, frame_times_s=known.clip.frame_times_s) == annotation_of(known, f"{path}")
    assert [event.id for event in annotation.candidates] == ["H1", "H2"]


def test_annotation_has_the_coverage_of_every_dimension(tmp_path: Path) -> None:
    states = coverage("matter", ruled_out=["light"], partial=["weather"], not_examined=["sound"])
    known = make_report("cup", coverage=states)
    (annotation,) = read_annotations(write(tmp_path / "report.json", known.model_dump(mode="json"))).annotations
    assert annotation.coverage == {
        "matter": "examined", "light": "ruled_out", "weather": "partial", "sound": "not_examined"
    }  # fmt: skip
    assert annotation.covered == {"matter", "light"}
    assert annotation.looked_for == {"matter", "light", "weather"}
    assert (annotation.status, annotation.verdict, annotation.nothing_found) == ("complete", "undecided", True)


def test_reports_by_line_file_or_list_are_equal(tmp_path: Path) -> None:
    reports = [report("cup", make_event()), report("pot"), report("pan", coverage=coverage(not_examined=["matter"]))]
    for value in reports:
        write(tmp_path / "flat" / f"{value['clip']['id']}.json", value)
        write(tmp_path / "folders" / value["clip"]["id"] / "report.json", value)
    write(tmp_path / "lines.jsonl", "\n".join(json.dumps(value) for value in reports))
    write(tmp_path / "printed.json", {"schema_version": 1, "reports": reports})
    read_as = []
    for name in ("flat", "folders", "lines.jsonl", "printed.json"):
        read = read_annotations(tmp_path / name)
        read_as.append({annotation.clip_id: replace(annotation, source="") for annotation in read.annotations})
        assert read.format == "report"
    assert read_as[0] == read_as[1] == read_as[2] == read_as[3]
    assert {name: annotation.status for name, annotation in read_as[0].items()} == {
        "cup": "complete", "pot": "complete", "pan": "unscored"
    }  # fmt: skip
    assert [name for name, annotation in read_as[0].items() if annotation.clean] == ["pot"]


def test_unreadable_clips_of_a_run_are_listed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with RunFolder(run, {"pipeline": "full"}) as folder:
        for name in ("pot", "cup/1"):
            folder.add(ManifestLine(clip_id=name, path=f"{name}.mp4", sha256="a" * 64, instruction=None))
            folder.write(make_report(name), {3: b"jpeg"})
        folder.write_unreadable([Unreadable(uri="pan.mp4", reason="it holds no frame")])
    read = read_annotations(run)
    assert sorted(annotation.clip_id for annotation in read.annotations) == ["cup/1", "pot"]
    assert list(read.skipped) == [f"{run / 'unreadable.json'}: pan.mp4: it holds no frame"]
    assert read.warnings == ()


def test_run_with_unreadable_clips_is_valid_and_a_damaged_list_is_not(tmp_path: Path) -> None:
    write(tmp_path / "unreadable.json", [{"uri": "pan.mp4", "reason": "no frame"}])
    write(tmp_path / "reports" / "pot.json", report("pot"))
    assert [annotation.clip_id for annotation in read_annotations(tmp_path).annotations] == ["pot"]
    write(tmp_path / "unreadable.json", [{"uri": "pan.mp4"}])
    with pytest.raises(InputError, match=r"unreadable\.json is damaged \(0\.reason: Field required\); remove it"):
        read_annotations(tmp_path)


def test_other_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "cup" / "report.json", report("cup"))
    write(tmp_path / "cup" / "notes.json", {})
    write(tmp_path / "pot.json", report("pot"))
    assert read_annotations(tmp_path).warnings == ("2 files with a name other than report.json (not read)",)


def test_annotations_are_yielded_before_a_later_error(tmp_path: Path) -> None:
    path = write(tmp_path / "reports.jsonl", "\n".join(json.dumps(report(name)) for name in ("cup", "pot")) + "\n{\n")
    annotations = iter_annotations(path, ReadLog())
    assert [next(annotations).clip_id, next(annotations).clip_id] == ["cup", "pot"]
    with pytest.raises(InputError, match=r"reports\.jsonl:3: Invalid JSON"):
        next(annotations)


def test_equal_frame_times_of_reports_are_shared(tmp_path: Path) -> None:
    lines = [json.dumps(report(f"clip {number}")) for number in range(2)]
    first, second = read_annotations(write(tmp_path / "reports.jsonl", "\n".join(lines))).annotations
    assert first.frame_times_s is second.frame_times_s


def test_one_clip_may_have_two_authors_but_not_one_author_twice(tmp_path: Path) -> None:
    first, other = (report("cup", author=name) for name in ("ada", "ben"))
    path = write(tmp_path / "both.jsonl", f"{json.dumps(first)}\n{json.dumps(other)}\n")
    assert [annotation.author for annotation in read_annotations(path).annotations] == ["ada", "ben"]
    write(path, f"{json.dumps(first)}\n{json.dumps(other)}\n{json.dumps(first)}\n")
    with pytest.raises(InputError) as refused:
        read_annotations(path, lenient=True)
    assert str(refused.value) == f"ada has two annotations of cup: in {path}:1 and in {path}:3; keep one of them"
