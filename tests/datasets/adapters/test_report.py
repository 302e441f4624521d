"""RoboGaze's own reports."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from making import coverage

from adapters.samples import make_event, make_report, report, write
from robogaze.core.annotation import annotation_of
from robogaze.core.events import Hypothesis
from robogaze.core.report import Report, Unreadable
from robogaze.core.time import Span
from robogaze.datasets.adapters import Notes, iter_accounts, read_accounts
from robogaze.errors import InputError
from robogaze.store import ManifestLine, RunFolder

DEMO = Path(__file__).parents[3] / "datasets" / "demo" / "annotations.jsonl"


def full_report() -> Report:
    """A report with everything an account takes over."""
    event = make_event(spans=(Span(0.5, 1.0), Span(2.0, 2.25)), secondary=("colour",))
    told = event.model_dump() | {"proposed_by": "specialist"}
    told.pop("secondary")
    verdicts = [("H1", "accepted"), ("H2", "rejected"), ("H3", "unverified")]
    claims = tuple(Hypothesis(**{**told, "id": name, "verdict": verdict}) for name, verdict in verdicts)
    return make_report("cup", event, hypotheses=claims)


def test_a_report_is_the_account_of_it(tmp_path: Path) -> None:
    known = full_report()
    path = write(tmp_path / "report.json", known.model_dump(mode="json"))
    (account,) = read_accounts(path).accounts
    assert account.frame_times_s is not None
    assert tuple(account.frame_times_s) == known.clip.frame_times_s
    assert replace(account, frame_times_s=known.clip.frame_times_s) == annotation_of(known, f"{path}")
    assert [one.id for one in account.candidates] == ["H1", "H2"]


def test_an_account_knows_how_far_every_dimension_was_examined(tmp_path: Path) -> None:
    states = coverage("matter", ruled_out=["light"], partial=["weather"], not_examined=["sound"])
    known = make_report("cup", coverage=states)
    (account,) = read_accounts(write(tmp_path / "report.json", known.model_dump(mode="json"))).accounts
    assert account.coverage == {
        "matter": "examined", "light": "ruled_out", "weather": "partial", "sound": "not_examined"
    }  # fmt: skip
    assert account.covered == {"matter", "light"}
    assert account.looked_for == {"matter", "light", "weather"}
    assert (account.status, account.verdict, account.nothing_found) == ("complete", "undecided", True)


def test_reports_a_line_a_file_or_in_one_object_say_the_same(tmp_path: Path) -> None:
    reports = [report("cup", make_event()), report("pot"), report("pan", coverage=coverage(not_examined=["matter"]))]
    for one in reports:
        write(tmp_path / "flat" / f"{one['clip']['id']}.json", one)
        write(tmp_path / "folders" / one["clip"]["id"] / "report.json", one)
    write(tmp_path / "lines.jsonl", "\n".join(json.dumps(one) for one in reports))
    write(tmp_path / "printed.json", {"schema_version": 1, "reports": reports})
    told = []
    for name in ("flat", "folders", "lines.jsonl", "printed.json"):
        read = read_accounts(tmp_path / name)
        told.append({one.clip_id: replace(one, source="") for one in read.accounts})
        assert read.format == "report"
    assert told[0] == told[1] == told[2] == told[3]
    assert {name: one.status for name, one in told[0].items()} == {
        "cup": "complete", "pot": "complete", "pan": "unscored"
    }  # fmt: skip
    assert [name for name, one in told[0].items() if one.clean] == ["pot"]


def test_the_shipped_annotations_are_read(tmp_path: Path) -> None:
    read = read_accounts(DEMO)
    assert len(read.accounts) == 10
    assert {one.author for one in read.accounts} == {"simulator"}
    assert read.accounts[1].source == f"{DEMO}:2"


def test_a_run_folder_is_read_and_its_unreadable_clips_are_listed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with RunFolder(run, {"pipeline": "full"}) as folder:
        for name in ("pot", "cup/1"):
            folder.enter(ManifestLine(clip_id=name, path=f"{name}.mp4", sha256="a" * 64, instruction=None))
            folder.keep(make_report(name), {3: b"jpeg"})
        folder.write_unreadable([Unreadable(uri="pan.mp4", reason="it holds no frame")])
    read = read_accounts(run)
    assert sorted(one.clip_id for one in read.accounts) == ["cup/1", "pot"]
    assert [str(one) for one in read.skipped] == [f"{run / 'unreadable.json'}: pan.mp4: it holds no frame"]
    assert read.warnings == ()


def test_a_run_whose_clips_could_all_not_be_read_is_no_mistake(tmp_path: Path) -> None:
    write(tmp_path / "unreadable.json", [{"uri": "pan.mp4", "reason": "no frame"}])
    write(tmp_path / "reports" / "pot.json", report("pot"))
    assert [one.clip_id for one in read_accounts(tmp_path).accounts] == ["pot"]
    write(tmp_path / "unreadable.json", [{"uri": "pan.mp4"}])
    with pytest.raises(InputError, match=r"unreadable\.json: 0\.reason: Field required; remove it"):
        read_accounts(tmp_path)


def test_files_that_were_passed_over_beside_reports_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "cup" / "report.json", report("cup"))
    write(tmp_path / "cup" / "notes.json", {})
    write(tmp_path / "pot.json", report("pot"))
    assert read_accounts(tmp_path).warnings == ("2 files beside those named report.json, not looked at",)


def test_accounts_come_one_by_one_and_a_fault_after_them_does_not_take_them_back(tmp_path: Path) -> None:
    path = write(tmp_path / "reports.jsonl", "\n".join(json.dumps(report(name)) for name in ("cup", "pot")) + "\n{\n")
    accounts = iter_accounts(path, Notes())
    assert [next(accounts).clip_id, next(accounts).clip_id] == ["cup", "pot"]
    with pytest.raises(InputError, match=r"reports\.jsonl:3: Invalid JSON"):
        next(accounts)


def test_what_many_reports_share_is_kept_once(tmp_path: Path) -> None:
    lines = [json.dumps(report(f"clip {number}")) for number in range(3)]
    first, *others = read_accounts(write(tmp_path / "reports.jsonl", "\n".join(lines))).accounts
    for other in others:
        for name in ("frame_times_s", "coverage", "taxonomy", "fingerprint"):
            assert getattr(other, name) is getattr(first, name)


def test_two_people_may_report_on_one_clip_but_nobody_twice(tmp_path: Path) -> None:
    one, other = (report("cup", author=name) for name in ("ada", "ben"))
    path = write(tmp_path / "both.jsonl", f"{json.dumps(one)}\n{json.dumps(other)}\n")
    assert [account.author for account in read_accounts(path).accounts] == ["ada", "ben"]
    write(path, f"{json.dumps(one)}\n{json.dumps(other)}\n{json.dumps(one)}\n")
    with pytest.raises(InputError) as refused:
        read_accounts(path, lenient=True)
    assert str(refused.value) == f"ada has two accounts of cup: in {path}:1 and in {path}:3; keep one of them"
